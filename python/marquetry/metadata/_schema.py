"""The Parquet schema, with the names of ``pyarrow.parquet``."""

from __future__ import annotations

import json
from typing import Any, Iterator

from .._marquetry import Footer



class ParquetLogicalType:
    """The logical type of a column: what its values mean."""

    _name: str
    _facts: dict[str, Any]
    _from_converted: bool

    def __init__(self) -> None:
        raise TypeError("Do not call ParquetLogicalType's constructor directly")

    @classmethod
    def _of(cls, element: dict[str, Any]) -> ParquetLogicalType:
        self = object.__new__(cls)
        logical = element["logical"]
        self._from_converted = logical is None
        self._name, self._facts = logical if logical is not None else _meaning(element)
        return self

    @property
    def type(self) -> str:
        """Name of the type in upper case."""
        return {"Null": "UNKNOWN"}.get(self._name, self._name.upper())

    def _members(self) -> dict[str, Any]:
        facts = self._facts
        if self._name == "Int":
            return {"bitWidth": facts["bits"], "isSigned": facts["signed"]}
        if self._name == "Decimal":
            return {"precision": facts["precision"], "scale": facts["scale"]}
        if self._name in ("Time", "Timestamp"):
            members = {"isAdjustedToUTC": facts["utc"], "timeUnit": facts["unit"]}
            if self._name == "Timestamp":
                members |= {"is_from_converted_type": self._from_converted, "force_set_converted_type": False}
            return members
        if self._name == "Geography":
            return {"crs": facts["crs"] or "", "algorithm": facts["algorithm"] or "spherical"}
        return {name: value if value is not None else "" for name, value in facts.items()}

    def to_json(self) -> str:
        """Converts the type to JSON text."""
        members = {name: value for name, value in self._members().items() if (name, value) not in _DEFAULTS}
        return json.dumps({"Type": self._name, **members}, separators=(",", ":"))

    def __str__(self) -> str:
        members = self._members()
        if self._name == "Variant":
            # 1 is the version of VARIANT's specification.
            return "Variant(1)"
        if not members:
            return self._name
        shown = ", ".join(f"{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in members.items())
        return f"{self._name}({shown})"

    def __repr__(self) -> str:
        return f"{object.__repr__(self)}\n  {self}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ParquetLogicalType) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


# Members that JSON leaves out.
_DEFAULTS = (("crs", ""), ("algorithm", "spherical"))


def _meaning(element: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Returns the logical type of a converted type, the older annotation."""
    converted = element["converted"]
    if converted is None:
        return "None", {}
    if converted == "DECIMAL":
        return "Decimal", {"precision": element["precision"] or 0, "scale": element["scale"] or 0}
    if converted.startswith(("INT_", "UINT_")):
        return "Int", {"bits": int(converted.rsplit("_", 1)[1]), "signed": not converted.startswith("U")}
    if converted.startswith(("TIME_", "TIMESTAMP_")):
        unit = {"MILLIS": "milliseconds", "MICROS": "microseconds"}[converted.rsplit("_", 1)[1]]
        return ("Timestamp" if converted.startswith("TIMESTAMP") else "Time"), {"utc": True, "unit": unit}
    names = {
        "UTF8": "String", "MAP": "Map", "MAP_KEY_VALUE": "Map", "LIST": "List", "ENUM": "Enum", "DATE": "Date",
        "JSON": "JSON", "BSON": "BSON", "INTERVAL": "Interval", _NULLS: "Null",
    }  # fmt: skip
    return names.get(converted, "None"), {}


# QUIRK: parquet-cpp wrote this of columns of nulls, before there was a logical type for them.
_NULLS = "UNKNOWN(24)"


def _converted(element: dict[str, Any]) -> str:
    """Returns the converted type of a node: that of its logical type, if it has one, whether or not the file stores it."""
    if element["logical"] is None:
        converted: str = element["converted"] or "NONE"
        return "UNKNOWN" if converted == _NULLS else converted
    name, facts = element["logical"]
    if name == "Int":
        return f"{'' if facts['signed'] else 'U'}INT_{facts['bits']}"
    if name in ("Time", "Timestamp"):
        unit = {"milliseconds": "MILLIS", "microseconds": "MICROS"}.get(facts["unit"])
        # Local times and nanoseconds have no converted type.
        return f"{name.upper()}_{unit}" if facts["utc"] and unit else "NONE"
    of_name = {"String": "UTF8", "Map": "MAP", "List": "LIST", "Enum": "ENUM", "Decimal": "DECIMAL", "Date": "DATE", "JSON": "JSON", "BSON": "BSON"}
    return of_name.get(name, "NONE")


def _repetition(element: dict[str, Any]) -> str:
    """Returns the repetition of a node: REQUIRED if the file does not store one."""
    return element["repetition"] or "REQUIRED"


class ColumnSchema:
    """The schema of a column: a leaf of the Parquet schema."""

    def __init__(self, schema: ParquetSchema, index: int) -> None:
        self._schema, self._index = schema, index
        self._leaf = schema._leaves[index]

    name = property(lambda self: self._leaf["name"], doc="Name of the leaf: the last one of the path.")
    path = property(lambda self: ".".join(self._leaf["path"]), doc="Dotted path of the column.")
    max_definition_level = property(lambda self: self._leaf["max_def"], doc="Optional and repeated nodes on the path.")
    max_repetition_level = property(lambda self: self._leaf["max_rep"], doc="Repeated nodes on the path.")
    physical_type = property(lambda self: self._leaf["type"], doc="Physical type of the values.")

    @property
    def logical_type(self) -> ParquetLogicalType:
        """Logical type of the values."""
        return ParquetLogicalType._of(self._leaf)

    @property
    def converted_type(self) -> str:
        """Converted type, the older annotation for the logical type; ``NONE`` without one."""
        return _converted(self._leaf)

    @property
    def length(self) -> int:
        """Length of a FIXED_LEN_BYTE_ARRAY in bytes; 0 for other types."""
        return self._leaf["type_length"] or 0

    @property
    def precision(self) -> int:
        """Precision of a decimal, in digits; -1 for other types."""
        return self._decimal("precision")

    @property
    def scale(self) -> int:
        """Scale of a decimal: digits after the point; -1 for other types."""
        return self._decimal("scale")

    def _decimal(self, name: str) -> int:
        logical = self.logical_type
        return int(logical._facts[name]) if logical._name == "Decimal" else -1

    def equals(self, other: ColumnSchema) -> bool:
        """Returns whether both columns have the same path, types and levels."""
        return _signature(self._leaf) == _signature(other._leaf)

    def __eq__(self, other: object) -> bool:
        return self.equals(other) if isinstance(other, ColumnSchema) else NotImplemented

    def __hash__(self) -> int:
        return hash(_signature(self._leaf))

    def __repr__(self) -> str:
        converted = self.converted_type
        if converted == "DECIMAL":
            converted = f"DECIMAL({self.precision}, {self.scale})"
        return (
            f"<ParquetColumnSchema>\n  name: {self.name}\n  path: {self.path}\n"
            f"  max_definition_level: {self.max_definition_level}\n"
            f"  max_repetition_level: {self.max_repetition_level}\n  physical_type: {self.physical_type}\n"
            f"  logical_type: {self.logical_type}\n  converted_type (legacy): {converted}"
        )


def _signature(leaf: dict[str, Any]) -> tuple[Any, ...]:
    return (
        tuple(leaf["path"]), leaf["type"], leaf["type_length"], _converted(leaf), str(ParquetLogicalType._of(leaf)),
        leaf["max_def"], leaf["max_rep"],
    )  # fmt: skip


class ParquetSchema:
    """The Parquet schema of a file: a tree whose leaves are the columns. A sequence of :class:`ColumnSchema`."""

    def __init__(self, container: Any) -> None:
        if container is None or not hasattr(container, "_footer"):
            raise TypeError("a ParquetSchema is that of a FileMetaData")
        self._metadata = container
        footer: Footer = container._footer
        self._elements = footer.elements()
        self._leaves = list(_leaves(self._elements))

    def __len__(self) -> int:
        return len(self._leaves)

    def __getitem__(self, i: int) -> ColumnSchema:
        return self.column(i)

    def __iter__(self) -> Iterator[ColumnSchema]:
        return (self.column(i) for i in range(len(self)))

    @property
    def names(self) -> list[str]:
        """Names of the leaves: the last ones of the columns' paths."""
        return [leaf["name"] for leaf in self._leaves]

    def column(self, i: int) -> ColumnSchema:
        """Returns a column by its number. Raises ``IndexError`` if there is no such column."""
        if not 0 <= i < len(self):
            raise IndexError(f"{i} out of bounds")
        return ColumnSchema(self, i)

    def to_arrow_schema(self) -> Any:
        """Converts the schema to a ``pyarrow.Schema``."""
        return self._metadata._arrow_schema()

    def equals(self, other: ParquetSchema) -> bool:
        """Returns whether both schemas are equal, apart from the root."""
        return self._signature() == other._signature()

    def _signature(self) -> tuple[Any, ...]:
        return tuple(
            (*(element[key] for key in _KEYS), _repetition(element), _converted(element), str(ParquetLogicalType._of(element)))
            # Without the root, for which some writers store a repetition.
            for element in self._elements[1:]
        )

    def __eq__(self, other: object) -> bool:
        return self.equals(other) if isinstance(other, ParquetSchema) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._signature())

    def __reduce__(self) -> Any:
        return ParquetSchema, (self._metadata,)

    def __repr__(self) -> str:
        lines: list[str] = []
        _print(self._elements, 0, 0, lines)
        return f"{object.__repr__(self)}\n" + "\n".join(lines) + "\n"


_KEYS = ("name", "type", "type_length", "num_children", "precision", "scale")


def _leaves(elements: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yields the leaves with their paths and levels. Does not recurse, as schemas may be deep."""
    open_nodes: list[list[Any]] = []  # path, definition level, repetition level, number of children that are left
    for element in elements:
        path, max_def, max_rep = ([], 0, 0) if not open_nodes else (open_nodes[-1][0] + [element["name"]], *open_nodes[-1][1:3])
        if open_nodes:
            open_nodes[-1][3] -= 1
            max_def += _repetition(element) != "REQUIRED"
            max_rep += _repetition(element) == "REPEATED"
        if element["num_children"]:
            open_nodes.append([path, max_def, max_rep, element["num_children"]])
        elif element["type"] is not None:
            yield {**element, "path": path, "max_def": max_def, "max_rep": max_rep}
        while open_nodes and open_nodes[-1][3] == 0:
            open_nodes.pop()


def _print(elements: list[dict[str, Any]], at: int, depth: int, lines: list[str]) -> int:
    element = elements[at]
    indent = "  " * depth
    repetition = _repetition(element).lower()
    field_id = element["field_id"] if element["field_id"] is not None else -1
    logical = ParquetLogicalType._of(element)
    annotation = f" ({logical})" if logical._name != "None" else ""
    at += 1
    if element["type"] is None:
        lines.append(f"{indent}{repetition} group field_id={field_id} {element['name']}{annotation} {{")
        for _ in range(element["num_children"] or 0):
            at = _print(elements, at, depth + 1, lines)
        lines.append(f"{indent}}}")
        return at
    kind = {"BYTE_ARRAY": "binary", "FIXED_LEN_BYTE_ARRAY": f"fixed_len_byte_array({element['type_length']})"}
    name = kind.get(element["type"], element["type"].lower())
    lines.append(f"{indent}{repetition} {name} field_id={field_id} {element['name']}{annotation};")
    return at
