//! DECIMAL: an integer in any of four stored forms, as Arrow's integers of 32 to 256 bits.
//!
//! Whether a value fits depends on the value, not on its width, because writers pad. Byte strings are big-endian two's
//! complement, and an empty one is 0.

use super::array_builders::primitive;
use super::conversion_error::{ConversionError, unsupported, wrong_array};
use super::non_null::NonNullSlots;
use super::primitive;
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, i256};
use arrow_schema::DataType;
use marquetry_base::{Error, Result, to_hex};
use marquetry_core::logical_type::LogicalType;
use marquetry_core::schema::Leaf;
use marquetry_encoding::{FixedLenBytes, StringViews, Values};

/// Converts the unscaled integers to the width of `to`. Fails on a value that does not fit.
pub(super) fn into_array(values: Values, nulls: Option<NullBuffer>, to: &DataType) -> Result<ArrayRef> {
    match (to, values) {
        (DataType::Decimal32(..), Values::W32(values)) => primitive::as_is(values, nulls, to),
        (DataType::Decimal64(..), Values::W64(values)) => primitive::as_is(values, nulls, to),
        (DataType::Decimal32(..), values) => array(narrow::<i32>(&wide(&values)?)?, nulls, to),
        (DataType::Decimal64(..), values) => array(narrow::<i64>(&wide(&values)?)?, nulls, to),
        (DataType::Decimal128(..), Values::Fixed(values)) if values.width() == 16 => {
            array(turned(&values, i128::from_be_bytes), nulls, to)
        }
        (DataType::Decimal256(..), Values::Fixed(values)) if values.width() == 32 => {
            array(turned(&values, i256::from_be_bytes), nulls, to)
        }
        (DataType::Decimal128(..), values) => array(wide(&values)?, nulls, to),
        (_, values) => array(widest(&values)?, nulls, to),
    }
}

fn array<T: ArrowNativeType>(values: Vec<T>, nulls: Option<NullBuffer>, to: &DataType) -> Result<ArrayRef> {
    let len = values.len();
    primitive(Buffer::from_vec(values), len, nulls, to)
}

/// Converts values of `N` bytes each by `of`.
fn turned<const N: usize, T>(values: &FixedLenBytes, of: impl Fn([u8; N]) -> T) -> Vec<T> {
    let mut out = Vec::with_capacity(values.len());
    for block in values.blocks().into_iter().flatten() {
        out.extend(block.iter().map(|&value| of(value)));
    }
    out
}

fn narrow<T: TryFrom<i128>>(values: &[i128]) -> Result<Vec<T>> {
    let bits = 8 * size_of::<T>();
    values.iter().map(|&value| T::try_from(value).map_err(|_| too_large(&value.to_string(), bits))).collect()
}

/// Converts the values to 128-bit integers.
fn wide(values: &Values) -> Result<Vec<i128>> {
    match values {
        Values::W32(values) => Ok(values.iter().map(|&value| i128::from(value as i32)).collect()),
        Values::W64(values) => Ok(values.iter().map(|&value| i128::from(value as i64)).collect()),
        Values::Fixed(values) if (1..=16).contains(&values.width()) => Ok(wide_fixed(values)),
        Values::Fixed(values) => (0..values.len()).map(|i| wide_bytes(values.get(i))).collect(),
        Values::Bytes(views) => wide_views(views),
        Values::Offsets(strings) => strings.iter().map(wide_bytes).collect(),
        Values::Bit(_) => Err(Error::argument("BOOLEAN values are not decimals")),
    }
}

/// Converts values of up to 16 bytes. PERF: the 16 bytes that end where a value ends hold it in their low bits. Two
/// shifts drop the neighbour's bytes and extend the sign, without a copy of variable length.
fn wide_fixed(values: &FixedLenBytes) -> Vec<i128> {
    let (width, bytes) = (values.width(), values.as_bytes());
    let shift = 128 - 8 * width as u32;
    let mut out = Vec::with_capacity(values.len());
    // The first values do not have 16 bytes before their end.
    let lead = (16 - width).div_ceil(width).min(values.len());
    out.extend((0..lead).map(|i| sign_extended::<16>(values.get(i)).map_or(0, i128::from_be_bytes)));
    out.extend(
        (lead..values.len())
            .map(|i| (i128::from_be_bytes(before((i + 1) * width, &bytes)) << shift) >> shift),
    );
    out
}

/// Returns the `N` bytes before byte `end`.
#[inline(always)]
fn before<const N: usize>(end: usize, bytes: &[u8]) -> [u8; N] {
    *bytes[..end].last_chunk().expect("as many before the end of a value that is not the first")
}

fn wide_views(views: &StringViews) -> Result<Vec<i128>> {
    views.iter().map(wide_bytes).collect()
}

fn wide_bytes(bytes: &[u8]) -> Result<i128> {
    let value = sign_extended::<16>(bytes).ok_or_else(|| too_large(&hex(bytes), 128))?;
    Ok(i128::from_be_bytes(value))
}

/// Converts the values to 256-bit integers.
fn widest(values: &Values) -> Result<Vec<i256>> {
    let widest_bytes = |bytes: &[u8]| {
        let value = sign_extended::<32>(bytes).ok_or_else(|| too_large(&hex(bytes), 256))?;
        Ok(i256::from_be_bytes(value))
    };
    match values {
        Values::Fixed(values) if (17..=32).contains(&values.width()) => Ok(widest_fixed(values)),
        Values::Fixed(values) => (0..values.len()).map(|i| widest_bytes(values.get(i))).collect(),
        Values::Bytes(views) => views.iter().map(widest_bytes).collect(),
        values => Ok(wide(values)?.into_iter().map(i256::from_i128).collect()),
    }
}

/// Converts values of 17 to 32 bytes. PERF: a value's last 16 bytes are the lower half, and the 16 before them hold the
/// upper one, as in [`wide_fixed`].
fn widest_fixed(values: &FixedLenBytes) -> Vec<i256> {
    let (width, bytes) = (values.width(), values.as_bytes());
    let shift = 256 - 8 * width as u32;
    let mut out = Vec::with_capacity(values.len());
    // The first value does not have 32 bytes before its end.
    let lead = values.len().min(1);
    out.extend((0..lead).map(|i| sign_extended::<32>(values.get(i)).map_or(i256::ZERO, i256::from_be_bytes)));
    out.extend((lead..values.len()).map(|i| {
        let end = (i + 1) * width;
        let (high, low) =
            (i128::from_be_bytes(before(end - 16, &bytes)), u128::from_be_bytes(before(end, &bytes)));
        i256::from_parts(low, (high << shift) >> shift)
    }));
    out
}

/// Extends the big-endian integer to `N` bytes; `None` if it needs more.
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
    let digits = to_hex(&bytes[..bytes.len().min(64)]);
    format!("0x{digits}{}", if bytes.len() > 64 { ".." } else { "" })
}

#[cold]
fn too_large(value: &str, bits: usize) -> Error {
    Error::corrupt(format!(
        "the decimal {value} does not fit in {bits} bits; the option decimal_overflow reads it: widened, or as NULL"
    ))
}

/// Appends the picked unscaled integers in the form of the column. Fails on a value with more digits than the column
/// has, which Arrow does not check.
pub(super) fn from_array(
    array: &dyn Array,
    picks: &NonNullSlots<'_>,
    leaf: &Leaf,
    out: &mut Values,
) -> Result<(), ConversionError> {
    let digits = match (leaf.logical(), array.data_type()) {
        (
            Some(LogicalType::Decimal { precision, scale }),
            DataType::Decimal32(_, s)
            | DataType::Decimal64(_, s)
            | DataType::Decimal128(_, s)
            | DataType::Decimal256(_, s),
        ) if i32::from(*s) == *scale => *precision,
        _ => return Err(unsupported(array.data_type(), leaf)),
    };
    let most = i256::from_i128(10).checked_pow(digits).ok_or_else(|| unsupported(array.data_type(), leaf))?;
    if !holds(out, most) {
        return Err(unsupported(array.data_type(), leaf));
    }
    if let Some(array) = array.as_primitive_opt::<Decimal32Type>() {
        if let Some(most) = most.to_i128().and_then(|most| i32::try_from(most).ok()) {
            let up = most - 1;
            check(picks, array.values(), digits, |value| value.wrapping_add(up) as u32 > 2 * up as u32)?;
        }
        push(picks, array.values(), out, |value| value as u32, |value| i64::from(value) as u64, i128::from);
    } else if let Some(array) = array.as_primitive_opt::<Decimal64Type>() {
        if let Some(most) = most.to_i128().and_then(|most| i64::try_from(most).ok()) {
            let up = most - 1;
            check(picks, array.values(), digits, |value| value.wrapping_add(up) as u64 > 2 * up as u64)?;
        }
        push(picks, array.values(), out, |value| value as u32, |value| value as u64, i128::from);
    } else if let Some(array) = array.as_primitive_opt::<Decimal128Type>() {
        if let Some(most) = most.to_i128() {
            let up = most - 1;
            check(picks, array.values(), digits, |value| value.wrapping_add(up) as u128 > 2 * up as u128)?;
        }
        push(picks, array.values(), out, |value| value as u32, |value| value as u64, |value| value);
    } else if let Some(array) = array.as_primitive_opt::<Decimal256Type>() {
        let least = i256::ZERO.wrapping_sub(most);
        check(picks, array.values(), digits, |value| value >= most || value <= least)?;
        push_widest(picks, array.values(), out);
    } else {
        return Err(wrong_array(array));
    }
    Ok(())
}

/// Returns whether values of this shape hold all integers less than `most`, and their negatives.
fn holds(out: &Values, most: i256) -> bool {
    let bits = match out {
        Values::W32(_) => 32,
        Values::W64(_) => 64,
        Values::Fixed(values) => 8 * values.width().min(32),
        _ => 0,
    };
    // The largest is one less than `most`. It must fit below the sign bit.
    bits > 0 && (bits == 256 || i256::ONE << (bits as u8 - 1) >= most)
}

/// Fails on a value of too many digits. PERF: callers shift the allowed range so that it begins at 0, then need only
/// one unsigned comparison.
fn check<T: Copy + Default>(
    picks: &NonNullSlots<'_>,
    from: &[T],
    digits: u32,
    is_too_large: impl Fn(T) -> bool,
) -> Result<(), ConversionError> {
    match picks.find(from, is_too_large) {
        Some(first) => Err(ConversionError::value(first, format!("a decimal of more than {digits} digits"))),
        None => Ok(()),
    }
}

/// Appends values that are known to fit.
fn push<T: Copy + Default>(
    picks: &NonNullSlots<'_>,
    from: &[T],
    out: &mut Values,
    w32: impl Fn(T) -> u32,
    w64: impl Fn(T) -> u64,
    wide: impl Fn(T) -> i128,
) {
    match out {
        Values::W32(out) => picks.map(from, out, w32),
        Values::W64(out) => picks.map(from, out, w64),
        Values::Fixed(out) => {
            let width = out.width();
            let big_endian = |value: T| wide(value).to_be_bytes();
            // PERF: with a constant width, each copy is a load and a store.
            out.push_with(picks.len(), |out| match width {
                1 => push_tails::<1, T>(picks, from, out, big_endian),
                2 => push_tails::<2, T>(picks, from, out, big_endian),
                3 => push_tails::<3, T>(picks, from, out, big_endian),
                4 => push_tails::<4, T>(picks, from, out, big_endian),
                5 => push_tails::<5, T>(picks, from, out, big_endian),
                6 => push_tails::<6, T>(picks, from, out, big_endian),
                7 => push_tails::<7, T>(picks, from, out, big_endian),
                8 => push_tails::<8, T>(picks, from, out, big_endian),
                9 => push_tails::<9, T>(picks, from, out, big_endian),
                10 => push_tails::<10, T>(picks, from, out, big_endian),
                11 => push_tails::<11, T>(picks, from, out, big_endian),
                12 => push_tails::<12, T>(picks, from, out, big_endian),
                13 => push_tails::<13, T>(picks, from, out, big_endian),
                14 => push_tails::<14, T>(picks, from, out, big_endian),
                15 => push_tails::<15, T>(picks, from, out, big_endian),
                16 => push_tails::<16, T>(picks, from, out, big_endian),
                _ => picks.chunks(from, |values| {
                    values.iter().for_each(|&value| push_extended(&big_endian(value), width, out));
                }),
            });
        }
        Values::Bit(_) | Values::Bytes(_) | Values::Offsets(_) => {}
    }
}

/// Appends the last `W` bytes of each value.
fn push_tails<const W: usize, T: Copy + Default>(
    picks: &NonNullSlots<'_>,
    from: &[T],
    out: &mut Vec<u8>,
    big_endian: impl Fn(T) -> [u8; 16],
) {
    picks.map_bytes(from, out, |value| -> [u8; W] {
        *big_endian(value).last_chunk().expect("no more bytes than there are")
    });
}

fn push_widest(picks: &NonNullSlots<'_>, from: &[i256], out: &mut Values) {
    match out {
        Values::W32(out) => picks.map(from, out, |value| value.as_i128() as u32),
        Values::W64(out) => picks.map(from, out, |value| value.as_i128() as u64),
        Values::Fixed(out) => {
            let width = out.width();
            out.push_with(picks.len(), |out| {
                picks.chunks(from, |values| {
                    values.iter().for_each(|value| push_extended(&value.to_be_bytes(), width, out));
                });
            });
        }
        Values::Bit(_) | Values::Bytes(_) | Values::Offsets(_) => {}
    }
}

/// Appends `width` bytes: the last ones of `big_endian`, after its sign for those that are missing.
fn push_extended(big_endian: &[u8], width: usize, out: &mut Vec<u8>) {
    let sign = if big_endian[0] >= 0x80 { 0xff } else { 0 };
    let cut = big_endian.len().saturating_sub(width);
    out.resize(out.len() + width.saturating_sub(big_endian.len()), sign);
    out.extend_from_slice(&big_endian[cut..]);
}
