//! Units for INT96 timestamps that hold for all row groups of a file.

use marquetry_arrow::arrow_reader::{
    ArrowReaderMetadata, Int96Units, ParquetRecordBatchReaderBuilder, ProjectionMask,
};
use marquetry_base::Result;
use marquetry_core::source::Source;
use marquetry_encoding::PhysicalType;
use std::sync::Arc;

/// Finds a unit for each of these leaves that holds its INT96 timestamps in all row groups. Leaves that fit in
/// nanoseconds get none. The file was opened with [`Int96Unit::Auto`](marquetry_arrow::arrow_reader::Int96Unit::Auto),
/// with which readers of different parts may choose different units.
pub(crate) fn fitting_int96(
    source: &Arc<dyn Source>,
    metadata: &ArrowReaderMetadata,
    leaves: impl IntoIterator<Item = usize>,
) -> Result<Int96Units> {
    let schema = metadata.parquet_schema();
    let is_int96 = |leaf: &usize| schema.column(*leaf).physical() == PhysicalType::Int96;
    let leaves: Vec<usize> = leaves.into_iter().filter(is_int96).collect();
    if leaves.is_empty() {
        return Ok(Int96Units::default());
    }
    let mask = ProjectionMask::leaves(schema, leaves);
    let builder = ParquetRecordBatchReaderBuilder::<Arc<dyn Source>>::try_new_with_metadata(
        source.clone(),
        metadata.clone(),
    )?;
    builder.with_projection(mask).fitting_int96()
}
