"""What tests and the examples in docstrings have."""

import pathlib
from typing import Any

import pytest

WINES = str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "wines.parquet")


@pytest.fixture
def wines() -> str:
    return WINES
