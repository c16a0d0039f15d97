//! Whether pages of several files mean the same under the one Arrow schema that the new file stores.

use super::{ColumnLog, Input};
use marquetry::errors::{Error, Result};
use marquetry::file::metadata::ParquetMetaData;
use marquetry::internals::arrow::schema::copied::{CopiedAs, PageTypes};

/// Whether a file of all inputs may have the stored Arrow schema of the first. If not, all pages are read without one.
///
/// Fails for the first file whose values would change either way.
pub(super) fn keeps_arrow_schema(inputs: &[Input], log: &mut ColumnLog) -> Result<bool> {
    let types: Vec<PageTypes> = inputs.iter().map(|input| PageTypes::of_file(&input.metadata)).collect();
    let Some((first, others)) = types.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Ok(true);
    };
    let mut copied = CopiedAs::Same;
    let mut wrong = None;
    for (own, input) in others.iter().zip(&inputs[1..]) {
        match first.check_copied(own) {
            Ok(found) => copied = copied.max(found),
            Err(error) => {
                wrong = Some(refused(error, input));
                break;
            }
        }
    }
    if wrong.is_none() && copied != CopiedAs::OtherDictionary {
        // If the first has no schema, there is none to keep, and others lose nothing.
        if copied == CopiedAs::Alike && first.has_stored() {
            log.note("the stored Arrow schemas differ: the first file's is kept");
        } else if !first.has_stored() && others.iter().any(PageTypes::has_stored) {
            log.note("the stored Arrow schemas differ: none is kept");
        }
        return Ok(first.has_stored());
    }
    let plain = first.without_stored();
    for (own, input) in types.iter().zip(inputs) {
        if let Err(error) = plain.check_copied(own) {
            return Err(wrong.unwrap_or_else(|| refused(error, input)));
        }
    }
    log.note("the stored Arrow schemas differ: none is kept");
    Ok(false)
}

/// Fails if rows of `input` would change in the file with the footer `metadata`, which keeps its stored Arrow schema.
pub(crate) fn check_appended(metadata: &ParquetMetaData, input: &Input, log: &mut ColumnLog) -> Result<()> {
    let file = PageTypes::of_file(metadata);
    match file.check_copied(&PageTypes::of_file(&input.metadata)).map_err(|error| refused(error, input))? {
        CopiedAs::Same => {}
        CopiedAs::Alike => log.note("the stored Arrow schemas differ: FILE's is kept"),
        CopiedAs::OtherDictionary => {
            return Err(Error::argument(
                "FILE's stored Arrow schema has dictionaries, and this file has not the same: not all readers would \
                 take its pages; merge makes a file of both without a stored Arrow schema",
            )
            .in_file(input.name()));
        }
    }
    Ok(())
}

/// The error with a hint.
fn refused(error: Error, input: &Input) -> Error {
    // INT96 in two units is among these: the unit that holds all values is only known after reading them.
    let hint = "pages are copied as they are: marquetry convert --union-by-name encodes the rows of several files as one table";
    let column = error.place().column.clone().unwrap_or_default();
    Error::argument(format!("{}; {hint}", error.message())).in_column(column).in_file(input.name())
}
