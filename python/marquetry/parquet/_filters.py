"""Filters of readers: pyarrow's expressions, and the part that our reader can evaluate."""

from __future__ import annotations

import datetime
import decimal
import warnings
from typing import Any, Iterable

from .._errors import Error
from .._filters import column_name
from .._literals import literal


def filters_to_expression(filters: Any) -> Any:
    """Converts filters to a ``pyarrow.compute.Expression``: tuples joined by and, or lists of such tuples joined by or.

    >>> import marquetry.parquet as pq
    >>> pq.filters_to_expression([("a", ">", 1)])
    <pyarrow.compute.Expression (a > 1)>
    """
    import pyarrow.compute as pc

    if isinstance(filters, pc.Expression):
        return filters
    return _any(_all(_condition(pc, *condition) for condition in conjunction) for conjunction in disjunction(filters))


def _filters_to_expression(filters: Any) -> Any:
    warnings.warn("_filters_to_expression is deprecated: use filters_to_expression", FutureWarning, stacklevel=2)
    return filters_to_expression(filters)


def disjunction(filters: Any) -> list[list[tuple[str, str, Any]]]:
    """Returns filters of either form as lists, joined by or, of conditions, joined by and."""
    filters = list(filters)
    if len(filters) == 0 or any(len(conjunction) == 0 for conjunction in filters):
        raise ValueError("Malformed filters")
    if isinstance(filters[0][0], str):
        # A single conjunction.
        filters = [filters]
    for conjunction in filters:
        for name, operator, value in conjunction:
            if operator in ("in", "not in") and not isinstance(value, Iterable):
                raise TypeError(f"'{operator}' takes a collection, not {type(value).__name__}")
    return [[tuple(condition) for condition in conjunction] for conjunction in filters]


def _condition(pc: Any, name: str, operator: str, value: Any) -> Any:
    field = pc.field(name)
    if operator in ("=", "=="):
        return field == value
    if operator == "!=":
        return field != value
    if operator == "<":
        return field < value
    if operator == ">":
        return field > value
    if operator == "<=":
        return field <= value
    if operator == ">=":
        return field >= value
    if operator == "in":
        return field.isin(list(value))
    if operator == "not in":
        return ~field.isin(list(value))
    raise ValueError(f'"{operator}" is not a valid operator in predicates.')


def _all(conditions: Iterable[Any]) -> Any:
    out = None
    for condition in conditions:
        out = condition if out is None else out & condition
    return out


def _any(conditions: Iterable[Any]) -> Any:
    out = None
    for condition in conditions:
        out = condition if out is None else out | condition
    return out


def pushed(filters: Any, schema: Any) -> tuple[str | None, bool]:
    """Returns a predicate for our reader that is true for all rows that pass ``filters``, and whether it is false for all others.

    Conditions that our reader may evaluate differently are left out; pyarrow then filters the rows that it returns.
    """
    import pyarrow.compute as pc

    if filters is None:
        return None, True
    if isinstance(filters, pc.Expression):
        return _pushed_expression(filters, schema), False
    ors, is_exact = [], True
    for conjunction in disjunction(filters):
        found = [_pushed(schema, *condition) for condition in conjunction]
        ands = [text for text in found if text is not None]
        if not ands:
            return None, False
        is_exact = is_exact and len(ands) == len(found) and all(_is_exact(value) for _, _, value in conjunction)
        ors.append(" and ".join(ands))
    return " or ".join(f"({text})" for text in ors), is_exact


def _is_exact(value: Any) -> bool:
    """Returns whether pyarrow and we evaluate comparisons of this value with values of its type in the same way."""
    return isinstance(value, (bool, int, str, bytes))


def is_of_predicate(error: BaseException) -> bool:
    """Returns whether our reader refused a predicate, because of facts about a column that the Arrow schema does not have."""
    cause = error.__cause__
    return isinstance(cause, Error) and cause.kind == "argument" and cause.message.startswith("predicate")


def names_of(filters: Any, expression: Any) -> set[str] | None:
    """Returns the columns that ``filters`` use, from which ``expression`` was made; ``None`` if it does not have their names."""
    import pyarrow.compute as pc

    from .._filters import Program

    if isinstance(filters, pc.Expression):
        try:
            return Program(expression).names()
        except NotImplementedError:
            # The expression refers to columns by number.
            return None
    return {name for conjunction in disjunction(filters) for name, _, _ in conjunction}


def _pushed(schema: Any, name: str, operator: str, value: Any) -> str | None:
    if schema.names.count(name) != 1:
        return None
    data_type = schema.field(name).type
    column = column_name([name])
    if operator == "in":
        values = list(value)
        if isinstance(value, str) or not values or not all(_same(data_type, item) for item in values):
            return None
        return f"{column} in ({', '.join(literal(item) for item in values)})"
    if operator in ("=", "==", "!=", "<", ">", "<=", ">=") and _same(data_type, value):
        return f"{column} {'=' if operator == '==' else operator} {literal(value)}"
    return None


def _same(data_type: Any, value: Any) -> bool:
    """Returns whether pyarrow and we evaluate a comparison of such a column with this value in the same way."""
    import pyarrow as pa

    types = pa.types
    if hasattr(value, "as_py"):
        try:
            value = value.as_py()
        except (OverflowError, ValueError):
            # A timestamp beyond Python's types.
            return False
    if isinstance(value, bool):
        return types.is_boolean(data_type)
    if isinstance(value, int):
        # Floats may not represent the integer exactly.
        return types.is_integer(data_type) and -(2**63) <= value < 2**63
    if isinstance(value, str):
        return types.is_string(data_type) or types.is_large_string(data_type) or types.is_string_view(data_type)
    if isinstance(value, bytes):
        return types.is_binary(data_type) or types.is_large_binary(data_type)
    if getattr(value, "nanosecond", 0):
        # A pandas timestamp, of which pyarrow ignores the nanoseconds.
        return False
    if isinstance(value, datetime.datetime):
        has_zone = value.tzinfo is not None
        return types.is_timestamp(data_type) and (data_type.tz is not None) == has_zone
    if isinstance(value, datetime.date):
        return types.is_date32(data_type)
    if isinstance(value, float):
        return types.is_float64(data_type) and value == value and abs(value) != float("inf")
    return isinstance(value, decimal.Decimal) and value.is_finite() and types.is_decimal(data_type)


def _pushed_expression(expression: Any, schema: Any) -> str | None:
    """Returns an expression as a predicate, if our reader evaluates all its comparisons like pyarrow; ``None`` otherwise."""
    import pyarrow as pa

    from .._filters import Program

    try:
        program = Program(expression, lambda: schema)
        for name, path in program.asked():
            field = _field(schema, path)
            # Our reader does not test nested columns, and prefixes only of text.
            if field is None or field.type.num_fields > 0 or name == "starts_with" and not _same(field.type, ""):
                return None
            if name == "is_nan" and not (pa.types.is_floating(field.type) or pa.types.is_integer(field.type)):
                return None
        for path, values in program.compared():
            field = _field(schema, path)
            if field is None or not all(value is not None and _same(field.type, value) for value in values):
                return None
        # In pyarrow's lists, 0.0 and -0.0 differ.
        if any(isinstance(value, float) and value == 0 for values in program.listed() for value in values):
            return None
        return program.text()
    except (ValueError, TypeError, KeyError, IndexError, NotImplementedError, OverflowError):
        # pyarrow filters alone.
        return None


def _field(schema: Any, path: list[str]) -> Any:
    field = None
    for name in path:
        parent = schema if field is None else field.type
        names = [child.name for child in parent] if hasattr(parent, "__iter__") else []
        if names.count(name) != 1:
            return None
        field = parent.field(name)
    return field
