//! The schema as the footer has it: a list of its nodes, depth first.
//!
//! Spec: LogicalTypes.md, "Compatibility": what a node means is written twice, as `LogicalType` and, where there is one,
//! as the older `ConvertedType`.

use super::{Node, NodeKind, Repetition, Schema};
use crate::logical::{Logical, TimeUnit};
use marquetry_encoding::Physical;
use marquetry_format::{
    ConvertedType, LogicalType, Repetition as ThriftRepetition, SchemaElement, TimeUnit as ThriftTimeUnit,
    Type,
};
use std::sync::Arc;

impl Schema {
    /// The footer's list, whose first element is the root. [`from_thrift`](Schema::from_thrift) makes the same schema of
    /// it. Annotations that are unknown were dropped when the schema was read, and are not here.
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

/// The element of a required group of `children` fields, which are to follow it.
pub fn group(name: impl Into<Arc<str>>, children: usize) -> SchemaElement {
    SchemaElement {
        name: name.into(),
        repetition_type: Some(ThriftRepetition::REQUIRED),
        // More than an i32 can count is more than any limit on nodes lets a schema have.
        num_children: Some(i32::try_from(children).unwrap_or(i32::MAX)),
        ..SchemaElement::default()
    }
}

/// The element of a required column.
pub fn column(name: impl Into<Arc<str>>, physical: Physical) -> SchemaElement {
    let length = match physical {
        Physical::FixedLenByteArray(width) => i32::try_from(width).ok(),
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

/// The physical type as a footer names it, without the length.
pub fn physical_type(physical: Physical) -> Type {
    match physical {
        Physical::Boolean => Type::BOOLEAN,
        Physical::Int32 => Type::INT32,
        Physical::Int64 => Type::INT64,
        Physical::Int96 => Type::INT96,
        Physical::Float => Type::FLOAT,
        Physical::Double => Type::DOUBLE,
        Physical::ByteArray => Type::BYTE_ARRAY,
        Physical::FixedLenByteArray(_) => Type::FIXED_LEN_BYTE_ARRAY,
    }
}

/// Says, in both ways, what `element` means.
pub fn annotate(element: &mut SchemaElement, logical: &Logical) {
    element.logical_type = logical_type(logical);
    element.converted_type = converted_type(logical);
    if let Logical::Decimal { precision, scale } = logical {
        element.precision = i32::try_from(*precision).ok();
        element.scale = Some(*scale);
    }
}

fn logical_type(logical: &Logical) -> Option<LogicalType> {
    Some(match logical {
        Logical::String => LogicalType::String,
        Logical::Enum => LogicalType::Enum,
        Logical::Json => LogicalType::Json,
        Logical::Bson => LogicalType::Bson,
        Logical::Uuid => LogicalType::Uuid,
        Logical::Decimal { precision, scale } => {
            LogicalType::Decimal { precision: i32::try_from(*precision).ok()?, scale: *scale }
        }
        Logical::Date => LogicalType::Date,
        Logical::Time { utc, unit } => {
            LogicalType::Time { is_adjusted_to_utc: *utc, unit: thrift_unit(*unit) }
        }
        Logical::Timestamp { utc, unit } => {
            LogicalType::Timestamp { is_adjusted_to_utc: *utc, unit: thrift_unit(*unit) }
        }
        Logical::Integer { bits, signed } => {
            LogicalType::Integer { bit_width: i8::try_from(*bits).ok()?, is_signed: *signed }
        }
        // SPEC: neither has a newer annotation.
        Logical::Interval | Logical::MapKeyValue => return None,
        Logical::Float16 => LogicalType::Float16,
        Logical::Null => LogicalType::Null,
        Logical::List => LogicalType::List,
        Logical::Map => LogicalType::Map,
        Logical::Variant { version } => LogicalType::Variant { specification_version: *version },
        Logical::Geometry { crs } => LogicalType::Geometry { crs: crs.clone() },
        Logical::Geography { crs, algorithm } => {
            LogicalType::Geography { crs: crs.clone(), algorithm: *algorithm }
        }
        Logical::File => LogicalType::File,
    })
}

fn thrift_unit(unit: TimeUnit) -> ThriftTimeUnit {
    match unit {
        TimeUnit::Millis => ThriftTimeUnit::Millis,
        TimeUnit::Micros => ThriftTimeUnit::Micros,
        TimeUnit::Nanos => ThriftTimeUnit::Nanos,
    }
}

/// SPEC: local times have the older annotation as well, although that one means UTC.
fn converted_type(logical: &Logical) -> Option<ConvertedType> {
    Some(match logical {
        Logical::String => ConvertedType::UTF8,
        Logical::Enum => ConvertedType::ENUM,
        Logical::Json => ConvertedType::JSON,
        Logical::Bson => ConvertedType::BSON,
        Logical::Decimal { .. } => ConvertedType::DECIMAL,
        Logical::Date => ConvertedType::DATE,
        Logical::Time { unit: TimeUnit::Millis, .. } => ConvertedType::TIME_MILLIS,
        Logical::Time { unit: TimeUnit::Micros, .. } => ConvertedType::TIME_MICROS,
        Logical::Timestamp { unit: TimeUnit::Millis, .. } => ConvertedType::TIMESTAMP_MILLIS,
        Logical::Timestamp { unit: TimeUnit::Micros, .. } => ConvertedType::TIMESTAMP_MICROS,
        Logical::Integer { bits: 8, signed: true } => ConvertedType::INT_8,
        Logical::Integer { bits: 16, signed: true } => ConvertedType::INT_16,
        Logical::Integer { bits: 32, signed: true } => ConvertedType::INT_32,
        Logical::Integer { bits: 64, signed: true } => ConvertedType::INT_64,
        Logical::Integer { bits: 8, signed: false } => ConvertedType::UINT_8,
        Logical::Integer { bits: 16, signed: false } => ConvertedType::UINT_16,
        Logical::Integer { bits: 32, signed: false } => ConvertedType::UINT_32,
        Logical::Integer { bits: 64, signed: false } => ConvertedType::UINT_64,
        Logical::Interval => ConvertedType::INTERVAL,
        Logical::List => ConvertedType::LIST,
        Logical::Map => ConvertedType::MAP,
        Logical::MapKeyValue => ConvertedType::MAP_KEY_VALUE,
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
            (Physical::ByteArray, Some(Logical::String)),
            (Physical::FixedLenByteArray(16), Some(Logical::Uuid)),
            (Physical::FixedLenByteArray(12), Some(Logical::Interval)),
            (Physical::Int32, Some(Logical::Decimal { precision: 9, scale: 2 })),
            (Physical::Int64, Some(Logical::Timestamp { utc: false, unit: TimeUnit::Micros })),
            (Physical::Int64, Some(Logical::Time { utc: false, unit: TimeUnit::Nanos })),
            (Physical::Int32, Some(Logical::Integer { bits: 8, signed: false })),
            (Physical::Int32, Some(Logical::Null)),
            (Physical::Int96, None),
            (Physical::ByteArray, Some(Logical::Geometry { crs: Some("EPSG:3857".to_owned()) })),
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
        annotate(&mut list, &Logical::List);
        let repeated =
            SchemaElement { repetition_type: Some(ThriftRepetition::REPEATED), ..group("list", 1) };
        elements.extend([list, repeated, column("element", Physical::Boolean)]);
        let schema = Schema::from_thrift(&elements, &Limits::default()).unwrap();
        assert_eq!(schema.to_thrift(), elements);
        for (leaf, (_, logical)) in schema.columns().iter().zip(&meanings) {
            assert_eq!(leaf.logical(), logical.as_ref());
        }
    }

    #[test]
    fn local_times_have_the_older_annotation_too() {
        let mut element = column("t", Physical::Int64);
        annotate(&mut element, &Logical::Timestamp { utc: false, unit: TimeUnit::Millis });
        assert_eq!(element.converted_type, Some(ConvertedType::TIMESTAMP_MILLIS));
    }
}
