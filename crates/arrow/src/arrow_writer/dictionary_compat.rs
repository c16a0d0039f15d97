//! Keeps dictionary columns readable for pyarrow, and keeps the order of ordered dictionaries.

use crate::schema::element_of;
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use marquetry_core::write::{ColumnSettings, Compat, EncodingPolicy};
use marquetry_encoding::code::PLAIN;

/// QUIRK: if the stored Arrow schema says that a column is a dictionary, pyarrow reads only PLAIN and dictionary encodings.
///
/// If a dictionary is ordered, all of its values are stored: the schema tells readers that the order means something,
/// and the only order that they have is that of the dictionary page.
pub(super) fn keep_dictionaries_readable(arrow_schema: &ArrowSchema, columns: &mut [ColumnSettings]) {
    let mut leaves = Vec::with_capacity(columns.len());
    arrow_schema.fields().iter().for_each(|field| note_leaves(field, &mut leaves));
    for (settings, is_ordered) in columns.iter_mut().zip(leaves) {
        let Some(is_ordered) = is_ordered else { continue };
        settings.compat = Compat::Maximum;
        if is_ordered {
            settings.whole_dictionaries = true;
            if settings.encoding == (EncodingPolicy::Auto { dictionary: true }) {
                settings.encoding = EncodingPolicy::DictionaryOr(PLAIN);
            }
        }
    }
}

/// Appends for each leaf below a field whether it is an ordered dictionary; `None` if it is not a dictionary.
fn note_leaves(field: &Field, leaves: &mut Vec<Option<bool>>) {
    match field.data_type() {
        DataType::Struct(fields) => fields.iter().for_each(|field| note_leaves(field, leaves)),
        DataType::Map(entries, _) => note_leaves(entries, leaves),
        other => match element_of(other) {
            Some(element) => note_leaves(element, leaves),
            None => leaves.push(field.dict_is_ordered()),
        },
    }
}
