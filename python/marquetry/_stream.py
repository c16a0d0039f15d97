"""Streams of batches, for loops and coroutines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from . import _marquetry
from ._marquetry import Batch, Schema

if TYPE_CHECKING:
    import asyncio

    if sys.version_info >= (3, 11):
        from typing import Self


class Stream:
    """A lazy stream of record batches. It can be consumed once: by iterating, or by passing it to another library.

    >>> import marquetry
    >>> with marquetry.open(WINES).stream(batch_size=80) as stream:
    ...     [batch.num_rows for batch in stream]
    [80, 80, 40]

    ``async for`` reads it in a coroutine of :mod:`asyncio`; other coroutines run meanwhile:

    >>> import asyncio
    >>> async def count():
    ...     async with marquetry.open(WINES).stream(batch_size=80) as stream:
    ...         return [batch.num_rows async for batch in stream]
    >>> asyncio.run(count())
    [80, 80, 40]
    """

    def __init__(self, stream: _marquetry.Stream) -> None:
        self._stream = stream
        # The next batch, which a thread is reading for a coroutine.
        self._pending: asyncio.Future[Batch | None] | None = None
        self._is_awaited = False

    @property
    def schema(self) -> Schema:
        """The Arrow schema."""
        return self._stream.schema

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Batch:
        return self._stream.__next__()

    def close(self) -> None:
        """Stops reading. Batches that were read stay valid."""
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Batch:
        import asyncio

        if self._pending is None:
            self._pending = asyncio.get_running_loop().run_in_executor(None, self._next_or_none)
        if self._is_awaited:
            raise RuntimeError("another coroutine waits for a batch of this stream")
        self._is_awaited = True
        try:
            # If this coroutine is cancelled, the next call gets the batch.
            batch = await asyncio.shield(self._pending)
        except asyncio.CancelledError:
            raise
        except BaseException:
            self._pending = None
            raise
        finally:
            self._is_awaited = False
        self._pending = None
        if batch is None:
            raise StopAsyncIteration
        return batch

    def _next_or_none(self) -> Batch | None:
        # A future cannot hold StopIteration.
        return next(self._stream, None)

    async def aclose(self) -> None:
        """Stops reading, after the batch that is being read."""
        import asyncio

        pending, self._pending = self._pending, None
        if pending is not None:
            await asyncio.wait([pending])
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __arrow_c_schema__(self) -> object:
        return self._stream.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return exported(self._stream, requested_schema)


def exported(batches: _marquetry.Stream | _marquetry.Table, requested_schema: object | None) -> object:
    """Exports batches as an Arrow C stream.

    Our streams lose the flag that a map's keys are sorted, which single batches keep. pyarrow's streams keep it, and only pyarrow
    uses it. So a stream with such maps is exported by pyarrow, if that is imported.
    """
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is None or not batches.schema.has_sorted_maps:
        return batches.__arrow_c_stream__(requested_schema)
    # From here on, this stream owns the batches.
    stream = _marquetry.Stream(batches)
    reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema(stream.schema), map(pyarrow.record_batch, stream))
    return reader.__arrow_c_stream__()
