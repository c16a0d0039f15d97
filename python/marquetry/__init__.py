"""Read and write Parquet: every encoding, type and codec.

>>> import marquetry
>>> file = marquetry.open(WINES)
>>> file.num_rows
200
>>> table = file.read(columns=["name", "price"], filter="country = 'France' and price > 100", limit=5)
>>> table.num_rows
5

Other libraries take a table, a stream, or the file itself without a copy, through the Arrow PyCapsule interface:
``pyarrow.table(x)``, ``polars.DataFrame(x)``, ``duckdb.from_arrow(x)``, ``pandas.DataFrame.from_arrow(x)``.
:mod:`marquetry.parquet` is a drop-in replacement for ``pyarrow.parquet``.

Only Python is required. pyarrow, polars and pandas are imported only by the calls that return their objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

# First, before any import that loads the extension.
from . import _allocator as _allocator
from ._errors import (
    ArgumentError,
    CancelledError,
    ChangedError,
    ColumnError,
    DamageError,
    EncryptedError,
    Error,
    ForbiddenError,
    IoError,
    LimitError,
    MissingFileError,
    OutOfMemoryError,
    UnsupportedError,
)
from ._file import Dataset, File, Table, dataset, open
from ._marquetry import Batch, Schema, __version__
from ._stream import Stream
from ._writer import Writer, append, create, write

__all__ = [
    "Advice", "AdviceFinding", "ArgumentError", "Batch", "CancelledError", "ChangedError", "ColumnAdvice",
    "ColumnError", "ColumnStats", "Common", "DamageError", "Dataset", "Diff", "Difference", "EncryptedError", "Error",
    "Explanation", "File", "Finding", "ForbiddenError", "Histogram", "IoError", "Lengths", "LimitError",
    "MissingFileError", "Optimized", "OptimizedColumn", "OutOfMemoryError", "Recovery", "RowsDiff", "Schema", "Statistics",
    "Stream", "Table", "UnsupportedError", "Verification", "Writer", "__version__", "advise", "append", "create", "dataset",
    "diff", "explain", "lint", "open", "optimize", "recover", "report", "stats", "verify", "write",
]  # fmt: skip

if TYPE_CHECKING:
    from . import encryption, parquet, polars
    from ._advise import Advice, AdviceFinding, ColumnAdvice, Optimized, OptimizedColumn, advise, optimize
    from ._inspect import ColumnStats, Common, Diff, Difference, Histogram, Lengths, RowsDiff, Statistics, diff, stats
    from ._reports import Explanation, Finding, Recovery, Verification, explain, lint, recover, report, verify

_ADVISE = ("Advice", "AdviceFinding", "ColumnAdvice", "Optimized", "OptimizedColumn", "advise", "optimize")
_INSPECT = (
    "ColumnStats", "Common", "Diff", "Difference", "Histogram", "Lengths", "RowsDiff", "Statistics", "diff", "stats",
)  # fmt: skip
_REPORTS = ("Explanation", "Finding", "Recovery", "Verification", "explain", "lint", "recover", "report", "verify")
_MODULES = ("encryption", "parquet", "polars")


def __getattr__(name: str) -> object:
    # Few programs use these modules, and importing them takes as long as everything else.
    if name in _ADVISE:
        from . import _advise

        return getattr(_advise, name)
    if name in _INSPECT:
        from . import _inspect

        return getattr(_inspect, name)
    if name in _REPORTS:
        from . import _reports

        return getattr(_reports, name)
    if name in _MODULES:
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
