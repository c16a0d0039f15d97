//! The target of `convert`: its format, and the schema that it can have.

use crate::args::Target;
use crate::convert::{with_filled_names, with_unique_names};
use crate::failure::Failure;
use crate::geo_labels::{labelled, labelled_by_files};
use crate::inputs::Input;
use arrow_schema::SchemaRef;
use std::path::{Path, PathBuf};

/// The format that the name of the output stands for.
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

/// The schema with geometries where only the metadata of GeoParquet says so of bytes: they have a form as text.
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

/// The schema with the names that the output can have.
pub(super) fn named(schema: SchemaRef, target: Target) -> SchemaRef {
    match target {
        // Names are kept where they can be, the empty ones and those that come twice, too.
        Target::Parquet => schema,
        // Several of Arrow's readers ask for columns by name.
        Target::Arrow => with_filled_names(schema),
        Target::Csv | Target::Jsonl | Target::Geojson => with_unique_names(schema),
    }
}
