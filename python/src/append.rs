//! Appends rows to a file in place.

use crate::capsule::import_batches;
use crate::conform::conform;
use crate::encryption::Decryption;
use crate::ending::Callee;
use crate::footer::Footer;
use crate::options::Options;
use crate::properties::properties;
use crate::shown_footer::noted;
use crate::source::{Input, named};
use crate::work::run;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use marquetry::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, Int96Unit};
use marquetry::arrow::arrow_writer::check_copied;
use marquetry::arrow::{ARROW_SCHEMA_META_KEY, ArrowWriter, parse_stored_schema, print_stored_schema};
use marquetry::errors::{CancelToken, Error, Limits, Result};
use marquetry::file::encryption::encrypted_alike;
use marquetry::file::metadata::ParquetMetaData;
use marquetry::file::properties::WriterProperties;
use marquetry::file::{FileEdit, Source};
use marquetry::internals::format::KeyValue;
use marquetry_geo::GeoParquet;
use marquetry_geo::geoparquet::KEY;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;

/// Appends the row groups of a file, or rows, to the file at `path`, and returns its new footer.
#[pyfunction]
#[pyo3(signature = (path, data, is_file, options=None, in_copy=false, decryption=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "as Python gives them")]
pub(crate) fn append(
    py: Python<'_>,
    path: PathBuf,
    data: &Bound<'_, PyAny>,
    is_file: bool,
    options: Option<&Bound<'_, PyDict>>,
    in_copy: bool,
    decryption: Option<Py<Decryption>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Footer> {
    let cancel = CancelToken::new();
    let limits = Limits::default().with_cancel(cancel.clone());
    let keys = decryption.map(|keys| keys.get().properties());
    let open = || match (&keys, in_copy) {
        (Some(keys), _) => FileEdit::open_encrypted(&path, &limits, keys, in_copy),
        (None, true) => FileEdit::open_copy(&path, &limits),
        (None, false) => FileEdit::open(&path, &limits),
    };
    let reader = ArrowReaderOptions::new().with_limits(limits.clone()).with_int96(Int96Unit::Nanoseconds);
    let reader = match &keys {
        Some(keys) => reader.with_file_decryption_properties(keys.clone()),
        None => reader,
    };
    let metadata = if is_file {
        let input = Input::new(data)?;
        let name = input.name();
        run(py, &cancel, || {
            let copied = |edit: &mut FileEdit| {
                let source = input.open()?;
                let metadata = ArrowReaderMetadata::load(source.clone(), reader)?.metadata().clone();
                check_copied(edit.metadata(), &metadata)?;
                let geo = geo_metadata(edit.metadata(), geo_of(&metadata))?;
                (0..metadata.num_row_groups())
                    .try_for_each(|group| edit.append_copied(&source, &metadata, group))?;
                geo.into_iter().try_for_each(|pair| edit.set_key_value(pair))
            };
            let mut edit = open()?;
            copied(&mut edit).map_err(|error| named(error, name))?;
            finished(edit)
        })?
    } else {
        let batches = import_batches(data)?;
        let progress = progress.map(Callee::new);
        let properties = properties(Options::new(py, options)?)?.set_cancel_token(cancel.clone()).build();
        run(py, &cancel, || {
            let mut rows = Rows::new(open()?, reader, properties)?;
            let mut taken = 0;
            for batch in batches {
                let batch = batch.map_err(Error::from)?;
                rows.write(&batch).map_err(|error| error.in_file(path.display().to_string()))?;
                taken += batch.num_rows();
                if let Some(progress) = &progress {
                    let call = progress.with(|progress| progress.call1((taken,)).map(drop));
                    call.map_err(crate::errors::from_python)?;
                }
            }
            rows.finish()
        })?
    };
    Ok(Footer::new(Arc::new(metadata)))
}

/// Finishes the change. The footer of an encrypted file is returned with a note of how its columns are encrypted.
fn finished(edit: FileEdit) -> Result<ParquetMetaData> {
    // Row groups that were already there have notes of their own, except in DuckDB's dialect, where this works without.
    let encryption = encrypted_alike(edit.metadata()).ok().flatten();
    noted(edit.finish()?.metadata, encryption.as_deref())
}

/// The GeoParquet metadata of a file.
fn geo_of(metadata: &ParquetMetaData) -> Option<GeoParquet> {
    GeoParquet::parse(&metadata.value_of(KEY)?).ok()
}

/// The file's GeoParquet metadata after rows with the metadata `added` were appended, and the stored Arrow schema
/// without the old metadata, where readers look first. Empty if nothing changes.
///
/// Fails if geometries have another reference system, or other edges or encodings.
fn geo_metadata(file: &ParquetMetaData, added: Option<GeoParquet>) -> Result<Vec<KeyValue>> {
    let Some(old) = geo_of(file) else { return Ok(Vec::new()) };
    let new = GeoParquet::merged(&[Some(old.clone()), added])?;
    let Some(new) = new.filter(|new| *new != old) else { return Ok(Vec::new()) };
    let stored = file.value_of(ARROW_SCHEMA_META_KEY).and_then(|text| parse_stored_schema(&text));
    let stored = stored.and_then(|mut schema| {
        schema.metadata.remove(KEY)?;
        Some(KeyValue::new(ARROW_SCHEMA_META_KEY, print_stored_schema(&schema)))
    });
    Ok(std::iter::once(KeyValue::new(KEY, new.to_json())).chain(stored).collect())
}

/// The properties, with dates in milliseconds stored as in the file: as DATE, or as INT64.
fn as_stored(
    file: &ParquetMetaData,
    schema: &SchemaRef,
    properties: WriterProperties,
) -> Result<WriterProperties> {
    let of_days = properties.clone().into_builder().set_coerce_types(true).build();
    let writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(of_days.clone()))?;
    let (theirs, ours) = (file.schema().columns().iter(), writer.parquet_schema().columns().iter());
    Ok(match theirs.map(|leaf| leaf.physical()).eq(ours.map(|leaf| leaf.physical())) {
        true => of_days,
        false => properties,
    })
}

/// Appends rows to an existing file: each row group is first written to a file of its own in memory.
struct Rows {
    edit: FileEdit,
    schema: SchemaRef,
    properties: WriterProperties,
    writer: Option<ArrowWriter<Vec<u8>>>,
    /// The new GeoParquet metadata, once there are rows.
    geo: Option<Vec<KeyValue>>,
}

impl Rows {
    fn new(edit: FileEdit, reader: ArrowReaderOptions, properties: WriterProperties) -> Result<Self> {
        let schema =
            ArrowReaderMetadata::try_new(Arc::new(edit.metadata().clone()), reader)?.schema().clone();
        let properties = as_stored(edit.metadata(), &schema, properties)?;
        Ok(Rows { edit, schema, properties, writer: None, geo: None })
    }

    fn write(&mut self, batch: &arrow_array::RecordBatch) -> Result<()> {
        if self.geo.is_none() && batch.num_rows() > 0 {
            // The boxes in a table's metadata may be older than its rows.
            let schema = batch.schema();
            let said = schema.metadata().get(KEY).and_then(|text| GeoParquet::parse(text).ok());
            self.geo = Some(geo_metadata(self.edit.metadata(), said.map(GeoParquet::of_any_rows))?);
        }
        let batch = conform(batch, &self.schema)?;
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => none.insert(ArrowWriter::try_new(
                Vec::new(),
                self.schema.clone(),
                Some(self.properties.clone()),
            )?),
        };
        writer.write(&batch)?;
        match writer.flushed_row_groups().is_empty() {
            true => Ok(()),
            false => self.end(),
        }
    }

    /// Appends the row groups that were written.
    fn end(&mut self) -> Result<()> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let (bytes, metadata) = writer.into_parts()?;
        let source: Arc<dyn Source> = Arc::new(Bytes::from(bytes));
        (0..metadata.num_row_groups())
            .try_for_each(|group| self.edit.append_copied(&source, &metadata, group))
    }

    fn finish(mut self) -> Result<ParquetMetaData> {
        self.end()?;
        for pair in self.geo.take().into_iter().flatten() {
            self.edit.set_key_value(pair)?;
        }
        finished(self.edit)
    }
}
