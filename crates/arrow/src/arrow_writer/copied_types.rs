//! Whether pages of another file may be copied into this one: only if both files' Arrow schemas read the same values from them.

use crate::schema::copied::{CopiedAs, PageTypes};
use marquetry_base::{Error, Limits, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::schema::Schema;
use marquetry_format::{FileMetaData, KeyValue};

/// Fails, naming the first column, if pages of a file with the footer `copied` would be other values in one with the footer `file`,
/// though both have the same Parquet schema: durations in milliseconds would be read as seconds, if that is what the stored
/// Arrow schema of `file` says.
///
/// The writers of this module see to it themselves. Who copies pages by what knows no Arrow types, a `FileEdit` or `copy_row_group`,
/// asks before, once for each file:
///
/// ```
/// use arrow_array::{ArrayRef, DurationMillisecondArray, DurationSecondArray, RecordBatch};
/// use marquetry_arrow::arrow_writer::{ArrowWriter, check_copied};
/// use std::sync::Arc;
///
/// let footer = |column: ArrayRef| {
///     let batch = RecordBatch::try_from_iter([("took", column)])?;
///     let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None)?;
///     writer.write(&batch)?;
///     writer.close().map_err(Box::<dyn std::error::Error>::from)
/// };
/// let file = footer(Arc::new(DurationSecondArray::from(vec![5])))?;
/// let copied = footer(Arc::new(DurationMillisecondArray::from(vec![5])))?;
/// assert!(check_copied(&file, &file).is_ok());
/// let error = check_copied(&file, &copied).unwrap_err();
/// assert_eq!(error.place().column.as_deref(), Some("took"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Fails also if the stored Arrow schema of `file` has a column as dictionaries, and that of `copied` has not: not all readers take the
/// pages then.
pub fn check_copied(file: &ParquetMetaData, copied: &ParquetMetaData) -> Result<()> {
    check_page_types(&PageTypes::of_file(file), copied)
}

/// The types by which pages are read in a file of this schema and key-value metadata.
pub(super) fn page_types(schema: &Schema, key_values: &[KeyValue]) -> Result<PageTypes> {
    let thrift = FileMetaData {
        schema: schema.to_thrift(),
        key_value_metadata: Some(key_values.to_vec()),
        ..FileMetaData::default()
    };
    Ok(PageTypes::of_file(&ParquetMetaData::from_thrift(thrift, &Limits::default())?))
}

/// [`check_copied`], where the types of the file are known.
pub(super) fn check_page_types(file: &PageTypes, copied: &ParquetMetaData) -> Result<()> {
    let found = file.check_copied(&PageTypes::of_file(copied)).map_err(|error| {
        let column = error.place().column.clone().unwrap_or_default();
        Error::argument(format!("{}; {HINT}", error.message())).in_column(column)
    })?;
    match found {
        CopiedAs::Same | CopiedAs::Alike => Ok(()),
        CopiedAs::OtherDictionary => Err(Error::argument(format!(
            "the stored Arrow schema has dictionaries that the copied file has not: not all readers would take its pages; {HINT}"
        ))),
    }
}

const HINT: &str = "read its rows and write them as the types that are wanted";
