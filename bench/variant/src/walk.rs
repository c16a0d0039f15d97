//! Visits everything in a value.

use crate::error::Result;
use marquetry_variant::{Value, Variant};
use parquet_variant::Variant as Theirs;

/// A number that depends on all values, texts and names.
pub(crate) fn ours(variant: Variant<'_>) -> Result<u64> {
    Ok(match variant.value()? {
        Value::Object(object) => {
            let mut sum = 0_u64;
            for field in object.iter() {
                let (name, value) = field?;
                sum = sum.wrapping_add(name.len() as u64).wrapping_add(ours(value)?);
            }
            sum
        }
        Value::Array(array) => {
            let mut sum = 0_u64;
            for element in array.iter() {
                sum = sum.wrapping_add(ours(element?)?);
            }
            sum
        }
        Value::Boolean(value) => u64::from(value),
        Value::Int8(number) => number as u64,
        Value::Int16(number) => number as u64,
        Value::Int32(number) => number as u64,
        Value::Int64(number) => number as u64,
        Value::Decimal4(number) | Value::Decimal8(number) => number.unscaled as u64,
        Value::String(text) => text.len() as u64,
        _ => 0,
    })
}

/// The same for the peer's value.
pub(crate) fn theirs(variant: &Theirs<'_, '_>) -> u64 {
    match variant {
        Theirs::Object(object) => object.iter().fold(0_u64, |sum, (name, value)| {
            sum.wrapping_add(name.len() as u64).wrapping_add(theirs(&value))
        }),
        Theirs::List(list) => list.iter().fold(0_u64, |sum, value| sum.wrapping_add(theirs(&value))),
        Theirs::BooleanTrue => 1,
        Theirs::BooleanFalse => 0,
        Theirs::Int8(number) => *number as u64,
        Theirs::Int16(number) => *number as u64,
        Theirs::Int32(number) => *number as u64,
        Theirs::Int64(number) => *number as u64,
        Theirs::Decimal4(number) => number.integer() as u64,
        Theirs::Decimal8(number) => number.integer() as u64,
        Theirs::String(text) => text.len() as u64,
        Theirs::ShortString(text) => text.as_str().len() as u64,
        _ => 0,
    }
}
