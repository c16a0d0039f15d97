//! The Parquet output of `convert`.

use super::destination::Destination;
use super::geoparquet::GeoPlan;
use super::report::{Before, SizeReport};
use crate::failure::Failure;
use crate::leaf_sizes;
use crate::shred_plan::{SAMPLE_BYTES, SAMPLE_ROWS, ShredPlan};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, SchemaRef};
use marquetry::OpenFile;
use marquetry::arrow::ArrowWriter;
use marquetry::errors::{Error, ErrorKind};
use marquetry::variant::{BatchShredder, InferredShredding, variant_columns};
use marquetry_core::write::WriterProperties;
use std::io;

/// Writes batches to a [`Destination`] as Parquet.
pub(crate) struct ParquetSink<'a, 'b> {
    state: State<'a, 'b>,
    /// Whether checkpoints were asked for, so that their cost is reported.
    has_checkpoints: bool,
    /// The Parquet file of these rows, if they are all of its rows.
    source: Option<OpenFile>,
    /// Bytes of each column in memory.
    bytes: Vec<u64>,
    /// The shapes that were inferred for VARIANT columns.
    inferred: Vec<InferredShredding>,
    /// Whether VARIANT columns have another shape than in the input.
    shreds: bool,
    /// How geometry columns are written.
    geo: Option<GeoPlan>,
}

/// Rows wait as long as a sample is needed to determine the columns.
enum State<'a, 'b> {
    Sampling(Box<Sample<'a, 'b>>),
    Writing {
        writer: Box<ArrowWriter<&'a mut Destination<'b>>>,
        shredder: Option<BatchShredder>,
    },
    /// An error occurred in between.
    Failed,
}

struct Sample<'a, 'b> {
    destination: &'a mut Destination<'b>,
    schema: SchemaRef,
    properties: WriterProperties,
    shredding: ShredPlan,
    batches: Vec<RecordBatch>,
    rows: usize,
    bytes: usize,
}

impl Sample<'_, '_> {
    fn is_full(&self) -> bool {
        self.rows >= SAMPLE_ROWS || self.bytes >= SAMPLE_BYTES
    }
}

impl<'a, 'b> ParquetSink<'a, 'b> {
    /// Creates the file, or waits for a sample if shredding needs one.
    pub(super) fn new(
        destination: &'a mut Destination<'b>,
        schema: &SchemaRef,
        properties: WriterProperties,
        shredding: ShredPlan,
        geo: Option<GeoPlan>,
        source: Option<OpenFile>,
    ) -> Result<Self, Failure> {
        let schema = geo.as_ref().map_or(schema, GeoPlan::schema);
        let has_checkpoints = properties.checkpoint_every().is_some();
        let (schema, batches) = (schema.clone(), Vec::new());
        let sample = Sample { destination, schema, properties, shredding, batches, rows: 0, bytes: 0 };
        let is_known = !sample.shredding.needs_sample();
        let state = State::Sampling(Box::new(sample));
        let (bytes, inferred, shreds) = Default::default();
        let mut sink = ParquetSink { state, has_checkpoints, source, bytes, inferred, shreds, geo };
        if is_known {
            sink.begin()?;
        }
        Ok(sink)
    }

    /// Creates the file, and writes the waiting rows.
    fn begin(&mut self) -> Result<(), Failure> {
        let State::Sampling(sample) = std::mem::replace(&mut self.state, State::Failed) else {
            return Err(Failure::Check("writing failed before".to_owned()));
        };
        let Sample { destination, schema, properties, shredding, batches, .. } = *sample;
        let (shreddings, inferred) = shredding.complete(&batches, &properties)?;
        // Unshredded columns go through it, too: DuckDB writes the fields of objects in any order.
        let shredder = match variant_columns(&schema).is_empty() {
            true if shreddings.is_empty() => None,
            _ => Some(BatchShredder::new(schema.clone(), &shreddings)?),
        };
        self.shreds = !shreddings.is_empty();
        let schema = shredder.as_ref().map_or(schema, |shredder| shredder.schema().clone());
        let writer =
            ArrowWriter::try_new_durable(destination, schema.clone(), Some(properties)).map_err(|error| {
                // Settings that do not fit columns are the caller's fault; types that Parquet lacks are the input's.
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
        self.bytes = vec![0; columns];
        self.inferred = inferred;
        self.state = State::Writing { writer: Box::new(writer), shredder };
        batches.iter().try_for_each(|batch| self.write_rows(batch))
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        match &mut self.geo {
            Some(geo) => {
                let batch = geo.apply(batch)?;
                self.write_rows(&batch)
            }
            None => self.write_rows(batch),
        }
    }

    /// Writes rows that have the file's columns.
    fn write_rows(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        match &mut self.state {
            State::Failed => Err(Failure::Check("writing failed before".to_owned())),
            State::Sampling(sample) => {
                sample.rows += batch.num_rows();
                sample.bytes += batch.get_array_memory_size();
                sample.batches.push(batch.clone());
                if sample.is_full() { self.begin() } else { Ok(()) }
            }
            State::Writing { writer, shredder } => {
                let shredded = shredder.as_ref().map(|shredder| shredder.shred(batch)).transpose()?;
                let batch = shredded.as_ref().unwrap_or(batch);
                if self.source.is_none() {
                    leaf_sizes::add_bytes(batch, &mut self.bytes);
                }
                writer.write(batch).map_err(failure)
            }
        }
    }

    /// Writes the footer.
    pub(super) fn finish(mut self) -> Result<SizeReport, Failure> {
        if matches!(self.state, State::Sampling(_)) {
            self.begin()?;
        }
        let State::Writing { mut writer, .. } = self.state else {
            return Err(Failure::Check("writing failed before".to_owned()));
        };
        let has_other_columns = self.shreds || self.geo.as_ref().is_some_and(GeoPlan::adds_columns);
        if let Some(geo) = self.geo.take() {
            writer.append_key_value_metadata(geo.finish()?).map_err(failure)?;
        }
        let metadata = writer.finish().map_err(failure)?;
        let reasons = writer.choices().iter().map(|choice| choice.reason.to_owned()).collect();
        let before = match &self.source {
            Some(source) if has_other_columns => {
                Before::of_other_columns(source.metadata(), metadata.schema())
            }
            Some(source) => Before::of_file(source.metadata()),
            None => Before::InMemory(self.bytes),
        };
        let report = SizeReport::new(&metadata, before, reasons)?
            .with_metrics(writer.metrics())
            .with_shreddings(self.inferred);
        Ok(match self.has_checkpoints {
            true => report.with_checkpoints(writer.checkpoint_cost()),
            false => report,
        })
    }
}

/// The failure of a writer's error: unsupported values or types, or failed output.
fn failure(error: Error) -> Failure {
    if error.kind() == ErrorKind::Argument || error.kind() == ErrorKind::Unsupported {
        return Failure::Check(told(&error));
    }
    // An error's own text is its cause, and `source` what is behind that.
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<io::Error>());
    match cause.map(io::Error::kind) {
        Some(io::ErrorKind::BrokenPipe) => Failure::ClosedPipe,
        _ if error.place().file.is_some() => Failure::File(error),
        _ => Failure::Write(io::Error::other(error)),
    }
}

/// The message, with a hint to an option that helps: the library does not know our options.
fn told(error: &Error) -> String {
    let message = error.message();
    let column = error.place().column.as_ref().map(|column| format!(", in column {column}"));
    let hint = match message {
        text if text.contains("not a whole day") => "; --date64 int64 stores it in milliseconds",
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
