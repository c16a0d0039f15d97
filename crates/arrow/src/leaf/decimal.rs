//! DECIMAL: an integer in any of four stored forms, as Arrow's integers of 32 to 256 bits.
//!
//! Whether a value fits is decided by the value, not by its width: writers pad. Byte strings are big-endian two's
//! complement, and an empty one is 0.

use super::{primitive, words};
use arrow_array::ArrayRef;
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, i256};
use arrow_schema::DataType;
use marquetry_base::{Error, Result};
use marquetry_encoding::{Fixed, Values, Views};

/// Whether the precision is one that the type can have.
pub(super) fn is_valid(to: &DataType) -> bool {
    match to {
        DataType::Decimal32(precision, _) => *precision <= 9,
        DataType::Decimal64(precision, _) => *precision <= 18,
        DataType::Decimal128(precision, _) => *precision <= 38,
        DataType::Decimal256(precision, _) => *precision <= 76,
        _ => false,
    }
}

/// The unscaled integers in the width of `to`. Fails on a value that does not fit.
pub(super) fn into_array(values: Values, nulls: Option<NullBuffer>, to: &DataType) -> Result<ArrayRef> {
    match (to, values) {
        (DataType::Decimal32(..), Values::W32(values)) => words::as_is(values, nulls, to),
        (DataType::Decimal64(..), Values::W64(values)) => words::as_is(values, nulls, to),
        (DataType::Decimal32(..), values) => array(narrow::<i32>(&wide(&values)?)?, nulls, to),
        (DataType::Decimal64(..), values) => array(narrow::<i64>(&wide(&values)?)?, nulls, to),
        (DataType::Decimal128(..), values) => array(wide(&values)?, nulls, to),
        (_, values) => array(widest(&values)?, nulls, to),
    }
}

fn array<T: ArrowNativeType>(values: Vec<T>, nulls: Option<NullBuffer>, to: &DataType) -> Result<ArrayRef> {
    let len = values.len();
    primitive(Buffer::from_vec(values), len, nulls, to)
}

fn narrow<T: TryFrom<i128>>(values: &[i128]) -> Result<Vec<T>> {
    let bits = 8 * size_of::<T>();
    values.iter().map(|&value| T::try_from(value).map_err(|_| too_large(&value.to_string(), bits))).collect()
}

/// The values as 128-bit integers.
fn wide(values: &Values) -> Result<Vec<i128>> {
    match values {
        Values::W32(values) => Ok(values.iter().map(|&value| i128::from(value as i32)).collect()),
        Values::W64(values) => Ok(values.iter().map(|&value| i128::from(value as i64)).collect()),
        Values::Fixed(values) if (1..=16).contains(&values.width()) => Ok(wide_fixed(values)),
        Values::Fixed(values) => (0..values.len()).map(|i| wide_bytes(values.get(i))).collect(),
        Values::Bytes(views) => wide_views(views),
        Values::Bit(_) => Err(Error::argument("BOOLEAN values are no decimals")),
    }
}

/// PERF: the 16 bytes that end where a value ends hold it in their low bits; two shifts drop the neighbour's and extend
/// the sign, without a copy of variable length.
fn wide_fixed(values: &Fixed) -> Vec<i128> {
    let (width, bytes) = (values.width(), values.as_bytes());
    let shift = 128 - 8 * width as u32;
    let mut out = Vec::with_capacity(values.len());
    // The first values have no 16 bytes before their end.
    let lead = (16 - width).div_ceil(width).min(values.len());
    out.extend((0..lead).map(|i| sign_extended::<16>(values.get(i)).map_or(0, i128::from_be_bytes)));
    let windows = bytes.windows(16).skip((lead + 1) * width - 16.min((lead + 1) * width)).step_by(width);
    out.extend(
        windows
            .filter_map(<[u8]>::first_chunk)
            .map(|&window| (i128::from_be_bytes(window) << shift) >> shift),
    );
    out
}

fn wide_views(views: &Views) -> Result<Vec<i128>> {
    views.iter().map(wide_bytes).collect()
}

fn wide_bytes(bytes: &[u8]) -> Result<i128> {
    let value = sign_extended::<16>(bytes).ok_or_else(|| too_large(&hex(bytes), 128))?;
    Ok(i128::from_be_bytes(value))
}

/// The values as 256-bit integers.
fn widest(values: &Values) -> Result<Vec<i256>> {
    let widest_bytes = |bytes: &[u8]| {
        let value = sign_extended::<32>(bytes).ok_or_else(|| too_large(&hex(bytes), 256))?;
        Ok(i256::from_be_bytes(value))
    };
    match values {
        Values::Fixed(values) => (0..values.len()).map(|i| widest_bytes(values.get(i))).collect(),
        Values::Bytes(views) => views.iter().map(widest_bytes).collect(),
        values => Ok(wide(values)?.into_iter().map(i256::from_i128).collect()),
    }
}

/// The big-endian integer in `N` bytes; `None` if it needs more.
#[inline]
fn sign_extended<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    let negative = bytes.first().is_some_and(|&byte| byte >= 0x80);
    let sign = if negative { 0xff } else { 0 };
    let cut = bytes.len().saturating_sub(N);
    let (head, tail) = bytes.split_at(cut);
    if !head.is_empty() && (head.iter().any(|&byte| byte != sign) || (tail[0] >= 0x80) != negative) {
        return None;
    }
    let mut out = [sign; N];
    out[N - tail.len()..].copy_from_slice(tail);
    Some(out)
}

fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().take(64).map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}{}", if bytes.len() > 64 { ".." } else { "" })
}

#[cold]
fn too_large(value: &str, bits: usize) -> Error {
    Error::corrupt(format!("the decimal {value} does not fit in {bits} bits"))
}
