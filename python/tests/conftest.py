"""What tests have in common. Rows are in `samples.py` and `mixed.py`, keys in `kms.py`."""

import pathlib

import pytest

import marquetry
from samples import TABLE

WINES = str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "wines.parquet")


@pytest.fixture
def wines() -> str:
    return WINES


@pytest.fixture
def path(tmp_path: pathlib.Path) -> str:
    """A file of four row groups."""
    path = str(tmp_path / "t.parquet")
    marquetry.write(TABLE, path, row_group_rows=3000)
    return path
