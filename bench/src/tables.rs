//! The tables of `sizes` and `codecs`, each kept as an Arrow IPC file that all writers are given.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::reader::FileReader;
use arrow60_array::RecordBatch as RecordBatch60;
use arrow60_ipc::reader::FileReader as FileReader60;
use arrow60_ipc::writer::FileWriter as FileWriter60;
use clap::Args;
use tpchgen::generators::{LineItemGenerator, OrderGenerator};
use tpchgen_arrow::{LineItemArrow, OrderArrow};

use crate::Result;
use crate::mixed::Mixed;

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
/// Rows of the mixed table at scale factor 1.
const MIXED_ROWS: f64 = 500_000.0;

/// The tables asked for, generated if their files are not there yet.
pub(crate) fn tables(options: &Options) -> Result<Vec<Table>> {
    let sf = options.sf;
    if !(sf > 0.0 && sf.is_finite()) {
        return Err("the scale factor must be greater than 0".into());
    }
    fs::create_dir_all(&options.dir)?;
    let mut tables = Vec::new();
    for kind in ["lineitem", "orders", "mixed"].into_iter().filter(|kind| kind.contains(&options.filter)) {
        let name = format!("{kind}-sf{sf}");
        let path = options.dir.join(&name).with_added_extension("arrow");
        if !path.exists() {
            eprintln!("writing {}", path.display());
            keep(&path, batches(kind, sf))?;
        }
        tables.push(Table { name, path });
    }
    Ok(tables)
}

fn batches(kind: &str, sf: f64) -> Box<dyn Iterator<Item = Result<RecordBatch60>>> {
    match kind {
        "lineitem" => {
            let rows = LineItemArrow::new(LineItemGenerator::new(sf, 1, 1)).with_batch_size(BATCH);
            Box::new(rows.map(|batch| Ok(batch?)))
        }
        "orders" => {
            let rows = OrderArrow::new(OrderGenerator::new(sf, 1, 1)).with_batch_size(BATCH);
            Box::new(rows.map(|batch| Ok(batch?)))
        }
        _ => {
            let (mut mixed, rows) = (Mixed::new(), (MIXED_ROWS * sf) as usize);
            Box::new((0..rows).step_by(BATCH).map(move |first| mixed.batch(BATCH.min(rows - first))))
        }
    }
}

/// The file gets its name last, so an interrupted run leaves no half of one.
fn keep(path: &Path, batches: impl Iterator<Item = Result<RecordBatch60>>) -> Result<()> {
    let mut batches = batches.peekable();
    let Some(Ok(first)) = batches.peek() else {
        return Err("a table without rows".into());
    };
    let unfinished = path.with_extension("unfinished");
    let mut writer = FileWriter60::try_new_buffered(File::create(&unfinished)?, &first.schema())?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    writer.finish()?;
    fs::rename(unfinished, path)?;
    Ok(())
}

impl Table {
    /// For our side.
    pub(crate) fn ours(&self) -> Result<Vec<RecordBatch>> {
        let reader = FileReader::try_new_buffered(File::open(&self.path)?, None)?;
        Ok(reader.collect::<std::result::Result<_, _>>()?)
    }

    /// The same for the peer.
    pub(crate) fn peer(&self) -> Result<Vec<RecordBatch60>> {
        let reader = FileReader60::try_new_buffered(File::open(&self.path)?, None)?;
        Ok(reader.collect::<std::result::Result<_, _>>()?)
    }
}
