//! The range of values that a logical type allows.
//!
//! Spec: LogicalTypes.md. Only values that the physical type allows are checked; lengths are a matter of the physical
//! type.

use crate::logical_type::{LogicalType, TimeUnit};
use crate::sort_order::{SortOrder, plain_value};
use marquetry_encoding::Values;
use std::cmp::Ordering;
use std::ops::Range;

/// The legal values of a column.
///
/// ```
/// use marquetry_core::logical_type::LogicalType;
/// use marquetry_core::statistics::LegalValues;
/// use marquetry_encoding::Values;
/// let bytes = LegalValues::of(Some(&LogicalType::Integer { bits: 8, signed: false }));
/// assert_eq!(bytes.first_illegal(&Values::W32(vec![0, 255, 256]), 0..3), Some(2));
/// assert!(LegalValues::of(None).are_all());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LegalValues(Legal);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Legal {
    All,
    /// UTF-8 text.
    Text,
    /// Minimum and maximum that the precision allows, big-endian.
    Decimal(Vec<u8>, Vec<u8>),
    /// Minimum and maximum.
    Range(i64, i64),
    /// There is no legal value.
    Nothing,
}

impl LegalValues {
    /// Returns the values that a logical type allows; all if there is no logical type.
    pub fn of(logical: Option<&LogicalType>) -> Self {
        const DAY_MILLIS: i64 = 86_400_000;
        LegalValues(match logical {
            Some(logical) if logical.is_text() => Legal::Text,
            Some(LogicalType::Decimal { precision, .. }) => {
                let (min, max) = decimal_range(*precision);
                Legal::Decimal(min, max)
            }
            Some(LogicalType::Integer { bits: bits @ (8 | 16), signed: true }) => {
                let end = 1i64 << (bits - 1);
                Legal::Range(-end, end - 1)
            }
            Some(LogicalType::Integer { bits: bits @ (8 | 16), signed: false }) => {
                Legal::Range(0, (1 << bits) - 1)
            }
            Some(LogicalType::Time { unit, .. }) => {
                let in_milli = match unit {
                    TimeUnit::Millis => 1,
                    TimeUnit::Micros => 1_000,
                    TimeUnit::Nanos => 1_000_000,
                };
                // 24:00 is legal: the end of the day.
                Legal::Range(0, DAY_MILLIS * in_milli)
            }
            Some(LogicalType::Null) => Legal::Nothing,
            _ => Legal::All,
        })
    }

    /// Whether all values of the physical type are legal, so that none need be checked.
    pub fn are_all(&self) -> bool {
        self.0 == Legal::All
    }

    /// Returns the index of the first illegal value in `range`.
    pub fn first_illegal(&self, values: &Values, mut range: Range<usize>) -> Option<usize> {
        match (&self.0, values) {
            (Legal::All, _) => None,
            (Legal::Nothing, _) => range.next(),
            (Legal::Text, Values::Bytes(views)) => views.first_not_utf8(range),
            (Legal::Range(min, max), Values::W32(words)) => {
                range.find(|i| !(*min..=*max).contains(&i64::from(words[*i] as i32)))
            }
            (Legal::Range(min, max), Values::W64(words)) => {
                range.find(|i| !(*min..=*max).contains(&(words[*i] as i64)))
            }
            (Legal::Decimal(min, max), _) => range.find(|i| {
                let mut scratch = [0; 8];
                let number = match values {
                    Values::W32(words) => {
                        scratch[..4].copy_from_slice(&words[*i].to_be_bytes());
                        &scratch[..4]
                    }
                    Values::W64(words) => {
                        scratch = words[*i].to_be_bytes();
                        &scratch[..]
                    }
                    _ => plain_value(values, *i, &mut scratch),
                };
                SortOrder::Decimal.compare(number, min) == Some(Ordering::Less)
                    || SortOrder::Decimal.compare(number, max) == Some(Ordering::Greater)
            }),
            _ => None,
        }
    }
}

/// Returns the least and the greatest number with `digits` decimal digits, big-endian in two's complement.
fn decimal_range(digits: u32) -> (Vec<u8>, Vec<u8>) {
    // Least significant byte first: 10^digits - 1.
    let mut max = vec![0u8];
    for _ in 0..digits.min(MAX_DIGITS) {
        let mut carry = 9u32;
        for byte in &mut max {
            let sum = u32::from(*byte) * 10 + carry;
            *byte = sum as u8;
            carry = sum >> 8;
        }
        max.extend((carry > 0).then_some(carry as u8));
    }
    max.push(0);
    max.reverse();
    // -n is !(n - 1); n is odd, so only its last bit changes.
    let mut min: Vec<u8> = max.iter().map(|byte| !byte).collect();
    if let Some(last) = min.last_mut() {
        *last = last.wrapping_add(1);
    }
    (min, max)
}

/// Maximum number of digits, more than logical types allow.
const MAX_DIGITS: u32 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_ranges_are_two_complements() {
        assert_eq!(decimal_range(2), (vec![0xff, 0x9d], vec![0x00, 0x63]));
        let (min, max) = decimal_range(18);
        assert_eq!(
            SortOrder::Decimal.compare(&max, &999_999_999_999_999_999i64.to_be_bytes()),
            Some(Ordering::Equal)
        );
        assert_eq!(
            SortOrder::Decimal.compare(&min, &(-999_999_999_999_999_999i64).to_be_bytes()),
            Some(Ordering::Equal)
        );
    }
}
