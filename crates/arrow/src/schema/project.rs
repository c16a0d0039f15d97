//! Projects an Arrow field: removes the columns that are not read.

use super::lists::{element_of, list_of};
use arrow_schema::{DataType, Field as ArrowField, FieldRef, Fields};
use marquetry_core::nesting::{FieldKind, NestedField};
use std::sync::Arc;

/// Returns the part of `arrow`, the Arrow field of `whole`, that belongs to `part`. `part` is `whole` with some columns left out.
pub(crate) fn project(whole: &NestedField, part: &NestedField, arrow: &FieldRef) -> FieldRef {
    match projected_type(whole, part, arrow.data_type()) {
        Some(data_type) => Arc::new(ArrowField::clone(arrow).with_data_type(data_type)),
        None => arrow.clone(),
    }
}

/// Returns the type of `part`; `None` if it is that of `whole`.
fn projected_type(whole: &NestedField, part: &NestedField, arrow: &DataType) -> Option<DataType> {
    if whole == part {
        return None;
    }
    Some(match (&whole.kind, &part.kind, arrow) {
        (FieldKind::Struct(whole), FieldKind::Struct(part), DataType::Struct(arrow)) => {
            DataType::Struct(projected_fields(whole, part, arrow))
        }
        (FieldKind::List(whole), FieldKind::List(part), list) => {
            list_of(list, project(whole, part, element_of(list)?))
        }
        (FieldKind::Map(whole), FieldKind::Map(part), DataType::Map(arrow, sorted)) => {
            DataType::Map(project(whole, part, arrow), *sorted)
        }
        // Half a map becomes a list of structs with the remaining part.
        (FieldKind::Map(whole), FieldKind::List(part), DataType::Map(arrow, _)) => {
            DataType::List(project(whole, part, arrow))
        }
        _ => return None,
    })
}

fn projected_fields(whole: &[NestedField], part: &[NestedField], arrow: &Fields) -> Fields {
    // Columns keep their order, so each part is found behind the previous one.
    let mut whole = whole.iter().zip(arrow);
    let kept = part.iter().filter_map(|part| {
        let leaf = part.first_leaf();
        let (whole, arrow) = whole.find(|(whole, _)| whole.has_leaf(leaf))?;
        Some(project(whole, part, arrow))
    });
    kept.collect()
}
