//! The shape of a VARIANT column.

use super::batch_shredder::{Shreddings, add_variants};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use marquetry_core::logical_type::{LogicalType, TimeUnit as ParquetTimeUnit};
use marquetry_core::schema::Leaf;
use marquetry_encoding::PhysicalType;
use marquetry_variant::{PrimitiveType, Shredding};
use std::collections::BTreeMap;

/// Returns the shapes of all shredded VARIANT columns of a schema. Leaves out types that no shredding has, and values
/// nested in more objects and arrays than [`MAX_SHREDDING_DEPTH`](marquetry_variant::MAX_SHREDDING_DEPTH).
///
/// ```
/// use marquetry_arrow::variant::shreddings_of;
/// # use arrow_schema::{DataType, Field, Schema};
/// # let bytes = |name: &str, nullable| Field::new(name, DataType::Binary, nullable);
/// # let typed = Field::new("typed_value", DataType::Int64, true);
/// # let storage = DataType::Struct(vec![bytes("metadata", false), bytes("value", true), typed].into());
/// # let extension = std::collections::HashMap::from([("ARROW:extension:name".to_owned(), "arrow.parquet.variant".to_owned())]);
/// # let schema = Schema::new(vec![Field::new("v", storage, true).with_metadata(extension)]);
/// // `schema` has a column `v` of metadata, value, and a typed_value of 64 bits.
/// assert_eq!(shreddings_of(&schema).to_string(), "v=int64");
/// ```
pub fn shreddings_of(schema: &Schema) -> Shreddings {
    let mut found = Vec::new();
    schema.fields().iter().for_each(|field| add_variants(field, field.name().clone(), &mut found));
    found.into_iter().fold(Shreddings::new(), |shreddings, (path, field)| match group(field.data_type(), 0) {
        Some(Shredding::Variant) | None => shreddings,
        Some(shape) => shreddings.with_column(path, shape),
    })
}

/// Returns the shape of a group of `value` and `typed_value`.
fn group(data_type: &DataType, depth: usize) -> Option<Shredding> {
    let DataType::Struct(fields) = data_type else { return None };
    let Some((_, typed)) = fields.find("typed_value") else { return Some(Shredding::Variant) };
    if depth > marquetry_variant::MAX_SHREDDING_DEPTH {
        return None;
    }
    match typed.data_type() {
        DataType::Struct(fields) => {
            let shapes = fields
                .iter()
                .filter_map(|field| Some((field.name().clone(), group(field.data_type(), depth + 1)?)));
            Some(Shredding::Object(shapes.collect::<BTreeMap<_, _>>()))
        }
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::ListView(element)
        | DataType::LargeListView(element) => {
            Some(Shredding::Array(Box::new(group(element.data_type(), depth + 1)?)))
        }
        _ => primitive(typed).map(Shredding::Primitive),
    }
}

/// Returns the type that a typed column of a file is read as.
pub(crate) fn primitive_type_of(leaf: &Leaf) -> Option<PrimitiveType> {
    if leaf.is_misunderstood() {
        return None;
    }
    Some(match (leaf.physical(), leaf.logical()) {
        (PhysicalType::Boolean, None) => PrimitiveType::Boolean,
        (PhysicalType::Int32, None) => PrimitiveType::Int32,
        (PhysicalType::Int64, None) => PrimitiveType::Int64,
        (PhysicalType::Int32, Some(LogicalType::Integer { bits: 8, signed: true })) => PrimitiveType::Int8,
        (PhysicalType::Int32, Some(LogicalType::Integer { bits: 16, signed: true })) => PrimitiveType::Int16,
        (PhysicalType::Int32, Some(LogicalType::Integer { bits: 32, signed: true })) => PrimitiveType::Int32,
        (PhysicalType::Int64, Some(LogicalType::Integer { bits: 64, signed: true })) => PrimitiveType::Int64,
        (PhysicalType::Double, None) => PrimitiveType::Double,
        (PhysicalType::Float, None) => PrimitiveType::Float,
        (PhysicalType::Int32, Some(LogicalType::Date)) => PrimitiveType::Date,
        (PhysicalType::Int64, Some(LogicalType::Timestamp { utc, unit })) => match (utc, unit) {
            (true, ParquetTimeUnit::Micros) => PrimitiveType::TimestampMicros,
            (false, ParquetTimeUnit::Micros) => PrimitiveType::LocalTimestampMicros,
            (true, ParquetTimeUnit::Nanos) => PrimitiveType::TimestampNanos,
            (false, ParquetTimeUnit::Nanos) => PrimitiveType::LocalTimestampNanos,
            _ => return None,
        },
        (_, Some(LogicalType::Decimal { precision, scale })) => PrimitiveType::Decimal {
            precision: u8::try_from(*precision).ok()?,
            scale: u8::try_from(*scale).ok()?,
        },
        (PhysicalType::ByteArray, Some(LogicalType::String)) => PrimitiveType::String,
        (PhysicalType::ByteArray, None) => PrimitiveType::Binary,
        _ => return None,
    })
}

fn primitive(field: &Field) -> Option<PrimitiveType> {
    Some(match field.data_type() {
        DataType::Boolean => PrimitiveType::Boolean,
        DataType::Int8 => PrimitiveType::Int8,
        DataType::Int16 => PrimitiveType::Int16,
        DataType::Int32 => PrimitiveType::Int32,
        DataType::Int64 => PrimitiveType::Int64,
        DataType::Float32 => PrimitiveType::Float,
        DataType::Float64 => PrimitiveType::Double,
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale) => {
            PrimitiveType::Decimal { precision: *precision, scale: u8::try_from(*scale).ok()? }
        }
        DataType::Date32 => PrimitiveType::Date,
        DataType::Time64(TimeUnit::Microsecond) => PrimitiveType::Time,
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => PrimitiveType::TimestampMicros,
        DataType::Timestamp(TimeUnit::Microsecond, None) => PrimitiveType::LocalTimestampMicros,
        DataType::Timestamp(TimeUnit::Nanosecond, Some(_)) => PrimitiveType::TimestampNanos,
        DataType::Timestamp(TimeUnit::Nanosecond, None) => PrimitiveType::LocalTimestampNanos,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => PrimitiveType::Binary,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => PrimitiveType::String,
        DataType::FixedSizeBinary(16) => PrimitiveType::Uuid,
        _ => return None,
    })
}
