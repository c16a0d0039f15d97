//! VARIANT columns whose shredding differs from the wanted one: unshredded, and kept so.
//!
//! SPEC: a place may have any value in `value`, whatever the type of `typed_value` is. So a column with any shredding
//! can hold values that were shredded in another way.

use super::exact_cast::cast_exact;
use crate::arrow_error;
use crate::null_arrays::null_array;
use crate::variant::{VariantColumn, is_variant};
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::{DataType, Field};
use marquetry_base::{Error, Result};
use std::sync::Arc;

/// Returns whether both are VARIANT with different shredding.
pub(super) fn is_other_storage(from: &Field, to: &Field) -> bool {
    is_variant(from)
        && is_variant(to)
        && from.data_type() != to.data_type()
        && (has_field(from, "typed_value") || has_field(to, "typed_value"))
}

/// Returns whether a VARIANT column has room for values that are not shredded.
pub(super) fn can_hold_variants(field: &Field) -> bool {
    has_field(field, "metadata") && has_field(field, "value")
}

fn has_field(field: &Field, name: &str) -> bool {
    matches!(field.data_type(), DataType::Struct(fields) if fields.find(name).is_some())
}

/// Returns the values of a VARIANT column in storage of another type, without shredding any of them.
pub(super) fn stored_as(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let DataType::Struct(fields) = to else {
        return Err(Error::argument(format!("a VARIANT is not stored as {to}")));
    };
    let whole = VariantColumn::try_new(array)?.unshredded()?;
    let column = |field: &Arc<Field>| match whole.column_by_name(field.name()) {
        Some(column) if column.data_type() == field.data_type() => Ok(column.clone()),
        Some(column) => cast_exact(column, field.data_type()),
        None => null_array(field.data_type(), whole.len()),
    };
    let columns = fields.iter().map(column).collect::<Result<Vec<_>>>()?;
    let nulls = whole.nulls().cloned();
    let stored = StructArray::try_new_with_length(fields.clone(), columns, nulls, whole.len());
    Ok(Arc::new(stored.map_err(arrow_error)?))
}
