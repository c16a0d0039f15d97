"""Rows that tests of the package write, and how they are compared."""

import pyarrow as pa

TABLE = pa.table(
    {
        "id": pa.array(range(10_000), pa.int64()),
        "name": pa.array([None if i % 7 == 0 else f"name {i % 100}" for i in range(10_000)]),
        "score": pa.array([float("nan") if i % 11 == 0 else i / 3 for i in range(10_000)]),
        "tags": pa.array([[str(i)] * (i % 3) for i in range(10_000)]),
    }
)


def rows(table: object) -> list[dict[str, object]]:
    # NaN is not equal to itself: as text.
    return [{name: repr(value) for name, value in row.items()} for row in pa.table(table).to_pylist()]
