"""Names that the examples in docstrings use: a file, and a folder to write to."""

import pathlib
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _names(doctest_namespace: dict[str, Any], tmp_path: pathlib.Path) -> None:
    doctest_namespace["WINES"] = str(pathlib.Path(__file__).resolve().parents[1] / "examples" / "wines.parquet")
    doctest_namespace["FOLDER"] = str(tmp_path)
