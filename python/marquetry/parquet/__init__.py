"""The names of ``pyarrow.parquet``, with their arguments and defaults.

>>> import marquetry.parquet as pq
>>> pq.read_table(WINES).num_rows
200

pyarrow is needed: tables are its own. :func:`install` puts this module in the place of ``pyarrow.parquet``, for pandas and others
that import it by name.
"""

from __future__ import annotations

from .core import *  # noqa: F403
from .core import _filters_to_expression as _filters_to_expression
from ._install import install as install
