//! Type promotion: which types become others without a change of values, and the narrowest common type of two.
//!
//! The table is in the [module above](super). Dictionaries and runs count as their values. Layouts of text or lists do
//! not count as different types here.

use crate::schema::value_type;
use DataType::*;
use arrow_schema::DataType;

/// Returns whether every value of `from`, which is not a list, struct or map, is a value of `to`.
pub(crate) fn is_promotable(from: &DataType, to: &DataType) -> bool {
    let (from, to) = (value_type(from), value_type(to));
    if from == to || from.is_null() {
        return true;
    }
    match (from, to) {
        _ if is_bytes(from) && is_bytes(to) => true,
        (FixedSizeBinary(_), Binary | LargeBinary | BinaryView) => true,
        (Float16, Float32 | Float64) | (Float32, Float64) => true,
        (Date32, Date64 | Timestamp(_, None)) => true,
        // Units are ordered from coarse to fine.
        (Time32(from) | Time64(from), Time32(to) | Time64(to)) => from <= to,
        (Duration(from), Duration(to)) => from <= to,
        // A zone only affects how instants are shown. Whether values are instants at all must be equal.
        (Timestamp(from, a), Timestamp(to, b)) => from <= to && a.is_some() == b.is_some(),
        _ => match (decimal(from), decimal(to)) {
            (Some(from), Some(to)) => to.whole() >= from.whole() && to.scale >= from.scale,
            _ => integer_widens(from, to),
        },
    }
}

fn integer_widens(from: &DataType, to: &DataType) -> bool {
    let Some(from) = integer(from) else { return false };
    if let Some(to) = integer(to) {
        return match (from.signed, to.signed) {
            (true, false) => false,
            (false, true) => to.bits > from.bits,
            _ => to.bits >= from.bits,
        };
    }
    match to {
        // The significand holds all integers of this many bits exactly.
        Float32 => from.bits <= 16,
        Float64 => from.bits <= 32,
        _ => decimal(to).is_some_and(|to| to.scale >= 0 && to.whole() >= from.digits()),
    }
}

/// Returns the narrowest type that both can become, if there is one. Layouts are those of `a`.
pub(super) fn common(a: &DataType, b: &DataType) -> Option<DataType> {
    if is_bytes(a) && is_bytes(b) && a.is_string() && !b.is_string() {
        // What is not declared as text may not be text.
        return Some(b.clone());
    }
    if is_promotable(b, a) {
        return Some(a.clone());
    }
    if is_promotable(a, b) {
        return Some(if a.is_null() { b.clone() } else { value_type(b).clone() });
    }
    let (a, b) = (value_type(a), value_type(b));
    match (a, b) {
        (Float32, other) | (other, Float32) if is_promotable(other, &Float64) => Some(Float64),
        (FixedSizeBinary(_), FixedSizeBinary(_)) => Some(BinaryView),
        _ => match (integer(a), integer(b)) {
            (Some(_), Some(_)) => {
                [Int16, Int32, Int64].into_iter().find(|to| is_promotable(a, to) && is_promotable(b, to))
            }
            _ => common_decimal(a, b),
        },
    }
}

fn common_decimal(a: &DataType, b: &DataType) -> Option<DataType> {
    let as_decimal = |data_type: &DataType| {
        let whole = integer(data_type).map(|integer| Decimal { precision: integer.digits(), scale: 0 });
        decimal(data_type).or(whole)
    };
    // The common type of two integers is not a decimal.
    decimal(a).or(decimal(b))?;
    let (a, b) = (as_decimal(a)?, as_decimal(b)?);
    let scale = a.scale.max(b.scale);
    let precision = a.whole().max(b.whole()) + scale;
    let (small, signed) = (u8::try_from(precision).ok()?, i8::try_from(scale).ok()?);
    match precision {
        1..=38 => Some(Decimal128(small, signed)),
        39..=76 => Some(Decimal256(small, signed)),
        _ => None,
    }
}

/// Returns whether the type is a byte string, text or not. UTF-8 is checked when values are read, and no value changes.
fn is_bytes(data_type: &DataType) -> bool {
    data_type.is_string() || matches!(data_type, Binary | LargeBinary | BinaryView)
}

struct Integer {
    bits: u8,
    signed: bool,
}

impl Integer {
    /// Returns the number of decimal digits of the largest value.
    fn digits(&self) -> i32 {
        match (self.bits, self.signed) {
            (8, _) => 3,
            (16, _) => 5,
            (32, _) => 10,
            (_, true) => 19,
            (_, false) => 20,
        }
    }
}

fn integer(data_type: &DataType) -> Option<Integer> {
    let (bits, signed) = match data_type {
        Int8 => (8, true),
        Int16 => (16, true),
        Int32 => (32, true),
        Int64 => (64, true),
        UInt8 => (8, false),
        UInt16 => (16, false),
        UInt32 => (32, false),
        UInt64 => (64, false),
        _ => return None,
    };
    Some(Integer { bits, signed })
}

struct Decimal {
    precision: i32,
    scale: i32,
}

impl Decimal {
    /// Returns the number of digits before the point.
    fn whole(&self) -> i32 {
        self.precision - self.scale
    }
}

fn decimal(data_type: &DataType) -> Option<Decimal> {
    match data_type {
        Decimal32(p, s) | Decimal64(p, s) | Decimal128(p, s) | Decimal256(p, s) => {
            Some(Decimal { precision: i32::from(*p), scale: i32::from(*s) })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::TimeUnit::*;

    fn zoned(unit: arrow_schema::TimeUnit) -> DataType {
        Timestamp(unit, Some("UTC".into()))
    }

    #[test]
    fn no_value_changes() {
        let words = Dictionary(Box::new(Int32), Box::new(Utf8));
        for (from, to) in [
            (Int8, Int16),
            (UInt8, Int16),
            (UInt32, Int64),
            (Int16, Float32),
            (Int32, Float64),
            (UInt32, Float64),
            (Int32, Decimal128(10, 0)),
            (UInt64, Decimal128(22, 2)),
            (Float16, Float64),
            (Decimal32(5, 2), Decimal128(6, 3)),
            (Decimal128(5, 2), Decimal64(5, 2)),
            (Date32, Timestamp(Microsecond, None)),
            (Time32(Millisecond), Time64(Nanosecond)),
            (zoned(Millisecond), Timestamp(Nanosecond, Some("+02:00".into()))),
            (Utf8, words.clone()),
            (words, LargeUtf8),
            (Binary, Utf8),
            (FixedSizeBinary(4), BinaryView),
            (Null, Int8),
        ] {
            assert!(is_promotable(&from, &to), "{from} to {to}");
            assert!(common(&from, &to).is_some(), "{from} and {to}");
        }
    }

    #[test]
    fn a_value_might_change() {
        for (from, to) in [
            (Int64, Int32),
            (Int8, UInt64),
            (UInt64, Int64),
            (Int32, Float32),
            (Int64, Float64),
            (Int32, Decimal128(9, 0)),
            (Int32, Decimal128(10, 1)),
            (Float64, Float32),
            (Decimal128(5, 2), Decimal128(5, 3)),
            (Decimal128(5, 2), Decimal128(9, 1)),
            (Timestamp(Nanosecond, None), Timestamp(Microsecond, None)),
            (Timestamp(Second, None), zoned(Second)),
            (Date32, zoned(Second)),
            (Timestamp(Second, None), Date32),
            (Boolean, Int8),
            (Int32, Utf8),
            (Int32, Date32),
            (Binary, FixedSizeBinary(4)),
        ] {
            assert!(!is_promotable(&from, &to), "{from} to {to}");
        }
    }

    #[test]
    fn common_types() {
        assert_eq!(common(&Int32, &UInt32), Some(Int64));
        assert_eq!(common(&UInt8, &Int8), Some(Int16));
        assert_eq!(common(&Int64, &UInt64), None);
        assert_eq!(common(&Int32, &Float32), Some(Float64));
        assert_eq!(common(&Int64, &Float64), None);
        assert_eq!(common(&Decimal128(5, 2), &Decimal128(6, 4)), Some(Decimal128(7, 4)));
        assert_eq!(common(&Int64, &Decimal128(20, 2)), Some(Decimal128(21, 2)));
        assert_eq!(common(&Utf8View, &BinaryView), Some(BinaryView));
        assert_eq!(common(&Utf8, &Int32), None);
        assert_eq!(common(&Null, &Utf8), Some(Utf8));
        assert_eq!(common(&FixedSizeBinary(3), &FixedSizeBinary(4)), Some(BinaryView));
    }

    #[test]
    fn the_common_type_holds_both() {
        let types = [
            Null,
            Boolean,
            Int8,
            Int16,
            Int32,
            Int64,
            UInt8,
            UInt16,
            UInt32,
            UInt64,
            Float16,
            Float32,
            Float64,
            Date32,
            Date64,
            Utf8,
            BinaryView,
            FixedSizeBinary(2),
            Decimal128(5, 2),
            Decimal128(38, 10),
            Decimal256(70, 5),
            Time32(Second),
            Time64(Microsecond),
            Timestamp(Second, None),
            zoned(Nanosecond),
            Duration(Second),
        ];
        for a in &types {
            for b in &types {
                if let Some(both) = common(a, b) {
                    assert!(
                        is_promotable(a, &both) && is_promotable(b, &both),
                        "{a} and {b} are not a valid {both}"
                    );
                }
                assert_eq!(common(a, b).is_some(), common(b, a).is_some(), "{a} and {b}");
            }
        }
    }
}
