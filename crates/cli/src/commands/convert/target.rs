//! The target of `convert`: its format, and the schema that it supports.

use crate::args::Target;
use crate::convert::{with_filled_names, with_unique_names};
use crate::failure::Failure;
use crate::geo_labels::{labelled, labelled_by_files};
use crate::inputs::Input;
use arrow_schema::SchemaRef;
use std::path::{Path, PathBuf};

/// The format by the extension of the output.
pub(super) fn by_extension(output: &Path) -> Result<Target, Failure> {
    let extension = output.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("parquet" | "parq" | "pq") => Ok(Target::Parquet),
        Some("arrow" | "arrows" | "feather" | "ipc") => Ok(Target::Arrow),
        Some("csv") => Ok(Target::Csv),
        Some("jsonl" | "ndjson") => Ok(Target::Jsonl),
        Some("geojson") => Ok(Target::Geojson),
        _ => Err(Failure::usage_of(
            output,
            "which format? End the name in .parquet, .arrow, .csv, .jsonl or .geojson, or say --to",
        )),
    }
}

/// The schema with geometries where only GeoParquet's metadata declares bytes to be some: as text they look different.
pub(super) fn shown_geometries(schema: &SchemaRef, input: &Input, target: Target) -> SchemaRef {
    let is_text = matches!(target, Target::Csv | Target::Jsonl);
    if !is_text {
        return schema.clone();
    }
    match &input.parquet {
        Some(file) => labelled(schema, file.metadata()).unwrap_or_else(|| schema.clone()),
        None => labelled_by_files(schema.clone(), input.files.iter().map(PathBuf::as_path)),
    }
}

/// The schema with names that the output supports.
pub(super) fn named(schema: SchemaRef, target: Target) -> SchemaRef {
    match target {
        // Names are kept where possible, even empty and repeated ones.
        Target::Parquet => schema,
        // Several of Arrow's readers look up columns by name.
        Target::Arrow => with_filled_names(schema),
        Target::Csv | Target::Jsonl | Target::Geojson => with_unique_names(schema),
    }
}
