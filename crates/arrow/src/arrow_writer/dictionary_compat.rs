//! Keeps dictionary columns readable for pyarrow.

use crate::schema::element_of;
use arrow_schema::{DataType, Schema as ArrowSchema};
use marquetry_core::write::{ColumnSettings, Compat};

/// QUIRK: pyarrow, told by the stored Arrow schema that a column is a dictionary, reads no other encodings than PLAIN and
/// dictionaries.
pub(super) fn keep_dictionaries_readable(arrow_schema: &ArrowSchema, columns: &mut [ColumnSettings]) {
    let mut is_dictionary = Vec::with_capacity(columns.len());
    arrow_schema.fields().iter().for_each(|field| note_leaves(field.data_type(), &mut is_dictionary));
    for (settings, _) in columns.iter_mut().zip(is_dictionary).filter(|(_, is_dictionary)| *is_dictionary) {
        settings.compat = Compat::Maximum;
    }
}

/// For each leaf below a field of this type, whether it is a dictionary.
fn note_leaves(data_type: &DataType, is_dictionary: &mut Vec<bool>) {
    match data_type {
        DataType::Struct(fields) => {
            fields.iter().for_each(|field| note_leaves(field.data_type(), is_dictionary));
        }
        DataType::Map(entries, _) => note_leaves(entries.data_type(), is_dictionary),
        other => match element_of(other) {
            Some(element) => note_leaves(element.data_type(), is_dictionary),
            None => is_dictionary.push(matches!(other, DataType::Dictionary(..))),
        },
    }
}
