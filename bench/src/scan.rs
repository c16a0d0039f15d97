//! `scan`: TPC-H lineitem, every column, from memory, on one thread.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use clap::Args;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use tpchgen::generators::LineItemGenerator;
use tpchgen_arrow::LineItemArrow;

use crate::race::{Row, race};
use crate::{Common, Result};

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: Common,
    /// TPC-H scale factor: 1 is 6 million rows
    #[arg(long, default_value_t = 1.0)]
    sf: f64,
    /// Where the generated files are kept for the next run
    #[arg(long, value_name = "DIR", default_value = "target/bench-data")]
    data_dir: PathBuf,
}

/// Rows that the writer gets at a time.
const WRITE_BATCH: usize = 65_536;

fn codecs() -> [(&'static str, Compression); 3] {
    [
        ("uncompressed", Compression::UNCOMPRESSED),
        ("snappy", Compression::SNAPPY),
        ("zstd", Compression::ZSTD(ZstdLevel::default())),
    ]
}

/// Measures each of the three files whose name the filter lets through.
pub(crate) fn run(options: &Options) -> Result<Vec<Row>> {
    if !(options.sf > 0.0 && options.sf.is_finite()) {
        return Err("the scale factor must be greater than 0".into());
    }
    let schema = LineItemArrow::schema_ref();
    let mut rows = Vec::new();
    for (codec, compression) in codecs() {
        let name = format!("lineitem_{codec}");
        if !name.contains(&options.common.filter) {
            continue;
        }
        let path = options.data_dir.join(format!("lineitem-sf{}-{codec}.parquet", options.sf));
        if !path.exists() {
            eprintln!("writing {}", path.display());
            fs::create_dir_all(&options.data_dir)?;
            write(&path, compression, options.sf)?;
        }
        let file = Bytes::from(fs::read(&path)?);
        let title = format!("lineitem SF{} {codec}, {} MB", options.sf, file.len() / 1_000_000);
        rows.push(race(&name, &title, &file, &schema, options.common.rounds)?);
    }
    Ok(rows)
}

/// Writes lineitem with the peer's defaults. The file gets its name last, so an interrupted run leaves no half of one.
fn write(path: &Path, compression: Compression, scale: f64) -> Result<()> {
    let batches = LineItemArrow::new(LineItemGenerator::new(scale, 1, 1)).with_batch_size(WRITE_BATCH);
    let properties = WriterProperties::builder().set_compression(compression).build();
    let unfinished = path.with_extension("unfinished");
    let schema = LineItemArrow::schema_ref();
    let mut writer = ArrowWriter::try_new(File::create(&unfinished)?, schema, Some(properties))?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    writer.close()?;
    fs::rename(unfinished, path)?;
    Ok(())
}
