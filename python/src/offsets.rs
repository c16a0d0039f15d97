//! Arrays of other libraries, in which a struct or a fixed-size list has an offset into its children.
//!
//! Arrow's crates give the children of a slice offsets of their own, and miscount if one struct is in another. So
//! offsets are passed on to children, from the outside to the inside, until only values and lists have some.

use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType};

/// The same values, with no offsets of structs and fixed-size lists, and no children that are longer than these.
pub(crate) fn without_offsets(data: ArrayData) -> Result<ArrayData, ArrowError> {
    match has_offsets(&data) {
        true => part(&data, 0, data.len()),
        false => Ok(data),
    }
}

/// The number of child values for each value, if their positions follow from its own.
fn children_per_value(data_type: &DataType) -> Option<usize> {
    match data_type {
        DataType::Struct(_) => Some(1),
        DataType::FixedSizeList(_, size) => usize::try_from(*size).ok(),
        _ => None,
    }
}

fn has_offsets(data: &ArrayData) -> bool {
    let is_longer = |size: usize| data.child_data().iter().any(|child| child.len() != data.len() * size);
    children_per_value(data.data_type()).is_some_and(|size| data.offset() > 0 || is_longer(size))
        || data.child_data().iter().any(has_offsets)
}

/// Takes `len` values, from `start` on.
fn part(data: &ArrayData, start: usize, len: usize) -> Result<ArrayData, ArrowError> {
    if start.checked_add(len).is_none_or(|end| end > data.len()) {
        let message = format!("{len} values from {start} on, where a child has {}", data.len());
        return Err(ArrowError::CDataInterface(message));
    }
    if len == 0 {
        // Its offset may be the end of values that were not imported.
        return Ok(ArrayData::new_empty(data.data_type()));
    }
    let (offset, children): (usize, Result<Vec<ArrayData>, ArrowError>) =
        match children_per_value(data.data_type()) {
            Some(size) => {
                let first = (data.offset() + start) * size;
                (0, data.child_data().iter().map(|child| part(child, first, len * size)).collect())
            }
            None if data.child_data().iter().any(has_offsets) => (
                data.offset() + start,
                data.child_data().iter().map(|child| part(child, 0, child.len())).collect(),
            ),
            None => return Ok(data.slice(start, len)),
        };
    let nulls = data.nulls().map(|nulls| nulls.slice(start, len));
    let builder = data.clone().into_builder().offset(offset).len(len).nulls(nulls);
    builder.child_data(children?).build()
}
