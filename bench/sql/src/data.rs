//! The files that are queried: TPC-H, written by neither of the engines' formats but by the crate `parquet` with its defaults.

use crate::error::Result;
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use tpchgen::generators::*;
use tpchgen_arrow::*;

/// Rows of a batch that is generated.
const BATCH: usize = 8192;

/// The tables of TPC-H, by name: their files in `folder`, generated if they are not there yet.
pub(crate) fn tpch(folder: &Path, sf: f64) -> Result<Vec<(&'static str, PathBuf)>> {
    fs::create_dir_all(folder)?;
    let mut tables = Vec::new();
    for (name, batches) in generators(sf) {
        let path = folder.join(format!("tpch-{name}-sf{sf}-snappy.parquet"));
        if !path.exists() {
            eprintln!("writing {}", path.display());
            write(&path, batches)?;
        }
        tables.push((name, path));
    }
    Ok(tables)
}

type Batches = Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>>>;

fn generators(sf: f64) -> [(&'static str, Batches); 8] {
    [
        ("nation", Box::new(NationArrow::new(NationGenerator::new(sf, 1, 1)).with_batch_size(BATCH))),
        ("region", Box::new(RegionArrow::new(RegionGenerator::new(sf, 1, 1)).with_batch_size(BATCH))),
        ("part", Box::new(PartArrow::new(PartGenerator::new(sf, 1, 1)).with_batch_size(BATCH))),
        ("supplier", Box::new(SupplierArrow::new(SupplierGenerator::new(sf, 1, 1)).with_batch_size(BATCH))),
        ("customer", Box::new(CustomerArrow::new(CustomerGenerator::new(sf, 1, 1)).with_batch_size(BATCH))),
        ("partsupp", Box::new(PartSuppArrow::new(PartSuppGenerator::new(sf, 1, 1)).with_batch_size(BATCH))),
        ("orders", Box::new(OrderArrow::new(OrderGenerator::new(sf, 1, 1)).with_batch_size(BATCH))),
        ("lineitem", Box::new(LineItemArrow::new(LineItemGenerator::new(sf, 1, 1)).with_batch_size(BATCH))),
    ]
}

fn write(path: &Path, batches: Batches) -> Result<()> {
    let mut batches = batches.peekable();
    let schema = match batches.peek() {
        Some(Ok(first)) => first.schema(),
        Some(Err(error)) => return Err(error.to_string().into()),
        None => return Err("a table without rows".into()),
    };
    let unfinished = path.with_extension("unfinished");
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = ArrowWriter::try_new(File::create(&unfinished)?, schema, Some(properties))?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    writer.close()?;
    // The file gets its name last, so an interrupted run leaves no half of one.
    fs::rename(unfinished, path)?;
    Ok(())
}
