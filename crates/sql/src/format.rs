//! Rows as a table, CSV, JSON Lines, Arrow or Parquet.

use crate::args::Format;
use crate::table;
use datafusion::arrow::csv;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::ipc;
use datafusion::arrow::json;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::dataframe::DataFrame;
use datafusion::datasource::file_format::format_as_file_type;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::LogicalPlanBuilder;
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use marquetry_core::io::AtomicFile;
use std::collections::HashMap;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::Path;

/// Gives rows to standard output as they come.
pub(crate) async fn to_stdout(frame: DataFrame, format: Format) -> Result<()> {
    let stdout = std::io::stdout();
    if stdout.is_terminal() && format == Format::Arrow {
        return Err(DataFusionError::Plan("Arrow is no text: say by --output where it is to go".to_owned()));
    }
    // A terminal takes orders from what it shows.
    match stdout.is_terminal() && format == Format::Csv {
        true => write(frame, format, &mut Harmless(stdout)).await,
        false => write(frame, format, &mut BufWriter::new(stdout)).await,
    }
}

/// Gives rows to a file, which is there once it is whole.
pub(crate) async fn to_file(frame: DataFrame, format: Format, path: &Path) -> Result<()> {
    let external = |error: marquetry_base::Error| DataFusionError::External(Box::new(error));
    let mut file = AtomicFile::create(path).map_err(external)?;
    write(frame, format, &mut file).await?;
    file.finish().map_err(external)
}

/// Writes rows to a Parquet file, which is there once it is whole.
pub(crate) async fn parquet(ctx: &SessionContext, frame: DataFrame, path: &Path) -> Result<()> {
    let factory = ctx.state().get_file_format_factory("parquet");
    let factory = factory.ok_or_else(|| DataFusionError::Plan("the session has no Parquet".to_owned()))?;
    // One file, whatever its name ends with.
    let options = HashMap::from([("single_file_output".to_owned(), "true".to_owned())]);
    let path = std::path::absolute(path)?.display().to_string();
    let (_, plan) = frame.into_parts();
    let copy = LogicalPlanBuilder::copy_to(plan, path, format_as_file_type(factory), options, Vec::new())?;
    ctx.execute_logical_plan(copy.build()?).await?.collect().await.map(drop)
}

async fn write(frame: DataFrame, format: Format, out: &mut impl Write) -> Result<()> {
    let mut batches = frame.execute_stream().await?;
    let schema = batches.schema();
    if format == Format::Table {
        let mut rows = Vec::new();
        while let Some(batch) = batches.next().await {
            rows.push(batch?);
        }
        writeln!(out, "{}", table::shown(&schema, &rows)?)?;
        return Ok(out.flush()?);
    }
    let mut writer = Writer::new(format, &schema, out)?;
    while let Some(batch) = batches.next().await {
        writer.batch(&batch?)?;
    }
    writer.end()
}

/// What is written batch by batch.
enum Writer<'a, W: Write> {
    Csv(Box<csv::Writer<&'a mut W>>),
    Jsonl(json::LineDelimitedWriter<&'a mut W>),
    Arrow(Box<ipc::writer::FileWriter<&'a mut W>>),
}

impl<'a, W: Write> Writer<'a, W> {
    fn new(format: Format, schema: &SchemaRef, out: &'a mut W) -> Result<Self> {
        Ok(match format {
            Format::Csv => {
                let mut writer = csv::WriterBuilder::new().with_header(true).build(out);
                // The header is there, whatever the rows.
                writer.write(&RecordBatch::new_empty(schema.clone()))?;
                Writer::Csv(Box::new(writer))
            }
            Format::Jsonl => Writer::Jsonl(json::LineDelimitedWriter::new(out)),
            _ => Writer::Arrow(Box::new(ipc::writer::FileWriter::try_new(out, schema)?)),
        })
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Writer::Csv(writer) => Ok(writer.write(batch)?),
            Writer::Jsonl(writer) => Ok(writer.write(batch)?),
            Writer::Arrow(writer) => Ok(writer.write(batch)?),
        }
    }

    fn end(self) -> Result<()> {
        match self {
            Writer::Csv(writer) => Ok(writer.into_inner().flush()?),
            Writer::Jsonl(mut writer) => {
                writer.finish()?;
                Ok(writer.into_inner().flush()?)
            }
            Writer::Arrow(mut writer) => {
                writer.finish()?;
                Ok(writer.get_mut().flush()?)
            }
        }
    }
}

/// Text for a terminal, without what steers it.
struct Harmless<W>(W);

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write_all(table::harmless(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}
