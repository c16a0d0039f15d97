//! The schema: a tree, and annotations that fit the types.

use super::context::VerifyContext;
use super::display::display_name;
use super::findings::Findings;
use super::rule::{Level, Rule, Severity, rule};
use crate::logical_type::LogicalType;
use crate::schema::{Node, NodeKind};
use marquetry_base::{Error, ErrorLocation};
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
const NAMES: Rule = rule(
    "schema-names",
    Severity::Suspicious,
    Level::Quick,
    "Fields of a group have different names",
    "parquet.thrift, SchemaElement.name, ColumnMetaData.path_in_schema",
);

pub(super) const RULES: &[Rule] = &[TREE, REPETITION, ANNOTATION, DISAGREE, DECIMAL, NAMES];

/// The error for a schema that cannot be read.
pub(super) fn unreadable(error: Error, place: ErrorLocation, findings: &mut Findings<'_>) {
    // An unknown type or repetition may be one of a later version: nothing else can be told of the file then, either.
    let place = ErrorLocation {
        column: error.place().column.clone(),
        offset: error.place().offset.or(place.offset),
        ..place
    };
    findings.add(&TREE, place, || error.message().to_owned());
}

/// What single elements say, as they are in the footer.
pub(super) fn check_elements(elements: &[SchemaElement], findings: &mut Findings<'_>) {
    for element in elements.iter().skip(1) {
        let place = || ErrorLocation { column: Some(element.name.clone()), ..ErrorLocation::default() };
        if element.repetition_type.is_none() {
            findings.add(&REPETITION, place(), || "neither required, optional nor repeated".to_owned());
        }
        let is_leaf = element.type_.is_some() && element.num_children.unwrap_or(0) == 0;
        let physical = physical(element);
        // Of types that are not known nothing is known.
        if is_leaf && physical.is_none() {
            continue;
        }
        let of_logical = element.logical_type.as_ref().filter(|logical| is_known(logical));
        let of_converted = element.converted_type.filter(|converted| converted.name().is_some());
        let newer = alone(element, of_logical, None, physical);
        let older = alone(element, None, of_converted, physical);
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
            && !agree(newer, older)
        {
            findings.add(&DISAGREE, place(), || format!("{newer:?} and {older:?}"));
        }
        if let (Some(LogicalType::Decimal { precision, scale }), Some(physical)) = (newer.or(older), physical)
        {
            let most = most_digits(physical);
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

/// What follows from the tree.
pub(super) fn check(file: &VerifyContext, findings: &mut Findings<'_>) {
    let mut path = Vec::new();
    check_names(file.metadata.schema().fields(), &mut path, findings);
}

fn check_names<'a>(fields: &'a [Node], path: &mut Vec<&'a str>, findings: &mut Findings<'_>) {
    let mut names = HashSet::new();
    for field in fields {
        if !names.insert(field.name()) {
            let place = ErrorLocation { column: Some(path.join(".").into()), ..ErrorLocation::default() };
            findings.add(&NAMES, place, || format!("two fields are called {}", display_name(field.name())));
        }
        if let NodeKind::Group(fields) = field.kind() {
            path.push(field.name());
            check_names(fields, path, findings);
            path.pop();
        }
    }
}

/// What one annotation alone means here; `None` if it does not fit.
fn alone(
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

/// Whether both annotations mean the same, as far as the older one can say it.
fn agree(newer: &LogicalType, older: &LogicalType) -> bool {
    match (newer, older) {
        // SPEC: the older types mean UTC, and are written for local times too: "isAdjustedToUTC = false" has no older
        // type of its own.
        (LogicalType::Time { unit, .. }, LogicalType::Time { unit: other, .. })
        | (LogicalType::Timestamp { unit, .. }, LogicalType::Timestamp { unit: other, .. }) => unit == other,
        (LogicalType::Map, LogicalType::MapKeyValue) => true,
        // QUIRK: parquet-mr 1.10 annotates INTERVAL as UNKNOWN.
        (LogicalType::Null, _) => true,
        _ => newer == older,
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

/// How many decimal digits every number of which fits the type. SPEC: floor(log10(2^(8n - 1) - 1)) for n bytes.
fn most_digits(physical: PhysicalType) -> u32 {
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
