//! `sizes`: files of ours and of the peer, with the defaults of both, for `sizes.py` to compare with other writers'.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow60_array::RecordBatch as RecordBatch60;
use clap::Args;
use marquetry::arrow::ArrowWriter;
use marquetry::file::properties::WriterProperties;
use marquetry::schema::types::ColumnPath;

use crate::{Result, peer_write, tables};

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    tables: tables::Options,
    /// The codecs
    #[arg(long, value_name = "CODEC", default_values = ["zstd", "snappy"])]
    codec: Vec<String>,
    /// Only our files, under this name instead of `marquetry`: to try other settings
    #[arg(long, value_name = "NAME")]
    try_as: Option<String>,
    /// Bytes of a dictionary page at most, in our files
    #[arg(long, value_name = "N")]
    dictionary_bytes: Option<usize>,
    /// Rows of a page at most, in our files
    #[arg(long, value_name = "N")]
    page_rows: Option<usize>,
    /// The encoding of a column in our files
    #[arg(long, value_name = "COLUMN=NAME")]
    encoding: Vec<String>,
}

/// Writes `TABLE.arrow`, `TABLE.CODEC.marquetry.parquet` and `TABLE.CODEC.parquet-rs.parquet`.
pub(crate) fn run(options: &Options) -> Result<()> {
    for table in tables::tables(&options.tables)? {
        let ours = table.ours()?;
        let peer = if options.try_as.is_none() { table.peer()? } else { Vec::new() };
        for codec in &options.codec {
            let path = |name: &str| options.tables.dir.join(format!("{}.{codec}.{name}.parquet", table.name));
            let our_path = path(options.try_as.as_deref().unwrap_or("marquetry"));
            write_ours(&our_path, &ours, properties(options, codec)?)?;
            println!("{}: {}", our_path.display(), fs::metadata(&our_path)?.len());
            if options.try_as.is_none() {
                let peer_path = path("parquet-rs");
                write_peer(&peer_path, &peer, codec)?;
                println!("{}: {}", peer_path.display(), fs::metadata(&peer_path)?.len());
            }
        }
    }
    Ok(())
}

/// Our defaults with this codec, but for what is asked for.
fn properties(options: &Options, codec: &str) -> Result<WriterProperties> {
    let mut builder = WriterProperties::builder().set_compression(codec.parse()?);
    if let Some(bytes) = options.dictionary_bytes {
        builder = builder.set_dictionary_page_size_limit(bytes);
    }
    if let Some(rows) = options.page_rows {
        builder = builder.set_data_page_row_count_limit(rows);
    }
    for setting in &options.encoding {
        let (column, encoding) = setting.split_once('=').ok_or("an encoding is COLUMN=NAME")?;
        let column = ColumnPath::from(column);
        builder = builder
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, encoding.parse()?);
    }
    Ok(builder.build())
}

fn write_ours(path: &Path, batches: &[RecordBatch], properties: WriterProperties) -> Result<()> {
    let Some(first) = batches.first() else { return Ok(()) };
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
