//! Casts of arrays that keep every value.

use arrow_array::{Array, ArrayRef};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType;
use marquetry_base::{Error, ErrorKind, Result};

/// The values as those of another type. A value that the type cannot hold, such as a date of the year 9999 in
/// nanoseconds, is an error.
pub(crate) fn cast_exact(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, to, &options).map_err(|error| {
        Error::caused_by(ErrorKind::Argument, format!("{} cannot be read as {to}", array.data_type()), error)
    })
}
