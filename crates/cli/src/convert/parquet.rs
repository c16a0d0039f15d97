//! The writer of Parquet.

use super::destination::Destination;
use super::report::{Before, SizeReport};
use crate::failure::Failure;
use crate::leaf_sizes;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, SchemaRef};
use marquetry::OpenFile;
use marquetry::arrow::ArrowWriter;
use marquetry::errors::{Error, ErrorKind};
use marquetry_core::write::WriterProperties;
use std::io;

/// Writes batches to a [`Destination`] as Parquet.
pub(crate) struct ParquetSink<'a, 'b> {
    writer: ArrowWriter<&'a mut Destination<'b>>,
    /// Whether checkpoints were asked for, and their cost is told.
    has_checkpoints: bool,
    /// The Parquet file whose rows these are, if all of them are.
    source: Option<OpenFile>,
    /// Bytes of each column in memory.
    bytes: Vec<u64>,
}

impl<'a, 'b> ParquetSink<'a, 'b> {
    /// Begins the file.
    pub(super) fn new(
        destination: &'a mut Destination<'b>,
        schema: &SchemaRef,
        properties: WriterProperties,
        source: Option<OpenFile>,
    ) -> Result<Self, Failure> {
        let has_checkpoints = properties.checkpoint_every().is_some();
        let writer =
            ArrowWriter::try_new_durable(destination, schema.clone(), Some(properties)).map_err(|error| {
                // Settings that do not fit columns are the caller's; a type that Parquet has not is the input's.
                match error.kind() {
                    ErrorKind::Argument => Failure::Usage(told(&error)),
                    ErrorKind::Unsupported if schema.fields().iter().any(|field| has_empty_struct(field)) => {
                        let told = told(&error);
                        Failure::Check(format!(
                            "{told}; of JSON, --mixed text keeps objects without members as text"
                        ))
                    }
                    _ => failure(error),
                }
            })?;
        let columns = schema.fields().iter().map(|field| leaf_sizes::count(field.data_type())).sum();
        Ok(ParquetSink { writer, has_checkpoints, source, bytes: vec![0; columns] })
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        if self.source.is_none() {
            leaf_sizes::add_bytes(batch, &mut self.bytes);
        }
        self.writer.write(batch).map_err(failure)
    }

    /// Writes the footer.
    pub(super) fn finish(mut self) -> Result<SizeReport, Failure> {
        let metadata = self.writer.finish().map_err(failure)?;
        let reasons = self.writer.choices().iter().map(|choice| choice.reason.to_owned()).collect();
        let before = match &self.source {
            Some(source) => Before::of_file(source.metadata()),
            None => Before::InMemory(self.bytes),
        };
        let report = SizeReport::new(&metadata, before, reasons)?.with_metrics(self.writer.metrics());
        Ok(match self.has_checkpoints {
            true => report.with_checkpoints(self.writer.checkpoint_cost()),
            false => report,
        })
    }
}

/// The writer's error: values or types that Parquet cannot have, or the output cannot be written.
fn failure(error: Error) -> Failure {
    if error.kind() == ErrorKind::Argument || error.kind() == ErrorKind::Unsupported {
        return Failure::Check(told(&error));
    }
    let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<io::Error>());
    match source.map(io::Error::kind) {
        Some(io::ErrorKind::BrokenPipe) => Failure::ClosedPipe,
        _ => Failure::Write(io::Error::other(error)),
    }
}

/// The message, and the option that helps, which the library does not know.
fn told(error: &Error) -> String {
    let message = error.message();
    let column = error.place().column.as_ref().map(|column| format!(", in column {column}"));
    let hint = match message {
        text if text.contains("no whole day") => "; --date64 int64 stores it in milliseconds",
        _ => "",
    };
    format!("{message}{}{hint}", column.unwrap_or_default())
}

/// Whether a field is a struct without fields, at any depth.
fn has_empty_struct(field: &Field) -> bool {
    match field.data_type() {
        DataType::Struct(fields) => fields.is_empty() || fields.iter().any(|field| has_empty_struct(field)),
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::ListView(element)
        | DataType::LargeListView(element)
        | DataType::FixedSizeList(element, _)
        | DataType::Map(element, _) => has_empty_struct(element),
        _ => false,
    }
}
