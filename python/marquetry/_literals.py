"""Literals of predicates from values of Python, pyarrow, numpy and pandas."""

from __future__ import annotations

import datetime
import decimal
import math
import re
import uuid
from typing import Any

# Nanoseconds of each unit of timestamps and durations, by its name in numpy and Arrow.
_UNITS = {
    "W": 604_800_000_000_000, "D": 86_400_000_000_000, "h": 3_600_000_000_000, "m": 60_000_000_000, "s": 1_000_000_000,
    "ms": 1_000_000, "us": 1_000, "µs": 1_000, "ns": 1,
}  # fmt: skip


def is_null(value: Any) -> bool:
    """Returns whether a value is null, in any of the libraries.

    >>> is_null(None), is_null(0)
    (True, False)
    """
    if value is None:
        return True
    kind = type(value)
    if hasattr(value, "as_py"):
        return not value.is_valid
    if kind.__module__.startswith("pandas."):
        return kind.__name__ in ("NaTType", "NAType")
    return kind.__module__ == "numpy" and kind.__name__ in ("datetime64", "timedelta64") and str(value) == "NaT"


def is_nan(value: Any) -> bool:
    """Returns whether a value is NaN."""
    value = number_of(value)
    return isinstance(value, float) and math.isnan(value)


def number_of(value: Any) -> Any:
    """Converts a number of numpy or pyarrow to Python's; returns other values as they are."""
    name = type(value).__name__
    if type(value).__module__ == "numpy" and name.startswith(("float", "int", "uint")):
        return value.item()
    if hasattr(value, "as_py") and re.fullmatch(r"(?:HalfFloat|Float|Double|U?Int\d+|Decimal\d+)Scalar", name):
        return value.as_py()
    return value


def is_span(value: Any) -> bool:
    """Returns whether a value is a duration. A predicate has it as a number, in the unit of its column."""
    if isinstance(value, datetime.timedelta):
        return True
    return type(value).__name__ in ("timedelta64", "DurationScalar") and not is_null(value)


# Stands for a unit if there are no values to compare a duration with: no such column, or a struct or list. The engine reports that for
# any literal, so it gets a number.
NO_VALUES = "no values"

_NESTED = re.compile(r"(?:FixedSize|Large)?List(?:View)?\(|Struct\(|Map\(|struct<|map<|(?:large_|fixed_size_)?list(?:_view)?<")


def is_nested(type_text: str) -> bool:
    """Returns whether a type is nested, by its text."""
    return _NESTED.match(type_text) is not None


def unit_of(type_text: str | None) -> str | None:
    """Returns the unit of a column of durations, by the text of its type.

    Returns ``None`` for other types, and ``NO_VALUES`` for nested types, and if there is no such column (``None``).

    >>> unit_of("Duration(µs)"), unit_of("Int64"), unit_of("List(Int64)"), unit_of(None)
    ('us', None, 'no values', 'no values')
    """
    if type_text is None or is_nested(type_text):
        return NO_VALUES
    found = re.search(r"(?:Duration\(|duration\[)(s|ms|us|µs|ns)[\])]", type_text)
    return found[1].replace("µ", "u") if found else None


def day_of(value: Any) -> Any:
    """Returns the date of a timestamp, as pyarrow casts it in a list for a column of dates; returns other values as they are.

    >>> day_of(datetime.datetime(2020, 1, 2, 3)), day_of(7)
    (datetime.date(2020, 1, 2), 7)
    """
    if isinstance(value, datetime.datetime) and not is_null(value):
        return value.date()
    if type(value).__name__ == "datetime64":
        return value.astype("datetime64[D]")
    return value


def literal(value: Any, unit: str | None = None) -> str:
    """Returns a value as a literal of a predicate. ``unit`` is the unit of its column, if that has durations.

    >>> literal("it's"), literal(1.5), literal(None), literal(b"\\x0a"), literal(float("-inf"))
    ("'it''s'", '1.5', 'null', "X'0a'", '-inf')
    >>> literal(datetime.timedelta(milliseconds=1), "us")
    '1000'
    """
    if is_null(value):
        return "null"
    if is_span(value):
        if unit is None:
            raise TypeError("a span of time is compared with a column of durations, and with no other")
        return "0" if unit == NO_VALUES else _span(value, unit)
    if hasattr(value, "as_py"):
        _check_time(value)
        nanoseconds = _nanoseconds(value)
        if nanoseconds is not None:
            return nanoseconds
        try:
            value = value.as_py()
        except OverflowError:
            raise _outside(value.type) from None
    elif type(value).__module__ == "numpy" and hasattr(value, "item"):
        if type(value).__name__ == "datetime64":
            return _instant(value)
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        if math.isnan(value):
            raise ValueError("NaN has no form in a predicate")
        # Infinity is `inf`, without quotes: quoted text cannot be compared with numbers.
        return repr(float(value))
    if isinstance(value, decimal.Decimal) and value.is_finite():
        return format(value, "f")
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"X'{bytes(value).hex()}'"
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
            return f"timestamp '{value.isoformat(sep=' ')}Z'"
        return f"timestamp '{value.isoformat(sep=' ')}'"
    if isinstance(value, datetime.date):
        return f"date '{value.isoformat()}'"
    if isinstance(value, datetime.time) and value.tzinfo is None:
        return f"time '{value.isoformat()}'"
    if isinstance(value, uuid.UUID):
        return f"X'{value.bytes.hex()}'"
    raise TypeError(f"a value of type {type(value).__name__} has no form in a predicate")


def _outside(data_type: Any) -> ValueError:
    return ValueError(
        f"a value of type {data_type} that is outside of the years 1 to 9999 has no form in a predicate: "
        "filter the rows after they are read"
    )


def _check_time(scalar: Any) -> None:
    """Fails if a pyarrow time is outside of a day: Python would silently convert it to a time within the day."""
    is_time = type(scalar).__name__ in ("Time32Scalar", "Time64Scalar")
    if is_time and not 0 <= scalar.value * _UNITS[scalar.type.unit] < _UNITS["D"]:
        raise ValueError(f"a time that is none of a day has no form in a predicate: {scalar.value} as {scalar.type}")


def _nanoseconds(scalar: Any) -> str | None:
    """Returns the literal of a pyarrow time or timestamp in nanoseconds, which Python's types do not have; ``None`` for other values."""
    import pyarrow as pa

    data_type = scalar.type
    if getattr(data_type, "unit", None) != "ns":
        return None
    if pa.types.is_time(data_type):
        return f"time '{scalar.cast(pa.string()).as_py()}'"
    if not pa.types.is_timestamp(data_type):
        return None
    if data_type.tz is not None:
        # Otherwise its text would have the offset of its zone.
        scalar = scalar.cast(pa.timestamp("ns", "UTC"))
    return f"timestamp '{scalar.cast(pa.string()).as_py()}'"


def _instant(value: Any) -> str:
    """Returns the literal of a numpy timestamp. Its ``item()`` would be an integer where Python's types cannot hold it."""
    # A unit may be a multiple, as in datetime64[25s], and as long as a year.
    name, count = _unit_of_numpy(value)
    if name in ("Y", "M", "W", "D"):
        day = value.astype("datetime64[D]").item()
        if not isinstance(day, datetime.date):
            raise _outside(value.dtype)
        return f"date '{day.isoformat()}'"
    if name not in _UNITS:
        raise ValueError(f"a value of type {value.dtype} has no form in a predicate: nanoseconds are the shortest unit")
    seconds, rest = divmod(int(value.astype("int64")) * count * _UNITS[name], _UNITS["s"])
    try:
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    except OverflowError:
        raise _outside(value.dtype) from None
    return f"timestamp '{moment.isoformat(sep=' ')}" + (f".{rest:09d}'" if rest else "'")


def _span(value: Any, unit: str) -> str:
    """Returns a duration as a number in the unit of its column, which may have a fraction."""
    number = decimal.Decimal(_nanoseconds_of_span(value)).scaleb(-9 + {"s": 0, "ms": 3, "us": 6, "ns": 9}[unit], _EXACT)
    return format(number.to_integral_value() if number == number.to_integral_value(context=_EXACT) else number, "f")


_EXACT = decimal.Context(prec=60)


def _nanoseconds_of_span(value: Any) -> int:
    if type(value).__name__ == "timedelta64":
        name, count = _unit_of_numpy(value)
        if name not in _UNITS:
            raise ValueError(f"a value of type {value.dtype} has no form in a predicate: it is not a number of nanoseconds")
        return int(value.astype("int64")) * count * _UNITS[name]
    if hasattr(value, "as_py"):
        return int(value.value) * _UNITS[value.type.unit]
    # A pandas timedelta has nanoseconds, too.
    whole = datetime.timedelta(days=value.days, seconds=value.seconds, microseconds=value.microseconds)
    return whole // datetime.timedelta(microseconds=1) * 1000 + int(getattr(value, "nanoseconds", 0))


def _unit_of_numpy(value: Any) -> tuple[str, int]:
    found = re.search(r"\[(\d*)(\w+)\]", str(value.dtype))
    return (found[2], int(found[1] or 1)) if found else ("generic", 1)
