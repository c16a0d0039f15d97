"""A drop-in replacement for ``pyarrow.parquet``: the same names, arguments and defaults.

>>> import marquetry.parquet as pq
>>> pq.read_table(WINES).num_rows
200

Requires pyarrow: tables are pyarrow's. :func:`install` puts this module in the place of ``pyarrow.parquet``, for pandas and other
libraries that import it by name.
"""

from __future__ import annotations

from .core import *  # noqa: F403
from .core import _filters_to_expression as _filters_to_expression
from ._install import install as install
