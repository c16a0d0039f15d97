//! Places numbers among floats: at the nearest float, as if the literal were stored.

use super::place::{Found, Position};
use crate::predicate::literal::{Literal, Number};
use crate::sort_order::SortOrder;
use std::cmp::Ordering;

/// Places a literal at the nearest value, as if it were stored.
pub(super) fn of_float(literal: &Literal, order: SortOrder) -> Found {
    let Literal::Number(number) = literal else { return Err("write a number, without quotes") };
    let text = number.to_string();
    let is_finite = matches!(number, Number::Finite { .. });
    let is_nan = *number == Number::Nan;
    const HINT: &str = "write a number";
    let (plain, max, is_infinite) = match order {
        SortOrder::TotalFloat => {
            let value: f32 = text.parse().map_err(|_| HINT)?;
            let max = f32::MAX.copysign(value).to_le_bytes().to_vec();
            (value.to_le_bytes().to_vec(), max, value.is_infinite())
        }
        SortOrder::TotalDouble => {
            let value: f64 = text.parse().map_err(|_| HINT)?;
            let max = f64::MAX.copysign(value).to_le_bytes().to_vec();
            (value.to_le_bytes().to_vec(), max, value.is_infinite())
        }
        _ => {
            let bits = half_of(number, text.parse().map_err(|_| HINT)?);
            let max = HALF_MAX | bits & 0x8000;
            (bits.to_le_bytes().to_vec(), max.to_le_bytes().to_vec(), bits & 0x7fff == HALF_INFINITY)
        }
    };
    Ok(match is_infinite && is_finite {
        _ if is_nan => Position::Nan,
        false => Position::At(plain),
        // Beyond all finite numbers, but not infinite.
        true if text.starts_with('-') => Position::After(plain),
        true => Position::After(max),
    })
}

const HALF_INFINITY: u16 = 0x7c00;

const HALF_MAX: u16 = 0x7bff;

/// Returns the binary16 nearest to `number`, whose nearest double is `value`; of two that are equally near, the one
/// whose last bit is 0.
fn half_of(number: &Number, value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    // The bits of halves are in the order of their numbers, so search the greatest half that is not above the number.
    let (mut low, mut high) = (0, HALF_INFINITY);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if half_value(middle) <= magnitude { low = middle } else { high = middle - 1 }
    }
    let above = low + 1;
    // The number that would follow the greatest half decides what becomes infinite.
    let next = if above == HALF_INFINITY { 65_536.0 } else { half_value(above) };
    let is_above = low < HALF_INFINITY
        && match (magnitude - half_value(low)).total_cmp(&(next - magnitude)) {
            Ordering::Less => false,
            Ordering::Greater => true,
            // The double may be exactly in the middle although the number is not, because it was rounded.
            Ordering::Equal => match number.compare(&Number::exactly(value)) {
                Some(Ordering::Less) => value.is_sign_negative(),
                Some(Ordering::Greater) => !value.is_sign_negative(),
                _ => low & 1 == 1,
            },
        };
    sign | if is_above { above } else { low }
}

/// Returns the number of a binary16.
pub(in crate::predicate) fn half_value(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits & 0x8000 != 0 { -magnitude } else { magnitude }
}
