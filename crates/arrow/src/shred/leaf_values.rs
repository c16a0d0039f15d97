//! The shredded values of one column, and the reasons why some cannot be stored.

use crate::convert::ConversionError;
use marquetry_core::nesting::ColumnValues;
use marquetry_core::schema::Leaf;
use marquetry_encoding::{Bitmap, Values};

/// Returns empty values of the shape of `leaf`, reusing the memory of `out` if possible.
pub(super) fn cleared<'a>(out: &'a mut ColumnValues, leaf: &Leaf) -> &'a mut Values {
    let shape = leaf.physical().shape();
    if !matches!(out, ColumnValues::Values(values) if values.shape() == shape) {
        *out = ColumnValues::Values(shape.empty());
    }
    match out {
        ColumnValues::Values(values) => {
            values.clear();
            values
        }
        ColumnValues::Keys { .. } => unreachable!("values were put there"),
    }
}

pub(super) fn check_nullable(nullable: bool, valid: Option<&Bitmap>) -> Result<(), ConversionError> {
    match valid {
        Some(valid) if !nullable => Err(not_nullable(valid)),
        _ => Ok(()),
    }
}

#[cold]
pub(super) fn not_nullable(valid: &Bitmap) -> ConversionError {
    let first = (0..valid.len()).find(|&slot| !valid.get(slot));
    ConversionError { value: first, why: "a null, where the schema says that there is none".to_owned() }
}

/// Converts the value's number among the non-null slots to its number among all slots.
#[cold]
pub(super) fn in_slots(unfit: ConversionError, valid: Option<&Bitmap>) -> ConversionError {
    let slot = |value| match valid {
        Some(valid) => (0..valid.len()).filter(|&slot| valid.get(slot)).nth(value),
        None => Some(value),
    };
    ConversionError { value: unfit.value.and_then(slot), ..unfit }
}
