//! `filter`: some rows of a file, found by a condition on one of its columns.
//!
//! Two tables of the same rows: in one the column is sorted, so that the wanted rows stand together; in the other they are
//! anywhere. Each is asked for 0.01 % to all of its rows, by a number, a string and a float.
//!
//! Ours is a typed predicate. Beside it stand a closure over arrays, ours and the peer's (`RowFilter`), and what both would
//! be without: all rows read, and then filtered. The ratio is to the best of the peer.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;
use arrow60_array::cast::AsArray as _;
use arrow60_array::types::{Float64Type as Float64Type60, Int64Type as Int64Type60};
use arrow60_array::{
    ArrayRef, BooleanArray as BooleanArray60, Float64Array, Int64Array, RecordBatch as RecordBatch60,
    StringArray,
};
use arrow60_schema::SchemaRef as SchemaRef60;
use bytes::Bytes;
use clap::Args;
use marquetry::arrow::ProjectionMask;
use marquetry::arrow::arrow_reader as ours;
use marquetry::predicate::{Literal, Predicate, col};
use parquet::arrow::ProjectionMask as ProjectionMask60;
use parquet::arrow::arrow_reader as peer;
use parquet::basic::Compression;
use parquet::file::metadata::PageIndexPolicy;
use parquet::file::properties::WriterProperties;

use crate::compare_readers::count;
use crate::error::Result;
use crate::generate::{self, Rng};
use crate::row::BATCH_SIZE;
use crate::timing::in_turn;
use crate::{bridge, same_values};

#[derive(Args)]
pub(crate) struct Options {
    /// Rows of each table
    #[arg(long, default_value_t = 2_000_000)]
    rows: usize,
    /// Take the best of N runs of each side
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Run only the rows whose name contains NAME
    #[arg(long, value_name = "NAME", default_value = "")]
    filter: String,
    /// Write the two files there, for `filter.py` to measure others with
    #[arg(long, value_name = "DIR")]
    write_to: Option<PathBuf>,
    /// Print a Markdown table
    #[arg(long)]
    markdown: bool,
}

const SELECTIVITIES: [f64; 6] = [0.0001, 0.001, 0.01, 0.1, 0.5, 1.0];

/// The condition: the key is below this.
#[derive(Clone)]
enum Below {
    Int(i64),
    Text(String),
    Double(f64),
}

impl Below {
    fn column(&self) -> &'static str {
        match self {
            Below::Int(_) => "int",
            Below::Text(_) => "string",
            Below::Double(_) => "double",
        }
    }

    /// `count` of all keys are below these.
    fn all(count: usize) -> [Below; 3] {
        [Below::Int(count as i64), Below::Text(text(count)), Below::Double(count as f64 / 8.0)]
    }

    fn predicate(&self) -> Predicate {
        let literal: Literal = match self {
            Below::Int(end) => (*end).into(),
            Below::Text(end) => end.as_str().into(),
            Below::Double(end) => (*end).into(),
        };
        col(self.column()).lt(literal)
    }

    fn test(&self, batch: &RecordBatch) -> BooleanArray {
        match (self, batch.column_by_name(self.column()).expect("the column is read")) {
            (Below::Int(end), keys) => {
                BooleanArray::from_unary(keys.as_primitive::<Int64Type>(), |key| key < *end)
            }
            (Below::Text(end), keys) => {
                BooleanArray::from_unary(keys.as_string::<i32>(), |key| key < end.as_str())
            }
            (Below::Double(end), keys) => {
                BooleanArray::from_unary(keys.as_primitive::<Float64Type>(), |key| key < *end)
            }
        }
    }

    fn test_60(&self, batch: &RecordBatch60) -> BooleanArray60 {
        match (self, batch.column_by_name(self.column()).expect("the column is read")) {
            (Below::Int(end), keys) => {
                BooleanArray60::from_unary(keys.as_primitive::<Int64Type60>(), |key| key < *end)
            }
            (Below::Text(end), keys) => {
                BooleanArray60::from_unary(keys.as_string::<i32>(), |key| key < end.as_str())
            }
            (Below::Double(end), keys) => {
                BooleanArray60::from_unary(keys.as_primitive::<Float64Type60>(), |key| key < *end)
            }
        }
    }
}

fn text(key: usize) -> String {
    format!("a key of some length {key:010}")
}

/// The keys in three types, and other columns that a query returns.
fn table(rows: usize, keys: &[usize]) -> Result<RecordBatch60> {
    let mut rng = Rng::new(5);
    let ints: ArrayRef = Arc::new(Int64Array::from_iter_values(keys.iter().map(|&key| key as i64)));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(keys.iter().map(|&key| text(key))));
    let doubles: ArrayRef =
        Arc::new(Float64Array::from_iter_values(keys.iter().map(|&key| key as f64 / 8.0)));
    let optional = generate::i64_random20(&mut rng, rows);
    Ok(RecordBatch60::try_from_iter_with_nullable([
        ("int", ints, false),
        ("string", texts, false),
        ("double", doubles, false),
        ("price", generate::f64_random(&mut rng, rows), false),
        ("time", generate::i64_timestamps(&mut rng, rows), false),
        ("optional", generate::with_nulls(&mut rng, &optional, 20)?, true),
        ("name", generate::strings_random(&mut rng, rows), false),
        ("mode", generate::strings_of_15(&mut rng, rows), false),
    ])?)
}

/// The table as the peer writes it: Snappy, pages of 20,000 rows, page indexes.
fn write(batch: &RecordBatch60) -> Result<Bytes> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))?;
    writer.write(batch)?;
    Ok(Bytes::from(writer.into_inner()?))
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch>>>;
type Batches60 = Box<dyn Iterator<Item = Result<RecordBatch60>>>;

type OurWay = fn(&Bytes, &SchemaRef, &Below) -> Result<Batches>;
type PeerWay = fn(&Bytes, &SchemaRef60, &Below) -> Result<Batches60>;

fn our_builder(file: &Bytes, schema: &SchemaRef) -> Result<ours::ParquetRecordBatchReaderBuilder<Bytes>> {
    let options = ours::ArrowReaderOptions::new().with_schema(schema.clone());
    let builder = ours::ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options)?;
    Ok(builder.with_batch_size(BATCH_SIZE))
}

fn our_predicate(file: &Bytes, schema: &SchemaRef, below: &Below) -> Result<Batches> {
    let reader = our_builder(file, schema)?.with_predicate(below.predicate()).build()?;
    Ok(Box::new(reader.map(|batch| Ok(batch?))))
}

fn our_closure(file: &Bytes, schema: &SchemaRef, below: &Below) -> Result<Batches> {
    let builder = our_builder(file, schema)?;
    let mask = ProjectionMask::columns(builder.parquet_schema(), [below.column()]);
    let below = below.clone();
    let test = ours::ArrowPredicateFn::new(mask, move |batch| Ok(below.test(&batch)));
    let reader = builder.with_row_filter(ours::RowFilter::new(vec![Box::new(test)])).build()?;
    Ok(Box::new(reader.map(|batch| Ok(batch?))))
}

fn our_scan(file: &Bytes, schema: &SchemaRef, below: &Below) -> Result<Batches> {
    let (reader, below) = (our_builder(file, schema)?.build()?, below.clone());
    Ok(Box::new(reader.map(move |batch| {
        let batch = batch?;
        Ok(arrow_select::filter::filter_record_batch(&batch, &below.test(&batch))?)
    })))
}

fn peer_builder(file: &Bytes, schema: &SchemaRef60) -> Result<peer::ParquetRecordBatchReaderBuilder<Bytes>> {
    let options = peer::ArrowReaderOptions::new()
        .with_schema(schema.clone())
        .with_page_index_policy(PageIndexPolicy::Optional);
    let builder = peer::ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options)?;
    Ok(builder.with_batch_size(BATCH_SIZE))
}

fn peer_closure(file: &Bytes, schema: &SchemaRef60, below: &Below) -> Result<Batches60> {
    let builder = peer_builder(file, schema)?;
    let mask = ProjectionMask60::columns(builder.parquet_schema(), [below.column()]);
    let below = below.clone();
    let test = peer::ArrowPredicateFn::new(mask, move |batch| Ok(below.test_60(&batch)));
    let reader = builder.with_row_filter(peer::RowFilter::new(vec![Box::new(test)])).build()?;
    Ok(Box::new(reader.map(|batch| Ok(batch?))))
}

fn peer_scan(file: &Bytes, schema: &SchemaRef60, below: &Below) -> Result<Batches60> {
    let (reader, below) = (peer_builder(file, schema)?.build()?, below.clone());
    Ok(Box::new(reader.map(move |batch| {
        let batch = batch?;
        Ok(arrow60_select::filter::filter_record_batch(&batch, &below.test_60(&batch))?)
    })))
}

/// Times in seconds, the best of all rounds.
struct Times {
    name: String,
    /// Predicate, closure, scan; the peer's closure and scan.
    best: [f64; 5],
}

impl Times {
    fn best_of_peer(&self) -> f64 {
        self.best[3].min(self.best[4])
    }
}

/// Measures, and prints a row for each selectivity, order and type.
pub(crate) fn run(options: &Options) -> Result<()> {
    let rows = options.rows;
    let sorted: Vec<usize> = (0..rows).collect();
    let mut shuffled = sorted.clone();
    let mut rng = Rng::new(77);
    for i in (1..rows).rev() {
        shuffled.swap(i, rng.below(i as u64 + 1) as usize);
    }
    let mut all = Vec::new();
    for (order, keys) in [("clustered", sorted), ("random", shuffled)] {
        let batch = table(rows, &keys)?;
        let file = write(&batch)?;
        if let Some(folder) = &options.write_to {
            fs::create_dir_all(folder)?;
            fs::write(folder.join(format!("{order}.parquet")), &file)?;
        }
        for part in SELECTIVITIES {
            for below in Below::all((rows as f64 * part).round() as usize) {
                let name = format!("{} {order} {part}", below.column());
                if name.contains(&options.filter) {
                    all.push(measure(name, &file, &batch.schema(), &below, options.rounds)?);
                }
            }
        }
    }
    print(&all, options.markdown);
    Ok(())
}

fn measure(name: String, file: &Bytes, schema: &SchemaRef60, below: &Below, rounds: u32) -> Result<Times> {
    let schema_59 = bridge::schema(schema)?;
    for batches in [our_predicate, our_closure, our_scan] {
        same_values::compare(batches(file, &schema_59, below)?, peer_closure(file, schema, below)?)
            .map_err(|error| format!("{name}: the rows differ: {error}"))?;
    }
    let ours = |open: OurWay| count(open(file, &schema_59, below)?, RecordBatch::num_rows).map(drop);
    let peer = |open: PeerWay| count(open(file, schema, below)?, RecordBatch60::num_rows).map(drop);
    let times = in_turn(
        rounds,
        [
            Some(&mut || ours(our_predicate)),
            Some(&mut || ours(our_closure)),
            Some(&mut || ours(our_scan)),
            Some(&mut || peer(peer_closure)),
            Some(&mut || peer(peer_scan)),
        ],
    )?;
    Ok(Times { name, best: times.map(|times| times.map_or(f64::NAN, |times| times.best)) })
}

fn print(all: &[Times], markdown: bool) {
    const HEAD: [&str; 8] = [
        "filter",
        "predicate ms",
        "closure ms",
        "scan ms",
        "peer RowFilter ms",
        "peer scan ms",
        "best of peer / predicate",
        "our scan / predicate",
    ];
    if markdown {
        println!("| {} |\n|---|{}", HEAD.join(" | "), "--:|".repeat(HEAD.len() - 1));
    } else {
        println!("{}", HEAD.join("  "));
    }
    for times in all {
        let mut cells = vec![times.name.clone()];
        cells.extend(times.best.iter().map(|seconds| format!("{:.2}", seconds * 1e3)));
        cells.push(format!("{:.2}", times.best_of_peer() / times.best[0]));
        cells.push(format!("{:.2}", times.best[2] / times.best[0]));
        let mut line = String::new();
        for (i, (cell, head)) in cells.iter().zip(HEAD).enumerate() {
            let _ = match (markdown, i) {
                (true, _) => write!(line, "| {cell} "),
                (false, 0) => write!(line, "{cell:<28}"),
                (false, _) => write!(line, "{cell:>width$}  ", width = head.len()),
            };
        }
        println!("{line}{}", if markdown { "|" } else { "" });
    }
}
