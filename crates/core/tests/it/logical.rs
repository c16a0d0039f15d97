//! Which annotation means what on which physical type: every one of them on every type.

use crate::chunk::file::{group, leaf};
use marquetry_core::logical_type::{LogicalType, TimeUnit};
use marquetry_encoding::PhysicalType;
use marquetry_format::{
    ConvertedType, LogicalType as ThriftType, Repetition, SchemaElement, TimeUnit as ThriftUnit,
};

const PHYSICAL: [PhysicalType; 12] = [
    PhysicalType::Boolean,
    PhysicalType::Int32,
    PhysicalType::Int64,
    PhysicalType::Int96,
    PhysicalType::Float,
    PhysicalType::Double,
    PhysicalType::ByteArray,
    PhysicalType::FixedLenByteArray(0),
    PhysicalType::FixedLenByteArray(2),
    PhysicalType::FixedLenByteArray(12),
    PhysicalType::FixedLenByteArray(16),
    PhysicalType::FixedLenByteArray(20),
];

/// What an annotation is legal on.
#[derive(Debug, Clone, Copy, PartialEq)]
enum On {
    Group,
    Only(PhysicalType),
    /// INT32, INT64, BYTE_ARRAY, and FIXED_LEN_BYTE_ARRAY of any bytes.
    Numbers,
    Leaves,
    Nothing,
}

impl On {
    fn allows(self, physical: Option<PhysicalType>) -> bool {
        match (self, physical) {
            (On::Group, physical) => physical.is_none(),
            (On::Only(only), physical) => physical == Some(only),
            (On::Numbers, Some(physical)) => match physical {
                PhysicalType::FixedLenByteArray(width) => width > 0,
                other => matches!(other, PhysicalType::Int32 | PhysicalType::Int64 | PhysicalType::ByteArray),
            },
            (On::Leaves, physical) => physical.is_some(),
            _ => false,
        }
    }
}

const BINARY: On = On::Only(PhysicalType::ByteArray);
const INT32: On = On::Only(PhysicalType::Int32);
const INT64: On = On::Only(PhysicalType::Int64);

fn fixed(width: usize) -> On {
    On::Only(PhysicalType::FixedLenByteArray(width))
}

/// Holds the meaning of `annotated` on every type, and on a group, against `expected`.
fn check(annotate: impl Fn(SchemaElement) -> SchemaElement, on: On, expected: &LogicalType) {
    let mut all = vec![(None, group("x", Repetition::OPTIONAL, 1))];
    all.extend(PHYSICAL.map(|physical| (Some(physical), leaf("x", Repetition::OPTIONAL, physical))));
    for (physical, element) in all {
        let found = LogicalType::from_thrift(&annotate(element), physical);
        let expected = on.allows(physical).then(|| expected.clone());
        assert_eq!(found, expected, "on {physical:?}");
    }
}

fn logical(logical_type: ThriftType) -> impl Fn(SchemaElement) -> SchemaElement {
    move |element| SchemaElement { logical_type: Some(logical_type.clone()), ..element }
}

fn converted(converted_type: ConvertedType) -> impl Fn(SchemaElement) -> SchemaElement {
    move |element| SchemaElement { converted_type: Some(converted_type), ..element }
}

fn decimal(precision: u32, scale: i32) -> LogicalType {
    LogicalType::Decimal { precision, scale }
}

const UNITS: [(ThriftUnit, TimeUnit, On); 3] = [
    (ThriftUnit::Millis, TimeUnit::Millis, INT32),
    (ThriftUnit::Micros, TimeUnit::Micros, INT64),
    (ThriftUnit::Nanos, TimeUnit::Nanos, INT64),
];

#[test]
fn every_logical_type_on_every_physical_type() {
    let crs = Some("EPSG:25832".to_owned());
    for (annotation, on, expected) in [
        (ThriftType::String, BINARY, LogicalType::String),
        (ThriftType::Enum, BINARY, LogicalType::Enum),
        (ThriftType::Json, BINARY, LogicalType::Json),
        (ThriftType::Bson, BINARY, LogicalType::Bson),
        (ThriftType::Uuid, fixed(16), LogicalType::Uuid),
        (ThriftType::Float16, fixed(2), LogicalType::Float16),
        (ThriftType::Date, INT32, LogicalType::Date),
        (ThriftType::Null, On::Leaves, LogicalType::Null),
        (ThriftType::Map, On::Group, LogicalType::Map),
        (ThriftType::List, On::Group, LogicalType::List),
        (ThriftType::File, On::Group, LogicalType::File),
        (
            ThriftType::Variant { specification_version: Some(1) },
            On::Group,
            LogicalType::Variant { version: Some(1) },
        ),
        (
            ThriftType::Variant { specification_version: None },
            On::Group,
            LogicalType::Variant { version: None },
        ),
        (ThriftType::Geometry { crs: crs.clone() }, BINARY, LogicalType::Geometry { crs: crs.clone() }),
        (
            ThriftType::Geography { crs: crs.clone(), algorithm: None },
            BINARY,
            LogicalType::Geography { crs, algorithm: None },
        ),
        (ThriftType::Decimal { precision: 9, scale: 2 }, On::Numbers, decimal(9, 2)),
        (ThriftType::Decimal { precision: 76, scale: -3 }, On::Numbers, decimal(76, -3)),
        (ThriftType::Decimal { precision: 0, scale: 0 }, On::Nothing, LogicalType::Null),
        (ThriftType::Decimal { precision: 77, scale: 0 }, On::Nothing, LogicalType::Null),
        (ThriftType::Decimal { precision: -9, scale: 0 }, On::Nothing, LogicalType::Null),
        (ThriftType::Unknown(25), On::Nothing, LogicalType::Null),
    ] {
        check(logical(annotation), on, &expected);
    }
}

#[test]
fn times_and_integers_on_every_physical_type() {
    for (thrift, unit, on_time) in UNITS {
        for utc in [false, true] {
            let time = ThriftType::Time { is_adjusted_to_utc: utc, unit: thrift };
            check(logical(time), on_time, &LogicalType::Time { utc, unit });
            let timestamp = ThriftType::Timestamp { is_adjusted_to_utc: utc, unit: thrift };
            check(logical(timestamp), INT64, &LogicalType::Timestamp { utc, unit });
        }
    }
    let unit = ThriftUnit::Unknown(4);
    let later = ThriftType::Timestamp { is_adjusted_to_utc: true, unit };
    check(logical(later), On::Nothing, &LogicalType::Null);
    for bits in [-8, 0, 1, 8, 16, 24, 32, 64, 127] {
        for signed in [false, true] {
            let on = match bits {
                8 | 16 | 32 => INT32,
                64 => INT64,
                _ => On::Nothing,
            };
            let integer = ThriftType::Integer { bit_width: bits, is_signed: signed };
            check(logical(integer), on, &LogicalType::Integer { bits: bits as u8, signed });
        }
    }
}

#[test]
fn every_converted_type_on_every_physical_type() {
    let integer = |bits, signed| LogicalType::Integer { bits, signed };
    let time = |unit| LogicalType::Time { utc: true, unit };
    let timestamp = |unit| LogicalType::Timestamp { utc: true, unit };
    let table = [
        (BINARY, LogicalType::String),
        (On::Group, LogicalType::Map),
        (On::Group, LogicalType::MapKeyValue),
        (On::Group, LogicalType::List),
        (BINARY, LogicalType::Enum),
        (On::Nothing, LogicalType::Null), // DECIMAL, without a precision
        (INT32, LogicalType::Date),
        (INT32, time(TimeUnit::Millis)),
        (INT64, time(TimeUnit::Micros)),
        (INT64, timestamp(TimeUnit::Millis)),
        (INT64, timestamp(TimeUnit::Micros)),
        (INT32, integer(8, false)),
        (INT32, integer(16, false)),
        (INT32, integer(32, false)),
        (INT64, integer(64, false)),
        (INT32, integer(8, true)),
        (INT32, integer(16, true)),
        (INT32, integer(32, true)),
        (INT64, integer(64, true)),
        (BINARY, LogicalType::Json),
        (BINARY, LogicalType::Bson),
        (fixed(12), LogicalType::Interval),
        (On::Nothing, LogicalType::Null), // of a later version
    ];
    for (code, (on, expected)) in table.into_iter().enumerate() {
        check(converted(ConvertedType(code as i32)), on, &expected);
    }
    for (precision, scale, on) in [
        (Some(9), Some(2), On::Numbers),
        (Some(1), None, On::Numbers),
        (Some(76), Some(76), On::Numbers),
        (Some(0), Some(0), On::Nothing),
        (Some(77), Some(0), On::Nothing),
        (Some(-1), Some(0), On::Nothing),
        (None, Some(2), On::Nothing),
    ] {
        let annotate =
            |element| SchemaElement { precision, scale, ..converted(ConvertedType::DECIMAL)(element) };
        check(annotate, on, &decimal(precision.unwrap_or(0) as u32, scale.unwrap_or(0)));
    }
}

/// The newer annotation wins, unless it is of no use.
#[test]
fn annotations_that_disagree() {
    let both = |newer: ThriftType, older, physical| {
        let element = leaf("x", Repetition::OPTIONAL, physical);
        LogicalType::from_thrift(&converted(older)(logical(newer)(element)), Some(physical))
    };
    let local = ThriftType::Timestamp { is_adjusted_to_utc: false, unit: ThriftUnit::Millis };
    assert_eq!(
        both(local, ConvertedType::TIMESTAMP_MILLIS, PhysicalType::Int64),
        Some(LogicalType::Timestamp { utc: false, unit: TimeUnit::Millis })
    );
    assert_eq!(both(ThriftType::Json, ConvertedType::UTF8, PhysicalType::ByteArray), Some(LogicalType::Json));
    assert_eq!(
        both(ThriftType::Uuid, ConvertedType::UTF8, PhysicalType::ByteArray),
        Some(LogicalType::String)
    );
    assert_eq!(
        both(ThriftType::Unknown(33), ConvertedType::UTF8, PhysicalType::ByteArray),
        Some(LogicalType::String)
    );
    assert_eq!(both(ThriftType::Uuid, ConvertedType::UTF8, PhysicalType::Int32), None);
    // Intervals by parquet-mr 1.10; a column without values stays one.
    let interval = PhysicalType::FixedLenByteArray(12);
    assert_eq!(both(ThriftType::Null, ConvertedType::INTERVAL, interval), Some(LogicalType::Interval));
    assert_eq!(both(ThriftType::Null, ConvertedType::INTERVAL, PhysicalType::Int32), Some(LogicalType::Null));
    let element = SchemaElement {
        precision: Some(5),
        scale: Some(1),
        ..leaf("x", Repetition::OPTIONAL, PhysicalType::Int32)
    };
    let annotated = |precision| {
        let newer = ThriftType::Decimal { precision, scale: 2 };
        let element = converted(ConvertedType::DECIMAL)(logical(newer)(element.clone()));
        LogicalType::from_thrift(&element, Some(PhysicalType::Int32))
    };
    assert_eq!(annotated(9), Some(decimal(9, 2)));
    assert_eq!(annotated(0), Some(decimal(5, 1)));
    let list = converted(ConvertedType::MAP)(logical(ThriftType::List)(group("x", Repetition::OPTIONAL, 1)));
    assert_eq!(LogicalType::from_thrift(&list, None), Some(LogicalType::List));
}

#[test]
fn text_is_what_must_be_utf8() {
    for text in [LogicalType::String, LogicalType::Enum, LogicalType::Json] {
        assert!(text.is_text());
    }
    for other in
        [LogicalType::Bson, LogicalType::Uuid, LogicalType::Geometry { crs: None }, LogicalType::Null]
    {
        assert!(!other.is_text());
    }
}
