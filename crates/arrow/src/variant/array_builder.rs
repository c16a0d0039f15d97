//! Builds an unshredded VARIANT column.

use super::column::{EMPTY_METADATA, NULL_VALUE};
use super::shredded_fields::unshredded_fields;
use super::value_bytes::ValueBytes;
use arrow_array::StructArray;
use arrow_buffer::NullBufferBuilder;
use arrow_schema::DataType;
use marquetry_base::Result;
use marquetry_variant::{Variant, Writer, json};

/// Builds a struct of `metadata` and `value`, row by row.
///
/// ```
/// use marquetry_arrow::variant::{VariantArrayBuilder, VariantColumn};
/// let mut builder = VariantArrayBuilder::new();
/// builder.append_json(r#"{"id": 7}"#)?;
/// builder.append_null();
/// let array = builder.finish()?;
/// let column = VariantColumn::try_new(&array)?;
/// assert_eq!(marquetry_variant::json::to_string(column.reader().get(0)?.unwrap())?, r#"{"id":7}"#);
/// assert!(column.is_null(1));
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "the array is what `finish` gives"]
pub struct VariantArrayBuilder {
    metadata: ValueBytes,
    values: ValueBytes,
    nulls: NullBufferBuilder,
    writer: Writer,
}

impl VariantArrayBuilder {
    /// Creates a builder without rows.
    pub fn new() -> Self {
        VariantArrayBuilder {
            metadata: ValueBytes::new(),
            values: ValueBytes::new(),
            nulls: NullBufferBuilder::new(0),
            writer: Writer::new(),
        }
    }

    /// Returns the number of rows so far.
    pub fn len(&self) -> usize {
        self.nulls.len()
    }

    /// Returns whether there are no rows yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the value of a JSON text, by the rules of [`json`].
    ///
    /// # Errors
    ///
    /// Those of [`json::parse`]. No row is appended then.
    pub fn append_json(&mut self, text: &str) -> Result<()> {
        self.write(|writer| json::parse_into(text, writer))
    }

    /// Appends a copy of a value, with only those names that it needs.
    ///
    /// # Errors
    ///
    /// If it is damaged. No row is appended then.
    pub fn append(&mut self, variant: Variant<'_>) -> Result<()> {
        self.write(|writer| writer.copy(variant))
    }

    /// Appends the value that `write` writes.
    ///
    /// # Errors
    ///
    /// Those of `write`. Also fails if it leaves no value, or an unfinished one. No row is appended then.
    pub fn write(&mut self, write: impl FnOnce(&mut Writer) -> Result<()>) -> Result<()> {
        // Clears what an earlier error left behind.
        self.writer.clear();
        write(&mut self.writer)?;
        let row = self.len();
        self.writer.finish_with(|metadata, value| {
            self.metadata.push(row, metadata)?;
            self.values.push(row, value)
        })??;
        self.nulls.append_non_null();
        Ok(())
    }

    /// Appends NULL, which differs from any variant.
    pub fn append_null(&mut self) {
        self.nulls.append_null();
    }

    /// Appends NULL up to row `row`.
    pub(super) fn pad(&mut self, row: usize) {
        self.nulls.append_n_nulls(row - self.len());
    }

    /// Finishes the column.
    ///
    /// # Errors
    ///
    /// If a buffer of its bytes would exceed 2 GiB.
    pub fn finish(self) -> Result<StructArray> {
        let len = self.nulls.len();
        // A NULL row has a variant below it, too: neither column of the struct has nulls.
        let metadata = self.metadata.finish_filled(len, &EMPTY_METADATA)?;
        let values = self.values.finish_filled(len, &NULL_VALUE)?;
        let fields = unshredded_fields(&DataType::BinaryView);
        StructArray::try_new(fields, vec![metadata, values], self.nulls.build()).map_err(crate::arrow_error)
    }
}

impl Default for VariantArrayBuilder {
    fn default() -> Self {
        Self::new()
    }
}
