"""Statistics of column chunks, with the names of ``pyarrow.parquet``."""

from __future__ import annotations

import datetime
import decimal
import struct
import zoneinfo
from typing import Any

from ._schema import ColumnSchema, ParquetLogicalType


class Statistics:
    """Statistics of a column chunk: bounds and counts."""

    _raw: dict[str, Any]
    _column: ColumnSchema
    _entries: int
    _bounds: str | None

    def __init__(self) -> None:
        raise TypeError("Do not call Statistics's constructor directly")

    @classmethod
    def _of(cls, raw: dict[str, Any], column: ColumnSchema, entries: int, bounds: str | None) -> Statistics:
        """Makes statistics. ``bounds`` are the trusted bounds, ``value`` or the older ``deprecated`` ones, or ``None`` if none are."""
        self = object.__new__(cls)
        self._raw, self._column, self._entries, self._bounds = raw, column, entries, bounds
        return self

    def _bound(self, name: str) -> bytes | None:
        if self._bounds is None:
            return None
        value: bytes | None = self._raw[f"{name}_value" if self._bounds == "value" else name]
        return value

    @property
    def has_min_max(self) -> bool:
        """Whether there are both bounds, and their order is known."""
        return self._bound("min") is not None and self._bound("max") is not None

    @property
    def has_null_count(self) -> bool:
        """Whether there is a null count."""
        return self._raw["null_count"] is not None

    @property
    def has_distinct_count(self) -> bool:
        """Whether there is a distinct count."""
        return self._raw["distinct_count"] is not None

    @property
    def null_count(self) -> int | None:
        """Number of nulls; ``None`` if unknown."""
        count: int | None = self._raw["null_count"]
        return count

    @property
    def distinct_count(self) -> int | None:
        """Number of distinct values; ``None`` if unknown."""
        count: int | None = self._raw["distinct_count"]
        return count

    @property
    def num_values(self) -> int:
        """Number of values, without nulls if these were counted."""
        return self._entries - (self.null_count or 0)

    @property
    def min_raw(self) -> Any:
        """Lower bound as a value of the physical type; ``None`` without bounds."""
        return self._physical("min")

    @property
    def max_raw(self) -> Any:
        """Upper bound as a value of the physical type; ``None`` without bounds."""
        return self._physical("max")

    @property
    def min(self) -> Any:
        """Lower bound as a value of the logical type; ``None`` without bounds.

        A timestamp in nanoseconds is a ``pandas.Timestamp``, or without pandas the number of nanoseconds since 1970.
        """
        return self._logical("min")

    @property
    def max(self) -> Any:
        """Upper bound as a value of the logical type, like :attr:`min`; ``None`` without bounds."""
        return self._logical("max")

    def _physical(self, name: str) -> Any:
        raw = self._bound(name)
        if not self.has_min_max or raw is None:
            return None
        return _physical(raw, self._column.physical_type)

    def _logical(self, name: str) -> Any:
        value = self._physical(name)
        return None if value is None else logical_value(value, self._column)

    @property
    def physical_type(self) -> str:
        """Physical type of the values."""
        return str(self._column.physical_type)

    @property
    def logical_type(self) -> ParquetLogicalType:
        """Logical type of the values."""
        return self._column.logical_type

    @property
    def converted_type(self) -> str:
        """Converted type, the older annotation for the logical type."""
        return self._column.converted_type

    def to_dict(self) -> dict[str, Any]:
        """Converts the statistics to a dictionary."""
        names = ("has_min_max", "min", "max", "null_count", "distinct_count", "num_values", "physical_type")
        return {name: getattr(self, name) for name in names}

    def equals(self, other: Statistics) -> bool:
        """Returns whether both are equal, and of equal columns."""
        same = (self._raw, self._bounds, self._entries) == (other._raw, other._bounds, other._entries)
        return same and self._column.equals(other._column)

    def __eq__(self, other: object) -> bool:
        return self.equals(other) if isinstance(other, Statistics) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lines = [f"  {name}: {value}" for name, value in self.to_dict().items()]
        lines += [f"  logical_type: {self.logical_type}", f"  converted_type (legacy): {self.converted_type}"]
        return "\n".join([object.__repr__(self), *lines])


_FORMATS = {"INT32": "<i", "INT64": "<q", "FLOAT": "<f", "DOUBLE": "<d"}


def _physical(raw: bytes, physical: str) -> Any:
    if physical == "BOOLEAN":
        return bool(raw[0]) if raw else None
    if physical in _FORMATS:
        try:
            return struct.unpack(_FORMATS[physical], raw)[0]
        except struct.error:
            return None
    return raw


_EPOCH = datetime.datetime(1970, 1, 1)


def logical_value(value: Any, column: ColumnSchema) -> Any:
    """Converts a value of the physical type to one of the logical type."""
    logical = column.logical_type
    name, facts = logical._name, logical._facts
    if name == "String" and isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    if name == "Decimal":
        digits = int.from_bytes(value, "big", signed=True) if isinstance(value, bytes) else value
        with decimal.localcontext() as context:
            context.prec = 1000
            return decimal.Decimal(digits).scaleb(-facts["scale"])
    if name == "Int" and isinstance(value, int):
        return value if facts["signed"] else value % (1 << (32 if column.physical_type == "INT32" else 64))
    if name == "Date":
        return _EPOCH.date() + datetime.timedelta(days=value)
    if name in ("Time", "Timestamp"):
        return _time_value(value, name, facts)
    return value


def _nanoseconds(value: int, is_utc: bool) -> Any:
    """Converts a timestamp in nanoseconds. All values of a column get the same type, even those that ``datetime`` could hold."""
    try:
        import pandas as pd
    except ImportError:
        return value
    return pd.Timestamp(value, unit="ns", tz="UTC" if is_utc else None)


def _time_value(value: int, name: str, facts: dict[str, Any]) -> Any:
    unit = facts["unit"]
    if name == "Timestamp" and unit == "nanoseconds":
        return _nanoseconds(value, facts["utc"])
    try:
        micros = {"milliseconds": value * 1000, "microseconds": value}.get(unit, value // 1000)
        moment = _EPOCH + datetime.timedelta(microseconds=micros)
    except OverflowError:
        # Beyond the range of Python's types.
        return value
    if name == "Time":
        return moment.time()
    return moment.replace(tzinfo=zoneinfo.ZoneInfo("UTC")) if facts["utc"] else moment


class GeoStatistics:
    """Geospatial statistics of a column chunk: bounding box and kinds of its geometries."""

    _raw: dict[str, Any]

    @classmethod
    def _of(cls, raw: dict[str, Any]) -> GeoStatistics:
        self = object.__new__(cls)
        self._raw = raw
        return self

    @property
    def geospatial_types(self) -> list[int] | None:
        """Kinds of geometries, as their codes in well-known binary; ``None`` if unknown."""
        kinds = self._raw["types"]
        return sorted(kinds) if kinds else None

    xmin = property(lambda self: self._raw.get("xmin"))
    xmax = property(lambda self: self._raw.get("xmax"))
    ymin = property(lambda self: self._raw.get("ymin"))
    ymax = property(lambda self: self._raw.get("ymax"))
    zmin = property(lambda self: self._raw.get("zmin"))
    zmax = property(lambda self: self._raw.get("zmax"))
    mmin = property(lambda self: self._raw.get("mmin"))
    mmax = property(lambda self: self._raw.get("mmax"))

    def to_dict(self) -> dict[str, Any]:
        """Converts the statistics to a dictionary."""
        names = ("geospatial_types", "xmin", "xmax", "ymin", "ymax", "zmin", "zmax", "mmin", "mmax")
        return {name: getattr(self, name) for name in names}

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        # Programs with pyarrow test isinstance with pyarrow's class.
        import sys

        theirs = getattr(sys.modules.get("pyarrow._parquet"), "GeoStatistics", None)
        return theirs if theirs is not None else GeoStatistics

    def __repr__(self) -> str:
        return "\n".join([object.__repr__(self), *(f"  {name}: {value}" for name, value in self.to_dict().items())])
