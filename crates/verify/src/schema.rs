//! Checks the schema: its tree, names and annotations.

use crate::context::VerifyContext;
use crate::display::display_name;
use crate::findings::Findings;
use crate::rule::{Level, Rule, Severity, rule};
use marquetry_base::{Error, ErrorLocation};
use marquetry_core::logical_type::LogicalType;
use marquetry_core::schema::{Node, NodeKind};
use marquetry_encoding::PhysicalType;
use marquetry_format::{ConvertedType, LogicalType as ThriftType, SchemaElement, Type};
use std::collections::HashSet;

const TREE: Rule = rule(
    "schema-tree",
    Severity::Corrupt,
    Level::Quick,
    "The schema is a tree whose leaves have known types and lengths",
    "parquet.thrift, SchemaElement",
);
const REPETITION: Rule = rule(
    "schema-repetition",
    Severity::Suspicious,
    Level::Quick,
    "Every field says how often it occurs",
    "parquet.thrift, SchemaElement.repetition_type",
);
const ANNOTATION: Rule = rule(
    "schema-annotation",
    Severity::Invalid,
    Level::Quick,
    "Annotations fit what they annotate",
    "LogicalTypes.md",
);
const DISAGREE: Rule = rule(
    "schema-annotations-agree",
    Severity::Invalid,
    Level::Quick,
    "LogicalType and ConvertedType of a field mean the same",
    "LogicalTypes.md, Compatibility",
);
const DECIMAL: Rule = rule(
    "schema-decimal",
    Severity::Invalid,
    Level::Quick,
    "A decimal's precision fits its type, and its scale is neither negative nor larger",
    "LogicalTypes.md, DECIMAL",
);
const LENGTH: Rule = rule(
    "schema-length",
    Severity::Invalid,
    Level::Quick,
    "Values of a FIXED_LEN_BYTE_ARRAY have at least one byte",
    "parquet.thrift, SchemaElement.type_length",
);
const NAMES: Rule = rule(
    "schema-names",
    Severity::Suspicious,
    Level::Quick,
    "Fields of a group have different names",
    "parquet.thrift, SchemaElement.name, ColumnMetaData.path_in_schema",
);

pub(crate) const RULES: &[Rule] = &[TREE, REPETITION, ANNOTATION, DISAGREE, DECIMAL, LENGTH, NAMES];

/// Reports a schema that cannot be read.
pub(crate) fn unreadable(error: Error, place: ErrorLocation, findings: &mut Findings) {
    // An unknown type or repetition may belong to a later version. Nothing else can be checked then, either.
    let mut place = place;
    place.column = error.place().column.clone();
    place.offset = error.place().offset.or(place.offset);
    findings.add(&TREE, place, || error.message().to_owned());
}

/// Checks single elements of the schema as the footer has them.
pub(crate) fn check_elements(elements: &[SchemaElement], findings: &mut Findings) {
    for element in elements.iter().skip(1) {
        let place = || ErrorLocation::default().with_column(element.name.shared().clone());
        if element.repetition_type.is_none() {
            findings.add(&REPETITION, place(), || "neither required, optional nor repeated".to_owned());
        }
        if element.type_ == Some(Type::FIXED_LEN_BYTE_ARRAY) && element.type_length == Some(0) {
            findings.add(&LENGTH, place(), || {
                "values of 0 bytes, for which most readers refuse the file".to_owned()
            });
        }
        let is_leaf = element.type_.is_some() && element.num_children.unwrap_or(0) == 0;
        let physical = physical(element);
        // Nothing is known about unknown types.
        if is_leaf && physical.is_none() {
            continue;
        }
        let of_logical = element.logical_type.as_ref().filter(|logical| is_known(logical));
        let of_converted = element.converted_type.filter(|converted| converted.name().is_some());
        let newer = single_annotation(element, of_logical, None, physical);
        let older = single_annotation(element, None, of_converted, physical);
        if of_logical.is_some() && newer.is_none() || of_converted.is_some() && older.is_none() {
            findings.add(&ANNOTATION, place(), || {
                let what = physical.map_or("a group".to_owned(), |physical| physical.to_string());
                let logical = of_logical.map(|logical| format!("{logical:?}"));
                let converted = of_converted.map(|converted| converted.to_string());
                let both: Vec<_> = logical.into_iter().chain(converted).collect();
                format!("{} on {what}", both.join(" and "))
            });
        }
        if let (Some(newer), Some(older)) = (&newer, &older)
            && !newer.agrees_with_older(older)
        {
            findings.add(&DISAGREE, place(), || format!("{newer:?} and {older:?}"));
        }
        if let (Some(LogicalType::Decimal { precision, scale }), Some(physical)) = (newer.or(older), physical)
        {
            let most = max_precision(physical);
            if precision > most {
                findings.add(&DECIMAL, place(), || {
                    format!("precision {precision} on {physical}, which holds {most} digits")
                });
            } else if !u32::try_from(scale).is_ok_and(|scale| scale <= precision) {
                findings.add(&DECIMAL, place(), || format!("scale {scale} with precision {precision}"));
            }
        }
    }
}

/// Checks the tree.
pub(crate) fn check(file: &VerifyContext, findings: &mut Findings) {
    let mut path = Vec::new();
    check_names(file.metadata.schema().fields(), &mut path, findings);
}

fn check_names<'a>(fields: &'a [Node], path: &mut Vec<&'a str>, findings: &mut Findings) {
    let mut names = HashSet::new();
    for field in fields {
        if !names.insert(field.name()) {
            let place = ErrorLocation::default().with_column(path.join("."));
            findings.add(&NAMES, place, || format!("two fields are called {}", display_name(field.name())));
        }
        if let NodeKind::Group(fields) = field.kind() {
            path.push(field.name());
            check_names(fields, path, findings);
            path.pop();
        }
    }
}

/// Returns the meaning of an element by one of its annotations alone, or `None` if that one does not fit its type.
fn single_annotation(
    element: &SchemaElement,
    logical: Option<&ThriftType>,
    converted: Option<ConvertedType>,
    physical: Option<PhysicalType>,
) -> Option<LogicalType> {
    let element = SchemaElement {
        logical_type: logical.cloned(),
        converted_type: converted,
        scale: element.scale,
        precision: element.precision,
        ..SchemaElement::default()
    };
    LogicalType::from_thrift(&element, physical)
}

fn is_known(logical: &ThriftType) -> bool {
    match logical {
        ThriftType::Unknown(_) => false,
        ThriftType::Time { unit, .. } | ThriftType::Timestamp { unit, .. } => {
            !matches!(unit, marquetry_format::TimeUnit::Unknown(_))
        }
        _ => true,
    }
}

fn physical(element: &SchemaElement) -> Option<PhysicalType> {
    let length = || usize::try_from(element.type_length?).ok();
    Some(match element.type_? {
        Type::BOOLEAN => PhysicalType::Boolean,
        Type::INT32 => PhysicalType::Int32,
        Type::INT64 => PhysicalType::Int64,
        Type::INT96 => PhysicalType::Int96,
        Type::FLOAT => PhysicalType::Float,
        Type::DOUBLE => PhysicalType::Double,
        Type::BYTE_ARRAY => PhysicalType::ByteArray,
        Type::FIXED_LEN_BYTE_ARRAY => PhysicalType::FixedLenByteArray(length()?),
        _ => return None,
    })
}

/// Returns the maximum decimal precision of a type. SPEC: floor(log10(2^(8n - 1) - 1)) for n bytes.
fn max_precision(physical: PhysicalType) -> u32 {
    match physical {
        PhysicalType::Int32 => 9,
        PhysicalType::Int64 => 18,
        PhysicalType::FixedLenByteArray(bytes) => {
            let bits = (8 * bytes as u64).saturating_sub(1).min(1 << 20);
            (bits as f64 * std::f64::consts::LOG10_2) as u32
        }
        _ => u32::MAX,
    }
}
