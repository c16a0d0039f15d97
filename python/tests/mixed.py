"""A table of many types, for tests against pyarrow, and how tables are compared."""

import datetime
import decimal

import pyarrow as pa

DAY = datetime.datetime(2020, 2, 29, 12, 30, 1, 5)
TABLE = pa.table(
    {
        "i": pa.array([1, None, -3] * 100, pa.int32()),
        "u": pa.array([1, None, 2**63] * 100, pa.uint64()),
        "f": pa.array([1.5, float("nan"), None] * 100),
        "s": pa.array(["a", None, "ö"] * 100),
        "ls": pa.array(["a", None, "ö"] * 100, pa.large_string()),
        "b": pa.array([b"a", None, b""] * 100),
        "t": pa.array([DAY, None, DAY] * 100, pa.timestamp("us", "Europe/Berlin")),
        "d": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-9.99")] * 100, pa.decimal128(9, 2)),
        "day": pa.array([DAY.date(), None, DAY.date()] * 100),
        "l": pa.array([[1, None], None, []] * 100),
        "st": pa.array([{"u": 1, "v": "x"}, None, {"u": None, "v": "y"}] * 100),
        "m": pa.array([[("k", 1)], None, []] * 100, pa.map_(pa.string(), pa.int32())),
        "c": pa.DictionaryArray.from_arrays(pa.array([2, None, 0] * 100, pa.int32()), ["x", "y", "z"]),
        "dur": pa.array([5, None, 7] * 100, pa.duration("ms")),
        "fixed": pa.array([b"abc", None, b"def"] * 100, pa.binary(3)),
        "flag": pa.array([True, None, False] * 100),
    }
)


def same(left: pa.Table, right: pa.Table) -> bool:
    return left.schema.equals(right.schema) and left.to_pylist().__repr__() == right.to_pylist().__repr__()
