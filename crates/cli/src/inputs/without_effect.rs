//! Options about text that have no effect on the input's format: they are errors, as the user expects another input.

use super::kind::Kind;
use crate::args::{Decimals, InferRows, InputArgs, Mixed, Ragged, UnknownKeys};
use crate::failure::Failure;
use std::path::Path;

/// Fails if an option is given that has no effect on input of this kind, and names it.
pub(super) fn refuse(args: &InputArgs, path: &Path, kind: Kind) -> Result<(), Failure> {
    let is_csv = matches!(kind, Kind::Csv | Kind::Tsv);
    let is_json = matches!(kind, Kind::Jsonl | Kind::Geojson);
    let found = (!is_csv).then(|| only_for_csv(args)).flatten();
    let found = found.or_else(|| (!is_json).then(|| only_for_json(args)).flatten());
    let found = found.or_else(|| (!is_csv && !is_json).then(|| only_for_text(args)).flatten());
    match found {
        Some(options) => Err(Failure::usage_of(path, format!("{options}; the input is {}", name(kind)))),
        None => Ok(()),
    }
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Parquet => "Parquet",
        Kind::Csv | Kind::Tsv => "CSV",
        Kind::Jsonl => "JSON Lines",
        Kind::Geojson => "GeoJSON",
        Kind::Arrow => "Arrow IPC",
    }
}

fn only_for_csv(args: &InputArgs) -> Option<&'static str> {
    given([
        (args.no_header, "--no-header is for CSV"),
        (args.delimiter.is_some(), "--delimiter is for reading CSV"),
        (args.comment.is_some(), "--comment is for CSV"),
        (args.skip_lines > 0, "--skip-lines is for CSV"),
        (args.ragged != Ragged::default(), "--ragged is for CSV"),
        (args.quote.is_some(), "--quote is for reading CSV"),
        (args.escape.is_some(), "--escape is for reading CSV"),
        (args.null_values.is_some(), "--null-values is for reading CSV"),
    ])
}

fn only_for_json(args: &InputArgs) -> Option<&'static str> {
    given([
        (args.mixed != Mixed::default(), "--mixed is for JSON"),
        (args.unknown_keys != UnknownKeys::default(), "--unknown-keys is for JSON"),
    ])
}

fn only_for_text(args: &InputArgs) -> Option<&'static str> {
    given([
        (args.schema.is_some(), "--schema is for reading text; --change-type gives columns other types"),
        (args.infer_rows != InferRows::default(), "--infer-rows is for reading text"),
        (args.decimals != Decimals::default(), "--decimals is for reading text"),
        (args.text_encoding.is_some(), "--text-encoding is for reading text"),
    ])
}

/// The text of the first given option.
fn given<const N: usize>(options: [(bool, &'static str); N]) -> Option<&'static str> {
    options.into_iter().find(|(is_given, _)| *is_given).map(|(_, said)| said)
}
