//! Flattens the schema into the footer's list of elements, depth first.
//!
//! Spec: LogicalTypes.md, "Compatibility": what a node means is written twice, as `LogicalType` and, where there is one,
//! as the older `ConvertedType`.

use super::{Node, NodeKind, Repetition, Schema};
use crate::logical_type::{LogicalType, TimeUnit};
use marquetry_encoding::PhysicalType;
use marquetry_format::{
    ConvertedType, LogicalType as ThriftType, Repetition as ThriftRepetition, SchemaElement, ThriftString,
    TimeUnit as ThriftTimeUnit, Type,
};

impl Schema {
    /// Returns the footer's list, whose first element is the root. [`from_thrift`](Schema::from_thrift) makes the same
    /// schema from it. Annotations that are unknown were dropped when the schema was read, and are missing here.
    pub fn to_thrift(&self) -> Vec<SchemaElement> {
        let mut out =
            vec![SchemaElement { repetition_type: None, ..group(self.name.clone(), self.fields.len()) }];
        self.fields.iter().for_each(|node| self.push_node(node, &mut out));
        out
    }

    fn push_node(&self, node: &Node, out: &mut Vec<SchemaElement>) {
        let mut element = match &node.kind {
            NodeKind::Group(fields) => group(node.name.clone(), fields.len()),
            NodeKind::Leaf(leaf) => column(node.name.clone(), self.leaves[*leaf].physical),
        };
        element.repetition_type = Some(match node.repetition {
            Repetition::Required => ThriftRepetition::REQUIRED,
            Repetition::Optional => ThriftRepetition::OPTIONAL,
            Repetition::Repeated => ThriftRepetition::REPEATED,
        });
        element.field_id = node.field_id;
        if let Some(logical) = &node.logical {
            annotate(&mut element, logical);
        }
        out.push(element);
        if let NodeKind::Group(fields) = &node.kind {
            fields.iter().for_each(|field| self.push_node(field, out));
        }
    }
}

/// Creates the element of a required group of `children` fields, which must follow it.
pub fn group(name: impl Into<ThriftString>, children: usize) -> SchemaElement {
    SchemaElement {
        name: name.into(),
        repetition_type: Some(ThriftRepetition::REQUIRED),
        // A count that exceeds an i32 exceeds any limit on nodes as well.
        num_children: Some(i32::try_from(children).unwrap_or(i32::MAX)),
        ..SchemaElement::default()
    }
}

/// Creates the element of a required column.
pub fn column(name: impl Into<ThriftString>, physical: PhysicalType) -> SchemaElement {
    let length = match physical {
        PhysicalType::FixedLenByteArray(width) => i32::try_from(width).ok(),
        _ => None,
    };
    SchemaElement {
        name: name.into(),
        type_: Some(physical_type(physical)),
        type_length: length,
        repetition_type: Some(ThriftRepetition::REQUIRED),
        ..SchemaElement::default()
    }
}

/// Returns the Thrift type of a physical type, without the length.
pub fn physical_type(physical: PhysicalType) -> Type {
    match physical {
        PhysicalType::Boolean => Type::BOOLEAN,
        PhysicalType::Int32 => Type::INT32,
        PhysicalType::Int64 => Type::INT64,
        PhysicalType::Int96 => Type::INT96,
        PhysicalType::Float => Type::FLOAT,
        PhysicalType::Double => Type::DOUBLE,
        PhysicalType::ByteArray => Type::BYTE_ARRAY,
        PhysicalType::FixedLenByteArray(_) => Type::FIXED_LEN_BYTE_ARRAY,
    }
}

/// Annotates `element` with a logical type, and with the converted type if there is one.
pub fn annotate(element: &mut SchemaElement, logical: &LogicalType) {
    element.logical_type = logical_type(logical);
    element.converted_type = converted_type(logical);
    if let LogicalType::Decimal { precision, scale } = logical {
        element.precision = i32::try_from(*precision).ok();
        element.scale = Some(*scale);
    }
}

fn logical_type(logical: &LogicalType) -> Option<ThriftType> {
    Some(match logical {
        LogicalType::String => ThriftType::String,
        LogicalType::Enum => ThriftType::Enum,
        LogicalType::Json => ThriftType::Json,
        LogicalType::Bson => ThriftType::Bson,
        LogicalType::Uuid => ThriftType::Uuid,
        LogicalType::Decimal { precision, scale } => {
            ThriftType::Decimal { precision: i32::try_from(*precision).ok()?, scale: *scale }
        }
        LogicalType::Date => ThriftType::Date,
        LogicalType::Time { utc, unit } => {
            ThriftType::Time { is_adjusted_to_utc: *utc, unit: thrift_unit(*unit) }
        }
        LogicalType::Timestamp { utc, unit } => {
            ThriftType::Timestamp { is_adjusted_to_utc: *utc, unit: thrift_unit(*unit) }
        }
        LogicalType::Integer { bits, signed } => {
            ThriftType::Integer { bit_width: i8::try_from(*bits).ok()?, is_signed: *signed }
        }
        // SPEC: neither has a `LogicalType`.
        LogicalType::Interval | LogicalType::MapKeyValue => return None,
        LogicalType::Float16 => ThriftType::Float16,
        LogicalType::Null => ThriftType::Null,
        LogicalType::List => ThriftType::List,
        LogicalType::Map => ThriftType::Map,
        LogicalType::Variant { version } => ThriftType::Variant { specification_version: *version },
        LogicalType::Geometry { crs } => ThriftType::Geometry { crs: crs.clone() },
        LogicalType::Geography { crs, algorithm } => {
            ThriftType::Geography { crs: crs.clone(), algorithm: *algorithm }
        }
        LogicalType::File => ThriftType::File,
    })
}

fn thrift_unit(unit: TimeUnit) -> ThriftTimeUnit {
    match unit {
        TimeUnit::Millis => ThriftTimeUnit::Millis,
        TimeUnit::Micros => ThriftTimeUnit::Micros,
        TimeUnit::Nanos => ThriftTimeUnit::Nanos,
    }
}

/// Returns the converted type. SPEC: local times have one as well, although it means UTC.
fn converted_type(logical: &LogicalType) -> Option<ConvertedType> {
    Some(match logical {
        LogicalType::String => ConvertedType::UTF8,
        LogicalType::Enum => ConvertedType::ENUM,
        LogicalType::Json => ConvertedType::JSON,
        LogicalType::Bson => ConvertedType::BSON,
        LogicalType::Decimal { .. } => ConvertedType::DECIMAL,
        LogicalType::Date => ConvertedType::DATE,
        LogicalType::Time { unit: TimeUnit::Millis, .. } => ConvertedType::TIME_MILLIS,
        LogicalType::Time { unit: TimeUnit::Micros, .. } => ConvertedType::TIME_MICROS,
        LogicalType::Timestamp { unit: TimeUnit::Millis, .. } => ConvertedType::TIMESTAMP_MILLIS,
        LogicalType::Timestamp { unit: TimeUnit::Micros, .. } => ConvertedType::TIMESTAMP_MICROS,
        LogicalType::Integer { bits: 8, signed: true } => ConvertedType::INT_8,
        LogicalType::Integer { bits: 16, signed: true } => ConvertedType::INT_16,
        LogicalType::Integer { bits: 32, signed: true } => ConvertedType::INT_32,
        LogicalType::Integer { bits: 64, signed: true } => ConvertedType::INT_64,
        LogicalType::Integer { bits: 8, signed: false } => ConvertedType::UINT_8,
        LogicalType::Integer { bits: 16, signed: false } => ConvertedType::UINT_16,
        LogicalType::Integer { bits: 32, signed: false } => ConvertedType::UINT_32,
        LogicalType::Integer { bits: 64, signed: false } => ConvertedType::UINT_64,
        LogicalType::Interval => ConvertedType::INTERVAL,
        LogicalType::List => ConvertedType::LIST,
        LogicalType::Map => ConvertedType::MAP,
        LogicalType::MapKeyValue => ConvertedType::MAP_KEY_VALUE,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_base::Limits;

    #[test]
    fn there_and_back() {
        let meanings = [
            (PhysicalType::ByteArray, Some(LogicalType::String)),
            (PhysicalType::FixedLenByteArray(16), Some(LogicalType::Uuid)),
            (PhysicalType::FixedLenByteArray(12), Some(LogicalType::Interval)),
            (PhysicalType::Int32, Some(LogicalType::Decimal { precision: 9, scale: 2 })),
            (PhysicalType::Int64, Some(LogicalType::Timestamp { utc: false, unit: TimeUnit::Micros })),
            (PhysicalType::Int64, Some(LogicalType::Time { utc: false, unit: TimeUnit::Nanos })),
            (PhysicalType::Int32, Some(LogicalType::Integer { bits: 8, signed: false })),
            (PhysicalType::Int32, Some(LogicalType::Null)),
            (PhysicalType::Int96, None),
            (PhysicalType::ByteArray, Some(LogicalType::Geometry { crs: Some("EPSG:3857".to_owned()) })),
        ];
        let mut elements = vec![SchemaElement { repetition_type: None, ..group("m", 2) }];
        elements.push(SchemaElement { field_id: Some(7), ..group("g", meanings.len()) });
        for (i, (physical, logical)) in meanings.iter().enumerate() {
            let mut element = column(format!("c{i}"), *physical);
            element.repetition_type = Some(ThriftRepetition::OPTIONAL);
            logical.iter().for_each(|logical| annotate(&mut element, logical));
            elements.push(element);
        }
        let mut list = group("l", 1);
        annotate(&mut list, &LogicalType::List);
        let repeated =
            SchemaElement { repetition_type: Some(ThriftRepetition::REPEATED), ..group("list", 1) };
        elements.extend([list, repeated, column("element", PhysicalType::Boolean)]);
        let schema = Schema::from_thrift(&elements, &Limits::default()).unwrap();
        assert_eq!(schema.to_thrift(), elements);
        for (leaf, (_, logical)) in schema.columns().iter().zip(&meanings) {
            assert_eq!(leaf.logical(), logical.as_ref());
        }
    }

    #[test]
    fn local_times_have_the_older_annotation_too() {
        let mut element = column("t", PhysicalType::Int64);
        annotate(&mut element, &LogicalType::Timestamp { utc: false, unit: TimeUnit::Millis });
        assert_eq!(element.converted_type, Some(ConvertedType::TIMESTAMP_MILLIS));
    }
}
