//! Checks that a batch fits the schema of the file.

use crate::schema::element_of;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, FieldRef, Schema as ArrowSchema};
use marquetry_base::{Error, Result};
use std::sync::Arc;

/// Fails if names or types of the batch's columns differ from the schema's. Metadata may differ.
pub(super) fn check_batch(schema: &ArrowSchema, batch: &RecordBatch) -> Result<()> {
    let (wanted, given) = (schema.fields(), batch.schema_ref().fields());
    if wanted.len() != given.len() {
        return Err(Error::argument(format!(
            "a batch of {} columns for a file of {}",
            given.len(),
            wanted.len()
        )));
    }
    for (wanted, given) in wanted.iter().zip(given) {
        if !Arc::ptr_eq(wanted, given)
            && (wanted.name() != given.name() || !is_same(wanted.data_type(), given.data_type()))
        {
            let message = format!("a batch with a column {given} where the file has {wanted}");
            return Err(Error::argument(message).in_column(wanted.name().as_str()));
        }
    }
    Ok(())
}

/// Fails if the type of an array is not the field's. Parts of the type that are not stored may differ.
pub(super) fn check_array(field: &Field, given: &DataType) -> Result<()> {
    match is_same(field.data_type(), given) {
        true => Ok(()),
        false => {
            let message = format!("an array of {given} for a field of {}", field.data_type());
            Err(Error::argument(message).in_column(field.name().as_str()))
        }
    }
}

/// Returns whether arrays of one type can be written as the other. Names of struct fields count. Names of list elements
/// and of a map's parts do not. Nullability does not count either, as nulls are checked where none are allowed.
fn is_same(wanted: &DataType, given: &DataType) -> bool {
    use DataType::*;
    let is_same_list =
        |(wanted, given): (&FieldRef, &FieldRef)| is_same(wanted.data_type(), given.data_type());
    match (wanted, given) {
        (Struct(wanted), Struct(given)) => {
            let fields = || wanted.iter().zip(given);
            wanted.len() == given.len()
                && fields().all(|(wanted, given)| wanted.name() == given.name())
                && fields().all(is_same_list)
        }
        (Map(wanted, sorted), Map(given, also_sorted)) => match (wanted.data_type(), given.data_type()) {
            (Struct(wanted), Struct(given)) => {
                sorted == also_sorted
                    && wanted.len() == given.len()
                    && wanted.iter().zip(given).all(is_same_list)
            }
            _ => false,
        },
        (FixedSizeList(_, wanted), FixedSizeList(_, given)) if wanted != given => false,
        _ => match (element_of(wanted), element_of(given)) {
            (Some(one), Some(other)) => {
                std::mem::discriminant(wanted) == std::mem::discriminant(given) && is_same_list((one, other))
            }
            (None, None) => wanted.equals_datatype(given),
            _ => false,
        },
    }
}
