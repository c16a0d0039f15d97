//! Columns of FILE in Arrow: a struct of any of its fields.

use crate::reference::FileRef;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::{DataType, Field};
use marquetry_base::{Error, Result};

/// The name of the Arrow extension that marks a struct as FILE.
pub const FILE_EXTENSION: &str = "marquetry.file";

/// Whether a field is FILE, by its extension.
pub fn is_file_ref(field: &Field) -> bool {
    matches!(field.data_type(), DataType::Struct(_))
        && field.metadata().get("ARROW:extension:name").is_some_and(|name| name == FILE_EXTENSION)
}

/// An array of FILE.
#[derive(Debug)]
pub struct FileRefColumn<'a> {
    array: &'a StructArray,
    uri: Option<&'a ArrayRef>,
    offset: Option<&'a ArrayRef>,
    size: Option<&'a ArrayRef>,
    content_type: Option<&'a ArrayRef>,
    checksum: Option<&'a ArrayRef>,
    inline: Option<&'a ArrayRef>,
}

impl<'a> FileRefColumn<'a> {
    /// Creates the column from a struct array as readers return it. Fields are found by their exact names; others are
    /// ignored.
    ///
    /// # Errors
    ///
    /// If it is not a struct, has none of `uri`, `offset` and `inline`, or has a field of another type.
    pub fn try_new(array: &'a dyn Array) -> Result<Self> {
        let array = array
            .as_any()
            .downcast_ref::<StructArray>()
            .ok_or_else(|| Error::argument(format!("FILE is a struct, {} was given", array.data_type())))?;
        let field = |name: &str, fits: fn(&DataType) -> bool| match array.column_by_name(name) {
            Some(column) if !fits(column.data_type()) => {
                Err(Error::argument(format!("FILE: {name} is of type {}", column.data_type())))
            }
            column => Ok(column),
        };
        let is_text = |of: &DataType| matches!(of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        let is_number = |of: &DataType| matches!(of, DataType::Int64);
        let is_bytes =
            |of: &DataType| matches!(of, DataType::Binary | DataType::LargeBinary | DataType::BinaryView);
        let column = FileRefColumn {
            array,
            uri: field("uri", is_text)?,
            offset: field("offset", is_number)?,
            size: field("size", is_number)?,
            content_type: field("content_type", is_text)?,
            checksum: field("checksum", is_text)?,
            inline: field("inline", is_bytes)?,
        };
        match column.uri.is_none() && column.offset.is_none() && column.inline.is_none() {
            true => Err(Error::argument("FILE without uri, offset and inline")),
            false => Ok(column),
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.array.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.array.is_empty()
    }

    /// Returns the value of a row, or `None` if it is null.
    ///
    /// # Panics
    ///
    /// If `row` is out of bounds.
    pub fn get(&self, row: usize) -> Option<FileRef<'a>> {
        let number = |column: Option<&'a ArrayRef>| {
            let column = column?.as_primitive::<Int64Type>();
            column.is_valid(row).then(|| column.value(row))
        };
        self.array.is_valid(row).then(|| FileRef {
            uri: text(self.uri, row),
            offset: number(self.offset),
            size: number(self.size),
            content_type: text(self.content_type, row),
            checksum: text(self.checksum, row),
            inline: bytes(self.inline, row),
        })
    }

    /// Returns an iterator over the values of all rows.
    pub fn iter(&self) -> impl Iterator<Item = Option<FileRef<'a>>> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }
}

fn text(column: Option<&ArrayRef>, row: usize) -> Option<&str> {
    let column = column.filter(|column| column.is_valid(row))?;
    match column.data_type() {
        DataType::Utf8 => Some(column.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => Some(column.as_string::<i64>().value(row)),
        _ => Some(column.as_string_view().value(row)),
    }
}

fn bytes(column: Option<&ArrayRef>, row: usize) -> Option<&[u8]> {
    let column = column.filter(|column| column.is_valid(row))?;
    match column.data_type() {
        DataType::Binary => Some(column.as_binary::<i32>().value(row)),
        DataType::LargeBinary => Some(column.as_binary::<i64>().value(row)),
        _ => Some(column.as_binary_view().value(row)),
    }
}
