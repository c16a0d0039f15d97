//! Key-value metadata of a broken file that are taken over, and those that are not what they should be: readers would refuse the new
//! file for them.

use crate::arrow_schema::{ARROW_SCHEMA_KEY, field_names};
use crate::report::{Confidence, Report};
use marquetry_format::{KeyValue, SchemaElement};

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

/// Why a pair is not sound.
fn damage(KeyValue { key, value }: &KeyValue, schema: &[SchemaElement]) -> Option<&'static str> {
    if !key.is_utf8() || value.as_ref().is_some_and(|value| !value.is_utf8()) {
        return Some(NOT_TEXT);
    }
    if &**key == ARROW_SCHEMA_KEY {
        let Some(names) = field_names(value.as_deref().unwrap_or_default()) else {
            return Some(NO_ARROW_SCHEMA);
        };
        let fields = schema.first().and_then(|root| usize::try_from(root.num_children?).ok());
        return (Some(names.len()) != fields).then_some(OTHER_FIELDS);
    }
    let is_json = JSON_KEYS.contains(&&**key);
    let is_damaged =
        || serde_json::from_str::<serde_json::Value>(value.as_deref().unwrap_or_default()).is_err();
    (is_json && is_damaged()).then_some(NO_JSON)
}

/// Keys of texts that are JSON.
const JSON_KEYS: [&str; 5] =
    ["pandas", "geo", "parquet.avro.schema", "iceberg.schema", "org.apache.spark.sql.parquet.row.metadata"];
const NOT_TEXT: &str = "they are not text in UTF-8: the footer may be damaged";
const NO_ARROW_SCHEMA: &str =
    "they are no schema of Arrow in base64, or a damaged one: the footer may be damaged";
const OTHER_FIELDS: &str =
    "the schema of Arrow has not a field for each of the file's: one of them may be damaged";
const NO_JSON: &str = "they are no JSON: the footer may be damaged";
