//! Sort orders: how the values of a column compare, and so what their bounds mean.
//!
//! Spec: `ColumnOrder` in parquet.thrift, and the sort orders of LogicalTypes.md. The footer names an order for each
//! column. The most common one, TYPE_ORDER, only means the order of the type, which is determined here. Writing bounds,
//! pruning by them and checking them all use [`SortOrder::compare`].
//!
//! | physical type | logical type | [`SortOrder`] |
//! |---|---|---|
//! | BOOLEAN | | `Bool` |
//! | INT32, INT64 | none, signed integer, DATE, TIME, TIMESTAMP, DECIMAL | `Signed32`, `Signed64` |
//! | INT32, INT64 | unsigned integer | `Unsigned32`, `Unsigned64` |
//! | FLOAT, DOUBLE; FIXED_LEN_BYTE_ARRAY | FLOAT16 for the latter | `Float`, `Double`, `Float16`, or their `Total...` |
//! | INT96 | | `Int96`, but only if the footer declares it |
//! | BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY | DECIMAL | `Decimal` |
//! | BYTE_ARRAY | none, STRING, ENUM, JSON, BSON | `Bytes` |
//! | FIXED_LEN_BYTE_ARRAY | none, UUID | `FixedLenBytes` |
//! | any | INTERVAL, GEOMETRY, GEOGRAPHY, UNKNOWN (always null) | `Undefined` |

use crate::int96;
use crate::logical_type::LogicalType;
use crate::schema::Leaf;
use marquetry_encoding::{PhysicalType, Values};
use marquetry_format::ColumnOrder;
use std::cmp::Ordering;

/// The order of a column's values. Values are PLAIN, byte strings without their length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SortOrder {
    /// False, then true; one byte.
    Bool,
    /// Signed 32-bit integers.
    Signed32,
    /// Signed 64-bit integers.
    Signed64,
    /// Unsigned 32-bit integers.
    Unsigned32,
    /// Unsigned 64-bit integers.
    Unsigned64,
    /// FLOAT by its number: both zeros are equal, NaN compares with nothing.
    Float,
    /// DOUBLE by its number: both zeros are equal, NaN compares with nothing.
    Double,
    /// FLOAT16 by its number: both zeros are equal, NaN compares with nothing.
    Float16,
    /// FLOAT by the totalOrder of IEEE 754: -NaN, numbers with -0 before +0, +NaN.
    TotalFloat,
    /// DOUBLE by the totalOrder of IEEE 754.
    TotalDouble,
    /// FLOAT16 by the totalOrder of IEEE 754.
    TotalFloat16,
    /// INT96 as a point in time: the day, then the nanoseconds of the day, both signed.
    Int96,
    /// Signed big-endian integers of any number of bytes; an empty one is 0.
    Decimal,
    /// Byte strings by their unsigned bytes; a prefix of another string comes first.
    Bytes,
    /// Byte strings of one length by their unsigned bytes. Truncated bounds compare as [`SortOrder::Bytes`].
    FixedLenBytes,
    /// No order is defined: bounds are neither written nor trusted.
    Undefined,
}

impl SortOrder {
    /// Returns the order that TYPE_ORDER means for a column.
    pub fn of(leaf: &Leaf) -> SortOrder {
        // SPEC: ColumnOrder: bounds of a column with an unknown logical type must be ignored.
        if leaf.is_misunderstood() {
            return SortOrder::Undefined;
        }
        let physical = match leaf.physical() {
            PhysicalType::Boolean => SortOrder::Bool,
            PhysicalType::Int32 => SortOrder::Signed32,
            PhysicalType::Int64 => SortOrder::Signed64,
            // SPEC: bounds of INT96 under TYPE_ORDER must be ignored.
            PhysicalType::Int96 => SortOrder::Undefined,
            PhysicalType::Float => SortOrder::Float,
            PhysicalType::Double => SortOrder::Double,
            PhysicalType::ByteArray => SortOrder::Bytes,
            PhysicalType::FixedLenByteArray(_) => SortOrder::FixedLenBytes,
        };
        match (leaf.logical(), physical) {
            (Some(LogicalType::Integer { signed: false, .. }), SortOrder::Signed32) => SortOrder::Unsigned32,
            (Some(LogicalType::Integer { signed: false, .. }), SortOrder::Signed64) => SortOrder::Unsigned64,
            (Some(LogicalType::Float16), SortOrder::FixedLenBytes) => SortOrder::Float16,
            (Some(LogicalType::Decimal { .. }), SortOrder::Bytes | SortOrder::FixedLenBytes) => {
                SortOrder::Decimal
            }
            (
                Some(
                    LogicalType::Interval
                    | LogicalType::Null
                    | LogicalType::Geometry { .. }
                    | LogicalType::Geography { .. },
                ),
                _,
            ) => SortOrder::Undefined,
            (
                None
                | Some(
                    LogicalType::String
                    | LogicalType::Enum
                    | LogicalType::Json
                    | LogicalType::Bson
                    | LogicalType::Uuid
                    | LogicalType::Decimal { .. }
                    | LogicalType::Date
                    | LogicalType::Time { .. }
                    | LogicalType::Timestamp { .. }
                    | LogicalType::Integer { .. }
                    | LogicalType::Float16,
                ),
                physical,
            ) => physical,
            // Groups only; no leaf has these.
            (
                Some(
                    LogicalType::List
                    | LogicalType::Map
                    | LogicalType::MapKeyValue
                    | LogicalType::Variant { .. }
                    | LogicalType::File,
                ),
                _,
            ) => SortOrder::Undefined,
        }
    }

    /// Returns the order in which to write bounds, and its name for the footer. `total_order` selects
    /// IEEE_754_TOTAL_ORDER where it is legal, which is for floats. INT96 gets INT96_TIMESTAMP_ORDER, the only order in
    /// which it may have bounds.
    pub fn for_writing(leaf: &Leaf, total_order: bool) -> (SortOrder, ColumnOrder) {
        match (SortOrder::of(leaf), leaf.physical()) {
            (SortOrder::Undefined, PhysicalType::Int96)
                if leaf.logical().is_none() && !leaf.is_misunderstood() =>
            {
                (SortOrder::Int96, ColumnOrder::Int96TimestampOrder)
            }
            (order, _) if total_order && order.is_float() => (order.total(), ColumnOrder::Ieee754TotalOrder),
            (order, _) => (order, ColumnOrder::TypeOrder),
        }
    }

    /// Returns the order of a file's `min_value` and `max_value`; `declared` is the column's order in the footer.
    /// `None` if the bounds must not be trusted: the order is not declared, unknown, illegal for the type, or
    /// TYPE_ORDER for a type without an order.
    pub fn for_reading(leaf: &Leaf, declared: Option<&ColumnOrder>) -> Option<SortOrder> {
        let of_type = SortOrder::of(leaf);
        match declared? {
            ColumnOrder::TypeOrder => (of_type != SortOrder::Undefined).then_some(of_type),
            ColumnOrder::Ieee754TotalOrder => of_type.is_float().then(|| of_type.total()),
            ColumnOrder::Int96TimestampOrder => {
                let is_plain = leaf.logical().is_none() && !leaf.is_misunderstood();
                (leaf.physical() == PhysicalType::Int96 && is_plain).then_some(SortOrder::Int96)
            }
            ColumnOrder::Unknown(_) => None,
        }
    }

    /// Returns the order of the deprecated `min` and `max`, which were always compared as signed. `None` if the type
    /// has another order, so that they must not be trusted.
    pub fn for_deprecated(leaf: &Leaf) -> Option<SortOrder> {
        let order = SortOrder::of(leaf);
        order.is_deprecated_order().then_some(order)
    }

    /// Whether the deprecated `min` and `max` have this order as well.
    ///
    /// SPEC: they "may be set when the column order is signed". FLOAT16 and DECIMAL over bytes are signed as well, but
    /// readers old enough to use these fields take them for mere bytes.
    pub fn is_deprecated_order(self) -> bool {
        matches!(
            self,
            SortOrder::Bool
                | SortOrder::Signed32
                | SortOrder::Signed64
                | SortOrder::Float
                | SortOrder::Double
        )
    }

    /// Whether values are floats, which have NaNs and two zeros.
    pub fn is_float(self) -> bool {
        self.is_total() || self.total() != self
    }

    /// Whether this is a totalOrder of IEEE 754.
    pub fn is_total(self) -> bool {
        matches!(self, SortOrder::TotalFloat | SortOrder::TotalDouble | SortOrder::TotalFloat16)
    }

    /// Returns the totalOrder of IEEE 754 for floats, and the order itself for others.
    pub fn total(self) -> SortOrder {
        match self {
            SortOrder::Float => SortOrder::TotalFloat,
            SortOrder::Double => SortOrder::TotalDouble,
            SortOrder::Float16 => SortOrder::TotalFloat16,
            other => other,
        }
    }

    /// Compares two values. `None` if no order is defined, if one is NaN and the order is not total, or if one does not
    /// have the length of the type.
    pub fn compare(self, a: &[u8], b: &[u8]) -> Option<Ordering> {
        match self {
            SortOrder::Bool => by(a, b, |[byte]: [u8; 1]| byte != 0),
            SortOrder::Signed32 => by(a, b, i32::from_le_bytes),
            SortOrder::Signed64 => by(a, b, i64::from_le_bytes),
            SortOrder::Unsigned32 => by(a, b, u32::from_le_bytes),
            SortOrder::Unsigned64 => by(a, b, u64::from_le_bytes),
            SortOrder::Float | SortOrder::Double | SortOrder::Float16 => {
                if self.is_nan(a) || self.is_nan(b) {
                    return None;
                }
                let ordering = self.total().compare(a, b)?;
                Some(if self.is_zero(a) && self.is_zero(b) { Ordering::Equal } else { ordering })
            }
            SortOrder::TotalFloat => by(a, b, |bytes| key32(u32::from_le_bytes(bytes))),
            SortOrder::TotalDouble => by(a, b, |bytes| key64(u64::from_le_bytes(bytes))),
            SortOrder::TotalFloat16 => by(a, b, |bytes| key16(u16::from_le_bytes(bytes))),
            SortOrder::Int96 => by(a, b, int96::key),
            SortOrder::Decimal => Some(compare_decimals(a, b)),
            SortOrder::Bytes | SortOrder::FixedLenBytes => Some(a.cmp(b)),
            SortOrder::Undefined => None,
        }
    }

    /// Compares two values of one buffer, which must have the shape of the order's type.
    ///
    /// # Panics
    /// If there is no value `i` or `j`.
    pub fn compare_at(self, values: &Values, i: usize, j: usize) -> Option<Ordering> {
        let (mut a, mut b) = ([0; 8], [0; 8]);
        self.compare(plain_value(values, i, &mut a), plain_value(values, j, &mut b))
    }

    /// Whether a value is a float that is NaN.
    pub fn is_nan(self, value: &[u8]) -> bool {
        match self.total() {
            SortOrder::TotalFloat => is_key(value, |bytes| key32(u32::from_le_bytes(bytes)), is_nan32),
            SortOrder::TotalDouble => is_key(value, |bytes| key64(u64::from_le_bytes(bytes)), is_nan64),
            SortOrder::TotalFloat16 => is_key(value, |bytes| key16(u16::from_le_bytes(bytes)), is_nan16),
            _ => false,
        }
    }

    /// Whether a value is a float that is zero, of either sign.
    pub fn is_zero(self, value: &[u8]) -> bool {
        self.is_float()
            && value
                .split_last()
                .is_some_and(|(last, rest)| last & 0x7f == 0 && rest.iter().all(|byte| *byte == 0))
    }

    /// Returns the indices of the NaNs in `values`, usually none. For counting NaNs by dictionary indices.
    pub fn nans(self, values: &Values) -> Vec<usize> {
        let mut scratch = [0; 8];
        match self.is_float() {
            true => {
                (0..values.len()).filter(|i| self.is_nan(plain_value(values, *i, &mut scratch))).collect()
            }
            false => Vec::new(),
        }
    }
}

/// Returns value `i` as in PLAIN, byte strings without their length. Words are written to `scratch`.
///
/// # Panics
/// If there is no value `i`.
pub fn plain_value<'a>(values: &'a Values, i: usize, scratch: &'a mut [u8; 8]) -> &'a [u8] {
    match values {
        Values::Bit(bits) => {
            scratch[0] = u8::from(bits.get(i));
            &scratch[..1]
        }
        Values::W32(values) => {
            scratch[..4].copy_from_slice(&values[i].to_le_bytes());
            &scratch[..4]
        }
        Values::W64(values) => {
            *scratch = values[i].to_le_bytes();
            scratch
        }
        Values::Fixed(values) => values.get(i),
        Values::Bytes(views) => views.get(i),
        Values::Offsets(strings) => strings.get(i),
    }
}

fn by<const N: usize, K: Ord>(a: &[u8], b: &[u8], key: impl Fn([u8; N]) -> K) -> Option<Ordering> {
    Some(key(a.try_into().ok()?).cmp(&key(b.try_into().ok()?)))
}

fn is_key<const N: usize, K>(value: &[u8], key: impl Fn([u8; N]) -> K, is: impl Fn(K) -> bool) -> bool {
    value.try_into().is_ok_and(|bytes| is(key(bytes)))
}

/// Returns the bits of a float as an integer that has totalOrder. On the bits, the function is its own inverse.
pub(crate) fn key32(bits: u32) -> i32 {
    let bits = bits as i32;
    bits ^ ((bits >> 31) as u32 >> 1) as i32
}

/// Like [`key32`].
pub(crate) fn key64(bits: u64) -> i64 {
    let bits = bits as i64;
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

/// Like [`key32`].
pub(crate) fn key16(bits: u16) -> i16 {
    let bits = bits as i16;
    bits ^ ((bits >> 15) as u16 >> 1) as i16
}

/// Whether a key is that of a NaN: beyond either infinity.
pub(crate) fn is_nan32(key: i32) -> bool {
    const INFINITY: i32 = 0x7f80_0000;
    !(!INFINITY..=INFINITY).contains(&key)
}

/// Like [`is_nan32`].
pub(crate) fn is_nan64(key: i64) -> bool {
    const INFINITY: i64 = 0x7ff0_0000_0000_0000;
    !(!INFINITY..=INFINITY).contains(&key)
}

/// Like [`is_nan32`].
pub(crate) fn is_nan16(key: i16) -> bool {
    const INFINITY: i16 = 0x7c00;
    !(!INFINITY..=INFINITY).contains(&key)
}

fn compare_decimals(a: &[u8], b: &[u8]) -> Ordering {
    let is_negative = |bytes: &[u8]| bytes.first().is_some_and(|first| first & 0x80 != 0);
    match (is_negative(a), is_negative(b)) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        // Without the bytes that only repeat the sign, a longer number is further from zero.
        (false, false) => {
            let (a, b) = (significant(a, 0), significant(b, 0));
            a.len().cmp(&b.len()).then_with(|| a.cmp(b))
        }
        (true, true) => {
            let (a, b) = (significant(a, 0xff), significant(b, 0xff));
            b.len().cmp(&a.len()).then_with(|| a.cmp(b))
        }
    }
}

fn significant(bytes: &[u8], sign: u8) -> &[u8] {
    let leading = bytes.iter().take_while(|byte| **byte == sign).count();
    &bytes[leading..]
}
