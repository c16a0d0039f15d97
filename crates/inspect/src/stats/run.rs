//! Reads columns, several row groups at a time, and computes their statistics.
//!
//! A part is one column of the table in one row group. Parts are merged in the order of the file, so that the result is the same
//! for any number of threads.

use super::column::ColumnStats;
use super::finish::finish;
use super::leaf_arrays::leaf_arrays;
use super::leaf_stats::{LeafStats, plain_type};
use super::options::StatsOptions;
use crate::columns::{Column, columns, with_types, with_wide_keys};
use crate::int96::fitting_int96;
use arrow_array::RecordBatch;
use arrow_schema::DataType;
use marquetry_arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, Int96Unit, Int96Units, ParquetRecordBatchReaderBuilder,
    ProjectionMask,
};
use marquetry_base::{Error, Result, available_threads, parallel_map};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::source::Source;
use marquetry_format::{Encoding, PageType};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Computes the statistics of a file's columns, by reading them once.
///
/// Columns come in the order of the file. Those that [`StatsOptions::columns`] leaves out are not read. Counts, bounds,
/// means and lengths are exact; [`ColumnStats`] documents what is estimated once a column has more than 65,536 distinct
/// values. The result is the same on each run, and for any number of threads.
///
/// Takes some hundred kilobytes for each column that is being read, and at most 20 MB if values are long.
///
/// Fails if a column does not exist, or if reading fails: the error is that of the first place in the file.
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
    table_stats([("the file", source)], options, stats)
}

/// Computes the statistics of the columns of several files together, as [`column_stats`] does for one. All files have
/// the same columns, in any order.
///
/// Fails as that does, and if a file lacks a column of the first one, or has it with another type. The error names the
/// file, by the name that is given with it.
///
/// ```
/// use marquetry_arrow::arrow_reader::ArrowReaderOptions;
/// use marquetry_core::source::Source;
/// use marquetry_inspect::{StatsOptions, table_stats};
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// let file: std::sync::Arc<dyn Source> = std::sync::Arc::new(bytes::Bytes::from(std::fs::read(path)?));
/// let files = [("monday", file.clone()), ("tuesday", file)];
/// let stats = table_stats(files, ArrowReaderOptions::new(), &StatsOptions::default().with_columns(["country"]))?;
/// assert_eq!(stats[0].values, Some(400));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn table_stats<'n>(
    files: impl IntoIterator<Item = (&'n str, Arc<dyn Source>)>,
    options: ArrowReaderOptions,
    stats: &StatsOptions,
) -> Result<Vec<ColumnStats>> {
    let (names, sources): (Vec<&str>, Vec<_>) = files.into_iter().unzip();
    let named = |error: Error, file: usize| match names.len() {
        1 => error,
        _ => error.in_file(names[file]),
    };
    let mut footers = Vec::with_capacity(sources.len());
    for (i, source) in sources.iter().enumerate() {
        let footer = ArrowReaderMetadata::load(source.clone(), options.clone());
        footers.push(footer.map_err(|error| named(error, i))?);
    }
    let mut options = options;
    if options.int96() == Int96Unit::Auto {
        let units = int96_units(&sources, &footers, stats).map_err(|(error, i)| named(error, i))?;
        options = options.with_int96_units(units);
        for (i, footer) in footers.iter_mut().enumerate() {
            *footer = footer.with_options(options.clone()).map_err(|error| named(error, i))?;
        }
    }
    let (mut files, mut first) = (Vec::with_capacity(sources.len()), None::<Vec<Column>>);
    for (i, (source, footer)) in sources.into_iter().zip(footers).enumerate() {
        let opened = File::open(source, footer, &options, stats).and_then(|(file, columns)| match &first {
            Some(first) => file.numbered(first, columns),
            None => {
                first = Some(columns);
                Ok(file)
            }
        });
        files.push(opened.map_err(|error| named(error, i))?);
    }
    let (Some(columns), files) = (first, Arc::new(files)) else { return Ok(Vec::new()) };
    let parts_of_columns = parts_of(&columns);
    let groups = |file: &File| file.metadata.metadata().num_row_groups();
    let all_groups: usize = files.iter().map(groups).sum();
    let threads = match stats.threads {
        0 => available_threads(),
        threads => threads,
    };
    let executor = stats.executor.or_threads("marquetry-stats");
    let mut said = Vec::with_capacity(columns.len());
    // So many columns at a time that all threads have enough to do, without keeping the results of more.
    let width = (threads * PARTS_PER_THREAD).div_ceil(all_groups.max(1));
    for window in parts_of_columns.chunks(width.max(1)) {
        let part = |(i, leaves): (usize, &&[Column])| {
            let numbers: Arc<[usize]> = leaves.iter().map(|column| column.number).collect();
            let of_file = |(at, file)| (0..groups(file)).map(move |group| (at, group));
            let places = files.iter().enumerate().flat_map(of_file);
            places.map(|(file, group)| (i, file, group, numbers.clone())).collect::<Vec<_>>()
        };
        let parts: Vec<_> = window.iter().enumerate().flat_map(part).collect();
        let mut workers = vec![(); threads.min(parts.len())];
        let shared = files.clone();
        let results = parallel_map(&*executor, parts, &mut workers, move |(i, file, group, numbers), ()| {
            (i, file, shared[file].gather(group, &numbers))
        });
        let mut merged: Vec<Vec<LeafStats>> = window.iter().map(|leaves| nothing(leaves)).collect();
        for (i, file, gathered) in results {
            let merged = gathered.and_then(|parts| {
                merged[i].iter_mut().zip(parts).try_for_each(|(all, part)| all.merge(part))
            });
            merged.map_err(|error| named(error, file))?;
        }
        for (leaf, gathered) in window.iter().copied().flatten().zip(merged.into_iter().flatten()) {
            said.push(finish(&leaf.path, &leaf.field, gathered, stats.most_common));
        }
    }
    Ok(said)
}

/// Finds a unit for each column of INT96 timestamps that fits all files, since numbers in several units cannot be
/// compared. Fails with the number of the file.
fn int96_units(
    sources: &[Arc<dyn Source>],
    footers: &[ArrowReaderMetadata],
    stats: &StatsOptions,
) -> Result<Int96Units, (Error, usize)> {
    let mut units = Int96Units::default();
    for (i, (source, footer)) in sources.iter().zip(footers).enumerate() {
        let fitting = columns(footer, stats.columns.as_deref())
            .and_then(|columns| fitting_int96(source, footer, columns.iter().map(|column| column.number)));
        units = units.coarser(&fitting.map_err(|error| (error, i))?);
    }
    Ok(units)
}

/// Groups the columns that are read together: each by itself, or many if there are very many, as each reader goes
/// through the whole schema.
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

/// Creates the statistics of no rows.
fn nothing(leaves: &[Column]) -> Vec<LeafStats> {
    leaves.iter().map(|leaf| LeafStats::new(leaf.field.data_type())).collect()
}

/// A file that is being read.
struct File {
    source: Arc<dyn Source>,
    metadata: ArrowReaderMetadata,
    /// The numbers of the first file's leaves in this file, if they differ.
    numbers: Option<HashMap<usize, usize>>,
}

impl File {
    fn open(
        source: Arc<dyn Source>,
        metadata: ArrowReaderMetadata,
        options: &ArrowReaderOptions,
        stats: &StatsOptions,
    ) -> Result<(Self, Vec<Column>)> {
        let columns = columns(&metadata, stats.columns.as_deref())?;
        let metadata = with_dictionaries(metadata, options.clone(), &columns)?;
        Ok((File { source, metadata, numbers: None }, columns))
    }

    /// Finds the columns of the first file among those of this one.
    fn numbered(mut self, first: &[Column], columns: Vec<Column>) -> Result<Self> {
        // Of several columns with the same name, the first is that of the first file's first.
        let mut by_path: HashMap<&str, VecDeque<&Column>> = HashMap::new();
        columns.iter().for_each(|column| by_path.entry(&column.path).or_default().push_back(column));
        let mut numbers = HashMap::new();
        for column in first {
            let path = &column.path;
            let here = by_path.get_mut(path.as_str()).and_then(VecDeque::pop_front);
            let here =
                here.ok_or_else(|| Error::argument(format!("has no column {path}, as other files have")))?;
            // The width of dictionary keys makes no difference.
            let [a, b] = [column, here].map(|column| plain_type(column.field.data_type()));
            if a != b {
                return Err(Error::argument(format!("column {path} is {b}, and {a} in other files")));
            }
            numbers.insert(column.number, here.number);
        }
        if let Some(more) = columns.iter().find(|column| !by_path[column.path.as_str()].is_empty()) {
            return Err(Error::argument(format!("has a column {}, which other files have not", more.path)));
        }
        self.numbers = Some(numbers).filter(|numbers| numbers.iter().any(|(a, b)| a != b));
        Ok(self)
    }

    /// Reads leaves of one row group, given by their numbers in the first file.
    fn gather(&self, group: usize, wanted: &[usize]) -> Result<Vec<LeafStats>> {
        let Some(numbers) = &self.numbers else { return self.gather_here(group, wanted) };
        let here: Vec<usize> = wanted.iter().filter_map(|number| numbers.get(number).copied()).collect();
        let gathered = self.gather_here(group, &here)?;
        // Leaves are read in the order of this file.
        let mut ascending: Vec<usize> = (0..here.len()).collect();
        ascending.sort_unstable_by_key(|i| here[*i]);
        let mut ordered: Vec<_> = ascending.into_iter().zip(gathered).collect();
        ordered.sort_unstable_by_key(|(i, _)| *i);
        Ok(ordered.into_iter().map(|(_, stats)| stats).collect())
    }

    fn gather_here(&self, group: usize, numbers: &[usize]) -> Result<Vec<LeafStats>> {
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
        stats.add(&leaf.values, leaf.nulls.as_ref(), leaf.lists)?;
    }
    Ok(())
}

/// Reads the file with dictionaries if its pages have them: their entries are then examined once, and otherwise only
/// counted.
fn with_dictionaries(
    metadata: ArrowReaderMetadata,
    options: ArrowReaderOptions,
    columns: &[Column],
) -> Result<ArrowReaderMetadata> {
    let (metadata, mut types) = with_wide_keys(metadata, &options)?;
    let wide = types.len();
    for column in columns.iter().filter(|column| may_be_dictionary(column.field.data_type())) {
        if has_dictionaries_only(metadata.metadata(), column.number)? {
            let values = Box::new(column.field.data_type().clone());
            types.insert(column.path.clone(), DataType::Dictionary(Box::new(DataType::Int32), values));
        }
    }
    if types.len() == wide {
        return Ok(metadata);
    }
    let options = with_types(options, types);
    // If the reader has no dictionaries of a type, values are read one by one.
    Ok(metadata.with_options(options).unwrap_or(metadata))
}

fn may_be_dictionary(data_type: &DataType) -> bool {
    !data_type.is_nested()
        && !matches!(
            data_type,
            DataType::Boolean | DataType::Null | DataType::Dictionary(..) | DataType::Interval(_)
        )
}

/// Whether all data pages of a column use dictionaries, as far as the footer states it.
fn has_dictionaries_only(metadata: &ParquetMetaData, column: usize) -> Result<bool> {
    let is_dictionary = |encoding| matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
    for group in metadata.row_groups() {
        let chunk = group.column(column)?;
        let is_only = match chunk.encoding_stats() {
            Some(stats) => stats.into_iter().all(|stats| {
                !matches!(stats.page_type, PageType::DATA_PAGE | PageType::DATA_PAGE_V2)
                    || is_dictionary(stats.encoding)
            }),
            // Without these counts, PLAIN may be the encoding of the dictionary itself.
            None => false,
        };
        if !is_only {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Number of rows of a batch.
const BATCH_ROWS: usize = 16 << 10;
/// Number of parts of each thread before all threads wait for the last one.
const PARTS_PER_THREAD: usize = 16;
