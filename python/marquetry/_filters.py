"""Filters: converts pyarrow's lists and expressions to the text of a predicate.

A filter is one of

- text, as in SQL's WHERE clause: ``"country = 'DE' and amount > 100"``;
- a list of tuples, joined by and: ``[("country", "=", "DE"), ("amount", ">", 100)]``; a name may be a path into a VARIANT:
  ``[("payload:user.id::bigint", ">", 5)]``, or ``[("payload::bigint", ">", 5)]`` for the value itself;
- a list of such lists, joined by or: ``[[("a", "=", 1)], [("b", "in", {2, 3})]]``;
- a ``pyarrow.compute`` expression.

Tuples and expressions select the same rows as in pyarrow. In a column of 32-bit floats, no value equals 0.1, while text and lists of
values use the nearest float; and a list of timestamps selects days in a column of dates. There are two differences. Numbers are
compared exactly where pyarrow fails or rounds, for example integers with doubles. And 0.0 equals -0.0, also in lists of values.

For binary columns, ``bytes`` stand for themselves, and a ``str`` in tuples and expressions for its UTF-8 bytes. In text, a quoted value may
have the form in which bytes are shown: ``raw = 'a\\x00'`` is an a and a zero byte, like ``X'6100'``; bytes of fixed length are shown as
hexadecimal digits, ``'6100'``.

A filter that cannot be expressed as a predicate is an error; no part of it is ever left out.
"""

from __future__ import annotations

import re
import struct
from typing import Any, Callable, Iterable

from . import _narrow_floats
from ._literals import NO_VALUES, day_of, is_nan, is_null, is_span, literal, number_of, unit_of
from ._marquetry import Schema

_OPERATORS = {"=": "=", "==": "=", "!=": "!=", "<": "<", ">": ">", "<=": "<=", ">=": ">="}


def predicate(filter: Any, schema: Callable[[], Any] | None = None) -> str | None:
    """Returns the text of a filter; ``None`` without one.

    `schema` returns the Arrow schema of the filtered data, on which the meaning of some tuples and expressions depends.

    Raises ``TypeError`` or ``ValueError`` for a filter that cannot be expressed.

    >>> predicate([("country", "=", "DE"), ("amount", "not in", [1, 2])])
    "(country = 'DE' and (amount is null or not amount in (1, 2)))"
    """
    if filter is None or isinstance(filter, str):
        return filter
    if isinstance(filter, (list, tuple)):
        return _of_lists(filter, schema)
    module = type(filter).__module__
    if module.startswith("pyarrow"):
        return Program(filter, schema).text()
    raise TypeError(f"a filter is text, lists of tuples or an expression of pyarrow, not {type(filter).__name__}")


def _of_lists(filters: Any, schema: Callable[[], Any] | None) -> str:
    if not filters:
        raise ValueError("a filter without conditions")
    if isinstance(filters[0], tuple) and len(filters[0]) == 3 and isinstance(filters[0][1], str):
        filters = [filters]
    ors = []
    for conjunction in filters:
        if not conjunction:
            raise ValueError("a filter without conditions")
        ors.append("(" + " and ".join(_of_tuple(schema, *condition) for condition in conjunction) + ")")
    return ors[0] if len(ors) == 1 else "(" + " or ".join(ors) + ")"


def _of_tuple(schema: Callable[[], Any] | None, name: str, operator: str, value: Any) -> str:
    # As in pyarrow, a dot is part of the name.
    column = _column_or_path(name)
    if operator in ("in", "not in"):
        if not isinstance(value, Iterable):
            raise TypeError(f"{operator} takes a collection, not {type(value).__name__}")
        values = list(value)
        type_text = "" if schema is None else _type_text(name, schema) or ""
        if type_text.startswith("Date"):
            values = [day_of(item) for item in values]
        bits = _narrow_floats.float_bits(type_text)
        if bits is not None:
            values = [_narrow_floats.in_list(item, bits) for item in values]
        if type_text.startswith(("Int", "UInt", "Decimal")):
            values = _without_nan(values)
        values = _exact(values, [name], schema)
        inside = is_in(column, values, _unit(name, values, schema))
        # As in pyarrow, null is not in a list without null.
        has_null = any(is_null(item) for item in values)
        return inside if operator == "in" else f"(not {inside})" if has_null else f"({column} is null or not {inside})"
    if operator not in _OPERATORS:
        raise ValueError(f'"{operator}" is not a valid operator in predicates.')
    sign = _OPERATORS[operator]
    if is_nan(value):
        return _of_nan(column, sign)
    bits = None if schema is None else _narrow_floats.float_bits(_type_text(name, schema))
    by_neighbours = None if bits is None else _narrow_floats.comparison(column, sign, number_of(value), bits)
    return by_neighbours or f"{column} {sign} {literal(_exact([value], [name], schema)[0], _unit(name, [value], schema))}"


# The forms in which bytes are shown: of any length, and of a fixed length.
_SHOWN_BYTES = re.compile(r"[^\\]*(?:\\x[0-9A-Fa-f]{2}[^\\]*)+|[0-9A-Fa-f]+")


def _exact(values: list[Any], path: list[str], schema: Callable[[], Any] | None) -> list[Any]:
    """Replaces text that a predicate would take for shown bytes by its UTF-8 bytes, if the column of this path is binary."""
    if schema is None or not any(_is_shown(_text(value)) for value in values):
        return values
    of = schema()
    if not (of if isinstance(of, Schema) else Schema(of)).has_bytes(path):
        return values
    return [_text(value).encode() if _is_shown(_text(value)) else value for value in values]


def _text(value: Any) -> Any:
    """Converts a text scalar of pyarrow to Python's; returns other values as they are."""
    return value.as_py() if type(value).__name__ in ("StringScalar", "LargeStringScalar", "StringViewScalar") else value


def _is_shown(value: Any) -> bool:
    return isinstance(value, str) and _SHOWN_BYTES.fullmatch(value) is not None


def _unit(name: str, values: list[Any], schema: Callable[[], Any] | None) -> str | None:
    """Returns the unit of a column, if there are durations among the values."""
    if not any(is_span(value) for value in values):
        return None
    if schema is None:
        raise _no_schema()
    text = _type_text(name, schema)
    return None if text is None and _is_path(name) else unit_of(text)


def _type_text(name: str, schema: Callable[[], Any]) -> str | None:
    return next((text for field, text, _ in schema().fields() if field == name), None)


def _no_schema() -> TypeError:
    return TypeError("a span of time has no form where the types of columns are not known: give the number of what its column counts")


def _without_nan(values: list[Any]) -> list[Any]:
    """Returns the values of a list without NaN, which a column of integers or decimals never has."""
    return [value for value in values if not is_nan(value)]


def is_in(column: str, values: list[Any], unit: str | None = None) -> str:
    """Returns the predicate that a column is among values, which may include null and NaN."""
    parts = []
    plain = [value for value in values if not is_null(value) and not is_nan(value)]
    if plain:
        parts.append(f"{column} in ({', '.join(literal(value, unit) for value in plain)})")
    if any(is_nan(value) for value in values):
        parts.append(f"is_nan({column})")
    if any(is_null(value) for value in values):
        parts.append(f"{column} is null")
    if not parts:
        return "false"
    return parts[0] if len(parts) == 1 else "(" + " or ".join(parts) + ")"


_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_RESERVED = {
    "and", "or", "not", "in", "is", "null", "true", "false", "between", "like", "ilike", "date", "time", "timestamp", "x",
    "is_nan", "any", "all", "contains", "starts_with", "ends_with", "regexp_like", "cardinality", "escape", "unknown",
    "empty", "distinct", "from",
}  # fmt: skip


# A path into a VARIANT: `payload:user.id::bigint`. A column with this whole text as its name is also found.
_NAME = r'(?:[A-Za-z_]\w*|"(?:[^"]|"")*")'
_STEP = r'(?:[\w$-]+|"(?:[^"]|"")*")'
_STEPS = rf"(?:{_STEP}|\[(?:\d+|\*)\])(?:\.{_STEP}|\[(?:\d+|\*)\])*"
_TYPE = r"::\w+(?:\([^()]*\))?"
_PATH = re.compile(rf"{_NAME}(?:\.{_NAME})*(?::{_STEPS}(?:{_TYPE})?|{_TYPE})\Z", re.ASCII)


def _column_or_path(name: str) -> str:
    """Returns a name as it is written in a predicate.

    >>> _column_or_path("a.b"), _column_or_path("a:b.c[0]::bigint"), _column_or_path("a::bigint")
    ('"a.b"', 'a:b.c[0]::bigint', 'a::bigint')
    """
    return name if _is_path(name) else column_name([name])


def _is_path(name: str) -> bool:
    """Returns whether a name has the form of a path into a VARIANT."""
    return _PATH.match(name) is not None and name.split(":")[0].lower() not in _RESERVED


def column_name(path: list[str]) -> str:
    """Returns the names of a path as they are written in a predicate.

    >>> column_name(["a", "b.c"])
    'a."b.c"'
    """
    return ".".join(_quoted(name) for name in path)


def _quoted(name: str) -> str:
    if _WORD.match(name) and name.lower() not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


# pyarrow's expressions have no API to inspect them. Pickling one makes an Arrow file, whose metadata has the parts of the expression in
# order, and whose columns have the literals.


def _shown(expression: Any) -> str:
    try:
        return str(expression)
    except UnicodeDecodeError:
        # pyarrow truncates long expressions, possibly within a character.
        return "a long one"


class Program:
    """The parts of a pyarrow expression."""

    def __init__(self, expression: Any, schema: Callable[[], Any] | None = None) -> None:
        self._pairs, self._literals = _program(expression)
        self._schema = schema
        self._expression = expression
        self._parser: _Parser | None = None

    def _parsed(self) -> _Parser:
        if self._parser is None:
            self._parser = _Parser(self._pairs, self._literals, self._schema)
            self._parser.root = self._parser.part()
            if self._parser.at < len(self._pairs):
                raise ValueError(f"an expression that is not understood: {_shown(self._expression)}")
        return self._parser

    def text(self) -> str:
        """Returns the expression as the text of a predicate."""
        root = self._parsed().root
        assert root is not None
        return root.as_condition()

    def names(self) -> set[str]:
        """Returns the names of columns and of their fields."""
        return {value for key, value in self._pairs if key == "field_ref"}

    def compared(self) -> list[tuple[list[str], list[Any]]]:
        """Returns the paths of columns with the values that they are compared with. Functions of columns are not included."""
        return self._parsed().compared

    def listed(self) -> list[list[Any]]:
        """Returns the values of each list that a column is tested to be in."""
        return self._parsed().listed

    def asked(self) -> list[tuple[str, list[str]]]:
        """Returns the functions of columns besides comparisons, as pairs of name and path."""
        return self._parsed().asked


class _Part:
    """A part of an expression: a column, a literal, or a condition."""

    def __init__(self, kind: str, text: str, value: Any = None, path: list[str] | None = None) -> None:
        self.kind, self.text, self.value, self.path = kind, text, value, path

    def as_condition(self) -> str:
        if self.kind == "literal":
            if isinstance(self.value, bool):
                return self.text
            raise TypeError(f"{self.text} is not a condition")
        return self.text


_MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

_COMPARISONS = {
    "equal": "=", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
}  # fmt: skip


class _Parser:
    def __init__(self, program: list[tuple[str, str]], literals: Any, schema: Callable[[], Any] | None) -> None:
        self.program, self.literals, self.schema, self.at = program, literals, schema, 0
        self.asked: list[tuple[str, list[str]]] = []
        self.root: _Part | None = None
        self.compared: list[tuple[list[str], list[Any]]] = []
        self.listed: list[list[Any]] = []

    def next(self) -> tuple[str, str]:
        item = self.program[self.at]
        self.at += 1
        return item

    def part(self) -> _Part:
        key, value = self.next()
        if key == "literal":
            scalar = self.literals.column(int(value))[0]
            python = _python_of(scalar)
            text = "null" if python is None else "" if isinstance(python, (list, dict)) else _text_of(scalar)
            return _Part("literal", text, python)
        if key == "field_ref":
            return _Part("column", _column_or_path(value), path=[value])
        if key == "nested_field_ref":
            names = [self.next()[1] for _ in range(int(value))]
            return _Part("column", column_name(names), path=names)
        if key == "call":
            return self.call(value)
        raise ValueError(f"{key} in an expression is not understood")

    def call(self, name: str) -> _Part:
        arguments: list[_Part] = []
        options = None
        while True:
            key, value = self.program[self.at]
            if key == "end":
                if value != name:
                    raise ValueError(f"the end of {name} is missing")
                self.at += 1
                return _Part("condition", self.condition(name, arguments, options))
            if key == "options":
                self.at += 1
                options = _options_of(self.literals.column(int(value))[0])
                continue
            arguments.append(self.part())

    def condition(self, name: str, arguments: list[_Part], options: Any) -> str:
        if name in _COMPARISONS:
            return self.comparison(_COMPARISONS[name], *arguments)
        if name in ("and", "and_kleene", "or", "or_kleene"):
            word = name.split("_")[0]
            return f"({arguments[0].as_condition()} {word} {arguments[1].as_condition()})"
        if name == "invert":
            return f"(not {arguments[0].as_condition()})"
        if name == "is_in" and arguments[0].kind == "column":
            return self.is_in(arguments[0], options or {})
        if name in ("is_null", "is_valid", "is_nan", "starts_with"):
            return self.question(name, arguments[0], options or {})
        raise ValueError(f"{name} is not part of predicates: filter the rows after they are read")

    def question(self, name: str, column: _Part, options: dict[str, Any]) -> str:
        """Returns the predicate of a function of a single column."""
        if column.path is None:
            raise ValueError(f"{name} of something computed is not part of predicates: filter the rows after they are read")
        self.asked.append((name, column.path))
        if name == "is_valid":
            return f"{column.text} is not null"
        if name == "starts_with" and not options.get("ignore_case"):
            return f"starts_with({column.text}, {literal(options['pattern'])})"
        if name == "is_nan":
            # In pyarrow, values of other numeric types are never NaN; a predicate must not ask that of them.
            return _never(column.text) if self.kind(column.path) == "number" else f"is_nan({column.text})"
        if name == "is_null" and not (options.get("nan_is_null") and self.kind(column.path) in ("float", None)):
            return f"{column.text} is null"
        if name == "is_null":
            return f"({column.text} is null or is_nan({column.text}))"
        raise ValueError(f"{name} is not part of predicates: filter the rows after they are read")

    def kind(self, path: list[str]) -> str | None:
        """Returns the kind of a column: ``float``, another ``number``, or something ``else``; ``None`` if it is not known."""
        return None if self.schema is None else _kind(self.schema(), path)

    def as_in_column(self, values: Any, column: _Part) -> Any:
        """Casts a list of values to the type of a column, as pyarrow does; returns it as it is where that fails."""
        data_type = None if self.schema is None or column.path is None else _type_of(self.schema(), column.path)
        if data_type is None or not _are_of_a_kind(values.type, data_type):
            return values
        import pyarrow as pa

        try:
            return values.cast(data_type)
        except pa.ArrowException:
            return values

    def float_bits(self, path: list[str]) -> int | None:
        """Returns the width of a column's floats in bits; ``None`` if it has no floats, or its type is not known."""
        data_type = None if self.schema is None else _type_of(self.schema(), path)
        return None if data_type is None else _narrow_floats.float_bits(str(data_type))

    def unit(self, path: list[str]) -> str | None:
        """Returns the unit of a column of durations."""
        if self.schema is None:
            raise _no_schema()
        data_type = _type_of(self.schema(), path)
        if data_type is None:
            return None if len(path) == 1 and _is_path(path[0]) else NO_VALUES
        return unit_of(str(data_type))

    def comparison(self, sign: str, left: _Part, right: _Part) -> str:
        for side, other in ((left, right), (right, left)):
            if side.path is not None:
                self.compared.append((side.path, [other.value]))
        for side, other in ((left, right), (right, left)):
            if side.kind == "condition":
                raise ValueError("a comparison of something computed is not part of predicates")
            if is_span(side.value) and other.path is not None:
                side.text = literal(side.value, self.unit(other.path))
            if isinstance(side.value, str) and other.path is not None:
                side.text = literal(_exact([side.value], other.path, self.schema)[0])
            if is_nan(side.value):
                return _of_nan(other.text, sign)
        if left.kind == right.kind == "literal":
            raise ValueError("a comparison of two literals")
        for column, other, signs in ((left, right, None), (right, left, _MIRRORED)):
            bits = self.float_bits(column.path) if column.path is not None and other.kind == "literal" else None
            if bits is not None:
                sign_of_column = signs[sign] if signs else sign
                by_neighbours = _narrow_floats.comparison(column.text, sign_of_column, number_of(other.value), bits)
                if by_neighbours:
                    return by_neighbours
        return f"{left.text} {sign} {right.text}"

    def is_in(self, column: _Part, options: dict[str, Any]) -> str:
        given = options.get("value_set")
        if given is None:
            raise ValueError("is_in without a list of values")
        values = [_python_of(item) for item in self.as_in_column(given, column)]
        # MATCH is 0: null is in a list with null. SKIP is 1: null is in no list.
        behaviour = options.get("null_matching_behavior", 0)
        if behaviour == 1:
            values = [value for value in values if value is not None]
        elif behaviour != 0:
            raise ValueError("is_in is understood where nulls match or are skipped")
        self.listed.append(values)
        if column.path is not None:
            self.compared.append((column.path, values))
            if self.kind(column.path) == "number":
                values = _without_nan(values)
            values = _exact(values, column.path, self.schema)
        unit = self.unit(column.path) if column.path is not None and any(is_span(value) for value in values) else None
        text = is_in(column.text, values, unit)
        # For a null, the result is false instead of unknown.
        return f"({column.text} is not null and {text})" if None not in values else text


def _of_nan(column: str, sign: str) -> str:
    """Returns the predicate of a comparison with NaN, which only ``!=`` makes true; for a null it is null."""
    never = _never(column)
    return f"(not {never})" if sign == "!=" else never


def _never(column: str) -> str:
    """Returns a predicate that is false for every number, and null for a null."""
    return f"({column} < 0 and {column} > 0)"


def _type_of(schema: Any, path: list[str]) -> Any:
    """Returns the type of a column, for a dictionary that of its values; ``None`` if it is not known."""
    import pyarrow as pa

    data_type: Any = None
    for name in path:
        fields = pa.schema(schema) if data_type is None else data_type if isinstance(data_type, pa.StructType) else ()
        found = [field.type for field in fields if field.name == name]
        if len(found) != 1:
            return None
        data_type = found[0]
    return data_type.value_type if isinstance(data_type, pa.DictionaryType) else data_type


def _are_of_a_kind(a: Any, b: Any) -> bool:
    """Returns whether both types are numeric, or both are dates or timestamps."""
    import pyarrow as pa

    types = pa.types

    def is_number(data_type: Any) -> bool:
        return any(is_one(data_type) for is_one in (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean))

    def is_instant(data_type: Any) -> bool:
        return types.is_date(data_type) or types.is_timestamp(data_type)

    return is_number(a) and is_number(b) or is_instant(a) and is_instant(b)


def _kind(schema: Any, path: list[str]) -> str | None:
    import pyarrow as pa

    data_type, types = _type_of(schema, path), pa.types
    if data_type is None:
        return None
    if types.is_floating(data_type):
        return "float"
    is_number = types.is_integer(data_type) or types.is_decimal(data_type) or types.is_duration(data_type)
    return "number" if is_number else "else"


def _python_of(scalar: Any) -> Any:
    """Converts a scalar to a Python value. Returns times, nanoseconds, and values beyond the range of Python's types as they are."""
    is_time = type(scalar).__name__ in ("Time32Scalar", "Time64Scalar")
    if scalar.is_valid and (is_time or getattr(scalar.type, "unit", None) == "ns"):
        return scalar
    try:
        return scalar.as_py()
    except (OverflowError, ValueError):
        return scalar


def _options_of(scalar: Any) -> dict[str, Any]:
    """Returns the options of a function by name, with a list of values as an array."""
    out = {}
    for field in scalar.type:
        name, value = field.name, scalar[field.name]
        is_list = name == "value_set" and value.is_valid and hasattr(value, "values")
        out[name] = value.values if is_list else None if name == "value_set" else value.as_py()
    return out


def _text_of(scalar: Any) -> str:
    if is_nan(scalar) or is_span(scalar):
        return "?"  # comparisons use the value instead
    return literal(scalar)


def _program(expression: Any) -> tuple[list[tuple[str, str]], Any]:
    import pyarrow as pa

    payload = expression.__reduce__()[1][0]
    with pa.ipc.open_file(pa.py_buffer(payload)) as file:
        literals = file.get_batch(0)
    return _metadata_pairs(bytes(payload)), literals


def _metadata_pairs(file: bytes) -> list[tuple[str, str]]:
    """Returns the schema metadata of an Arrow file as pairs in order. Keys occur more than once, which a dictionary would lose."""

    def i32(at: int) -> int:
        return int(struct.unpack_from("<i", file, at)[0])

    def field(table: int, index: int) -> int:
        vtable = table - i32(table)
        (size,) = struct.unpack_from("<H", file, vtable)
        slot = 4 + 2 * index
        (offset,) = struct.unpack_from("<H", file, vtable + slot) if slot < size else (0,)
        return table + offset if offset else 0

    def follow(at: int) -> int:
        return at + i32(at)

    def text(at: int) -> str:
        start = follow(at)
        return file[start + 4 : start + 4 + i32(start)].decode()

    # The file begins with ARROW1 and padding, a continuation marker, the length, then the message.
    message = 16 + i32(16)
    schema = follow(field(message, 2))
    pairs_at = field(schema, 2)
    if not pairs_at:
        return []
    vector = follow(pairs_at)
    pairs = [follow(vector + 4 + 4 * i) for i in range(i32(vector))]
    return [(text(field(pair, 0)), text(field(pair, 1))) for pair in pairs]
