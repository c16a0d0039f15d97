//! The sink of `convert`: a writer of batches for each output format.

use super::compact_views::compact;
use super::destination::Destination;
use super::geoparquet::GeoPlan;
use super::parquet::ParquetSink;
use super::report::SizeReport;
use super::unify_dictionaries::UnifiedDictionaries;
use crate::args::Target;
use crate::failure::Failure;
use crate::shred_plan::ShredPlan;
use arrow_array::RecordBatch;
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field, Fields, SchemaRef};
use marquetry::OpenFile;
use marquetry::errors::Error;
use marquetry_base::MemoryReservation;
use marquetry_core::write::WriterProperties;
use marquetry_text::format;
use std::io::Write;

/// Writes batches to a [`Destination`] in one of the formats.
pub(crate) enum Sink<'a, 'b> {
    Parquet(Box<ParquetSink<'a, 'b>>),
    ArrowFile(FileWriter<&'a mut Destination<'b>>, UnifiedDictionaries),
    ArrowStream(StreamWriter<&'a mut Destination<'b>>),
    Lines(&'a mut Destination<'b>),
    Features(&'a mut Destination<'b>, Place),
}

/// The position in the list of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    First,
    Later,
}

/// Rows on their way to a [`Sink`].
pub(crate) enum Part {
    Rows(RecordBatch),
    /// Rows as lines of text, and the memory reserved for these.
    Lines {
        rows: usize,
        text: String,
        _held: MemoryReservation,
    },
}

impl Part {
    pub(crate) fn num_rows(&self) -> usize {
        match self {
            Part::Rows(batch) => batch.num_rows(),
            Part::Lines { rows, .. } => *rows,
        }
    }
}

impl<'a, 'b> Sink<'a, 'b> {
    /// A writer of Parquet. `source` is the Parquet file of these rows, if they are all of its rows.
    pub(crate) fn parquet(
        destination: &'a mut Destination<'b>,
        schema: &SchemaRef,
        properties: WriterProperties,
        shredding: ShredPlan,
        geo: Option<GeoPlan>,
        source: Option<OpenFile>,
    ) -> Result<Self, Failure> {
        Ok(Sink::Parquet(Box::new(ParquetSink::new(
            destination,
            schema,
            properties,
            shredding,
            geo,
            source,
        )?)))
    }

    /// A writer of `target`, which is not Parquet; writes what precedes the rows.
    pub(crate) fn new(
        target: Target,
        to_stdout: bool,
        destination: &'a mut Destination<'b>,
        schema: &SchemaRef,
    ) -> Result<Self, Failure> {
        if let (Target::Csv | Target::Jsonl | Target::Geojson, Some(field)) =
            (target, union_in(schema.fields()))
        {
            let message =
                "a union has no form as text: whoever reads it could not tell of which kind a value is";
            return Err(Error::unsupported(message).in_column(field.name().as_str()).into());
        }
        Ok(match (target, to_stdout) {
            (Target::Parquet, _) => {
                let (properties, unshredded) = (WriterProperties::new(), ShredPlan::default());
                return Sink::parquet(destination, schema, properties, unshredded, None, None);
            }
            (Target::Arrow, false) => {
                let growing = IpcWriteOptions::default().with_dictionary_handling(DictionaryHandling::Delta);
                let writer = FileWriter::try_new_with_options(destination, schema, growing)?;
                Sink::ArrowFile(writer, UnifiedDictionaries::default())
            }
            (Target::Arrow, true) => Sink::ArrowStream(StreamWriter::try_new(destination, schema)?),
            (Target::Jsonl, _) => Sink::Lines(destination),
            (Target::Geojson, _) => {
                destination.write_all(format::geojson::START.as_bytes())?;
                Sink::Features(destination, Place::First)
            }
            (Target::Csv, _) => {
                let mut header = String::new();
                format::csv::write_header(schema, &mut header);
                destination.write_all(header.as_bytes())?;
                Sink::Lines(destination)
            }
        })
    }

    pub(crate) fn write(&mut self, part: &Part) -> Result<(), Failure> {
        match (self, part) {
            (Sink::Parquet(sink), Part::Rows(batch)) => sink.write(batch),
            (Sink::ArrowFile(writer, dictionaries), Part::Rows(batch)) => {
                Ok(writer.write(&dictionaries.unify(&compact(batch)?)?)?)
            }
            (Sink::ArrowStream(writer), Part::Rows(batch)) => Ok(writer.write(&compact(batch)?)?),
            (Sink::Lines(destination), Part::Lines { text, .. }) => {
                Ok(destination.write_all(text.as_bytes())?)
            }
            // Every feature but the first has a comma before it.
            (Sink::Features(destination, place), Part::Lines { text, .. }) => {
                let text = if *place == Place::First { text.strip_prefix(',').unwrap_or(text) } else { text };
                if !text.is_empty() {
                    *place = Place::Later;
                }
                Ok(destination.write_all(text.as_bytes())?)
            }
            (Sink::Lines(_) | Sink::Features(..), Part::Rows(_)) | (_, Part::Lines { .. }) => {
                Err(Failure::Check("rows in a form that the output does not have".to_owned()))
            }
        }
    }

    /// Writes what follows the rows. Returns a report for Parquet.
    pub(crate) fn finish(self) -> Result<Option<SizeReport>, Failure> {
        match self {
            Sink::Parquet(sink) => return sink.finish().map(Some),
            Sink::ArrowFile(mut writer, _) => writer.finish()?,
            Sink::ArrowStream(mut writer) => writer.finish()?,
            Sink::Lines(_) => {}
            Sink::Features(destination, _) => destination.write_all(format::geojson::END.as_bytes())?,
        }
        Ok(None)
    }
}

/// A field that contains a union, at any depth.
fn union_in(fields: &Fields) -> Option<&Field> {
    fn has_union(data_type: &DataType) -> bool {
        match data_type {
            DataType::Union(..) => true,
            DataType::Dictionary(_, values) => has_union(values),
            DataType::RunEndEncoded(_, values) => has_union(values.data_type()),
            DataType::Struct(children) => union_in(children).is_some(),
            DataType::List(element)
            | DataType::LargeList(element)
            | DataType::ListView(element)
            | DataType::LargeListView(element)
            | DataType::FixedSizeList(element, _)
            | DataType::Map(element, _) => has_union(element.data_type()),
            _ => false,
        }
    }
    fields.iter().find(|field| has_union(field.data_type())).map(AsRef::as_ref)
}
