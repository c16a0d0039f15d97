//! `sizes`: files of ours and of the peer, with the defaults of both, for `sizes.py` to compare with other writers'.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use crate::error::Result;
use crate::{parquet_write, tables};
use arrow_array::RecordBatch;
use arrow60_array::RecordBatch as RecordBatch60;
use clap::Args;
use marquetry::arrow::ArrowWriter;
use marquetry::file::properties::{Compat, WriterProperties};
use marquetry::schema::types::ColumnPath;

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
    /// With --try-as: all encodings of the format
    #[arg(long, requires = "try_as")]
    latest: bool,
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

/// Writes `TABLE.arrow`, and `TABLE.CODEC.WRITER.parquet` for the writers `marquetry`, `marquetry-latest` and
/// `parquet-rs`.
pub(crate) fn run(options: &Options) -> Result<()> {
    for table in tables::tables(&options.tables)? {
        let ours = table.ours()?;
        let peer = if options.try_as.is_none() { table.peer()? } else { Vec::new() };
        for codec in &options.codec {
            let path = |name: &str| options.tables.dir.join(format!("{}.{codec}.{name}.parquet", table.name));
            if let Some(name) = &options.try_as {
                let compat = if options.latest { Compat::Latest } else { Compat::default() };
                write_ours(&path(name), &ours, properties(options, codec, compat)?)?;
                continue;
            }
            write_ours(&path("marquetry"), &ours, properties(options, codec, Compat::default())?)?;
            write_ours(&path("marquetry-latest"), &ours, properties(options, codec, Compat::Latest)?)?;
            write_peer(&path("parquet-rs"), &peer, codec)?;
        }
    }
    Ok(())
}

/// Our defaults with this codec, except for requested options.
fn properties(options: &Options, codec: &str, compat: Compat) -> Result<WriterProperties> {
    let mut builder = WriterProperties::builder().set_compression(codec.parse()?).set_compat(compat);
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
    said(path)
}

fn write_peer(path: &Path, batches: &[RecordBatch60], codec: &str) -> Result<()> {
    let Some(first) = batches.first() else { return Ok(()) };
    let mut file = BufWriter::new(File::create(path)?);
    parquet_write::write(batches, &first.schema(), &parquet_write::defaults(codec)?, 1, &mut file)?;
    drop(file);
    said(path)
}

/// Prints the size of a file.
fn said(path: &Path) -> Result<()> {
    println!("{}: {}", path.display(), fs::metadata(path)?.len());
    Ok(())
}
