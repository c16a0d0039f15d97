//! A column of CSV: cells become values.

use super::nested::from_json_cells;
use super::parse_values::{Strictness, ValueError, typed};
use super::texts::{RecordTexts, Texts};
use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field};
use std::ops::Range;

/// The cells of a column in some rows, and which of them are null.
pub struct CsvColumn<'a> {
    /// The cells of all columns and rows.
    pub texts: &'a RecordTexts<'a>,
    /// The wanted rows.
    pub rows: Range<usize>,
    /// The number of the column, from 0.
    pub column: usize,
    /// The texts that mean null.
    pub nulls: &'a [String],
    /// The byte around quoted cells. If the type allows it, `""` is an empty text.
    pub quote: u8,
}

impl CsvColumn<'_> {
    /// Parses the cells as values of `field`. Nested values are JSON in the cells.
    ///
    /// # Errors
    /// The first cell that is not such a value.
    pub fn values(&self, field: &Field, strictness: Strictness) -> Result<ArrayRef, ValueError> {
        let cells = Cells::new(self, field.data_type());
        match field.data_type().is_nested() {
            true => from_json_cells(&cells, field, strictness),
            false => typed(&cells, field.data_type(), strictness),
        }
    }
}

/// A column that is parsed as a type.
struct Cells<'a> {
    texts: &'a RecordTexts<'a>,
    rows: Range<usize>,
    column: usize,
    /// The texts that mean null, unless only the empty one does.
    nulls: &'a [String],
    /// Whether empty cells are null.
    empty_is_null: bool,
    is_text: bool,
    quote: u8,
}

impl<'a> Cells<'a> {
    fn new(of: &'a CsvColumn<'a>, data_type: &DataType) -> Self {
        let is_text = is_text(data_type);
        // If empty cells are not null, they are empty texts, which are not values of other types.
        let empty_is_null = !is_text || of.nulls.iter().any(String::is_empty);
        let nulls = if of.nulls.iter().all(String::is_empty) { &[][..] } else { of.nulls };
        let CsvColumn { texts, column, quote, .. } = *of;
        Cells { texts, rows: of.rows.clone(), column, nulls, empty_is_null, is_text, quote }
    }
}

/// Whether values of this type may be empty.
fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_text(values),
        DataType::RunEndEncoded(_, values) => is_text(values.data_type()),
        other => other.is_string() || other.is_binary(),
    }
}

impl Texts for Cells<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    #[inline]
    fn get(&self, at: usize) -> Option<&str> {
        let span = self.texts.span(self.rows.start + at, self.column);
        if span.is_null() {
            return None;
        }
        let text = self.texts.at(span);
        let is_null = match text.is_empty() {
            // A quoted empty cell is an empty text, if the type allows it.
            true => self.empty_is_null && !(self.is_text && self.texts.follows(span, self.quote)),
            false => self.nulls.iter().any(|null| null == text),
        };
        (!is_null).then_some(text)
    }
}
