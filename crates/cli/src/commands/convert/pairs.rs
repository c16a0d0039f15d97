//! The key-value metadata of the input that goes into a Parquet file.

use crate::failure::Failure;
use crate::inputs::Input;
use crate::remote;
use marquetry_core::write::KeyValue;
use marquetry_geo::{GeoParquet, geoparquet};
use std::path::PathBuf;

/// The pairs of the file, of the first of several files, or of an Arrow schema. GeoParquet's metadata covers all rows.
pub(super) fn source_pairs(input: &Input) -> Result<Vec<KeyValue>, Failure> {
    if let Some(file) = &input.parquet {
        return Ok(file.metadata().key_value_metadata().to_vec());
    }
    if let Some(first) = input.files.first() {
        let mut pairs = match remote::open(first) {
            Ok(file) => file.metadata().key_value_metadata().to_vec(),
            // It may be left out of a table whose other files are read.
            Err(_) => Vec::new(),
        };
        pairs.retain(|pair| pair.key != geoparquet::KEY);
        pairs.extend(geo_of_files(&input.files)?);
        return Ok(pairs);
    }
    let pairs = input.schema.metadata().iter().filter(|(key, _)| *key != geoparquet::KEY);
    let mut pairs: Vec<KeyValue> =
        pairs.map(|(key, value)| KeyValue::new(key.clone(), value.clone())).collect();
    pairs.sort_by(|one, other| one.key.cmp(&other.key));
    Ok(pairs)
}

/// The merged GeoParquet metadata of several files, if the first one has some.
fn geo_of_files(files: &[PathBuf]) -> Result<Vec<KeyValue>, Failure> {
    let of_file = |path: &PathBuf| {
        let file = remote::open(path).ok()?;
        GeoParquet::parse(&file.metadata().value_of(geoparquet::KEY)?).ok()
    };
    let Some((first, others)) = files.split_first() else { return Ok(Vec::new()) };
    let mut all = vec![of_file(first)];
    if all[0].is_some() {
        all.extend(others.iter().map(of_file));
    }
    let pair = |geo: GeoParquet| KeyValue { key: geoparquet::KEY.into(), value: Some(geo.to_json().into()) };
    Ok(GeoParquet::merged(&all)?.map(pair).into_iter().collect())
}
