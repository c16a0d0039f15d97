//! The tables that are measured, each generated once and kept in a file.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::reader::FileReader;
use arrow60_array::RecordBatch as RecordBatch60;
use arrow60_ipc::reader::FileReader as FileReader60;
use arrow60_ipc::writer::FileWriter as FileWriter60;
use clap::Args;
use parquet::arrow::ArrowWriter;
use tpchgen::generators::{LineItemGenerator, OrderGenerator};
use tpchgen_arrow::{LineItemArrow, OrderArrow};

use crate::datasets::hits::Hits;
use crate::datasets::mixed::Mixed;
use crate::datasets::nested;
use crate::error::Result;
use crate::generate::Rng;
use crate::parquet_write;

/// Which tables, and where their files are.
#[derive(Args)]
pub(crate) struct Options {
    /// Where files are kept
    #[arg(long, value_name = "DIR", default_value = "target/bench-data/sizes")]
    pub(crate) dir: PathBuf,
    /// TPC-H scale factor: 1 is 6 million rows of lineitem, and 500,000 of the mixed table
    #[arg(long, default_value_t = 1.0)]
    sf: f64,
    /// Only the tables whose name contains NAME
    #[arg(long, value_name = "NAME", default_value = "")]
    filter: String,
}

/// A table in an Arrow IPC file.
pub(crate) struct Table {
    /// `lineitem-sf1`, say.
    pub(crate) name: String,
    path: PathBuf,
}

/// Rows in a batch.
const BATCH: usize = 65_536;
/// Columns of the wide table.
const WIDE: usize = 1_200;

/// The tables asked for, generated if their files are not there yet.
pub(crate) fn tables(options: &Options) -> Result<Vec<Table>> {
    let sf = options.sf;
    fs::create_dir_all(&options.dir)?;
    let mut tables = Vec::new();
    for kind in ["lineitem", "orders", "mixed"].into_iter().filter(|kind| kind.contains(&options.filter)) {
        let name = format!("{kind}-sf{sf}");
        let path = options.dir.join(&name).with_added_extension("arrow");
        if !path.exists() {
            eprintln!("writing {}", path.display());
            keep(&path, batches(kind, sf)?)?;
        }
        tables.push(Table { name, path });
    }
    Ok(tables)
}

/// The Parquet file of a table that the peer writes with its defaults and this codec, generated if it is not in `dir` yet.
pub(crate) fn parquet(dir: &Path, kind: &str, sf: f64, codec: &str) -> Result<PathBuf> {
    let path = dir.join(format!("{kind}-sf{sf}-{codec}.parquet"));
    if !path.exists() {
        eprintln!("writing {}", path.display());
        fs::create_dir_all(dir)?;
        let (schema, batches) = with_schema(batches(kind, sf)?)?;
        let unfinished = path.with_extension("unfinished");
        let properties = Some(parquet_write::defaults(codec)?);
        let mut writer = ArrowWriter::try_new(File::create(&unfinished)?, schema, properties)?;
        for batch in batches {
            writer.write(&batch?)?;
        }
        writer.close()?;
        // The file gets its name last, so an interrupted run leaves no half of one.
        fs::rename(unfinished, &path)?;
    }
    Ok(path)
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch60>>>;

/// The rows of a table: at scale factor 1 as many as in TPC-H, or as defined here.
fn batches(kind: &str, sf: f64) -> Result<Batches> {
    if !(sf > 0.0 && sf.is_finite()) {
        return Err("the scale factor must be greater than 0".into());
    }
    let in_batches = |rows: f64, mut batch: Box<dyn FnMut(usize) -> Result<RecordBatch60>>| -> Batches {
        let rows = (rows * sf).max(1.0) as usize;
        Box::new((0..rows).step_by(BATCH).map(move |first| batch(BATCH.min(rows - first))))
    };
    let (mut rng, mut mixed, mut hits) = (Rng::new(9), Mixed::new(), Hits::new());
    Ok(match kind {
        "lineitem" => {
            let rows = LineItemArrow::new(LineItemGenerator::new(sf, 1, 1)).with_batch_size(BATCH);
            Box::new(rows.map(|batch| Ok(batch?)))
        }
        "orders" => {
            let rows = OrderArrow::new(OrderGenerator::new(sf, 1, 1)).with_batch_size(BATCH);
            Box::new(rows.map(|batch| Ok(batch?)))
        }
        "mixed" => in_batches(500_000.0, Box::new(move |rows| mixed.batch(rows))),
        "hits" => in_batches(1_000_000.0, Box::new(move |rows| hits.batch(rows))),
        "nested" => in_batches(500_000.0, Box::new(move |rows| nested::nested(&mut rng, rows))),
        "embedding" => in_batches(40_000.0, Box::new(move |rows| nested::embeddings(&mut rng, rows))),
        "wide" => in_batches(10_000.0, Box::new(move |rows| nested::wide(&mut rng, rows, WIDE))),
        other => return Err(format!("no table {other}").into()),
    })
}

/// The schema of the first batch, and all batches.
fn with_schema(batches: Batches) -> Result<(arrow60_schema::SchemaRef, Batches)> {
    let mut batches = batches.peekable();
    match batches.peek() {
        Some(Ok(first)) => Ok((first.schema(), Box::new(batches))),
        Some(Err(error)) => Err(error.to_string().into()),
        None => Err("a table without rows".into()),
    }
}

/// The file gets its name last, so an interrupted run leaves no half of one.
fn keep(path: &Path, batches: Batches) -> Result<()> {
    let (schema, batches) = with_schema(batches)?;
    let unfinished = path.with_extension("unfinished");
    let mut writer = FileWriter60::try_new_buffered(File::create(&unfinished)?, &schema)?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    writer.finish()?;
    fs::rename(unfinished, path)?;
    Ok(())
}

impl Table {
    /// The batches for our side.
    pub(crate) fn ours(&self) -> Result<Vec<RecordBatch>> {
        let reader = FileReader::try_new_buffered(File::open(&self.path)?, None)?;
        Ok(reader.collect::<std::result::Result<_, _>>()?)
    }

    /// The batches for the peer.
    pub(crate) fn peer(&self) -> Result<Vec<RecordBatch60>> {
        let reader = FileReader60::try_new_buffered(File::open(&self.path)?, None)?;
        Ok(reader.collect::<std::result::Result<_, _>>()?)
    }
}
