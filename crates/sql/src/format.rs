//! Output formats: a table, CSV, JSON Lines, Arrow or Parquet.

use crate::args::Format;
use crate::file_url::with_exact_targets;
use crate::table;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use datafusion::arrow::ipc;
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::dataframe::DataFrame;
use datafusion::datasource::file_format::format_as_file_type;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::LogicalPlanBuilder;
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use marquetry_core::io::AtomicFile;
use marquetry_text::format as text;
use std::collections::HashMap;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;

/// Writes rows to standard output as they arrive, until it is closed. Returns whether it is still open.
pub(crate) async fn to_stdout(frame: DataFrame, format: Format) -> Result<bool> {
    let stdout = std::io::stdout();
    let is_terminal = stdout.is_terminal();
    if is_terminal && format == Format::Arrow {
        return Err(DataFusionError::Plan("Arrow is a binary format: give a file with --output".to_owned()));
    }
    let mut pipe = Pipe { out: stdout, is_closed: false };
    // Control characters would steer a terminal.
    let written = match is_terminal && format == Format::Csv {
        true => write(frame, format, &mut Harmless(&mut pipe)).await,
        false => write(frame, format, &mut BufWriter::new(&mut pipe)).await,
    };
    if pipe.is_closed { Ok(false) } else { written.map(|()| true) }
}

/// Writes rows to a file, which appears once it is complete.
pub(crate) async fn to_file(frame: DataFrame, format: Format, path: &Path, overwrite: bool) -> Result<()> {
    let create = if overwrite { AtomicFile::create } else { AtomicFile::create_new };
    let mut file = create(path).map_err(external)?;
    write(frame, format, &mut file).await?;
    file.finish().map_err(external)
}

/// Writes rows to a Parquet file, which appears once it is complete.
pub(crate) async fn parquet(ctx: &SessionContext, frame: DataFrame, path: &Path) -> Result<()> {
    let factory = ctx.state().get_file_format_factory("parquet");
    let factory = factory.ok_or_else(|| DataFusionError::Plan("the session has no Parquet".to_owned()))?;
    // One file, whatever the extension of its name.
    let options = HashMap::from([("single_file_output".to_owned(), "true".to_owned())]);
    let path = std::path::absolute(path)?.display().to_string();
    let (_, plan) = frame.into_parts();
    let copy = LogicalPlanBuilder::copy_to(plan, path, format_as_file_type(factory), options, Vec::new())?;
    ctx.execute_logical_plan(with_exact_targets(copy.build()?)?).await?.collect().await.map(drop)
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

/// Appends the rows of a batch to a text.
type Lines = fn(&RecordBatch, &mut String) -> marquetry_base::Result<()>;

/// A writer of batches.
enum Writer<'a, W: Write> {
    Lines(&'a mut W, Lines),
    /// With the schema of the file.
    Arrow(Box<ipc::writer::FileWriter<&'a mut W>>, SchemaRef),
}

impl<'a, W: Write> Writer<'a, W> {
    fn new(format: Format, schema: &SchemaRef, out: &'a mut W) -> Result<Self> {
        Ok(match format {
            Format::Csv => {
                let mut header = String::new();
                text::csv::write_header(schema, &mut header);
                out.write_all(header.as_bytes())?;
                Writer::Lines(out, text::csv::write_lines)
            }
            Format::Jsonl => Writer::Lines(out, text::json::write_lines),
            _ => {
                let schema = Arc::new(Schema::new_with_metadata(
                    without_dictionaries(schema.fields()),
                    schema.metadata().clone(),
                ));
                Writer::Arrow(Box::new(ipc::writer::FileWriter::try_new(out, &schema)?), schema)
            }
        })
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Writer::Lines(out, lines) => {
                let mut text = String::new();
                lines(batch, &mut text).map_err(external)?;
                Ok(out.write_all(text.as_bytes())?)
            }
            Writer::Arrow(writer, schema) => {
                let columns = batch.columns().iter().zip(schema.fields());
                let columns = columns.map(|(column, field)| Ok(cast(column, field.data_type())?));
                let columns = columns.collect::<Result<Vec<_>>>()?;
                let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
                let batch = RecordBatch::try_new_with_options(schema.clone(), columns, &options)?;
                Ok(writer.write(&batch)?)
            }
        }
    }

    fn end(self) -> Result<()> {
        match self {
            Writer::Lines(out, _) => Ok(out.flush()?),
            Writer::Arrow(mut writer, _) => {
                writer.finish()?;
                Ok(writer.get_mut().flush()?)
            }
        }
    }
}

/// The fields with values in place of dictionaries: those of two batches differ, and an Arrow file has one for each column.
fn without_dictionaries(fields: &Fields) -> Fields {
    fields.iter().map(below).collect()
}

fn below(field: &FieldRef) -> FieldRef {
    Arc::new(Field::clone(field).with_data_type(without_dictionary(field.data_type())))
}

/// The type with values in place of dictionaries.
pub(crate) fn without_dictionary(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Dictionary(_, values) => without_dictionary(values),
        DataType::Struct(fields) => DataType::Struct(without_dictionaries(fields)),
        DataType::List(element) => DataType::List(below(element)),
        DataType::LargeList(element) => DataType::LargeList(below(element)),
        DataType::FixedSizeList(element, len) => DataType::FixedSizeList(below(element), *len),
        DataType::Map(entries, sorted) => DataType::Map(below(entries), *sorted),
        other => other.clone(),
    }
}

fn external(error: marquetry_base::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// An output that remembers whether its reader has gone: not all errors of writers tell their cause.
struct Pipe<W> {
    out: W,
    is_closed: bool,
}

impl<W> Pipe<W> {
    fn noted<T>(&mut self, result: std::io::Result<T>) -> std::io::Result<T> {
        self.is_closed |= result.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe);
        result
    }
}

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.out.write(bytes);
        self.noted(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let flushed = self.out.flush();
        self.noted(flushed)
    }
}

/// Output to a terminal, without control characters that steer it.
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
