//! A column of JSON: members of objects become values, where they are neither lists nor objects.

use super::json_form::Expected;
use super::parse_values::{Strictness, ValueError, typed};
use super::texts::{RecordTexts, Texts};
use arrow_array::ArrayRef;
use arrow_schema::Field;
use std::ops::Range;

/// A column of members in some rows.
pub struct JsonColumn<'a> {
    /// The members of all columns and rows.
    pub texts: &'a RecordTexts<'a>,
    /// The wanted rows.
    pub rows: Range<usize>,
    /// The number of the column, from 0.
    pub column: usize,
}

impl JsonColumn<'_> {
    /// Parses the members as values of `field`, which is not nested.
    ///
    /// # Errors
    /// The first member that is not such a value, or not `expected`.
    pub fn values(
        &self,
        field: &Field,
        expected: &Expected,
        strictness: Strictness,
    ) -> Result<ArrayRef, ValueError> {
        if expected.is_text_only() {
            self.check_strings()?;
        }
        typed(self, field.data_type(), strictness)
    }

    /// Fails if there is a number, `true` or `false`.
    fn check_strings(&self) -> Result<(), ValueError> {
        let is_bare = |at: &usize| {
            let span = self.texts.span(self.rows.start + at, self.column);
            !span.is_null() && !self.texts.is_string(span)
        };
        match (0..self.rows.len()).find(is_bare) {
            Some(at) => {
                Err(ValueError { at, message: format!("{} is not text", self.get(at).unwrap_or_default()) })
            }
            None => Ok(()),
        }
    }
}

impl Texts for JsonColumn<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    #[inline]
    fn get(&self, at: usize) -> Option<&str> {
        let span = self.texts.span(self.rows.start + at, self.column);
        (!span.is_null()).then(|| self.texts.at(span))
    }
}
