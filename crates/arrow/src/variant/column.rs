//! Columns of VARIANT as they are in memory, row by row.

use super::bytes::{Bytes, bytes_of};
use super::group::Group;
use super::shredded_fields::unshredded_fields;
use arrow_array::builder::BinaryViewBuilder;
use arrow_array::{Array, ArrayRef, BinaryViewArray, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use marquetry_base::{Error, Result};
use marquetry_variant::{Value, Variant, Writer};
use std::sync::Arc;

/// An array of VARIANT.
#[derive(Debug)]
pub struct VariantColumn<'a> {
    array: &'a StructArray,
    metadata: Bytes<'a>,
    group: Group<'a>,
}

impl<'a> VariantColumn<'a> {
    /// Of a struct as this crate's readers give it. Its fields are found by name.
    ///
    /// # Errors
    ///
    /// If there is no binary `metadata`, neither `value` nor `typed_value`, or a `typed_value` is of a type that no variant
    /// has, such as an unsigned integer.
    pub fn try_new(array: &'a dyn Array) -> Result<Self> {
        let array = array.as_any().downcast_ref::<StructArray>().ok_or_else(|| {
            Error::argument(format!(
                "a VARIANT is a struct of metadata and value, {} was given",
                array.data_type()
            ))
        })?;
        let metadata = array.column_by_name("metadata").and_then(bytes_of);
        let metadata = metadata.ok_or_else(|| Error::argument("a VARIANT without binary metadata"))?;
        Ok(VariantColumn { array, metadata, group: Group::new(array)? })
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.array.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.array.is_empty()
    }

    /// Whether a row is NULL: it has no variant, not even one that is null.
    pub fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row)
    }

    /// Whether nothing of it is shredded, so that values are read where they are.
    pub fn is_unshredded(&self) -> bool {
        !self.group.is_shredded()
    }

    pub(super) fn group(&self) -> &Group<'a> {
        &self.group
    }

    /// Which rows are not NULL.
    pub(super) fn nulls(&self) -> Option<&NullBuffer> {
        self.array.nulls()
    }

    /// The metadata of all rows, if nothing is shredded: they are those of the values as they are.
    pub(super) fn metadata_of_unshredded(&self) -> Option<&'a ArrayRef> {
        self.array.column_by_name("metadata").filter(|_| self.is_unshredded())
    }

    /// The variant of a row that is not NULL, if nothing is shredded.
    pub(super) fn unshredded_at(&self, row: usize) -> Result<Variant<'a>> {
        // SPEC: what is missing where a value is due reads as null.
        Variant::new(self.metadata.value(row), self.group.only_value(row).unwrap_or(&NULL_VALUE))
    }

    /// Reads rows one by one, in any order.
    pub fn reader(&self) -> VariantReader<'_, 'a> {
        VariantReader { column: self, writer: Writer::new(), written: Default::default() }
    }

    /// All rows as `metadata` and `value` alone, with nothing shredded; NULL where they are.
    ///
    /// # Errors
    ///
    /// As [`VariantReader::get`], with the row.
    pub fn unshredded(&self) -> Result<StructArray> {
        let mut reader = self.reader();
        let (mut metadata, mut values) = (BinaryViewBuilder::new(), BinaryViewBuilder::new());
        for row in 0..self.len() {
            match reader.get(row).map_err(|error| error.with_help(&format!("in row {row} of the batch")))? {
                Some(variant) => {
                    metadata.append_value(variant.metadata().as_bytes());
                    values.append_value(variant.bytes());
                }
                None => {
                    metadata.append_value(EMPTY_METADATA);
                    values.append_value(NULL_VALUE);
                }
            }
        }
        let fields = unshredded_fields(&DataType::BinaryView);
        let columns: [BinaryViewArray; 2] = [metadata.finish(), values.finish()];
        let columns = columns.map(|column| Arc::new(column) as _).to_vec();
        StructArray::try_new(fields, columns, self.array.nulls().cloned()).map_err(crate::arrow_error)
    }
}

/// Reads the rows of a [`VariantColumn`].
#[derive(Debug)]
pub struct VariantReader<'s, 'a> {
    column: &'s VariantColumn<'a>,
    writer: Writer,
    /// Metadata and value of the last row that had to be put together.
    written: (Vec<u8>, Vec<u8>),
}

impl VariantReader<'_, '_> {
    /// The variant of a row; `None` if it is NULL. A row whose parts are all missing is a variant that is null.
    ///
    /// # Errors
    ///
    /// If a value that is not an object stands in `value` and `typed_value` both, an object has a field in both, or what is
    /// looked at is damaged.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn get(&mut self, row: usize) -> Result<Option<Variant<'_>>> {
        let column = self.column;
        if column.is_null(row) {
            return Ok(None);
        }
        let metadata = column.metadata.value(row);
        if let Some(value) = column.group.only_value(row) {
            return Variant::new(metadata, value).map(Some);
        }
        // What an error left behind.
        self.writer.clear();
        if !column.group.write(row, metadata, &mut self.writer)? {
            self.writer.write(&Value::Null)?;
        }
        self.written = self.writer.finish()?;
        Variant::new(&self.written.0, &self.written.1).map(Some)
    }
}

/// Version 1, no names.
pub(super) const EMPTY_METADATA: [u8; 3] = [1, 0, 0];
/// A variant that is null.
const NULL_VALUE: [u8; 1] = [0];
