//! `footer`: what it costs to open files, wide ones above all.
//!
//! Rows `decode` take the bytes of a footer and look at everything that it says of each column chunk; rows `open` only
//! parse it, as far as a reader needs to before it knows what is wanted; rows `column` go from the bytes of a file to the
//! values of one of its columns, rows `pages` to the last of them, by the page index.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow60_array::{
    ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch as RecordBatch60, StringArray,
};
use bytes::Bytes;
use clap::Args;
use marquetry::arrow::ProjectionMask;
use marquetry::arrow::arrow_reader as ours;
use marquetry::errors::Limits;
use marquetry::file::metadata::ParquetMetaData;
use parquet::arrow::ArrowWriter;
use parquet::arrow::ProjectionMask as ProjectionMask60;
use parquet::arrow::arrow_reader as peer;
use parquet::file::metadata::{
    ColumnChunkMask, ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData as ParquetMetaData60,
    ParquetMetaDataReader,
};
use parquet::file::properties::WriterProperties;
use serde::Serialize;

use crate::compare_readers::count;
use crate::error::Result;
use crate::generate::Rng;
use crate::same_values;
use crate::timing::in_turn;

#[derive(Args)]
pub(crate) struct Options {
    /// Print JSON: a list of {name, ours, peer, ratio, ours_median, peer_median}, times in seconds
    #[arg(long)]
    json: bool,
    /// Run only the rows whose name contains NAME
    #[arg(long, value_name = "NAME", default_value = "")]
    filter: String,
    /// Take the best and the median of N runs of each side, and of more if they are short and N is not 1
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Where the generated files are kept for the next run
    #[arg(long, value_name = "DIR", default_value = "target/bench-data")]
    data_dir: PathBuf,
}

/// Columns and row groups of the files.
const FILES: [(&str, usize, usize); 3] = [("wide", 10_000, 10), ("medium", 1_000, 10), ("small", 10, 1)];
/// Rows of a row group, and of a page: two pages a chunk, so that a page index has something to tell.
const ROWS: usize = 40;
const PAGE_ROWS: usize = 20;

/// What was measured, in seconds.
#[derive(Serialize)]
struct Row {
    name: String,
    ours: f64,
    peer: f64,
    ratio: f64,
    ours_median: f64,
    peer_median: f64,
}

/// Measures, and prints a row for each file and way to open it.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut all = Vec::new();
    for (file_name, columns, row_groups) in FILES {
        let names = ["decode", "open", "column", "pages"].map(|what| format!("{file_name}_{what}"));
        if names.iter().all(|name| !name.contains(&options.filter)) {
            continue;
        }
        let file = file(options, file_name, columns, row_groups)?;
        let footer = footer(&file)?;
        if !options.json {
            println!(
                "{file_name}: {columns} columns, {row_groups} row groups, footer of {} bytes",
                footer.len()
            );
        }
        same(&footer)?;
        let column = columns / 2 + 1;
        let [decode, open, one, pages] = names;
        let mut row = |name: String, ours: &dyn Fn() -> Result<usize>, peer: &dyn Fn() -> Result<usize>| {
            if name.contains(&options.filter) {
                all.push(race(name, options.rounds, ours, peer)?);
            }
            Result::Ok(())
        };
        row(decode, &|| our_walk(&our_parse(&footer)?), &|| Ok(peer_walk(&peer_parse(&footer)?)))?;
        row(open, &|| Ok(our_parse(&footer)?.num_row_groups()), &|| {
            Ok(peer_parse(&footer)?.num_row_groups())
        })?;
        for (name, indexed) in [(one, false), (pages, true)] {
            same_values::compare(our_column(&file, column, indexed)?, peer_column(&file, column, indexed)?)
                .map_err(|error| format!("{name}: the values differ: {error}"))?;
            let ours = || count(our_column(&file, column, indexed)?, RecordBatch::num_rows);
            let peer = || count(peer_column(&file, column, indexed)?, RecordBatch60::num_rows);
            row(name, &ours, &peer)?;
        }
    }
    if all.is_empty() {
        return Err(format!("no row's name contains {:?}", options.filter).into());
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    println!("| row | ours, ms | median | peer, ms | median | ratio |\n|---|--:|--:|--:|--:|--:|");
    for row in all {
        let ms = [row.ours, row.ours_median, row.peer, row.peer_median].map(|seconds| seconds * 1e3);
        let [ours, ours_median, peer, peer_median] = ms;
        println!(
            "| `{}` | {ours:.3} | {ours_median:.3} | {peer:.3} | {peer_median:.3} | {:.2} |",
            row.name, row.ratio
        );
    }
    Ok(())
}

/// The file of that name, which is kept. Numbers and strings, as the peer writes them with its defaults.
fn file(options: &Options, name: &str, columns: usize, row_groups: usize) -> Result<Bytes> {
    let path = options.data_dir.join(format!("footer-{name}-{columns}x{row_groups}.parquet"));
    if !path.exists() {
        eprintln!("writing {}", path.display());
        fs::create_dir_all(&options.data_dir)?;
        let unfinished = path.with_extension("unfinished");
        fs::write(&unfinished, write(columns, row_groups)?)?;
        fs::rename(unfinished, &path)?;
    }
    Ok(Bytes::from(fs::read(path)?))
}

fn write(columns: usize, row_groups: usize) -> Result<Vec<u8>> {
    let mut rng = Rng::new(11);
    let properties = WriterProperties::builder()
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_write_batch_size(PAGE_ROWS)
        .build();
    let mut writer = None;
    for _ in 0..row_groups {
        let arrays = (0..columns).map(|i| (format!("column_{i}"), array(&mut rng, i), i % 3 == 0));
        let batch = RecordBatch60::try_from_iter_with_nullable(arrays)?;
        let writer = match &mut writer {
            Some(writer) => writer,
            None => {
                let new = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties.clone()))?;
                writer.insert(new)
            }
        };
        writer.write(&batch)?;
        writer.flush()?;
    }
    Ok(writer.ok_or("no row groups")?.into_inner()?)
}

/// Most columns of wide tables are numbers.
fn array(rng: &mut Rng, column: usize) -> ArrayRef {
    match column % 8 {
        0..=3 => Arc::new(Float64Array::from_iter_values((0..ROWS).map(|_| rng.unit()))),
        4..=5 => Arc::new(Int64Array::from_iter_values((0..ROWS).map(|_| rng.below(1 << 30) as i64))),
        6 => Arc::new(Int32Array::from_iter_values((0..ROWS).map(|_| rng.below(1 << 10) as i32))),
        _ => Arc::new(StringArray::from_iter_values((0..ROWS).map(|_| rng.below(1 << 20).to_string()))),
    }
}

/// The bytes of a file's footer.
fn footer(file: &Bytes) -> Result<Bytes> {
    let end = file.len() - 8;
    let len = file.slice(end..end + 4);
    let len = u32::from_le_bytes(len[..].try_into()?) as usize;
    Ok(file.slice(end - len..end))
}

fn our_parse(footer: &Bytes) -> Result<ParquetMetaData> {
    Ok(ParquetMetaData::parse(footer.clone(), &Limits::default())?)
}

fn peer_parse(footer: &Bytes) -> Result<ParquetMetaData60> {
    Ok(ParquetMetaDataReader::decode_metadata(footer)?)
}

/// The facts about a column chunk, as both sides report them.
#[derive(PartialEq, Debug)]
struct Facts<'a> {
    path: &'a str,
    numbers: [i64; 5],
    places: [Option<i64>; 6],
    encodings: u64,
    null_count: Option<u64>,
    bounds: [Option<&'a [u8]>; 2],
    def_levels: Option<i64>,
}

fn our_facts<'a>(metadata: &'a ParquetMetaData, row_group: usize, column: usize) -> Result<Facts<'a>> {
    let chunk = metadata.row_group(row_group).column(column)?;
    let statistics = chunk.statistics();
    let places = [chunk.column_index_range(), chunk.offset_index_range()];
    let [column_index, offset_index] = places
        .map(|range| range.map_or((None, None), |range| (Some(range.start), Some(range.end - range.start))));
    let def_levels = chunk.size_statistics().and_then(|sizes| sizes.definition_level_histogram);
    Ok(Facts {
        path: chunk.leaf().dotted(),
        numbers: [
            i64::from(chunk.compression().0),
            chunk.num_values(),
            chunk.compressed_size(),
            chunk.uncompressed_size(),
            chunk.data_page_offset(),
        ],
        places: [
            chunk.dictionary_page_offset(),
            chunk.bloom_filter_offset().map(|offset| offset as i64),
            column_index.0.map(|offset| offset as i64),
            column_index.1.map(|len| len as i64),
            offset_index.0.map(|offset| offset as i64),
            offset_index.1.map(|len| len as i64),
        ],
        encodings: chunk.encodings().iter().fold(0, |set, encoding| set | 1 << encoding.0),
        null_count: statistics.and_then(|statistics| statistics.null_count).map(|count| count as u64),
        bounds: statistics.map_or([None, None], |statistics| [statistics.min_value, statistics.max_value]),
        def_levels: def_levels.map(|counts| counts.iter().sum()),
    })
}

fn peer_facts<'a>(chunk: &'a ColumnChunkMetaData, path: &'a str) -> Facts<'a> {
    let statistics = chunk.statistics();
    Facts {
        path,
        numbers: [
            chunk.compression_codec() as i64,
            chunk.num_values(),
            chunk.compressed_size(),
            chunk.uncompressed_size(),
            chunk.data_page_offset(),
        ],
        places: [
            chunk.dictionary_page_offset(),
            chunk.bloom_filter_offset(),
            chunk.column_index_offset(),
            chunk.column_index_length().map(i64::from),
            chunk.offset_index_offset(),
            chunk.offset_index_length().map(i64::from),
        ],
        encodings: chunk.encodings().fold(0, |set, encoding| set | 1 << encoding as u64),
        null_count: statistics.and_then(|statistics| statistics.null_count_opt()),
        bounds: statistics
            .map_or([None, None], |statistics| [statistics.min_bytes_opt(), statistics.max_bytes_opt()]),
        def_levels: chunk.definition_level_histogram().map(|counts| counts.values().iter().sum()),
    }
}

impl Facts<'_> {
    /// A number that depends on all facts.
    fn sum(&self) -> usize {
        let numbers = self.numbers.iter().chain(self.places.iter().flatten()).chain(&self.def_levels);
        let numbers = numbers.fold(0, |sum: i64, number| sum.wrapping_add(*number)) as usize;
        let lengths: usize = self.bounds.iter().flatten().map(|bound| bound.len()).sum();
        let counts = self.encodings.wrapping_add(self.null_count.unwrap_or(0)) as usize;
        numbers.wrapping_add(self.path.len()).wrapping_add(lengths).wrapping_add(counts)
    }
}

fn our_walk(metadata: &ParquetMetaData) -> Result<usize> {
    let mut sum = 0usize;
    for row_group in 0..metadata.num_row_groups() {
        for column in 0..metadata.schema().num_columns() {
            sum = sum.wrapping_add(our_facts(metadata, row_group, column)?.sum());
        }
    }
    Ok(sum)
}

fn peer_walk(metadata: &ParquetMetaData60) -> usize {
    let chunks = metadata.row_groups().iter().flat_map(|row_group| row_group.columns());
    chunks.fold(0, |sum, chunk| sum.wrapping_add(peer_facts(chunk, chunk.column_descr().name()).sum()))
}

/// Fails unless both report the same of each chunk.
fn same(footer: &Bytes) -> Result<()> {
    let (ours, peer) = (our_parse(footer)?, peer_parse(footer)?);
    for (i, row_group) in peer.row_groups().iter().enumerate() {
        if ours.row_group(i).num_rows() as i64 != row_group.num_rows() {
            return Err(format!("the rows of row group {i} differ").into());
        }
        for (column, chunk) in row_group.columns().iter().enumerate() {
            let (left, right) =
                (our_facts(&ours, i, column)?, peer_facts(chunk, chunk.column_descr().name()));
            if left != right {
                return Err(format!("chunks differ: {left:?}, the peer has {right:?}").into());
            }
        }
    }
    let counts = (ours.num_row_groups(), ours.schema().num_columns());
    if counts != (peer.num_row_groups(), peer.file_metadata().schema_descr().num_columns()) {
        return Err("the numbers of row groups or columns differ".into());
    }
    Ok(())
}

/// The values of one column; with its page index, only those of the last rows.
fn our_column(
    file: &Bytes,
    column: usize,
    indexed: bool,
) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
    let builder = ours::ParquetRecordBatchReaderBuilder::try_new(file.clone())?;
    let mask = ProjectionMask::leaves(builder.parquet_schema(), [column]);
    let rows = builder.metadata().num_rows() as usize;
    let mut builder = builder.with_projection(mask);
    if indexed {
        let last = std::iter::once(rows - PAGE_ROWS..rows);
        builder = builder.with_row_selection(ours::RowSelection::from_consecutive_ranges(last, rows));
    }
    Ok(builder.build()?.map(|batch| Ok(batch?)))
}

/// As the peer does it fastest: it decodes the page index of the one column.
fn peer_column(
    file: &Bytes,
    column: usize,
    indexed: bool,
) -> Result<impl Iterator<Item = Result<RecordBatch60>> + use<>> {
    let policy = if indexed { PageIndexPolicy::Optional } else { PageIndexPolicy::Skip };
    let options = peer::ArrowReaderOptions::new()
        .with_page_index_policy(policy)
        .with_page_index_mask(ColumnChunkMask::columns([column]));
    let builder = peer::ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options)?;
    let mask = ProjectionMask60::leaves(builder.parquet_schema(), [column]);
    let rows = builder.metadata().file_metadata().num_rows() as usize;
    let mut builder = builder.with_projection(mask);
    if indexed {
        let last = std::iter::once(rows - PAGE_ROWS..rows);
        builder = builder.with_row_selection(peer::RowSelection::from_consecutive_ranges(last, rows));
    }
    Ok(builder.build()?.map(|batch| Ok(batch?)))
}

/// Runs both in turn. Dropping what they open counts. Short runs are repeated to fill a millisecond.
fn race(
    name: String,
    rounds: u32,
    ours: &dyn Fn() -> Result<usize>,
    peer: &dyn Fn() -> Result<usize>,
) -> Result<Row> {
    let [once] = in_turn(1, [Some(&mut || repeat(peer, 1))])?;
    let repeats = (1e-3 / once.ok_or("no run")?.best).ceil().clamp(1.0, 1e4);
    let [ours, peer] = in_turn(
        rounds,
        [Some(&mut || repeat(ours, repeats as u32)), Some(&mut || repeat(peer, repeats as u32))],
    )?;
    let (ours, peer) = ours.zip(peer).ok_or("no rounds")?;
    Ok(Row {
        name,
        ours: ours.best / repeats,
        peer: peer.best / repeats,
        ratio: peer.best / ours.best,
        ours_median: ours.median / repeats,
        peer_median: peer.median / repeats,
    })
}

fn repeat(work: &dyn Fn() -> Result<usize>, repeats: u32) -> Result<()> {
    for _ in 0..repeats {
        std::hint::black_box(work()?);
    }
    Ok(())
}
