//! Values of pages as text.

use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Decimal128Array, Float16Array, Int32Array, Int64Array,
    StringArray, make_array,
};
use arrow_cast::cast;
use arrow_schema::DataType;
use marquetry_base::Result;
use marquetry_encoding::Values;
use std::sync::Arc;

/// The text of each value of a column that is read as `as_type`.
pub(crate) fn texts(values: &Values, as_type: &DataType) -> Result<Vec<Option<String>>> {
    let array = array(values, as_type);
    marquetry_inspect::value_texts(&array)
}

/// Never fails: values that cannot become the type are shown as stored.
fn array(values: &Values, as_type: &DataType) -> ArrayRef {
    match values {
        Values::Bit(bits) => Arc::new((0..bits.len()).map(|i| Some(bits.get(i))).collect::<BooleanArray>()),
        Values::W32(words) => {
            let words: Int32Array = words.iter().map(|word| Some(*word as i32)).collect();
            number(Arc::new(words), as_type)
        }
        Values::W64(words) => {
            let words: Int64Array = words.iter().map(|word| Some(*word as i64)).collect();
            number(Arc::new(words), as_type)
        }
        Values::Fixed(fixed) => strings((0..fixed.len()).map(|i| fixed.get(i)), as_type),
        Values::Bytes(views) => strings(views.iter(), as_type),
        Values::Offsets(texts) => strings((0..texts.len()).map(|i| texts.get(i)), as_type),
    }
}

fn number(stored: ArrayRef, as_type: &DataType) -> ArrayRef {
    if let DataType::Decimal32(p, s) | DataType::Decimal64(p, s) | DataType::Decimal128(p, s) = as_type {
        let as_i64 = cast(&stored, &DataType::Int64).ok();
        let numbers = as_i64.as_ref().and_then(|array| array.as_any().downcast_ref::<Int64Array>());
        let decimals: Option<Decimal128Array> =
            numbers.map(|numbers| numbers.iter().map(|number| number.map(i128::from)).collect());
        let decimals = decimals.and_then(|array| array.with_precision_and_scale(*p, *s).ok());
        return decimals.map_or(stored, |decimals| Arc::new(decimals) as ArrayRef);
    }
    // Types of the same width have the same bits; narrower integers are the low ones.
    if as_type.primitive_width() == stored.data_type().primitive_width()
        && let Ok(data) = stored.to_data().into_builder().data_type(as_type.clone()).build()
    {
        return make_array(data);
    }
    cast(&stored, as_type).unwrap_or(stored)
}

fn strings<'a>(values: impl Iterator<Item = &'a [u8]>, as_type: &DataType) -> ArrayRef {
    match as_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            let texts = values
                .map(|value| Some(String::from_utf8_lossy(&value[..value.len().min(MOST)]).into_owned()));
            Arc::new(texts.collect::<StringArray>())
        }
        DataType::Float16 => {
            let half = |value: &[u8]| Some(u16::from_le_bytes(*value.first_chunk()?));
            let halves = values.map(half).collect::<Vec<_>>();
            let halves: arrow_array::UInt16Array = halves.into_iter().collect();
            match halves.to_data().into_builder().data_type(DataType::Float16).build() {
                Ok(data) => Arc::new(Float16Array::from(data)),
                Err(_) => Arc::new(halves),
            }
        }
        DataType::Decimal32(p, s) | DataType::Decimal64(p, s) | DataType::Decimal128(p, s) => {
            let number = |value: &[u8]| {
                let fill = if value.first().is_some_and(|byte| *byte > 127) { -1 } else { 0i128 };
                (value.len() <= 16).then(|| value.iter().fold(fill, |sum, byte| sum << 8 | i128::from(*byte)))
            };
            let decimals: Decimal128Array = values.map(number).collect();
            match decimals.clone().with_precision_and_scale(*p, *s) {
                Ok(decimals) => Arc::new(decimals),
                Err(_) => Arc::new(decimals),
            }
        }
        _ => Arc::new(values.map(|value| Some(&value[..value.len().min(MOST)])).collect::<BinaryArray>()),
    }
}

/// Bytes of a value that are read: more than the shown characters can have.
const MOST: usize = 4_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::shown;
    use marquetry_encoding::StringViews;

    #[test]
    fn a_text_is_cut_at_a_character_and_says_so() {
        let mut views = StringViews::default();
        ["日".repeat(400), "日".repeat(2_000)].iter().for_each(|text| views.push(text.as_bytes()));
        let texts = texts(&Values::Bytes(views), &DataType::Utf8).unwrap();
        let texts: Vec<_> = texts.iter().flatten().map(|text| shown(text)).collect();
        assert_eq!(texts, ["日".repeat(400), format!("{}…", "日".repeat(500))]);
    }
}
