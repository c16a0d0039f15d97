"""Sort orders of row groups."""

from __future__ import annotations

import operator
from typing import Any, Sequence


class SortingColumn:
    """A column by which the rows of a row group are sorted, by its number among the leaf columns.

    >>> SortingColumn(0, descending=True)
    SortingColumn(column_index=0, descending=True, nulls_first=False)
    """

    def __init__(self, column_index: int, descending: bool = False, nulls_first: bool = False) -> None:
        self.column_index = operator.index(column_index)
        self.descending, self.nulls_first = bool(descending), bool(nulls_first)

    @classmethod
    def from_ordering(
        cls, schema: Any, sort_keys: Sequence[Any], null_placement: str = "at_end"
    ) -> tuple[SortingColumn, ...]:
        """Makes sorting columns from names, or pairs of a name and ``"ascending"`` or ``"descending"``.

        - ``schema``: a ``pyarrow.Schema`` or :class:`ParquetSchema` with the columns.
        - ``sort_keys``: the names or pairs; names are dotted paths of leaves.
        - ``null_placement``: ``"at_start"`` or ``"at_end"`` (the default).

        Raises ``ValueError`` for an unknown name, order or placement.
        """
        if null_placement not in ("at_start", "at_end"):
            raise ValueError('null_placement must be "at_start" or "at_end"')
        names = _leaf_names(schema)
        out = []
        for key in sort_keys:
            if isinstance(key, str):
                name, order = key, "ascending"
            elif isinstance(key, (tuple, list)) and len(key) == 2:
                name, order = key
            else:
                raise ValueError(f"Invalid sort key: {key!r}")
            if order not in ("ascending", "descending"):
                raise ValueError(f'Sort order must be "ascending" or "descending", not {order!r}')
            if name not in names:
                raise ValueError(f"Sort key name {name!r} not found in schema:\n{schema}")
            out.append(cls(names.index(name), order == "descending", null_placement == "at_start"))
        return tuple(out)

    @staticmethod
    def to_ordering(
        schema: Any, sorting_columns: Sequence[SortingColumn]
    ) -> tuple[tuple[tuple[str, str], ...], str]:
        """Converts sorting columns to pairs of name and order, and the placement of nulls.

        Raises ``ValueError`` if the columns place nulls differently.
        """
        names = _leaf_names(schema)
        if len({column.nulls_first for column in sorting_columns}) > 1:
            raise ValueError(f"Sorting columns have inconsistent null placement: {sorting_columns}")
        keys = tuple(
            (names[column.column_index], "descending" if column.descending else "ascending") for column in sorting_columns
        )
        at_start = bool(sorting_columns) and sorting_columns[0].nulls_first
        return keys, "at_start" if at_start else "at_end"

    def to_dict(self) -> dict[str, Any]:
        """Converts the sorting column to a dictionary."""
        return {"column_index": self.column_index, "descending": self.descending, "nulls_first": self.nulls_first}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SortingColumn) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.column_index, self.descending, self.nulls_first))

    def __repr__(self) -> str:
        facts = ", ".join(f"{name}={value}" for name, value in self.to_dict().items())
        return f"SortingColumn({facts})"


def _leaf_names(schema: Any) -> list[str]:
    """Returns the dotted paths of the leaves of a pyarrow or Parquet schema."""
    import pyarrow as pa

    if not isinstance(schema, pa.Schema):
        schema = schema.to_arrow_schema()
    out: list[str] = []

    def walk(path: str, data_type: Any) -> None:
        if pa.types.is_struct(data_type):
            for field in data_type:
                walk(f"{path}.{field.name}", field.type)
        elif pa.types.is_map(data_type):
            walk(f"{path}.key_value.key", data_type.key_type)
            walk(f"{path}.key_value.value", data_type.item_type)
        elif pa.types.is_nested(data_type):
            walk(f"{path}.list.element", data_type.value_type)
        else:
            out.append(path)

    for field in schema:
        walk(field.name, field.type)
    return out
