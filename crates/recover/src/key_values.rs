//! The key-value metadata of a broken file that is taken over, and the damaged pairs for which readers would refuse the
//! new file.

use crate::arrow_schema::{ARROW_SCHEMA_KEY, ArrowField, MILLISECOND, SECOND, read_schema};
use crate::report::{Confidence, Report};
use crate::sound_schema::Doubt;
use crate::time_zone::is_zone;
use marquetry_core::logical_type::LogicalType as Meaning;
use marquetry_encoding::PhysicalType;
use marquetry_format::{KeyValue, LogicalType, SchemaElement, TimeUnit, Type};
use std::iter::successors;

/// Returns the pairs that are sound for a file of this schema. The report lists the others.
pub(crate) fn sound(pairs: Vec<KeyValue>, schema: &[SchemaElement], report: &mut Report) -> Vec<KeyValue> {
    let mut out = Vec::with_capacity(pairs.len());
    for pair in pairs {
        match damage(&pair, schema) {
            None => out.push(pair),
            Some(why) => {
                let what =
                    format!("the key-value metadata {} are left out", pair.key.as_str().escape_debug());
                report.decide(what, why, Confidence::Medium);
            }
        }
    }
    out
}

/// Returns where the Arrow schema and the file's schema differ about times and integers, and time zones that do not
/// exist.
pub(crate) fn doubts(pairs: &[KeyValue], schema: &[SchemaElement]) -> Vec<Doubt> {
    let Some(stored) = pairs.iter().find(|pair| &*pair.key == ARROW_SCHEMA_KEY) else { return Vec::new() };
    let Some(arrow) = stored.value.as_deref().and_then(read_schema) else { return Vec::new() };
    let units = damage(stored, schema).filter(|why| *why == FINER_UNITS);
    let units = units.map(|why| Doubt::new("times are counted in the units of the schema".to_owned(), why));
    let is_of_these = is_of_fields(&arrow.fields, schema);
    let integers = roots(schema).zip(&arrow.fields).filter(|_| is_of_these).filter_map(|(element, field)| {
        let ours = integer_of(element)?;
        let ArrowField::Integer(bits, is_signed) = *field else { return None };
        let shown =
            |(bits, is_signed)| format!("{bits} bits, {}", if is_signed { "signed" } else { "unsigned" });
        let what = format!("{} has integers of {}", element.name.as_str().escape_debug(), shown(ours));
        let why = format!("by the schema of Arrow they are of {}: {ONE_DAMAGED}", shown((bits, is_signed)));
        (ours != (bits, is_signed)).then(|| Doubt::new(what, why))
    });
    let zones = arrow.zones.iter().filter(|zone| !is_zone(zone));
    let zones =
        zones.map(|zone| Doubt::new(format!("the time zone {} is kept", zone.escape_debug()), NO_ZONE));
    units.into_iter().chain(integers).chain(zones).collect()
}

/// Whether there is one field for each root field of the file.
fn is_of_fields(fields: &[ArrowField], schema: &[SchemaElement]) -> bool {
    let count = schema.first().and_then(|root| usize::try_from(root.num_children?).ok());
    Some(fields.len()) == count
}

/// Returns the bits of a column of annotated integers, and whether they are signed.
fn integer_of(element: &SchemaElement) -> Option<(i32, bool)> {
    let physical = match element.type_? {
        Type::INT32 => PhysicalType::Int32,
        Type::INT64 => PhysicalType::Int64,
        _ => return None,
    };
    match Meaning::from_thrift(element, Some(physical))? {
        Meaning::Integer { bits, signed } => Some((i32::from(bits), signed)),
        _ => None,
    }
}

/// Returns why a pair is not sound.
fn damage(KeyValue { key, value }: &KeyValue, schema: &[SchemaElement]) -> Option<&'static str> {
    if !key.is_utf8() || value.as_ref().is_some_and(|value| !value.is_utf8()) {
        return Some(NOT_TEXT);
    }
    if &**key == ARROW_SCHEMA_KEY {
        let Some(arrow) = read_schema(value.as_deref().unwrap_or_default()) else {
            return Some(NO_ARROW_SCHEMA);
        };
        return match is_of_fields(&arrow.fields, schema) {
            true => has_finer_units(&arrow.fields, schema).then_some(FINER_UNITS),
            false => Some(OTHER_FIELDS),
        };
    }
    let is_json = JSON_KEYS.contains(&&**key);
    let is_damaged =
        || serde_json::from_str::<serde_json::Value>(value.as_deref().unwrap_or_default()).is_err();
    (is_json && is_damaged()).then_some(NO_JSON)
}

/// Whether a column has a finer time unit than the Arrow schema. Writers only make units coarser, except for seconds.
fn has_finer_units(fields: &[ArrowField], schema: &[SchemaElement]) -> bool {
    roots(schema).zip(fields).any(|(element, field)| match (unit_of(element), field) {
        (Some(ours), ArrowField::Unit(unit)) => ours > *unit && !(*unit == SECOND && ours == MILLISECOND),
        _ => false,
    })
}

/// Returns the fields of the root.
fn roots(schema: &[SchemaElement]) -> impl Iterator<Item = &SchemaElement> {
    successors(Some(1), |at| Some(behind(schema, *at))).map_while(|at| schema.get(at))
}

/// Returns the position of the element behind this one and all elements below it.
fn behind(schema: &[SchemaElement], mut at: usize) -> usize {
    let mut left = 1i64;
    while let Some(element) = schema.get(at).filter(|_| left > 0) {
        left += i64::from(element.num_children.unwrap_or(0)) - 1;
        at += 1;
    }
    at
}

/// Returns the unit of a column of times or timestamps, as Arrow numbers them.
fn unit_of(element: &SchemaElement) -> Option<i16> {
    match element.logical_type.as_ref()? {
        LogicalType::Time { unit, .. } | LogicalType::Timestamp { unit, .. } => match unit {
            TimeUnit::Millis => Some(MILLISECOND),
            TimeUnit::Micros => Some(MILLISECOND + 1),
            TimeUnit::Nanos => Some(MILLISECOND + 2),
            TimeUnit::Unknown(_) => None,
        },
        _ => None,
    }
}

/// Keys whose values are JSON.
const JSON_KEYS: [&str; 5] =
    ["pandas", "geo", "parquet.avro.schema", "iceberg.schema", "org.apache.spark.sql.parquet.row.metadata"];
const NOT_TEXT: &str = "they are not text in UTF-8: the footer may be damaged";
const NO_ARROW_SCHEMA: &str =
    "they are not a schema of Arrow in base64, or a damaged one: the footer may be damaged";
const OTHER_FIELDS: &str =
    "the schema of Arrow has not a field for each of the file's: one of them may be damaged";
const FINER_UNITS: &str =
    "by the schema of Arrow a time is counted in a coarser unit than in the file: one of them may be damaged";
const ONE_DAMAGED: &str = "one of both may be damaged";
const NO_ZONE: &str =
    "no such zone is known here: the footer may be damaged, and readers that look it up fail";
const NO_JSON: &str = "they are not JSON: the footer may be damaged";
