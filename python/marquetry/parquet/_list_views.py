"""List views, which become lists when a column is converted."""

from __future__ import annotations

import pyarrow as pa


def list_type(data_type: pa.DataType) -> pa.DataType:
    """Returns the list type for a list view; other types as they are."""
    if pa.types.is_list_view(data_type):
        return pa.list_(data_type.value_field)
    if pa.types.is_large_list_view(data_type):
        return pa.large_list(data_type.value_field)
    return data_type
