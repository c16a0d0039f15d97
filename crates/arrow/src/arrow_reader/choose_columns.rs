//! Projection by name: columns of the file, and paths into VARIANT.

use super::ProjectionMask;
use crate::evolution::{ChosenColumns, PathColumn};
use marquetry_base::Result;
use marquetry_core::metadata::ParquetMetaData;

/// Returns the leaves that [these names](super::ParquetRecordBatchReaderBuilder::with_columns) need: those at and below
/// the columns, and those that hold the values of paths into VARIANT.
///
/// # Errors
///
/// If a column does not exist, or a path does not start at a VARIANT.
///
/// ```
/// # use marquetry_core::io::read_metadata;
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// # let file = bytes::Bytes::from(std::fs::read(path)?);
/// let metadata = read_metadata(&file, &Default::default())?.metadata;
/// let mask = marquetry_arrow::arrow_reader::columns_mask(&metadata, &["year".to_owned()])?;
/// assert_eq!((0..metadata.schema().num_columns()).filter(|leaf| mask.leaf_included(*leaf)).count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn columns_mask(metadata: &ParquetMetaData, names: &[String]) -> Result<ProjectionMask> {
    choose_columns(metadata, names).map(|(mask, _)| mask)
}

/// Returns the columns that these names need, and how to make the result from them if any name is a path into a VARIANT.
///
/// Fails if a column does not exist; the error names similar ones.
pub(crate) fn choose_columns(
    metadata: &ParquetMetaData,
    names: &[String],
) -> Result<(ProjectionMask, Option<ChosenColumns>)> {
    let schema = metadata.schema();
    let paths = names.iter().map(|name| PathColumn::of(metadata, name)).collect::<Result<Vec<_>>>()?;
    let plain = names.iter().zip(&paths).filter(|(_, path)| path.is_none()).map(|(name, _)| name.as_str());
    let mut mask = ProjectionMask::existing_columns(schema, plain)?;
    if paths.iter().all(Option::is_none) {
        return Ok((mask, None));
    }
    let plain = (0..schema.num_columns()).map(|leaf| mask.leaf_included(leaf)).collect();
    let of_paths = paths.iter().flatten().flat_map(|path| path.leaves().iter().copied());
    mask.union(&ProjectionMask::leaves(schema, of_paths));
    Ok((mask, Some(ChosenColumns::new(names, paths, plain))))
}
