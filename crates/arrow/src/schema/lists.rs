//! One view of Arrow's list types.

use arrow_schema::{DataType, FieldRef};

/// Returns the element of any of Arrow's list types.
pub(crate) fn element_of(list: &DataType) -> Option<&FieldRef> {
    match list {
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::ListView(element)
        | DataType::LargeListView(element)
        | DataType::FixedSizeList(element, _) => Some(element),
        _ => None,
    }
}

/// Returns a list with the layout of `list` and another element.
pub(crate) fn list_of(list: &DataType, element: FieldRef) -> DataType {
    match list {
        DataType::LargeList(_) => DataType::LargeList(element),
        DataType::ListView(_) => DataType::ListView(element),
        DataType::LargeListView(_) => DataType::LargeListView(element),
        DataType::FixedSizeList(_, size) => DataType::FixedSizeList(element, *size),
        _ => DataType::List(element),
    }
}
