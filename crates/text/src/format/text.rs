//! Columns of UTF-8 text, whichever of Arrow's three layouts they have.

use arrow_array::cast::AsArray;
use arrow_array::{Array, LargeStringArray, StringArray, StringViewArray};
use arrow_schema::DataType;

/// The texts of a column.
pub(super) enum Text<'a> {
    Small(&'a StringArray),
    Large(&'a LargeStringArray),
    View(&'a StringViewArray),
}

impl<'a> Text<'a> {
    /// Creates the texts of `array`, which has one of the text types.
    pub(super) fn new(array: &'a dyn Array) -> Self {
        match array.data_type() {
            DataType::Utf8 => Text::Small(array.as_string()),
            DataType::LargeUtf8 => Text::Large(array.as_string()),
            _ => Text::View(array.as_string_view()),
        }
    }

    #[inline]
    pub(super) fn value(&self, row: usize) -> &'a str {
        match self {
            Text::Small(texts) => texts.value(row),
            Text::Large(texts) => texts.value(row),
            Text::View(texts) => texts.value(row),
        }
    }
}
