//! The error of an array that cannot be stored in a column.

use crate::schema::compatibility::describe;
use arrow_array::Array;
use arrow_schema::DataType;
use marquetry_core::schema::Leaf;

/// The reason why an array cannot be stored in a column.
#[derive(Debug)]
pub(crate) struct ConversionError {
    /// The number of the bad value among those picked; `None` if the type is the problem.
    pub(crate) value: Option<usize>,
    /// What is wrong.
    pub(crate) why: String,
}

impl ConversionError {
    pub(super) fn value(value: usize, why: impl Into<String>) -> Self {
        ConversionError { value: Some(value), why: why.into() }
    }
}

/// Returns the error of an array whose contents do not match its own type, which should not exist.
#[cold]
pub(super) fn wrong_array(array: &dyn Array) -> ConversionError {
    ConversionError { value: None, why: format!("an array that is none of {}", array.data_type()) }
}

#[cold]
pub(super) fn unsupported(data_type: &DataType, leaf: &Leaf) -> ConversionError {
    ConversionError {
        value: None,
        why: format!("an array of {data_type} cannot be stored as {}", describe(leaf)),
    }
}
