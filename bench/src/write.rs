//! `write`: Arrow batches to Parquet, both sides in turn.
//!
//! Single columns are written with the encoding that their name says, uncompressed, on one thread. TPC-H lineitem is
//! written with each side's defaults and the codec that the name says, on one thread and on two. Each side keeps its
//! defaults for all else: ours has checksums and size statistics in it, the peer's has not.
//!
//! Before the timing both sides write a file each, which both readers must read as what was written.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow60_array::{ArrayRef as ArrayRef60, RecordBatch as RecordBatch60};
use arrow60_schema::SchemaRef as SchemaRef60;
use bytes::Bytes;
use clap::Args;
use marquetry::arrow::ArrowWriter;
use marquetry::basic;
use marquetry::file::properties::WriterProperties;
use parquet::basic::{Encoding, PageType};
use tpchgen::generators::LineItemGenerator;
use tpchgen_arrow::LineItemArrow;

use crate::columns::{COLUMNS, Column, DICTIONARY_LIMIT};
use crate::common::Common;
use crate::compare_readers::compare_writers;
use crate::error::Result;
use crate::generate::{Rng, with_nulls};
use crate::row::{BATCH_SIZE, Row};
use crate::sink::{Sink, Writing};
use crate::{bridge, marquetry_side, parquet_side, parquet_write, same_values};

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Numbers in a column; strings are half as many, lists an eighth
    #[arg(long, value_name = "N", default_value_t = 4_000_000, value_parser = clap::value_parser!(u32).range(8..))]
    pub(crate) values: u32,
    /// TPC-H scale factor of lineitem: 1 is 6 million rows, some 2 GB of memory
    #[arg(long, default_value_t = 1.0)]
    pub(crate) sf: f64,
}

/// The input of both sides.
pub(crate) struct Input {
    pub(crate) ours: Vec<RecordBatch>,
    pub(crate) peer: Vec<RecordBatch60>,
    pub(crate) schema: SchemaRef60,
}

/// Measures everything that matches the filter.
pub(crate) fn run(options: &Options) -> Result<Vec<Row>> {
    let wanted = |name: &str| name.contains(&options.common.filter);
    let mut seen = Vec::new();
    let mut rows = Vec::new();
    for column in COLUMNS {
        // Columns that differ only in how they are read are written alike.
        let key = (column.make as usize, column.null_percent, column.encoding);
        if wanted(column.name) && !seen.contains(&key) {
            seen.push(key);
            rows.push(measure_column(column, options)?);
        }
    }
    let tables: Vec<_> = lineitem_rows().into_iter().filter(|(name, ..)| wanted(name)).collect();
    if tables.is_empty() {
        return Ok(rows);
    }
    let input = lineitem(options.sf)?;
    for (name, codec, threads) in tables {
        let title = format!(
            "lineitem SF{}, {codec}, {threads} thread{}",
            options.sf,
            if threads > 1 { "s" } else { "" }
        );
        let ours = WriterProperties::builder().set_compression(codec.parse()?).set_threads(threads).build();
        let peer = parquet_write::defaults(codec)?;
        let how = How { ours, peer, encoding: None, threads, rounds: options.common.rounds };
        rows.push(measure(&name, &title, &input, &how)?);
    }
    Ok(rows)
}

/// The rows of lineitem: name, codec, threads.
pub(crate) fn lineitem_rows() -> Vec<(String, &'static str, usize)> {
    let codecs = ["uncompressed", "snappy", "zstd"];
    let rows = codecs.iter().flat_map(|codec| [1, 2].map(|threads| (*codec, threads)));
    rows.map(|(codec, threads)| (format!("lineitem_{codec}_{threads}t"), codec, threads)).collect()
}

fn measure_column(column: &Column, options: &Options) -> Result<Row> {
    let mut rng = Rng::new(1);
    let array = (column.make)(&mut rng, options.values as usize / column.share);
    let array = with_nulls(&mut rng, &array, column.null_percent)?;
    let schema = column.schema(array.data_type().clone());
    let input = Input::new(schema, vec![vec![array]])?;
    let encoding: basic::Encoding = column.encoding.to_string().parse()?;
    let builder = WriterProperties::builder().set_compression(basic::Compression::UNCOMPRESSED);
    let builder = match encoding {
        basic::Encoding::RLE_DICTIONARY => {
            builder.set_dictionary_enabled(true).set_dictionary_page_size_limit(DICTIONARY_LIMIT)
        }
        _ => builder.set_dictionary_enabled(false),
    };
    let ours = builder.set_encoding(encoding).build();
    let peer = parquet_write::with_encoding(column.encoding);
    let encoding = Some(column.encoding);
    let how = How { ours, peer, encoding, threads: 1, rounds: options.common.rounds };
    measure(column.name, column.title, &input, &how)
}

/// How both sides write.
struct How {
    ours: WriterProperties,
    peer: parquet_write::Properties,
    /// The encoding that all pages of both must have, if one was set.
    encoding: Option<Encoding>,
    threads: usize,
    rounds: u32,
}

fn measure(name: &str, title: &str, input: &Input, how: &How) -> Result<Row> {
    let ours = |sink: &mut dyn Sink| write_ours(input, &how.ours, sink);
    let peer =
        |sink: &mut dyn Sink| parquet_write::write(&input.peer, &input.schema, &how.peer, how.threads, sink);
    let written: [(&str, Writing<'_>); 2] = [("our file", &ours), ("the peer's file", &peer)];
    for (whose, write) in written {
        let mut file = Vec::new();
        write(&mut file)?;
        check(&Bytes::from(file), input, how.encoding)
            .map_err(|error| format!("{name}: {whose}: {error}"))?;
    }
    compare_writers(name, title, &input.ours, &ours, &peer, how.rounds)
}

/// Both readers must find in the file what was written.
fn check(file: &Bytes, input: &Input, encoding: Option<Encoding>) -> Result<()> {
    if let Some(encoding) = encoding {
        parquet_side::check_encoding(file, encoding, PageType::DATA_PAGE)?;
    }
    let read = parquet_side::open(file.clone(), Some(&input.schema), BATCH_SIZE)?;
    same_values::compare(input.ours.iter().cloned().map(Ok), read)
        .map_err(|error| format!("written, and read by the peer: {error}"))?;
    let schema = bridge::schema(&input.schema)?;
    let read = marquetry_side::open(file.clone(), Some(&schema), BATCH_SIZE, 1)?;
    same_values::compare(read, input.peer.iter().cloned().map(Ok))
        .map_err(|error| format!("read by ours, and written: {error}"))?;
    Ok(())
}

fn write_ours(input: &Input, properties: &WriterProperties, sink: &mut dyn Sink) -> Result<()> {
    let schema = bridge::schema(&input.schema)?;
    let mut writer = ArrowWriter::try_new(sink, schema, Some(properties.clone()))?;
    for batch in &input.ours {
        writer.write(batch)?;
    }
    writer.close()?;
    Ok(())
}

impl Input {
    fn new(schema: SchemaRef60, batches: Vec<Vec<ArrayRef60>>) -> Result<Input> {
        let mut input = Input { ours: Vec::new(), peer: Vec::new(), schema };
        for arrays in batches {
            let batch = RecordBatch60::try_new(Arc::clone(&input.schema), arrays)?;
            input.ours.push(bridge::batch_59(&batch)?);
            input.peer.push(batch);
        }
        Ok(input)
    }
}

/// The rows of lineitem for our side.
pub(crate) fn lineitem_batches(scale: f64) -> Result<Vec<RecordBatch>> {
    Ok(lineitem(scale)?.ours)
}

/// The rows of lineitem for both sides.
pub(crate) fn lineitem(scale: f64) -> Result<Input> {
    let batches = LineItemArrow::new(LineItemGenerator::new(scale, 1, 1)).with_batch_size(WRITE_BATCH);
    let arrays = batches.map(|batch| Ok(batch?.columns().to_vec())).collect::<Result<_>>()?;
    Input::new(LineItemArrow::schema_ref(), arrays)
}

/// Rows that a writer gets at a time.
const WRITE_BATCH: usize = 65_536;

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything is written by both sides, and the peer reads our files.
    #[test]
    fn small_inputs() {
        let common = Common { json: false, markdown: false, filter: String::new(), rounds: 1 };
        let rows = run(&Options { common, values: 80_000, sf: 0.005 }).unwrap();
        assert!(rows.len() > 25);
        assert!(rows.iter().all(|row| row.ours.is_some() && row.sizes.is_some()));
    }
}
