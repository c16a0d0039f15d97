//! Errors about input that is not valid in its format.

use crate::failure::Failure;
use marquetry_base::counted;
use std::fmt::Display;

/// The failure of invalid input.
pub(super) fn bad(error: impl Display) -> Failure {
    Failure::Check(error.to_string())
}

/// The failure of a value that does not have its column's type; `place` is `line 5`.
pub(super) fn bad_value(place: &str, column: &str, message: &str, sample: Sample) -> Failure {
    let hint = match sample {
        Sample::First(rows) => {
            format!(
                "; types are guessed from the first {}: say --infer-rows all, or give the column's type by --schema",
                counted(rows, "row")
            )
        }
        Sample::All | Sample::None => String::new(),
    };
    bad(format!("{place}, column {column}: {message}{hint}"))
}

/// The rows from which the types of a column were inferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sample {
    /// This number of rows at the beginning.
    First(u64),
    /// All rows.
    All,
    /// None: the type was given.
    None,
}
