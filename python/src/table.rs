//! Batches that go to Python: a table, one batch, or a stream.

use crate::capsule::{
    BatchReader, export_batch, export_schema, export_stream, import_batches, import_schema,
};
use crate::errors::to_python;
use crate::exported_schema::has_sorted_maps;
use crate::reentrance::{ObjectCalls, Reading, Turns, begin_reading, release};
use crate::source::named;
use crate::work::run;
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use marquetry::errors::{CancelToken, Error, Result};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;

/// An Arrow schema. It is made from any object with `__arrow_c_schema__`, and exports itself by that method.
#[pyclass(frozen, module = "marquetry._marquetry")]
pub(crate) struct Schema(pub(crate) SchemaRef);

#[pymethods]
impl Schema {
    #[new]
    fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Schema(Arc::new(import_schema(object)?)))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export_schema(py, &self.0)
    }

    /// Whether a map has the flag that its keys are sorted. A stream of batches loses it, a batch does not.
    #[getter]
    fn has_sorted_maps(&self) -> bool {
        has_sorted_maps(&self.0)
    }

    /// Returns the name, the type as text, and the nullability of each field.
    fn fields(&self) -> Vec<(String, String, bool)> {
        let field = |field: &Arc<arrow_schema::Field>| {
            (field.name().clone(), field.data_type().to_string(), field.is_nullable())
        };
        self.0.fields().iter().map(field).collect()
    }

    /// Returns whether the column at this path of names has byte strings without an extension type.
    fn has_bytes(&self, path: Vec<String>) -> bool {
        let mut fields = self.0.fields();
        for (depth, name) in path.iter().enumerate() {
            let mut named = fields.iter().filter(|field| field.name() == name);
            let (Some(field), None) = (named.next(), named.next()) else { return false };
            match field.data_type() {
                DataType::Struct(inner) => fields = inner,
                of => {
                    return depth + 1 == path.len() && field.extension_type_name().is_none() && is_bytes(of);
                }
            }
        }
        false
    }
}

fn is_bytes(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_bytes(values),
        DataType::RunEndEncoded(_, values) => is_bytes(values.data_type()),
        of => of.is_binary() || matches!(of, DataType::FixedSizeBinary(_)),
    }
}

/// A table in memory.
#[pyclass(frozen, module = "marquetry._marquetry")]
pub(crate) struct Table {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
}

#[pymethods]
impl Table {
    /// Reads all batches of an object with `__arrow_c_stream__` or `__arrow_c_array__`.
    #[new]
    fn new(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let reader = import_batches(object)?;
        let cancel = CancelToken::new();
        run(py, &cancel, || {
            let mut table = Table { schema: reader.schema(), batches: Vec::new() };
            for batch in reader {
                cancel.check()?;
                table.batches.push(batch.map_err(Error::from)?);
            }
            Ok(table)
        })
    }

    #[getter]
    fn num_rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    #[getter]
    fn num_batches(&self) -> usize {
        self.batches.len()
    }

    /// Size of the arrays' buffers in memory, in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.batches.iter().map(RecordBatch::get_array_memory_size).sum()
    }

    #[getter]
    fn schema(&self) -> Schema {
        Schema(self.schema.clone())
    }

    fn batch(&self, index: usize) -> PyResult<Batch> {
        let batch = self.batches.get(index).cloned();
        batch.map(Batch).ok_or_else(|| pyo3::exceptions::PyIndexError::new_err(format!("no batch {index}")))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export_schema(py, &self.schema)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol permits returning our own schema instead.
        let _ = requested_schema;
        export_stream(py, self.reader())
    }
}

impl Table {
    /// A reader of its batches.
    pub(crate) fn reader(&self) -> BatchReader {
        let batches = self.batches.clone().into_iter().map(Ok);
        Box::new(RecordBatchIterator::new(batches, self.schema.clone()))
    }
}

/// A record batch. Other libraries take it by `__arrow_c_array__`, such as `pyarrow.record_batch(batch)`.
#[pyclass(frozen, module = "marquetry._marquetry")]
pub(crate) struct Batch(RecordBatch);

#[pymethods]
impl Batch {
    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.num_rows()
    }

    /// The Arrow schema.
    #[getter]
    fn schema(&self) -> Schema {
        Schema(self.0.schema())
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export_schema(py, &self.0.schema())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        export_batch(py, &self.0)
    }
}

/// A lazy stream of record batches, which can be consumed once.
#[pyclass(frozen, module = "marquetry._marquetry")]
pub(crate) struct Stream {
    schema: SchemaRef,
    cancel: CancelToken,
    name: Option<String>,
    /// The file object from which it reads.
    object: Option<ObjectCalls>,
    reader: Turns<Option<BatchReader>>,
}

impl Stream {
    pub(crate) fn new(reader: BatchReader, cancel: CancelToken, name: Option<String>) -> Self {
        Stream::of_file(reader, cancel, name, None)
    }

    pub(crate) fn of_file(
        reader: BatchReader,
        cancel: CancelToken,
        name: Option<String>,
        object: Option<ObjectCalls>,
    ) -> Self {
        Stream { schema: reader.schema(), cancel, name, object, reader: Turns::new(Some(reader)) }
    }

    /// Notes a call that reads. Fails if the caller is a method of the file's own object.
    fn begin(&self, py: Python<'_>) -> PyResult<Option<Reading>> {
        begin_reading(self.object.as_ref()).map_err(|error| self.failed(py, error))
    }

    /// Takes the reader, once no other call has it.
    fn take_reader(&self) -> Result<Option<BatchReader>> {
        Ok(self.reader.take(self.object.as_ref())?.take())
    }

    fn read(&self, had_turn: &mut bool) -> Result<Option<RecordBatch>> {
        let object = self.object.as_ref();
        let mut reader = self.reader.take(object)?;
        *had_turn = true;
        let next = reader.as_mut().and_then(Iterator::next).transpose();
        if !matches!(next, Ok(Some(_))) {
            release(object, reader.take());
        }
        Ok(next?)
    }

    fn failed(&self, py: Python<'_>, error: Error) -> PyErr {
        to_python(py, &named(error, self.name.clone()))
    }

    pub(crate) fn batch_schema(&self) -> arrow_schema::Schema {
        self.schema.as_ref().clone()
    }

    /// Takes the reader, which is possible once.
    pub(crate) fn take(&self, py: Python<'_>) -> PyResult<BatchReader> {
        let _reading = self.begin(py)?;
        let reader = py.detach(|| self.take_reader());
        let reader = reader.map_err(|error| self.failed(py, error))?;
        let reader =
            reader.ok_or_else(|| PyValueError::new_err("the stream was read already; make another one"))?;
        Ok(match (&self.name, &self.object) {
            (None, None) => reader,
            (name, object) => {
                let schema = reader.schema();
                Box::new(OfFile { reader: Some(reader), schema, name: name.clone(), object: object.clone() })
            }
        })
    }
}

#[pymethods]
impl Stream {
    /// Streams the batches of an object with `__arrow_c_stream__` or `__arrow_c_array__`.
    #[new]
    fn of_object(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Stream::new(import_batches(object)?, CancelToken::new(), None))
    }

    #[getter]
    fn schema(&self) -> Schema {
        Schema(self.schema.clone())
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let _reading = self.begin(py)?;
        let mut had_turn = false;
        let next = run(py, &self.cancel, || {
            self.read(&mut had_turn).map_err(|error| named(error, self.name.clone()))
        });
        // Without a turn, another call has the stream, and keeps reading.
        if next.is_err() && had_turn {
            self.close(py)?;
        }
        Ok(next?.map(Batch))
    }

    /// Stops reading. Batches that were read stay valid.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let _reading = self.begin(py)?;
        self.cancel.cancel();
        // Detached, because threads of the reader may wait for the interpreter's lock. A call that holds the reader sees the cancellation.
        py.detach(|| self.take_reader().map(|reader| release(self.object.as_ref(), reader))).ok();
        Ok(())
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export_schema(py, &self.schema)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        export_stream(py, self.take(py)?)
    }
}

/// A reader whose errors name the file, whoever reads it.
struct OfFile {
    /// `None` only during drop.
    reader: Option<BatchReader>,
    schema: SchemaRef,
    name: Option<String>,
    object: Option<ObjectCalls>,
}

impl Iterator for OfFile {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = match begin_reading(self.object.as_ref()) {
            Ok(_reading) => self.reader.as_mut()?.next()?.map_err(Error::from),
            Err(error) => Err(error),
        };
        Some(next.map_err(|error| ArrowError::from(named(error, self.name.clone()))))
    }
}

impl RecordBatchReader for OfFile {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

impl Drop for OfFile {
    fn drop(&mut self) {
        release(self.object.as_ref(), self.reader.take());
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(reader) = self.reader.get_mut().take() {
            self.cancel.cancel();
            let mut reader = Some(reader);
            let object = self.object.as_ref();
            Python::try_attach(|py| py.detach(|| release(object, reader.take())));
        }
    }
}
