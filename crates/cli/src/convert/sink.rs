//! Writers of batches.

use super::compact::compact;
use super::destination::Destination;
use super::parquet::ParquetSink;
use super::report::SizeReport;
use crate::args::Target;
use crate::failure::Failure;
use crate::rows;
use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::SchemaRef;
use marquetry::OpenFile;
use marquetry_core::write::WriterProperties;
use std::io::Write;

/// Writes batches to a [`Destination`] in one of the formats.
pub(crate) enum Sink<'a, 'b> {
    Parquet(Box<ParquetSink<'a, 'b>>),
    ArrowFile(FileWriter<&'a mut Destination<'b>>),
    ArrowStream(StreamWriter<&'a mut Destination<'b>>),
    Csv(Lines<'a, 'b>),
    Jsonl(Lines<'a, 'b>),
}

/// Lines of text, those of a batch collected before they are written.
pub(crate) struct Lines<'a, 'b> {
    destination: &'a mut Destination<'b>,
    text: String,
}

impl<'a, 'b> Sink<'a, 'b> {
    /// A writer of Parquet. `source` is the Parquet file whose rows these are, if all of them are.
    pub(crate) fn parquet(
        destination: &'a mut Destination<'b>,
        schema: &SchemaRef,
        properties: WriterProperties,
        source: Option<OpenFile>,
    ) -> Result<Self, Failure> {
        Ok(Sink::Parquet(Box::new(ParquetSink::new(destination, schema, properties, source)?)))
    }

    /// A writer of `target`, which is not Parquet; begins with what comes before the rows.
    pub(crate) fn new(
        target: Target,
        to_stdout: bool,
        destination: &'a mut Destination<'b>,
        schema: &SchemaRef,
    ) -> Result<Self, Failure> {
        Ok(match (target, to_stdout) {
            (Target::Parquet, _) => return Sink::parquet(destination, schema, WriterProperties::new(), None),
            (Target::Arrow, false) => Sink::ArrowFile(FileWriter::try_new(destination, schema)?),
            (Target::Arrow, true) => Sink::ArrowStream(StreamWriter::try_new(destination, schema)?),
            (Target::Jsonl, _) => Sink::Jsonl(Lines { destination, text: String::new() }),
            (Target::Csv, _) => {
                let mut lines = Lines { destination, text: String::new() };
                rows::csv::write_header(schema, &mut lines.text);
                lines.pass_on()?;
                Sink::Csv(lines)
            }
        })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        match self {
            Sink::Parquet(sink) => sink.write(batch),
            Sink::ArrowFile(writer) => Ok(writer.write(&compact(batch)?)?),
            Sink::ArrowStream(writer) => Ok(writer.write(&compact(batch)?)?),
            Sink::Csv(lines) => lines.write(batch, rows::csv::write_row),
            Sink::Jsonl(lines) => lines.write(batch, rows::json::write_row),
        }
    }

    /// Writes what comes after the rows. Of Parquet there is a report.
    pub(crate) fn finish(self) -> Result<Option<SizeReport>, Failure> {
        match self {
            Sink::Parquet(sink) => return sink.finish().map(Some),
            Sink::ArrowFile(mut writer) => writer.finish()?,
            Sink::ArrowStream(mut writer) => writer.finish()?,
            Sink::Csv(_) | Sink::Jsonl(_) => {}
        }
        Ok(None)
    }
}

impl Lines<'_, '_> {
    fn write(
        &mut self,
        batch: &RecordBatch,
        line: fn(&RecordBatch, usize, &mut String),
    ) -> Result<(), Failure> {
        for row in 0..batch.num_rows() {
            line(batch, row, &mut self.text);
            self.text.push('\n');
            // Rows may be long: one batch of them can be more than should be in memory twice.
            if self.text.len() > FULL {
                self.pass_on()?;
            }
        }
        self.pass_on()
    }

    fn pass_on(&mut self) -> Result<(), Failure> {
        self.destination.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }
}

const FULL: usize = 256 << 10;
