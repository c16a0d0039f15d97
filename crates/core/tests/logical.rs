//! Which annotation means what on which physical type: every one of them on every type.

mod chunk;

use chunk::file::{group, leaf};
use marquetry_core::logical::{Logical, TimeUnit};
use marquetry_encoding::Physical;
use marquetry_format::{ConvertedType, LogicalType, Repetition, SchemaElement, TimeUnit as ThriftUnit};

const PHYSICAL: [Physical; 12] = [
    Physical::Boolean,
    Physical::Int32,
    Physical::Int64,
    Physical::Int96,
    Physical::Float,
    Physical::Double,
    Physical::ByteArray,
    Physical::FixedLenByteArray(0),
    Physical::FixedLenByteArray(2),
    Physical::FixedLenByteArray(12),
    Physical::FixedLenByteArray(16),
    Physical::FixedLenByteArray(20),
];

/// What an annotation is legal on.
#[derive(Debug, Clone, Copy, PartialEq)]
enum On {
    Group,
    Only(Physical),
    /// INT32, INT64, BYTE_ARRAY, and FIXED_LEN_BYTE_ARRAY of any bytes.
    Numbers,
    Leaves,
    Nothing,
}

impl On {
    fn allows(self, physical: Option<Physical>) -> bool {
        match (self, physical) {
            (On::Group, physical) => physical.is_none(),
            (On::Only(only), physical) => physical == Some(only),
            (On::Numbers, Some(physical)) => match physical {
                Physical::FixedLenByteArray(width) => width > 0,
                other => matches!(other, Physical::Int32 | Physical::Int64 | Physical::ByteArray),
            },
            (On::Leaves, physical) => physical.is_some(),
            _ => false,
        }
    }
}

const BINARY: On = On::Only(Physical::ByteArray);
const INT32: On = On::Only(Physical::Int32);
const INT64: On = On::Only(Physical::Int64);

fn fixed(width: usize) -> On {
    On::Only(Physical::FixedLenByteArray(width))
}

/// Holds the meaning of `annotated` on every type, and on a group, against `expected`.
fn check(annotate: impl Fn(SchemaElement) -> SchemaElement, on: On, expected: &Logical) {
    let mut all = vec![(None, group("x", Repetition::OPTIONAL, 1))];
    all.extend(PHYSICAL.map(|physical| (Some(physical), leaf("x", Repetition::OPTIONAL, physical))));
    for (physical, element) in all {
        let found = Logical::from_thrift(&annotate(element), physical);
        let expected = on.allows(physical).then(|| expected.clone());
        assert_eq!(found, expected, "on {physical:?}");
    }
}

fn logical(logical_type: LogicalType) -> impl Fn(SchemaElement) -> SchemaElement {
    move |element| SchemaElement { logical_type: Some(logical_type.clone()), ..element }
}

fn converted(converted_type: ConvertedType) -> impl Fn(SchemaElement) -> SchemaElement {
    move |element| SchemaElement { converted_type: Some(converted_type), ..element }
}

fn decimal(precision: u32, scale: i32) -> Logical {
    Logical::Decimal { precision, scale }
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
        (LogicalType::String, BINARY, Logical::String),
        (LogicalType::Enum, BINARY, Logical::Enum),
        (LogicalType::Json, BINARY, Logical::Json),
        (LogicalType::Bson, BINARY, Logical::Bson),
        (LogicalType::Uuid, fixed(16), Logical::Uuid),
        (LogicalType::Float16, fixed(2), Logical::Float16),
        (LogicalType::Date, INT32, Logical::Date),
        (LogicalType::Null, On::Leaves, Logical::Null),
        (LogicalType::Map, On::Group, Logical::Map),
        (LogicalType::List, On::Group, Logical::List),
        (LogicalType::File, On::Group, Logical::File),
        (
            LogicalType::Variant { specification_version: Some(1) },
            On::Group,
            Logical::Variant { version: Some(1) },
        ),
        (LogicalType::Variant { specification_version: None }, On::Group, Logical::Variant { version: None }),
        (LogicalType::Geometry { crs: crs.clone() }, BINARY, Logical::Geometry { crs: crs.clone() }),
        (
            LogicalType::Geography { crs: crs.clone(), algorithm: None },
            BINARY,
            Logical::Geography { crs, algorithm: None },
        ),
        (LogicalType::Decimal { precision: 9, scale: 2 }, On::Numbers, decimal(9, 2)),
        (LogicalType::Decimal { precision: 76, scale: -3 }, On::Numbers, decimal(76, -3)),
        (LogicalType::Decimal { precision: 0, scale: 0 }, On::Nothing, Logical::Null),
        (LogicalType::Decimal { precision: 77, scale: 0 }, On::Nothing, Logical::Null),
        (LogicalType::Decimal { precision: -9, scale: 0 }, On::Nothing, Logical::Null),
        (LogicalType::Unknown(25), On::Nothing, Logical::Null),
    ] {
        check(logical(annotation), on, &expected);
    }
}

#[test]
fn times_and_integers_on_every_physical_type() {
    for (thrift, unit, on_time) in UNITS {
        for utc in [false, true] {
            let time = LogicalType::Time { is_adjusted_to_utc: utc, unit: thrift };
            check(logical(time), on_time, &Logical::Time { utc, unit });
            let timestamp = LogicalType::Timestamp { is_adjusted_to_utc: utc, unit: thrift };
            check(logical(timestamp), INT64, &Logical::Timestamp { utc, unit });
        }
    }
    let unit = ThriftUnit::Unknown(4);
    let later = LogicalType::Timestamp { is_adjusted_to_utc: true, unit };
    check(logical(later), On::Nothing, &Logical::Null);
    for bits in [-8, 0, 1, 8, 16, 24, 32, 64, 127] {
        for signed in [false, true] {
            let on = match bits {
                8 | 16 | 32 => INT32,
                64 => INT64,
                _ => On::Nothing,
            };
            let integer = LogicalType::Integer { bit_width: bits, is_signed: signed };
            check(logical(integer), on, &Logical::Integer { bits: bits as u8, signed });
        }
    }
}

#[test]
fn every_converted_type_on_every_physical_type() {
    let integer = |bits, signed| Logical::Integer { bits, signed };
    let time = |unit| Logical::Time { utc: true, unit };
    let timestamp = |unit| Logical::Timestamp { utc: true, unit };
    let table = [
        (BINARY, Logical::String),
        (On::Group, Logical::Map),
        (On::Group, Logical::MapKeyValue),
        (On::Group, Logical::List),
        (BINARY, Logical::Enum),
        (On::Nothing, Logical::Null), // DECIMAL, without a precision
        (INT32, Logical::Date),
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
        (BINARY, Logical::Json),
        (BINARY, Logical::Bson),
        (fixed(12), Logical::Interval),
        (On::Nothing, Logical::Null), // of a later version
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
    let both = |newer: LogicalType, older, physical| {
        let element = leaf("x", Repetition::OPTIONAL, physical);
        Logical::from_thrift(&converted(older)(logical(newer)(element)), Some(physical))
    };
    let local = LogicalType::Timestamp { is_adjusted_to_utc: false, unit: ThriftUnit::Millis };
    assert_eq!(
        both(local, ConvertedType::TIMESTAMP_MILLIS, Physical::Int64),
        Some(Logical::Timestamp { utc: false, unit: TimeUnit::Millis })
    );
    assert_eq!(both(LogicalType::Json, ConvertedType::UTF8, Physical::ByteArray), Some(Logical::Json));
    assert_eq!(both(LogicalType::Uuid, ConvertedType::UTF8, Physical::ByteArray), Some(Logical::String));
    assert_eq!(
        both(LogicalType::Unknown(33), ConvertedType::UTF8, Physical::ByteArray),
        Some(Logical::String)
    );
    assert_eq!(both(LogicalType::Uuid, ConvertedType::UTF8, Physical::Int32), None);
    // Intervals by parquet-mr 1.10; a column without values stays one.
    let interval = Physical::FixedLenByteArray(12);
    assert_eq!(both(LogicalType::Null, ConvertedType::INTERVAL, interval), Some(Logical::Interval));
    assert_eq!(both(LogicalType::Null, ConvertedType::INTERVAL, Physical::Int32), Some(Logical::Null));
    let element = SchemaElement {
        precision: Some(5),
        scale: Some(1),
        ..leaf("x", Repetition::OPTIONAL, Physical::Int32)
    };
    let annotated = |precision| {
        let newer = LogicalType::Decimal { precision, scale: 2 };
        let element = converted(ConvertedType::DECIMAL)(logical(newer)(element.clone()));
        Logical::from_thrift(&element, Some(Physical::Int32))
    };
    assert_eq!(annotated(9), Some(decimal(9, 2)));
    assert_eq!(annotated(0), Some(decimal(5, 1)));
    let list = converted(ConvertedType::MAP)(logical(LogicalType::List)(group("x", Repetition::OPTIONAL, 1)));
    assert_eq!(Logical::from_thrift(&list, None), Some(Logical::List));
}

#[test]
fn text_is_what_must_be_utf8() {
    for text in [Logical::String, Logical::Enum, Logical::Json] {
        assert!(text.is_text());
    }
    for other in [Logical::Bson, Logical::Uuid, Logical::Geometry { crs: None }, Logical::Null] {
        assert!(!other.is_text());
    }
}
