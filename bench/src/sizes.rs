//! `sizes`: files of ours and of the peer, with the defaults of both, for `sizes.py` to compare with other writers'.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow60_array::RecordBatch as RecordBatch60;
use clap::Args;
use marquetry::arrow::ArrowWriter;
use marquetry::file::properties::WriterProperties;

use crate::{Result, peer_write, tables};

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    tables: tables::Options,
    /// The codecs
    #[arg(long, value_name = "CODEC", default_values = ["zstd", "snappy"])]
    codec: Vec<String>,
}

/// Writes `TABLE.arrow`, `TABLE.CODEC.marquetry.parquet` and `TABLE.CODEC.parquet-rs.parquet`.
pub(crate) fn run(options: &Options) -> Result<()> {
    for table in tables::tables(&options.tables)? {
        let (ours, peer) = (table.ours()?, table.peer()?);
        for codec in &options.codec {
            let path =
                |writer: &str| options.tables.dir.join(format!("{}.{codec}.{writer}.parquet", table.name));
            write_ours(&path("marquetry"), &ours, codec)?;
            write_peer(&path("parquet-rs"), &peer, codec)?;
            let [ours, peer] =
                [path("marquetry"), path("parquet-rs")].map(|path| Ok(fs::metadata(path)?.len()));
            let (ours, peer): (Result<u64>, Result<u64>) = (ours, peer);
            let (ours, peer) = (ours?, peer?);
            println!(
                "{} {codec}: ours {ours}, the peer {peer}, {:.4}",
                table.name,
                ours as f64 / peer as f64
            );
        }
    }
    Ok(())
}

fn write_ours(path: &Path, batches: &[RecordBatch], codec: &str) -> Result<()> {
    let Some(first) = batches.first() else { return Ok(()) };
    let properties = WriterProperties::builder().set_compression(codec.parse()?).build();
    let file = BufWriter::new(File::create(path)?);
    let mut writer = ArrowWriter::try_new(file, first.schema(), Some(properties))?;
    batches.iter().try_for_each(|batch| writer.write(batch))?;
    writer.close()?;
    Ok(())
}

fn write_peer(path: &Path, batches: &[RecordBatch60], codec: &str) -> Result<()> {
    let Some(first) = batches.first() else { return Ok(()) };
    let mut file = BufWriter::new(File::create(path)?);
    peer_write::write(batches, &first.schema(), &peer_write::defaults(codec)?, 1, &mut file)
}
