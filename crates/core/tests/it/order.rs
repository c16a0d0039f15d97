//! How values of each type compare: one test for each rule of `ColumnOrder` in parquet.thrift.

use marquetry_base::Limits;
use marquetry_core::schema::{Leaf, Schema};
use marquetry_core::sort_order::SortOrder;
use marquetry_encoding::{FixedLenBytes, Values};
use marquetry_format::{ColumnOrder, ConvertedType, LogicalType, SchemaElement, TimeUnit, Type};
use proptest::prelude::*;
use std::cmp::Ordering::{self, Equal, Greater, Less};

fn leaf(type_: Type, length: Option<i32>, logical_type: Option<LogicalType>) -> Leaf {
    element(SchemaElement {
        type_: Some(type_),
        type_length: length,
        logical_type,
        ..SchemaElement::default()
    })
}

fn element(element: SchemaElement) -> Leaf {
    let root = SchemaElement { name: "m".into(), num_children: Some(1), ..SchemaElement::default() };
    Schema::from_thrift(&[root, element], &Limits::default()).unwrap().column(0).clone()
}

fn of(type_: Type, logical_type: Option<LogicalType>) -> SortOrder {
    SortOrder::of(&leaf(type_, None, logical_type))
}

fn fixed(length: i32, logical_type: Option<LogicalType>) -> Leaf {
    leaf(Type::FIXED_LEN_BYTE_ARRAY, Some(length), logical_type)
}

fn float16() -> Leaf {
    fixed(2, Some(LogicalType::Float16))
}

#[test]
fn in_the_absence_of_logical_types_the_physical_type_determines_the_order() {
    assert_eq!(of(Type::BOOLEAN, None), SortOrder::Bool);
    assert_eq!(of(Type::INT32, None), SortOrder::Signed32);
    assert_eq!(of(Type::INT64, None), SortOrder::Signed64);
    assert_eq!(of(Type::INT96, None), SortOrder::Undefined);
    assert_eq!(of(Type::FLOAT, None), SortOrder::Float);
    assert_eq!(of(Type::DOUBLE, None), SortOrder::Double);
    assert_eq!(of(Type::BYTE_ARRAY, None), SortOrder::Bytes);
    assert_eq!(SortOrder::of(&fixed(3, None)), SortOrder::FixedLenBytes);
}

#[test]
fn the_sort_orders_for_logical_types() {
    let integer = |bit_width, is_signed| Some(LogicalType::Integer { bit_width, is_signed });
    for (bits, type_, signed, unsigned) in [
        (8, Type::INT32, SortOrder::Signed32, SortOrder::Unsigned32),
        (16, Type::INT32, SortOrder::Signed32, SortOrder::Unsigned32),
        (32, Type::INT32, SortOrder::Signed32, SortOrder::Unsigned32),
        (64, Type::INT64, SortOrder::Signed64, SortOrder::Unsigned64),
    ] {
        assert_eq!(of(type_, integer(bits, true)), signed);
        assert_eq!(of(type_, integer(bits, false)), unsigned);
    }
    let decimal = || Some(LogicalType::Decimal { scale: 2, precision: 9 });
    assert_eq!(of(Type::INT32, decimal()), SortOrder::Signed32);
    assert_eq!(of(Type::INT64, decimal()), SortOrder::Signed64);
    assert_eq!(of(Type::BYTE_ARRAY, decimal()), SortOrder::Decimal);
    assert_eq!(SortOrder::of(&fixed(5, decimal())), SortOrder::Decimal);
    assert_eq!(of(Type::INT32, Some(LogicalType::Date)), SortOrder::Signed32);
    let time = |unit| Some(LogicalType::Time { is_adjusted_to_utc: true, unit });
    assert_eq!(of(Type::INT32, time(TimeUnit::Millis)), SortOrder::Signed32);
    assert_eq!(of(Type::INT64, time(TimeUnit::Nanos)), SortOrder::Signed64);
    let timestamp = LogicalType::Timestamp { is_adjusted_to_utc: false, unit: TimeUnit::Micros };
    assert_eq!(of(Type::INT64, Some(timestamp)), SortOrder::Signed64);
    for text in [LogicalType::String, LogicalType::Enum, LogicalType::Json, LogicalType::Bson] {
        assert_eq!(of(Type::BYTE_ARRAY, Some(text)), SortOrder::Bytes);
    }
    assert_eq!(SortOrder::of(&fixed(16, Some(LogicalType::Uuid))), SortOrder::FixedLenBytes);
    assert_eq!(SortOrder::of(&float16()), SortOrder::Float16);
}

#[test]
fn an_annotation_that_is_not_known_or_does_not_fit_leaves_no_order() {
    for annotation in [LogicalType::Unknown(99), LogicalType::String] {
        let leaf = leaf(Type::INT32, None, Some(annotation));
        assert_eq!(SortOrder::of(&leaf), SortOrder::Undefined);
        assert_eq!(SortOrder::for_reading(&leaf, Some(&ColumnOrder::TypeOrder)), None);
    }
    let int96 = leaf(Type::INT96, None, Some(LogicalType::Unknown(99)));
    assert_eq!(SortOrder::for_reading(&int96, Some(&ColumnOrder::Int96TimestampOrder)), None);
}

#[test]
fn interval_geometry_geography_and_unknown_are_undefined() {
    let interval = element(SchemaElement {
        type_: Some(Type::FIXED_LEN_BYTE_ARRAY),
        type_length: Some(12),
        converted_type: Some(ConvertedType::INTERVAL),
        ..SchemaElement::default()
    });
    let geometry = leaf(Type::BYTE_ARRAY, None, Some(LogicalType::Geometry { crs: None }));
    let geography = leaf(Type::BYTE_ARRAY, None, Some(LogicalType::Geography { crs: None, algorithm: None }));
    let null = leaf(Type::INT32, None, Some(LogicalType::Null));
    for leaf in [interval, geometry, geography, null] {
        assert_eq!(SortOrder::of(&leaf), SortOrder::Undefined);
        assert_eq!(SortOrder::for_writing(&leaf, true), (SortOrder::Undefined, ColumnOrder::TypeOrder));
        assert_eq!(SortOrder::for_reading(&leaf, Some(&ColumnOrder::TypeOrder)), None);
        assert_eq!(SortOrder::Undefined.compare(b"a", b"a"), None);
    }
}

#[test]
fn without_column_orders_bounds_have_no_meaning() {
    assert_eq!(SortOrder::for_reading(&leaf(Type::INT32, None, None), None), None);
}

#[test]
fn an_order_that_is_not_supported_makes_bounds_to_be_ignored() {
    let unknown = ColumnOrder::Unknown(4);
    assert_eq!(SortOrder::for_reading(&leaf(Type::INT32, None, None), Some(&unknown)), None);
}

#[test]
fn int96_has_bounds_under_int96_timestamp_order_only() {
    let int96 = leaf(Type::INT96, None, None);
    let declared = ColumnOrder::Int96TimestampOrder;
    assert_eq!(SortOrder::for_writing(&int96, false), (SortOrder::Int96, declared));
    assert_eq!(SortOrder::for_reading(&int96, Some(&declared)), Some(SortOrder::Int96));
    assert_eq!(SortOrder::for_reading(&int96, Some(&ColumnOrder::TypeOrder)), None);
    assert_eq!(SortOrder::for_reading(&leaf(Type::INT64, None, None), Some(&declared)), None);
}

#[test]
fn only_floats_may_use_ieee_754_total_order() {
    let declared = ColumnOrder::Ieee754TotalOrder;
    for (leaf, by_type, total) in [
        (leaf(Type::FLOAT, None, None), SortOrder::Float, SortOrder::TotalFloat),
        (leaf(Type::DOUBLE, None, None), SortOrder::Double, SortOrder::TotalDouble),
        (float16(), SortOrder::Float16, SortOrder::TotalFloat16),
    ] {
        assert_eq!(SortOrder::for_writing(&leaf, false), (by_type, ColumnOrder::TypeOrder));
        assert_eq!(SortOrder::for_writing(&leaf, true), (total, declared));
        assert_eq!(SortOrder::for_reading(&leaf, Some(&declared)), Some(total));
        assert_eq!(SortOrder::for_reading(&leaf, Some(&ColumnOrder::TypeOrder)), Some(by_type));
        assert_eq!((by_type.is_float(), by_type.is_total(), total.is_total()), (true, false, true));
    }
    let text = leaf(Type::BYTE_ARRAY, None, Some(LogicalType::String));
    assert_eq!(SortOrder::for_writing(&text, true), (SortOrder::Bytes, ColumnOrder::TypeOrder));
    assert_eq!(SortOrder::for_reading(&text, Some(&declared)), None);
}

#[test]
fn deprecated_bounds_are_of_signed_orders_only() {
    let trusted = |leaf: &Leaf| SortOrder::for_deprecated(leaf).is_some();
    for type_ in [Type::BOOLEAN, Type::INT32, Type::INT64, Type::FLOAT, Type::DOUBLE] {
        assert!(trusted(&leaf(type_, None, None)));
    }
    let unsigned = LogicalType::Integer { bit_width: 32, is_signed: false };
    assert!(!trusted(&leaf(Type::INT32, None, Some(unsigned))));
    assert!(!trusted(&leaf(Type::BYTE_ARRAY, None, None)));
    assert!(!trusted(&leaf(Type::INT96, None, None)));
    assert!(!trusted(&float16()));
}

#[test]
fn booleans_are_false_then_true() {
    assert_eq!(SortOrder::Bool.compare(&[0], &[1]), Some(Less));
    assert_eq!(SortOrder::Bool.compare(&[1], &[1]), Some(Equal));
}

#[test]
fn values_of_a_wrong_length_do_not_compare() {
    for (order, length) in [
        (SortOrder::Bool, 1),
        (SortOrder::Signed32, 4),
        (SortOrder::Unsigned32, 4),
        (SortOrder::Float, 4),
        (SortOrder::TotalFloat, 4),
        (SortOrder::Signed64, 8),
        (SortOrder::Unsigned64, 8),
        (SortOrder::Double, 8),
        (SortOrder::TotalDouble, 8),
        (SortOrder::Float16, 2),
        (SortOrder::TotalFloat16, 2),
        (SortOrder::Int96, 12),
    ] {
        for n in 0..14 {
            let (right, other) = (vec![0; length], vec![0; n]);
            assert_eq!(order.compare(&right, &other).is_some(), n == length, "{order:?} {n}");
            assert_eq!(order.compare(&other, &right).is_some(), n == length, "{order:?} {n}");
            assert!(!order.is_nan(&other));
        }
    }
}

#[test]
fn int96_compares_days_and_then_nanoseconds_both_signed() {
    let int96 = |day: i32, nanos: i64| [&nanos.to_le_bytes()[..], &day.to_le_bytes()[..]].concat();
    let sorted = [int96(-1, i64::MAX), int96(0, -1), int96(0, 0), int96(0, 1 << 40), int96(1, -5)];
    for pair in sorted.windows(2) {
        assert_eq!(SortOrder::Int96.compare(&pair[0], &pair[1]), Some(Less));
    }
}

#[test]
fn byte_strings_compare_byte_by_byte_unsigned() {
    let sorted: [&[u8]; 6] = [b"", b"\0", b"a", b"ab", b"b", b"\xff"];
    for pair in sorted.windows(2) {
        assert_eq!(SortOrder::Bytes.compare(pair[0], pair[1]), Some(Less));
    }
}

#[test]
fn under_type_order_zeros_are_equal_and_nan_compares_to_nothing() {
    for (order, zero, minus_zero, nan) in [
        (SortOrder::Float, vec![0; 4], vec![0, 0, 0, 0x80], f32::NAN.to_le_bytes().to_vec()),
        (SortOrder::Double, vec![0; 8], vec![0, 0, 0, 0, 0, 0, 0, 0x80], f64::NAN.to_le_bytes().to_vec()),
        (SortOrder::Float16, vec![0; 2], vec![0, 0x80], vec![0x00, 0x7e]),
    ] {
        assert_eq!(order.compare(&zero, &minus_zero), Some(Equal));
        assert_eq!(order.total().compare(&zero, &minus_zero), Some(Greater));
        assert_eq!((order.compare(&nan, &zero), order.compare(&nan, &nan)), (None, None));
        assert_eq!(order.total().compare(&zero, &nan), Some(Less));
        assert!(order.is_nan(&nan) && order.total().is_nan(&nan) && !order.is_nan(&zero));
        assert!(order.is_zero(&zero) && order.total().is_zero(&minus_zero) && !order.is_zero(&nan));
    }
}

#[test]
fn total_order_has_negative_nan_first_and_positive_nan_last() {
    let sorted: [u16; 12] = [
        0xffff, // -NaN, all bits
        0xfe00, // -NaN, quiet
        0xfc01, // -NaN, signalling
        0xfc00, // -infinity
        0xc000, // -2
        0x8001, // the number below -0
        0x8000, // -0
        0x0000, // +0
        0x3c00, // 1
        0x7c00, // infinity
        0x7c01, // NaN, signalling
        0x7e00, // NaN, quiet
    ];
    for pair in sorted.windows(2) {
        let [a, b] = [pair[0].to_le_bytes(), pair[1].to_le_bytes()];
        assert_eq!(SortOrder::TotalFloat16.compare(&a, &b), Some(Less));
    }
}

#[test]
fn nans_of_a_dictionary_are_found() {
    let words = [1.0f32, f32::NAN, -0.0, -f32::NAN].map(f32::to_bits).to_vec();
    assert_eq!(SortOrder::Float.nans(&Values::W32(words.clone())), [1, 3]);
    assert_eq!(SortOrder::Signed32.nans(&Values::W32(words)), Vec::<usize>::new());
    let halves = FixedLenBytes::from_bytes(2, vec![0x00, 0x7e, 0x00, 0x7c, 0x01, 0xfc]);
    assert_eq!(SortOrder::TotalFloat16.nans(&Values::Fixed(halves)), [0, 2]);
}

/// The number of a big-endian two's complement.
fn number(bytes: &[u8]) -> i128 {
    let sign = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) { -1 } else { 0 };
    bytes.iter().fold(sign, |number, byte| number << 8 | i128::from(*byte))
}

fn decimal() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(0u8), Just(0xff), Just(0x80), Just(0x7f), any::<u8>()];
    proptest::collection::vec(byte, 0..12)
}

proptest! {
    #[test]
    fn decimals_compare_as_the_represented_value(a in decimal(), b in decimal()) {
        prop_assert_eq!(SortOrder::Decimal.compare(&a, &b), Some(number(&a).cmp(&number(&b))));
    }

    #[test]
    fn words_compare_as_their_type(a: u64, b: u64) {
        let words = Values::W64(vec![a, b]);
        let is = |order: SortOrder, expected: Option<Ordering>| {
            assert_eq!(order.compare(&a.to_le_bytes(), &b.to_le_bytes()), expected);
            assert_eq!(order.compare_at(&words, 0, 1), expected);
        };
        is(SortOrder::Signed64, Some((a as i64).cmp(&(b as i64))));
        is(SortOrder::Unsigned64, Some(a.cmp(&b)));
        is(SortOrder::Double, f64::from_bits(a).partial_cmp(&f64::from_bits(b)));
        is(SortOrder::TotalDouble, Some(f64::from_bits(a).total_cmp(&f64::from_bits(b))));
        let (a, b) = (a as u32, b as u32);
        let words = Values::W32(vec![a, b]);
        let is = |order: SortOrder, expected: Option<Ordering>| {
            assert_eq!(order.compare(&a.to_le_bytes(), &b.to_le_bytes()), expected);
            assert_eq!(order.compare_at(&words, 0, 1), expected);
        };
        is(SortOrder::Signed32, Some((a as i32).cmp(&(b as i32))));
        is(SortOrder::Unsigned32, Some(a.cmp(&b)));
        is(SortOrder::Float, f32::from_bits(a).partial_cmp(&f32::from_bits(b)));
        is(SortOrder::TotalFloat, Some(f32::from_bits(a).total_cmp(&f32::from_bits(b))));
    }
}
