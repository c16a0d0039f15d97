//! Key-value metadata of a broken file that are taken over, and those that are not what they should be: readers would refuse the new
//! file for them.

use crate::arrow_schema::{ARROW_SCHEMA_KEY, MILLISECOND, SECOND, field_units};
use crate::report::{Confidence, Report};
use crate::sound_schema::Doubt;
use marquetry_format::{KeyValue, LogicalType, SchemaElement, TimeUnit};

/// The pairs that are sound, for a file of this schema. The report tells of the others.
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

/// What an Arrow schema says of time that the schema does not.
pub(crate) fn doubt(pairs: &[KeyValue], schema: &[SchemaElement]) -> Option<Doubt> {
    let stored = pairs.iter().find(|pair| &*pair.key == ARROW_SCHEMA_KEY)?;
    let why = damage(stored, schema).filter(|why| *why == FINER_UNITS)?;
    Some(Doubt::new("times are counted in the units of the schema".to_owned(), why))
}

/// Why a pair is not sound.
fn damage(KeyValue { key, value }: &KeyValue, schema: &[SchemaElement]) -> Option<&'static str> {
    if !key.is_utf8() || value.as_ref().is_some_and(|value| !value.is_utf8()) {
        return Some(NOT_TEXT);
    }
    if &**key == ARROW_SCHEMA_KEY {
        let Some(units) = field_units(value.as_deref().unwrap_or_default()) else {
            return Some(NO_ARROW_SCHEMA);
        };
        let fields = schema.first().and_then(|root| usize::try_from(root.num_children?).ok());
        return match Some(units.len()) == fields {
            true => has_finer_units(&units, schema).then_some(FINER_UNITS),
            false => Some(OTHER_FIELDS),
        };
    }
    let is_json = JSON_KEYS.contains(&&**key);
    let is_damaged =
        || serde_json::from_str::<serde_json::Value>(value.as_deref().unwrap_or_default()).is_err();
    (is_json && is_damaged()).then_some(NO_JSON)
}

/// Whether a column counts time in a finer unit than the Arrow schema has for it. Writers make units coarser, but for seconds.
fn has_finer_units(units: &[Option<i16>], schema: &[SchemaElement]) -> bool {
    let (mut at, mut is_finer) = (1, false);
    for unit in units {
        let Some(element) = schema.get(at) else { return is_finer };
        if let (Some(ours), Some(unit)) = (unit_of(element), unit) {
            is_finer |= ours > *unit && !(*unit == SECOND && ours == MILLISECOND);
        }
        at = behind(schema, at);
    }
    is_finer
}

/// The element behind one and all below it.
fn behind(schema: &[SchemaElement], mut at: usize) -> usize {
    let mut left = 1i64;
    while let Some(element) = schema.get(at).filter(|_| left > 0) {
        left += i64::from(element.num_children.unwrap_or(0)) - 1;
        at += 1;
    }
    at
}

/// The unit of a column of times or timestamps, as Arrow numbers them.
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

/// Keys of texts that are JSON.
const JSON_KEYS: [&str; 5] =
    ["pandas", "geo", "parquet.avro.schema", "iceberg.schema", "org.apache.spark.sql.parquet.row.metadata"];
const NOT_TEXT: &str = "they are not text in UTF-8: the footer may be damaged";
const NO_ARROW_SCHEMA: &str =
    "they are no schema of Arrow in base64, or a damaged one: the footer may be damaged";
const OTHER_FIELDS: &str =
    "the schema of Arrow has not a field for each of the file's: one of them may be damaged";
const FINER_UNITS: &str =
    "by the schema of Arrow a time is counted in a coarser unit than in the file: one of them may be damaged";
const NO_JSON: &str = "they are no JSON: the footer may be damaged";
