//! VARIANT columns in memory, read row by row.

use super::assembler::Assembler;
use super::bytes::{Bytes, bytes_of};
use super::group::Group;
use super::json_text::write_json;
use super::shredded_fields::unshredded_fields;
use super::value_bytes::ValueBytes;
use crate::evolution::cast_exact;
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use marquetry_base::{Error, Result};
use marquetry_variant::Variant;

/// A VARIANT array.
#[derive(Debug)]
pub struct VariantColumn<'a> {
    array: &'a StructArray,
    metadata: Bytes<'a>,
    group: Group<'a>,
    /// The names of the shredded fields.
    names: Vec<&'a str>,
}

impl<'a> VariantColumn<'a> {
    /// Wraps a struct as this crate's readers return it. Finds its fields by name.
    ///
    /// # Errors
    ///
    /// If there is no binary `metadata`, if both `value` and `typed_value` are missing, or if a `typed_value` has a
    /// type that no variant has, such as an unsigned integer.
    pub fn try_new(array: &'a dyn Array) -> Result<Self> {
        let array = array.as_any().downcast_ref::<StructArray>().ok_or_else(|| {
            Error::argument(format!(
                "a VARIANT is a struct of metadata and value, {} was given",
                array.data_type()
            ))
        })?;
        let metadata = array.column_by_name("metadata").and_then(bytes_of);
        let metadata = metadata.ok_or_else(|| Error::argument("a VARIANT without binary metadata"))?;
        let (group, names) = Group::root(array)?;
        Ok(VariantColumn { array, metadata, group, names })
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.array.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.array.is_empty()
    }

    /// Returns whether a row is NULL: it has no variant, not even a null one.
    pub fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row)
    }

    /// Returns whether nothing is shredded, so that values are read where they are stored.
    pub fn is_unshredded(&self) -> bool {
        !self.group.is_shredded()
    }

    pub(super) fn group(&self) -> &Group<'a> {
        &self.group
    }

    /// Returns which rows are not NULL.
    pub(super) fn nulls(&self) -> Option<&NullBuffer> {
        self.array.nulls()
    }

    /// Returns the metadata of all rows, if nothing is shredded: it fits the values as they are.
    pub(super) fn metadata_of_unshredded(&self) -> Option<&'a ArrayRef> {
        self.array.column_by_name("metadata").filter(|_| self.is_unshredded())
    }

    /// Returns the variant of a row that is not NULL, if nothing is shredded.
    pub(super) fn unshredded_at(&self, row: usize) -> Result<Variant<'a>> {
        // SPEC: a missing value where one is required reads as null.
        Variant::new(self.metadata.value(row), self.group.only_value(row).unwrap_or(&NULL_VALUE))
    }

    /// Returns a reader of single rows, in any order.
    pub fn reader(&self) -> VariantReader<'_, 'a> {
        VariantReader { column: self, assembler: Assembler::new(self.names.clone()) }
    }

    /// Returns all rows as only `metadata` and `value`, with nothing shredded. NULL rows stay NULL.
    ///
    /// # Errors
    ///
    /// Those of [`VariantReader::get`], with the row.
    pub fn unshredded(&self) -> Result<StructArray> {
        let (metadata, values) = match self.values_of_same_names()? {
            Some(found) => found,
            None => self.values_of_new_names()?,
        };
        let fields = unshredded_fields(&DataType::BinaryView);
        StructArray::try_new(fields, vec![metadata, values], self.array.nulls().cloned())
            .map_err(crate::arrow_error)
    }

    /// Returns all rows with the fields of objects sorted by name; `None` if they are sorted already, or if the column is shredded.
    pub(super) fn sorted(&self) -> Result<Option<StructArray>> {
        let is_unsorted = |row: &usize| {
            !self.is_null(*row) && self.unshredded_at(*row).is_ok_and(|variant| !variant.is_sorted())
        };
        let first = (0..self.len()).find(is_unsorted).filter(|_| self.is_unshredded());
        let Some(first) = first else { return Ok(None) };
        let mut values = ValueBytes::new();
        for row in 0..self.len() {
            let Some(value) = self.group.only_value(row) else { continue };
            match self.unshredded_at(row) {
                Ok(variant) if row >= first => values.push_sorted(row, variant)?,
                // Damaged values stay as they are.
                _ => values.push(row, value)?,
            }
        }
        let values = values.finish(self.len())?;
        let (fields, columns, nulls) = self.array.clone().into_parts();
        let columns = fields.iter().zip(columns).map(|(field, column)| match field.name() == "value" {
            true => cast_exact(&values, field.data_type()),
            false => Ok(column),
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        StructArray::try_new(fields, columns, nulls).map(Some).map_err(crate::arrow_error)
    }

    /// Returns the metadata as they are, and values; `None` if some row needs names that its metadata lacks.
    fn values_of_same_names(&self) -> Result<Option<(ArrayRef, ArrayRef)>> {
        let mut assembler = Assembler::new(self.names.clone());
        let mut values = ValueBytes::new();
        for row in (0..self.len()).filter(|row| !self.is_null(*row)) {
            let names = self.metadata.value(row);
            let value = match self.group.only_value(row) {
                Some(value) => Ok(Some(value)),
                None => assembler.bytes(&self.group, row, names),
            };
            let variant = value.and_then(|value| value.map(|value| Variant::new(names, value)).transpose());
            match variant.map_err(|error| in_row(error, row))? {
                Some(variant) => values.push_sorted(row, variant)?,
                None => return Ok(None),
            }
        }
        let values = values.finish_filled(self.len(), &NULL_VALUE)?;
        Ok(Some((self.metadata.views(&EMPTY_METADATA), values)))
    }

    fn values_of_new_names(&self) -> Result<(ArrayRef, ArrayRef)> {
        let mut reader = self.reader();
        let (mut metadata, mut values) = (ValueBytes::new(), ValueBytes::new());
        for row in 0..self.len() {
            if let Some(variant) = reader.get(row).map_err(|error| in_row(error, row))? {
                metadata.push(row, variant.metadata().as_bytes())?;
                values.push_sorted(row, variant)?;
            }
        }
        let metadata = metadata.finish_filled(self.len(), &EMPTY_METADATA)?;
        Ok((metadata, values.finish_filled(self.len(), &NULL_VALUE)?))
    }
}

#[cold]
fn in_row(error: Error, row: usize) -> Error {
    error.with_help(&format!("in row {row} of the batch"))
}

/// Reads the rows of a [`VariantColumn`].
#[derive(Debug)]
pub struct VariantReader<'s, 'a> {
    column: &'s VariantColumn<'a>,
    assembler: Assembler<'a>,
}

impl VariantReader<'_, '_> {
    /// Returns the variant of a row; `None` if it is NULL. A row whose parts are all missing is a null variant.
    ///
    /// # Errors
    ///
    /// If a value that is not an object is in both `value` and `typed_value`, if an object has a field in both, or if what
    /// is read is damaged.
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
        self.assembler.value(&column.group, row, metadata).map(Some)
    }

    /// Appends the variant of a row as [JSON](marquetry_variant::json). Returns `false` if the row is NULL. The text is
    /// that of the value of [`get`](Self::get), which is not assembled for it. After an error, appended text stays.
    ///
    /// # Errors
    ///
    /// Those of [`get`](Self::get). Also fails if any part of it is damaged.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn write_json(&mut self, row: usize, out: &mut String) -> Result<bool> {
        let column = self.column;
        if column.is_null(row) {
            return Ok(false);
        }
        if !write_json(&column.group, row, column.metadata.value(row), out)? {
            // SPEC: a missing value where one is required reads as null.
            out.push_str("null");
        }
        Ok(true)
    }
}

/// Version 1, no names.
pub(super) const EMPTY_METADATA: [u8; 3] = [1, 0, 0];
/// The encoding of a null variant.
pub(super) const NULL_VALUE: [u8; 1] = [0];
