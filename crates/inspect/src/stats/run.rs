//! Reads columns, several row groups at a time, and gathers what they hold.
//!
//! A part is one column of the table in one row group. Parts are merged in the order of the file, so that the result is the same
//! for any number of threads.

use super::column::ColumnStats;
use super::finish::finish;
use super::leaf_arrays::leaf_arrays;
use super::leaf_stats::LeafStats;
use super::options::StatsOptions;
use crate::columns::{Column, columns};
use arrow_array::RecordBatch;
use arrow_schema::DataType;
use marquetry_arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, ProjectionMask,
};
use marquetry_base::{Result, available_threads, parallel_map};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::source::Source;
use marquetry_format::{Encoding, PageType};
use std::collections::HashMap;
use std::sync::Arc;

/// What the columns of a file hold, found by reading them once.
///
/// Columns come in the order of the file. What [`StatsOptions::columns`] leaves out is not read. Counts, bounds, means and lengths
/// are exact; see [`ColumnStats`] for what is estimated once a column has more than 65,536 different values. The result is the same
/// on each run, and for any number of threads.
///
/// Takes some hundred kilobytes for each column that is being read, and at most 20 MB where values are long.
///
/// Fails if a column does not exist, and where reading fails: at the first place in the file, with that place.
///
/// ```
/// use marquetry_arrow::arrow_reader::ArrowReaderOptions;
/// use marquetry_core::source::Source;
/// use marquetry_inspect::{StatsOptions, column_stats};
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// let file: std::sync::Arc<dyn Source> = std::sync::Arc::new(bytes::Bytes::from(std::fs::read(path)?));
/// let stats = column_stats(file, ArrowReaderOptions::new(), &StatsOptions::default().with_columns(["country"]))?;
/// let country = &stats[0];
/// assert_eq!(country.nulls, Some(0));
/// assert!(country.distinct.is_some_and(|distinct| distinct.count > 1 && distinct.error == 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn column_stats(
    source: Arc<dyn Source>,
    options: ArrowReaderOptions,
    stats: &StatsOptions,
) -> Result<Vec<ColumnStats>> {
    let metadata = ArrowReaderMetadata::load(source.clone(), options.clone())?;
    let columns = columns(&metadata, stats.columns.as_deref())?;
    let metadata = with_dictionaries(metadata, options, &columns)?;
    let file = Arc::new(File { source, metadata });
    let parts_of_columns = parts_of(&columns);
    let groups = file.metadata.metadata().num_row_groups();
    let threads = match stats.threads {
        0 => available_threads(),
        threads => threads,
    };
    let executor = stats.executor.or_threads("marquetry-stats");
    let mut said = Vec::with_capacity(columns.len());
    // So many columns at a time that all threads have enough to do, and no more is kept.
    let width = (threads * PARTS_PER_THREAD).div_ceil(groups.max(1));
    for window in parts_of_columns.chunks(width.max(1)) {
        let part = |(i, leaves): (usize, &&[Column])| {
            let numbers: Arc<[usize]> = leaves.iter().map(|column| column.number).collect();
            (0..groups).map(move |group| (i, group, numbers.clone())).collect::<Vec<_>>()
        };
        let parts: Vec<_> = window.iter().enumerate().flat_map(part).collect();
        let mut workers = vec![(); threads.min(parts.len())];
        let shared = file.clone();
        let results = parallel_map(&*executor, parts, &mut workers, move |(i, group, numbers), ()| {
            (i, shared.gather(group, &numbers))
        });
        let mut merged: Vec<Vec<LeafStats>> = window.iter().map(|leaves| file.nothing(leaves)).collect();
        for (i, gathered) in results {
            merged[i].iter_mut().zip(gathered?).for_each(|(all, part)| all.merge(part));
        }
        for (leaf, gathered) in window.iter().copied().flatten().zip(merged.into_iter().flatten()) {
            said.push(finish(&leaf.path, &leaf.field, gathered, stats.most_common));
        }
    }
    Ok(said)
}

/// Columns of the table that are read together: each by itself, but many where there are very many, as each reader looks at the whole
/// schema.
fn parts_of(columns: &[Column]) -> Vec<&[Column]> {
    let roots: Vec<&[Column]> = columns.chunk_by(|a, b| a.root == b.root).collect();
    let at_once = (roots.len() / 256).clamp(1, 64);
    let mut rest = columns;
    let part = |roots: &[&[Column]]| {
        let (part, behind) = rest.split_at(roots.iter().map(|leaves| leaves.len()).sum());
        rest = behind;
        part
    };
    roots.chunks(at_once).map(part).collect()
}

/// A file that is being read.
struct File {
    source: Arc<dyn Source>,
    metadata: ArrowReaderMetadata,
}

impl File {
    /// What a part of a file without rows has.
    fn nothing(&self, leaves: &[Column]) -> Vec<LeafStats> {
        leaves.iter().map(|leaf| LeafStats::new(leaf.field.data_type())).collect()
    }

    /// Reads leaves in one row group.
    fn gather(&self, group: usize, numbers: &[usize]) -> Result<Vec<LeafStats>> {
        let mask = ProjectionMask::leaves(self.metadata.parquet_schema(), numbers.iter().copied());
        let builder = ParquetRecordBatchReaderBuilder::<Arc<dyn Source>>::try_new_with_metadata(
            self.source.clone(),
            self.metadata.clone(),
        )?;
        let mut reader = builder
            .with_projection(mask)
            .with_row_groups(vec![group])
            .with_batch_size(BATCH_ROWS)
            .with_threads(1)
            .build()?;
        let mut stats = Vec::new();
        while let Some(batch) = reader.next_batch() {
            add_batch(&batch?, &mut stats)?;
        }
        stats.iter_mut().for_each(LeafStats::flush);
        Ok(stats)
    }
}

fn add_batch(batch: &RecordBatch, stats: &mut Vec<LeafStats>) -> Result<()> {
    let mut leaves = Vec::new();
    batch.columns().iter().try_for_each(|column| leaf_arrays(column, &mut leaves))?;
    if stats.is_empty() {
        stats.extend(leaves.iter().map(|leaf| LeafStats::new(leaf.values.data_type())));
    }
    for (stats, leaf) in stats.iter_mut().zip(leaves) {
        stats.add(&leaf.values, leaf.nulls.as_ref(), leaf.lists);
    }
    Ok(())
}

/// The file read with dictionaries where its pages have them: their entries are looked at once, and then only counted.
fn with_dictionaries(
    metadata: ArrowReaderMetadata,
    options: ArrowReaderOptions,
    columns: &[Column],
) -> Result<ArrowReaderMetadata> {
    let mut types = HashMap::new();
    for column in columns.iter().filter(|column| may_be_dictionary(column.field.data_type())) {
        if has_dictionaries_only(metadata.metadata(), column.number)? {
            let values = Box::new(column.field.data_type().clone());
            types.insert(column.path.clone(), DataType::Dictionary(Box::new(DataType::Int32), values));
        }
    }
    if types.is_empty() {
        return Ok(metadata);
    }
    let options = options.with_type_hook(move |leaf| types.get(&**leaf.dotted()).cloned());
    // Where the reader has no dictionaries of a type, values are read one by one.
    Ok(metadata.with_options(options).unwrap_or(metadata))
}

fn may_be_dictionary(data_type: &DataType) -> bool {
    !data_type.is_nested()
        && !matches!(
            data_type,
            DataType::Boolean | DataType::Null | DataType::Dictionary(..) | DataType::Interval(_)
        )
}

/// Whether all data pages of a column refer to dictionaries, as far as the footer says.
fn has_dictionaries_only(metadata: &ParquetMetaData, column: usize) -> Result<bool> {
    let is_dictionary = |encoding| matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
    for group in metadata.row_groups() {
        let chunk = group.column(column)?;
        let is_only = match chunk.encoding_stats() {
            Some(stats) => stats.into_iter().all(|stats| {
                !matches!(stats.page_type, PageType::DATA_PAGE | PageType::DATA_PAGE_V2)
                    || is_dictionary(stats.encoding)
            }),
            // Without these counts, PLAIN may be the dictionary's own.
            None => false,
        };
        if !is_only {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Rows of a batch.
const BATCH_ROWS: usize = 16 << 10;
/// Parts that each thread has until all have waited for the last.
const PARTS_PER_THREAD: usize = 16;
