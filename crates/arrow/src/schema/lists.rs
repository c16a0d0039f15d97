//! One view of Arrow's list types.

use arrow_schema::{DataType, FieldRef};

/// The element of any of Arrow's lists.
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

/// A list of the layout of `list`, with another element.
pub(crate) fn list_of(list: &DataType, element: FieldRef) -> DataType {
    match list {
        DataType::LargeList(_) => DataType::LargeList(element),
        DataType::ListView(_) => DataType::ListView(element),
        DataType::LargeListView(_) => DataType::LargeListView(element),
        DataType::FixedSizeList(_, size) => DataType::FixedSizeList(element, *size),
        _ => DataType::List(element),
    }
}
