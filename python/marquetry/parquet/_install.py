"""Installs ``marquetry.parquet`` in the place of ``pyarrow.parquet``."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType, TracebackType

_NAMES = ("", ".core", ".encryption")


class install:
    """Puts ``marquetry.parquet`` in the place of ``pyarrow.parquet``: permanently, or within a context.

    Code that imports ``pyarrow.parquet`` later gets it, as pandas does when it reads a file. Names that were imported from it before
    do not change.

    >>> import marquetry.parquet, pandas as pd
    >>> with marquetry.parquet.install():
    ...     len(pd.read_parquet(WINES, engine="pyarrow"))
    200
    """

    def __init__(self) -> None:
        import pyarrow

        self._before: dict[str, ModuleType | None] = {}
        self._attribute = getattr(pyarrow, "parquet", None)
        for name in _NAMES:
            theirs = f"pyarrow.parquet{name}"
            self._before[theirs] = sys.modules.get(theirs)
            sys.modules[theirs] = importlib.import_module(f"marquetry.parquet{name}")
        pyarrow.parquet = sys.modules["marquetry.parquet"]

    def uninstall(self) -> None:
        """Restores the previous modules."""
        import pyarrow

        for name, module in self._before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module
        if self._attribute is None:
            del pyarrow.parquet
        else:
            pyarrow.parquet = self._attribute

    def __enter__(self) -> install:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.uninstall()
