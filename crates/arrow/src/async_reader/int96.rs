//! Finds units that hold the INT96 timestamps of an asynchronous source, one for each column.

use super::range_fetcher::RangeFetcher;
use super::source::AsyncSource;
use crate::arrow_reader::{
    ArrowReaderMetadata, Int96Unit, Int96Units, ParquetRecordBatchReaderBuilder, ProjectionMask,
};
use arrow_schema::TimeUnit;
use marquetry_base::Result;
use marquetry_core::fetch::{CoalesceOptions, bytes, chunk_ranges};
use marquetry_core::source::Source;
use marquetry_encoding::PhysicalType;
use std::sync::Arc;

/// Returns the INT96 columns among `leaves`.
pub(super) fn int96_of(metadata: &ArrowReaderMetadata, leaves: &[usize]) -> Vec<usize> {
    let columns = metadata.parquet_schema().columns();
    leaves.iter().copied().filter(|&leaf| columns[leaf].physical() == PhysicalType::Int96).collect()
}

/// Returns the units for [`Int96Unit::Auto`]: the finest unit of each chosen INT96 column that holds its values.
/// Fetches the columns, about `at_once` bytes at a time. If the options request another unit, returns the units that
/// they set.
pub(crate) async fn fitting(
    source: &dyn AsyncSource,
    metadata: &ArrowReaderMetadata,
    row_groups: &[usize],
    projection: &ProjectionMask,
    at_once: u64,
) -> Result<Int96Units> {
    let all: Vec<usize> = (0..metadata.parquet_schema().num_columns()).collect();
    let mut leaves = int96_of(metadata, &all);
    leaves.retain(|&leaf| projection.leaf_included(leaf));
    if metadata.options.int96 != Int96Unit::Auto || leaves.is_empty() {
        return Ok(metadata.options.types.int96_units.clone());
    }
    let version = metadata.version_of(source).await?;
    let memory = metadata.options.limits.memory.clone();
    let (cost, counters) = (CoalesceOptions::OBJECT_STORE, Arc::default());
    let remote = RangeFetcher { source, version: &version, cost, memory, counters };
    let (mut units, mut left) = (Int96Units::default(), row_groups);
    let columns = metadata.parquet_schema().columns();
    // No unit is coarser than seconds.
    while !left.is_empty()
        && leaves.iter().any(|&leaf| units.unit_of(&columns[leaf]) != Some(TimeUnit::Second))
    {
        let mut room = at_once;
        let fits = |row_group: &&usize| {
            let size = bytes(&chunk_ranges(metadata.metadata(), **row_group, &leaves));
            let fits = size <= room;
            room = room.saturating_sub(size);
            fits
        };
        let (now, later) = left.split_at(left.iter().take_while(fits).count().max(1));
        let buffered = Arc::new(metadata.known_bytes(&version));
        let fit = || {
            let source: Arc<dyn Source> = buffered.clone();
            ParquetRecordBatchReaderBuilder::new_with_metadata(source, metadata.clone())
                .with_projection(projection.clone())
                .with_row_groups(now.to_vec())
                .fitting_int96()
        };
        units = units.coarser(&remote.run(&buffered, fit).await?);
        left = later;
    }
    Ok(units)
}
