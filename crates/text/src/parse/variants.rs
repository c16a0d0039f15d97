//! Parses JSON into VARIANT.

use super::parse_values::ValueError;
use super::texts::Texts;
use arrow_array::builder::BinaryBuilder;
use arrow_array::{ArrayRef, StructArray};
use arrow_buffer::NullBufferBuilder;
use arrow_schema::Fields;
use marquetry_variant::json;
use std::sync::Arc;

/// Parses JSON texts as variants, with the two `fields` of an unshredded variant. A missing text is NULL, but a JSON
/// `null` is a variant.
pub(super) fn variants(texts: &impl Texts, fields: &Fields) -> Result<ArrayRef, ValueError> {
    let (mut metadata, mut values) = (BinaryBuilder::new(), BinaryBuilder::new());
    let mut nulls = NullBufferBuilder::new(texts.len());
    for at in 0..texts.len() {
        nulls.append(texts.get(at).is_some());
        // A missing value is stored as a variant, too.
        let parsed = json::parse(texts.get(at).unwrap_or("null"));
        let (names, value) =
            parsed.map_err(|error| ValueError { at, message: format!("no VARIANT: {}", error.message()) })?;
        metadata.append_value(names);
        values.append_value(value);
    }
    let columns: Vec<ArrayRef> = vec![Arc::new(metadata.finish()), Arc::new(values.finish())];
    Ok(Arc::new(StructArray::new(fields.clone(), columns, nulls.finish())))
}
