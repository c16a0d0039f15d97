//! Checks whether pages of another file may be copied into this one: both files' Arrow schemas must read the same values from them.

use crate::schema::copied::{CopiedAs, PageTypes};
use marquetry_base::{Error, Limits, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::schema::Schema;
use marquetry_format::{FileMetaData, KeyValue};

/// Checks that pages of a file with the footer `copied` keep their values in a file with the footer `file`.
///
/// Both may have the same Parquet schema and yet read values differently. For example, durations in milliseconds would
/// be read as seconds if the stored Arrow schema of `file` says so.
///
/// Fails with the first such column. The writers of this module check it themselves. Code that copies pages without
/// knowledge of Arrow types, such as a `FileEdit` or `copy_row_group`, must call this before, once for each file:
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
/// Also fails if the stored Arrow schema of `file` has a dictionary where that of `copied` has none: not all readers
/// can read the pages then.
pub fn check_copied(file: &ParquetMetaData, copied: &ParquetMetaData) -> Result<()> {
    check_page_types(&PageTypes::of_file(file), copied)
}

/// Returns the types that pages are read as in a file of this schema and key-value metadata.
pub(super) fn page_types(schema: &Schema, key_values: &[KeyValue]) -> Result<PageTypes> {
    let thrift = FileMetaData {
        schema: schema.to_thrift(),
        key_value_metadata: Some(key_values.to_vec()),
        ..FileMetaData::default()
    };
    Ok(PageTypes::of_file(&ParquetMetaData::from_thrift(thrift, &Limits::default())?))
}

/// Does what [`check_copied`] does, with the known types of the file.
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
