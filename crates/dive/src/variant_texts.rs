//! Values of VARIANT as JSON.

use arrow_array::Array;
use marquetry_arrow::variant::VariantColumn;
use marquetry_base::Result;
use marquetry_variant::json;

/// The JSON of each row, shredded or not; `None` if there is no value. Fails if one is damaged.
pub(crate) fn variant_texts(array: &dyn Array) -> Result<Vec<Option<String>>> {
    let column = VariantColumn::try_new(array)?;
    let mut reader = column.reader();
    let mut texts = Vec::with_capacity(column.len());
    for row in 0..column.len() {
        let mut text = String::new();
        let variant = reader.get(row)?;
        let is_there = variant.is_some();
        if let Some(variant) = variant {
            json::write_to(variant, &mut text)?;
        }
        texts.push(is_there.then_some(text));
    }
    Ok(texts)
}
