//! Why an array cannot be stored in a column.

use crate::schema::compatibility::describe;
use arrow_array::Array;
use arrow_schema::DataType;
use marquetry_core::schema::Leaf;

/// Why an array cannot be stored in a column.
#[derive(Debug)]
pub(crate) struct ConversionError {
    /// The value that cannot, as a number among those picked; `None` if it is the type.
    pub(crate) value: Option<usize>,
    /// What is wrong with it.
    pub(crate) why: String,
}

impl ConversionError {
    pub(super) fn value(value: usize, why: impl Into<String>) -> Self {
        ConversionError { value: Some(value), why: why.into() }
    }
}

/// An array that is not what its own type says: there is no such array.
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
