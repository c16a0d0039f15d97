"""Values of filters, as a predicate has them: those of Python, pyarrow, numpy and pandas."""

from __future__ import annotations

import datetime
import decimal
import math
import re
import uuid
from typing import Any

# Nanoseconds of each unit of instants and spans, by its name in numpy and in Arrow.
_UNITS = {
    "W": 604_800_000_000_000, "D": 86_400_000_000_000, "h": 3_600_000_000_000, "m": 60_000_000_000, "s": 1_000_000_000,
    "ms": 1_000_000, "us": 1_000, "µs": 1_000, "ns": 1,
}  # fmt: skip


def is_null(value: Any) -> bool:
    """Whether a value is null, in the words of whichever library.

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
    """Whether a value is a number that is not a number."""
    value = number_of(value)
    return isinstance(value, float) and math.isnan(value)


def number_of(value: Any) -> Any:
    """A number of numpy or pyarrow as Python's own; another value as it is."""
    name = type(value).__name__
    if type(value).__module__ == "numpy" and name.startswith(("float", "int", "uint")):
        return value.item()
    if hasattr(value, "as_py") and re.fullmatch(r"(?:HalfFloat|Float|Double|U?Int\d+|Decimal\d+)Scalar", name):
        return value.as_py()
    return value


def is_span(value: Any) -> bool:
    """Whether a value is a span of time, which is a number of something to a predicate: of what, its column knows."""
    if isinstance(value, datetime.timedelta):
        return True
    return type(value).__name__ in ("timedelta64", "DurationScalar") and not is_null(value)


# In place of a unit, where there is no value to compare a span with: no such column, or one of groups or lists. The engine says so,
# whatever that is compared with; so it is given a number.
NO_VALUES = "no values"

_NESTED = re.compile(r"(?:FixedSize|Large)?List(?:View)?\(|Struct\(|Map\(|struct<|map<|(?:large_|fixed_size_)?list(?:_view)?<")


def is_nested(type_text: str) -> bool:
    """Whether a type has others in it, by its text."""
    return _NESTED.match(type_text) is not None


def unit_of(type_text: str | None) -> str | None:
    """What a column of durations counts, by the text of its type; ``None`` stands for no column.

    >>> unit_of("Duration(µs)"), unit_of("Int64"), unit_of("List(Int64)"), unit_of(None)
    ('us', None, 'no values', 'no values')
    """
    if type_text is None or is_nested(type_text):
        return NO_VALUES
    found = re.search(r"(?:Duration\(|duration\[)(s|ms|us|µs|ns)[\])]", type_text)
    return found[1].replace("µ", "u") if found else None


def day_of(value: Any) -> Any:
    """The day of an instant, which a list of days has for it in pyarrow; another value as it is.

    >>> day_of(datetime.datetime(2020, 1, 2, 3)), day_of(7)
    (datetime.date(2020, 1, 2), 7)
    """
    if isinstance(value, datetime.datetime) and not is_null(value):
        return value.date()
    if type(value).__name__ == "datetime64":
        return value.astype("datetime64[D]")
    return value


def literal(value: Any, unit: str | None = None) -> str:
    """A value as a predicate has it. ``unit`` is what its column counts, if it has durations.

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
        # One that is infinite is `inf`, without quotes: text is compared with none.
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
    """Fails if a time of pyarrow is none of a day: Python would have that of another day for it."""
    is_time = type(scalar).__name__ in ("Time32Scalar", "Time64Scalar")
    if is_time and not 0 <= scalar.value * _UNITS[scalar.type.unit] < _UNITS["D"]:
        raise ValueError(f"a time that is none of a day has no form in a predicate: {scalar.value} as {scalar.type}")


def _nanoseconds(scalar: Any) -> str | None:
    """A time or timestamp of pyarrow in nanoseconds, which Python's own do not have; ``None`` if it is none."""
    import pyarrow as pa

    data_type = scalar.type
    if getattr(data_type, "unit", None) != "ns":
        return None
    if pa.types.is_time(data_type):
        return f"time '{scalar.cast(pa.string()).as_py()}'"
    if not pa.types.is_timestamp(data_type):
        return None
    if data_type.tz is not None:
        # As text it would have the zone's own offset.
        scalar = scalar.cast(pa.timestamp("ns", "UTC"))
    return f"timestamp '{scalar.cast(pa.string()).as_py()}'"


def _instant(value: Any) -> str:
    """An instant of numpy, which gives a whole number as its item where Python's own do not hold it."""
    # Units are months or longer, or a number of something: datetime64[25s].
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
    """A span as a number of what its column counts, which need not be whole."""
    number = decimal.Decimal(_nanoseconds_of_span(value)).scaleb(-9 + {"s": 0, "ms": 3, "us": 6, "ns": 9}[unit], _EXACT)
    return format(number.to_integral_value() if number == number.to_integral_value(context=_EXACT) else number, "f")


_EXACT = decimal.Context(prec=60)


def _nanoseconds_of_span(value: Any) -> int:
    if type(value).__name__ == "timedelta64":
        name, count = _unit_of_numpy(value)
        if name not in _UNITS:
            raise ValueError(f"a value of type {value.dtype} has no form in a predicate: it is no number of nanoseconds")
        return int(value.astype("int64")) * count * _UNITS[name]
    if hasattr(value, "as_py"):
        return int(value.value) * _UNITS[value.type.unit]
    # One of pandas has nanoseconds besides.
    whole = datetime.timedelta(days=value.days, seconds=value.seconds, microseconds=value.microseconds)
    return whole // datetime.timedelta(microseconds=1) * 1000 + int(getattr(value, "nanoseconds", 0))


def _unit_of_numpy(value: Any) -> tuple[str, int]:
    found = re.search(r"\[(\d*)(\w+)\]", str(value.dtype))
    return (found[2], int(found[1] or 1)) if found else ("generic", 1)
