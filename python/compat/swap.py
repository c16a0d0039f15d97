"""A plugin of pytest: ``marquetry.parquet`` in the place of ``pyarrow.parquet``. Loaded with ``-p`` before anything is collected."""

import pyarrow  # noqa: F401

import marquetry.parquet

marquetry.parquet.install()
