//! The columns of a filtered read: those that stages need, and those of the batches.

use super::adaptive_filter::FilterStage;
use super::cached_column::CachedColumn;
use super::options::ArrowReaderOptions;
use super::read_target::{page_options, read_target, value_layout};
use super::resolved_schema::{ProjectedField, ResolvedFields};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::metrics::ReadCounters;
use marquetry_core::page::PageBufferPool;
use marquetry_core::read::{ColumnReader, ValueLayout, ValueRepair};
use marquetry_core::source::Source;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Opens readers of the columns that `stages` need, and of the columns of `roots`.
pub(super) fn open_columns(
    source: &Arc<dyn Source>,
    metadata: &Arc<ParquetMetaData>,
    resolved: &ResolvedFields,
    options: &ArrowReaderOptions,
    (stages, roots): (&[FilterStage], &[ProjectedField]),
    counters: &Arc<ReadCounters>,
) -> BTreeMap<usize, CachedColumn> {
    let mut columns = BTreeMap::new();
    // A column of both a stage and the batches counts twice, so a little less is read ahead.
    let of_stages = stages.iter().map(|stage| stage.leaves().len());
    let num_columns = of_stages.chain(roots.iter().map(|root| root.leaves().len())).sum();
    let pool = Arc::new(PageBufferPool::for_columns(num_columns).counted_by(counters.clone()));
    let of_arrays = stages.iter().filter(|stage| !stage.is_typed()).flat_map(|stage| stage.leaves().to_vec());
    let in_arrays: BTreeSet<usize> = of_arrays.chain(roots.iter().flat_map(ProjectedField::leaves)).collect();
    let open = |leaf: usize, for_stage: bool| {
        let (field, arrow) = resolved.of_leaf(leaf)?;
        let column = metadata.schema().column(leaf);
        let layout = match for_stage {
            // Typed predicates need only dictionary indices, whatever layout the batches get.
            true => ValueLayout::Indices,
            false => value_layout(column, field, arrow, leaf, options),
        };
        let mut target = read_target(column, field, arrow, leaf, layout, options);
        // A typed predicate compares bytes; only text that is returned must be valid UTF-8.
        target.is_text &= in_arrays.contains(&leaf) || target.repair != ValueRepair::None;
        let (source, metadata) = (source.clone(), metadata.clone());
        let page_options = page_options(&metadata, options);
        let reader = ColumnReader::new(source, metadata, &[], leaf, target.clone(), page_options);
        let reader = reader.with_buffer_pool(pool.clone()).with_page_index(options.page_index);
        Some(CachedColumn::new(reader, target))
    };
    for stage in stages {
        for &leaf in stage.leaves() {
            if let Entry::Vacant(place) = columns.entry(leaf)
                && let Some(column) = open(leaf, stage.is_typed())
            {
                place.insert(column);
            }
        }
    }
    for leaf in roots.iter().flat_map(ProjectedField::leaves) {
        if let Entry::Vacant(place) = columns.entry(leaf)
            && let Some(column) = open(leaf, false)
        {
            place.insert(column);
        }
        if let Some(column) = columns.get_mut(&leaf) {
            column.is_projected = true;
        }
    }
    columns
}
