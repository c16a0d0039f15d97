//! The Arrow fields of a shredded column.
//!
//! Spec: VariantShredding.md, "Shredded Value Types".

use arrow_schema::{DataType, Field, Fields, TimeUnit};
use marquetry_variant::{PrimitiveType, Shredding};
use std::collections::HashMap;

/// Returns the fields of an unshredded column.
pub(super) fn unshredded_fields(metadata: &DataType) -> Fields {
    vec![Field::new("metadata", metadata.clone(), false), Field::new("value", DataType::BinaryView, false)]
        .into()
}

/// Returns the type of an unshredded column.
pub(crate) fn unshredded_storage() -> DataType {
    DataType::Struct(unshredded_fields(&DataType::BinaryView))
}

/// Returns the fields of a shredded place: `value`, and `typed_value` unless it takes any type.
pub(super) fn group_fields(shredding: &Shredding) -> Fields {
    let mut fields = vec![Field::new("value", DataType::BinaryView, true)];
    fields.extend(typed_field(shredding));
    fields.into()
}

/// Returns the field of a shredded place inside another one.
///
/// SPEC: such groups are required; a missing value has null in both of their fields.
pub(super) fn group_field(name: &str, shredding: &Shredding) -> Field {
    Field::new(name, DataType::Struct(group_fields(shredding)), false)
}

fn typed_field(shredding: &Shredding) -> Option<Field> {
    let typed = |data_type| Field::new("typed_value", data_type, true);
    Some(match shredding {
        Shredding::Primitive(PrimitiveType::Uuid) => typed(primitive(PrimitiveType::Uuid))
            .with_metadata(HashMap::from([("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned())])),
        Shredding::Primitive(kind) => typed(primitive(*kind)),
        Shredding::Object(fields) => {
            typed(DataType::Struct(fields.iter().map(|(name, field)| group_field(name, field)).collect()))
        }
        Shredding::Array(element) => typed(DataType::List(group_field("element", element).into())),
        _ => return None,
    })
}

/// Returns the Arrow type of primitive values.
pub(super) fn primitive(kind: PrimitiveType) -> DataType {
    let utc = || Some("UTC".into());
    match kind {
        PrimitiveType::Boolean => DataType::Boolean,
        PrimitiveType::Int8 => DataType::Int8,
        PrimitiveType::Int16 => DataType::Int16,
        PrimitiveType::Int32 => DataType::Int32,
        PrimitiveType::Int64 => DataType::Int64,
        PrimitiveType::Float => DataType::Float32,
        PrimitiveType::Double => DataType::Float64,
        PrimitiveType::Decimal { precision, scale } => DataType::Decimal128(precision, scale as i8),
        PrimitiveType::Date => DataType::Date32,
        PrimitiveType::Time => DataType::Time64(TimeUnit::Microsecond),
        PrimitiveType::TimestampMicros => DataType::Timestamp(TimeUnit::Microsecond, utc()),
        PrimitiveType::LocalTimestampMicros => DataType::Timestamp(TimeUnit::Microsecond, None),
        PrimitiveType::TimestampNanos => DataType::Timestamp(TimeUnit::Nanosecond, utc()),
        PrimitiveType::LocalTimestampNanos => DataType::Timestamp(TimeUnit::Nanosecond, None),
        PrimitiveType::Binary => DataType::BinaryView,
        PrimitiveType::String => DataType::Utf8View,
        PrimitiveType::Uuid => DataType::FixedSizeBinary(16),
    }
}
