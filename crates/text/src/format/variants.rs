//! VARIANT values as JSON.

use arrow_array::Array;
use marquetry_arrow::variant::VariantColumn;
use marquetry_base::Error;

/// The JSON of each row of a column. A damaged variant is an error before any row is written.
pub(super) struct Variants {
    /// The texts, one after the other.
    texts: String,
    /// The end of each row's text.
    ends: Vec<usize>,
}

impl Variants {
    pub(super) fn new(array: &dyn Array) -> Result<Self, Error> {
        let column = VariantColumn::try_new(array)?;
        let mut reader = column.reader();
        let (mut texts, mut ends) = (String::new(), Vec::with_capacity(column.len()));
        for row in 0..column.len() {
            reader.write_json(row, &mut texts)?;
            ends.push(texts.len());
        }
        Ok(Variants { texts, ends })
    }

    /// Returns the text of a row, which is empty if the row is NULL.
    pub(super) fn json(&self, row: usize) -> &str {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.texts[start..self.ends[row]]
    }
}
