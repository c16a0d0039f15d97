//! `meta set` and `meta unset`: key-value metadata, changed in place.

use super::edit::{EditArgs, report, report_unchanged};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::rewrite::{ColumnLog, is_known, report_failure, stored_with};
use arrow_schema::FieldRef;
use clap::{Args as ClapArgs, Subcommand};
use marquetry::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry::arrow::{ARROW_SCHEMA_META_KEY, BINARY_METADATA_PREFIX, parse_stored_schema};
use marquetry::file::metadata::{KeyValue, ParquetMetaData};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, Subcommand)]
pub(crate) enum MetaEdit {
    /// Set key-value metadata of the file
    #[command(after_help = SET_HELP)]
    Set(SetArgs),
    /// Remove key-value metadata of the file
    #[command(after_help = UNSET_HELP)]
    Unset(UnsetArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SetArgs {
    /// The Parquet file
    #[arg(value_name = "FILE", value_parser = crate::remote::local())]
    file: PathBuf,
    /// KEY=VALUE pairs; a key cannot contain =
    #[arg(value_name = "KEY=VALUE", required = true, value_parser = key_value)]
    pairs: Vec<(String, String)>,
    #[command(flatten)]
    how: EditArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct UnsetArgs {
    /// The Parquet file
    #[arg(value_name = "FILE", value_parser = crate::remote::local())]
    file: PathBuf,
    /// The keys to remove; a missing key is reported and is not an error
    #[arg(value_name = "KEY", required = true)]
    keys: Vec<String>,
    #[command(flatten)]
    how: EditArgs,
}

const SET_HELP: &str = "\
An existing key keeps its position and gets the new value. The metadata of the stored Arrow schema, which pyarrow
reads instead, gets it too. FILE is changed in place: only a new footer is written, behind the old one, and nothing if
FILE has all these values already. `marquetry append --help` tells how this is safe, and describes the JSON.

Examples:
  marquetry meta set wines.parquet license=CC-BY-4.0 'source=cellar 3'
  marquetry meta set served.parquet license=CC-BY-4.0 --copy";

const UNSET_HELP: &str = "\
Keys are also removed from the metadata of the stored Arrow schema. FILE is changed in place, as by `marquetry
append`, and not at all if it has none of the keys. The old footer stays in the file, with the values; `marquetry
rewrite` drops it.

Examples:
  marquetry meta unset wines.parquet license";

pub(crate) fn run(edit: &MetaEdit, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let (file, how) = match edit {
        MetaEdit::Set(args) => (&args.file, args.how),
        MetaEdit::Unset(args) => (&args.file, args.how),
    };
    change(file, how, edit, output).or_else(|failure| report_failure(file, failure, outcome))
}

fn change(path: &Path, how: EditArgs, change: &MetaEdit, output: &mut Output) -> Result<(), Failure> {
    let mut edit = how.open(path)?;
    let (before, mut log) = (edit.len(), ColumnLog::new(0));
    let old = stored_schema(edit.metadata(), &mut log);
    let mut stored = old.clone();
    match change {
        MetaEdit::Set(args) => {
            if let Some((_, value)) = args.pairs.iter().rfind(|(key, _)| key == ARROW_SCHEMA_META_KEY) {
                stored = Some(value.clone());
            }
            for (key, value) in &args.pairs {
                change_stored(&mut stored, key, Some(value));
            }
            let has_value = |(key, _): &(String, String)| match key.as_str() {
                ARROW_SCHEMA_META_KEY => is_set(edit.metadata(), key, stored.as_deref()),
                key => is_set(edit.metadata(), key, last_value(&args.pairs, key)),
            };
            if stored == old && args.pairs.iter().all(has_value) {
                args.pairs.iter().for_each(|(key, _)| log.note(&format!("the key {key} has this value")));
                return report_unchanged(path, edit, log, output);
            }
            for (key, value) in &args.pairs {
                edit.set_key_value(KeyValue::new(key.clone(), value.clone()))?;
            }
        }
        MetaEdit::Unset(args) => {
            let mut removes = false;
            for key in &args.keys {
                if key == ARROW_SCHEMA_META_KEY {
                    stored = None;
                }
                let is_removed = edit.remove_key_value(key)?;
                match change_stored(&mut stored, key, None) || is_removed {
                    true => removes = true,
                    false => log.note(&format!("there is no key {key}")),
                }
            }
            if !removes {
                return report_unchanged(path, edit, log, output);
            }
        }
    }
    if let Some(stored) = stored {
        edit.set_key_value(KeyValue::new(ARROW_SCHEMA_META_KEY, stored))?;
    }
    let edited = edit.finish()?;
    report(path, before, &edited, &log, output)
}

/// The stored Arrow schema, if it has metadata, and if writing it again would lose nothing.
fn stored_schema(metadata: &ParquetMetaData, log: &mut ColumnLog) -> Option<String> {
    let stored = metadata.value_of(ARROW_SCHEMA_META_KEY)?;
    let parsed = parse_stored_schema(&stored).filter(|parsed| !parsed.metadata().is_empty())?;
    let options = ArrowReaderOptions::new().with_binary_metadata(true);
    let read = ArrowReaderMetadata::try_new(Arc::new(metadata.clone()), options).ok()?.schema().clone();
    let has_binary = read.metadata().keys().any(|key| key.starts_with(BINARY_METADATA_PREFIX));
    // Unknown types are read as Null, too.
    let is_whole = |(parsed, read): (&FieldRef, &FieldRef)| {
        is_known(parsed.data_type()) || parsed.data_type() == read.data_type()
    };
    let is_whole = parsed.fields().iter().zip(read.fields()).all(is_whole);
    if !is_whole || has_binary {
        log.note(KEEPS_ITS_OWN);
        return None;
    }
    Some(stored.into_owned())
}

/// Sets or removes a key in the metadata of the stored Arrow schema. Returns whether that changes it.
fn change_stored(stored: &mut Option<String>, key: &str, value: Option<&str>) -> bool {
    let changed = stored.as_deref().filter(|_| key != ARROW_SCHEMA_META_KEY);
    let changed = changed.and_then(|stored| stored_with(stored, key, value));
    let is_changed = changed.is_some();
    *stored = changed.or(stored.take());
    is_changed
}

/// Of several pairs with one key, the last one counts.
fn last_value<'a>(pairs: &'a [(String, String)], key: &str) -> Option<&'a str> {
    pairs.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

/// Whether the file has this key exactly once, with this value, so that nothing needs to be done.
fn is_set(metadata: &ParquetMetaData, key: &str, value: Option<&str>) -> bool {
    let mut found = metadata.key_values().filter(|pair| pair.key == key.as_bytes());
    let first = found.next().map(|pair| pair.value);
    first == Some(value.map(str::as_bytes)) && found.next().is_none()
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        // QUIRK: pyarrow and polars would refuse the whole file.
        Some((ARROW_SCHEMA_META_KEY, value)) if parse_stored_schema(value).is_none() => Err(format!(
            "the value of {ARROW_SCHEMA_META_KEY} is not a stored Arrow schema: many readers would refuse the file"
        )),
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("say KEY=VALUE".to_owned()),
    }
}

const KEEPS_ITS_OWN: &str = "the stored Arrow schema keeps its own metadata: it has something that is not known here, and would be lost";
