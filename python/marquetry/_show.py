"""Files and schemas as text and HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._file import File
    from ._marquetry import Schema


def text_of_schema(schema: Schema) -> str:
    """Returns a schema as text, one line per field."""
    return "\n".join(f"{name}: {kind}{'' if nullable else ' not null'}" for name, kind, nullable in schema.fields())


def html_of_schema(schema: Schema) -> str:
    """Returns a schema as an HTML table, one row per field."""
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(kind)}</td><td>{'' if nullable else 'not null'}</td></tr>"
        for name, kind, nullable in schema.fields()
    )
    return f"<table><tr><th>column</th><th>type</th><th></th></tr>{rows}</table>"


def html_of_file(file: File) -> str:
    """Returns a file as HTML: its schema, its row groups, and the sizes of its columns as bars."""
    metadata = file.metadata
    sizes: dict[str, int] = {}
    groups = []
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        stored = 0
        for j in range(group.num_columns):
            chunk = group.column(j)
            sizes[chunk.path_in_schema] = sizes.get(chunk.path_in_schema, 0) + chunk.total_compressed_size
            stored += chunk.total_compressed_size
        groups.append((group.num_rows, stored))
    most = max([*sizes.values(), 1])
    bars = "".join(
        f"<tr><td>{escape(name)}</td><td style='text-align:right'>{size:,}</td><td style='width:200px'>"
        f"<div style='background:#4878a8;height:0.8em;width:{100 * size / most:.1f}%'></div></td></tr>"
        for name, size in sizes.items()
    )
    rows = "".join(
        f"<tr><td>{i}</td><td style='text-align:right'>{rows:,}</td><td style='text-align:right'>{stored:,}</td></tr>"
        for i, (rows, stored) in enumerate(groups)
    )
    name = escape(file.name or "")
    return (
        f"<b>marquetry.File</b> {name}: {file.num_rows:,} rows{html_of_schema(file.schema)}"
        f"<table><tr><th>column</th><th>bytes</th><th></th></tr>{bars}</table>"
        f"<table><tr><th>row group</th><th>rows</th><th>bytes</th></tr>{rows}</table>"
    )
