//! Error hints that suggest a union by name.

use marquetry_base::Error;
use std::fmt;

/// Returns whether the files of a table differ in such a way that
/// [`Dataset::union_by_name`](super::Dataset::union_by_name) could read them.
///
/// The error's text says so in words that fit any interface. With this, an interface can add its own name for the
/// option.
///
/// ```
/// use marquetry_arrow::dataset::is_helped_by_union;
/// assert!(!is_helped_by_union(&marquetry_base::Error::argument("no column a")));
/// ```
pub fn is_helped_by_union(error: &Error) -> bool {
    error.get_ref().is_some_and(|cause| cause.is::<FirstFileDecides>())
}

/// The cause of an error about files that differ.
#[derive(Debug)]
struct FirstFileDecides;

impl fmt::Display for FirstFileDecides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the first file says which columns the table has, unless it is a union by name, which has those of all files",
        )
    }
}

impl std::error::Error for FirstFileDecides {}

/// Adds to an error that a union by name helps. Leaves errors with another cause, or about the text of a predicate, as they are.
pub(super) fn union_helps(error: Error) -> Error {
    let place = error.place();
    if error.get_ref().is_some() || place.character.is_some() {
        return error;
    }
    let mut helped = Error::caused_by(error.kind(), error.message().to_owned(), FirstFileDecides);
    if let Some(file) = &place.file {
        helped = helped.in_file(file.clone());
    }
    if let Some(column) = &place.column {
        helped = helped.in_column(column.clone());
    }
    helped
}
