"""A polars LazyFrame that Marquetry reads."""

from __future__ import annotations

from typing import Any, Iterator

from ._file import File


def scan(source: Any, **options: Any) -> Any:
    """Scans a file lazily, as a ``polars.LazyFrame`` that reads only the columns and rows that a query needs.

    - ``source``: a :class:`marquetry.File`, or anything that :func:`marquetry.open` takes.
    - other options: those of :func:`marquetry.open`.

    Filters are applied by polars itself, batch by batch, because its expressions have no stable form that others could read.

    >>> import marquetry.polars, polars as pl
    >>> marquetry.polars.scan(WINES).filter(pl.col("year") >= 2015).select("name").collect().shape
    (39, 1)
    """
    import polars as pl
    from polars.io.plugins import register_io_source

    file = source if isinstance(source, File) else File(source, **options)
    schema = pl.DataFrame(file.read(limit=0)).schema

    def read(
        with_columns: list[str] | None, predicate: Any | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[Any]:
        stream = file.stream(with_columns, limit=n_rows, batch_size=batch_size or 65536)
        with stream:
            for batch in stream:
                frame = pl.DataFrame(batch)
                yield frame if predicate is None else frame.filter(predicate)

    return register_io_source(read, schema=schema)
