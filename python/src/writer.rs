//! A file that is being written.

use crate::capsule::{import_batches, import_schema};
use crate::ending::Callee;
use crate::footer::Footer;
use crate::options::Options;
use crate::properties::properties;
use crate::shown_footer::noted;
use crate::sink::{Sink, Target};
use crate::work::{guarded, run};
use arrow_array::{Array, RecordBatch};
use arrow_schema::SchemaRef;
use marquetry::arrow::ArrowWriter;
use marquetry::errors::{CancelToken, Error, Result};
use marquetry::file::encryption::FileEncryptionProperties;
use marquetry::file::metadata::KeyValue;
use marquetry::file::properties::WriterProperties;
use marquetry::internals::format::ThriftString;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Arc, Mutex, PoisonError};

/// A writer of a Parquet file.
#[pyclass(frozen, module = "marquetry._marquetry")]
pub(crate) struct Writer {
    schema: SchemaRef,
    name: Option<String>,
    cancel: CancelToken,
    encryption: Option<Arc<FileEncryptionProperties>>,
    state: Mutex<State>,
}

/// Text, or bytes that may not be UTF-8.
#[derive(FromPyObject)]
enum Bytes {
    Text(String),
    Other(Vec<u8>),
}

impl Bytes {
    fn stored(self) -> ThriftString {
        match self {
            Bytes::Text(text) => text.into(),
            Bytes::Other(bytes) => ThriftString::from_bytes(&bytes),
        }
    }
}

/// The state of the writer.
enum State {
    Open(Box<ArrowWriter<Sink>>),
    /// A call is using it.
    Busy,
    Closed,
}

#[pymethods]
impl Writer {
    #[new]
    #[pyo3(signature = (target, schema, options=None, may_be_pipe=false, name=None))]
    fn new(
        py: Python<'_>,
        target: &Bound<'_, PyAny>,
        schema: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
        may_be_pipe: bool,
        name: Option<String>,
    ) -> PyResult<Self> {
        let schema: SchemaRef = Arc::new(import_schema(schema)?);
        let cancel = CancelToken::new();
        let properties = properties(Options::new(py, options)?)?.set_cancel_token(cancel.clone()).build();
        let encryption = properties.file_encryption_properties().cloned();
        let target = Target::new(target, may_be_pipe)?;
        let name = name.or_else(|| target.name());
        let of_writer = schema.clone();
        let begin = move || {
            let begun = Begun(Some(target.create()?));
            // Discards the sink if the schema cannot be written.
            begun.begin(of_writer, properties)
        };
        let writer = run(py, &cancel, || begin().map_err(|error| in_file(error, name.as_deref())))?;
        Ok(Writer { schema, name, cancel, encryption, state: Mutex::new(State::Open(Box::new(writer))) })
    }

    /// Writes all batches of an object with `__arrow_c_stream__` or `__arrow_c_array__`.
    ///
    /// With `row_group_rows` they are those of a table in memory: row groups get at most that many rows, and the last one ends with this
    /// call.
    #[pyo3(signature = (data, row_group_rows=None, progress=None))]
    fn write(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        row_group_rows: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let reader = import_batches(data)?;
        let given = reader.schema();
        let progress = progress.map(Callee::new);
        let schema = self.schema.clone();
        let batches = reader.map(move |batch| {
            let batch = batch?;
            self.here(check_nulls(&schema, &batch))?;
            Ok(batch)
        });
        self.with_writer(py, move |writer| {
            // A wrong type is reported before any row is taken.
            self.here(accepts(writer, given))?;
            if let Some(rows) = row_group_rows {
                return self.here(write_table(writer, batches, rows.max(1)));
            }
            let mut rows = 0;
            for batch in batches {
                // An error of reading the data does not get the name of this file.
                let batch = batch?;
                self.here(writer.write(&batch))?;
                rows += batch.num_rows();
                if let Some(progress) = &progress {
                    let call = progress.with(|progress| progress.call1((rows,)).map(drop));
                    call.map_err(crate::errors::from_python)?;
                }
            }
            Ok(())
        })
    }

    /// Ends the current row group.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.with_writer(py, |writer| self.here(writer.flush()))
    }

    /// Adds a key-value pair, of text or bytes, to the metadata of the file.
    fn add_key_value(&self, py: Python<'_>, key: Bytes, value: Option<Bytes>) -> PyResult<()> {
        let pair = KeyValue { key: key.stored(), value: value.map(Bytes::stored) };
        self.with_writer(py, move |writer| self.here(writer.append_key_value_metadata(pair)))
    }

    /// Finishes the file and returns its footer.
    fn close(&self, py: Python<'_>) -> PyResult<Footer> {
        let writer = self.take()?;
        let finish = move || {
            let (sink, metadata) = writer.into_parts()?;
            sink.finish()?;
            noted(metadata, self.encryption.as_deref())
        };
        let finished = run(py, &self.cancel, || self.here(finish()));
        self.put(State::Closed);
        Ok(Footer::new(Arc::new(finished?)))
    }

    /// Discards the file.
    fn discard(&self, py: Python<'_>) -> PyResult<()> {
        let writer = match self.is_open() {
            true => self.take()?,
            false => return Ok(()),
        };
        py.detach(|| discard(*writer));
        self.put(State::Closed);
        Ok(())
    }

    #[getter]
    fn is_open(&self) -> bool {
        !matches!(*self.state.lock().unwrap_or_else(PoisonError::into_inner), State::Closed)
    }

    #[getter]
    fn schema(&self) -> crate::table::Schema {
        crate::table::Schema(self.schema.clone())
    }
}

impl Writer {
    /// Adds the name of this file to an error.
    fn here<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.map_err(|error| in_file(error, self.name.as_deref()))
    }

    /// Runs `work` with the writer. If it fails, or Ctrl-C cancels it, the file is discarded, unless nothing was done:
    /// refused rows do not destroy what was written before.
    fn with_writer<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut ArrowWriter<Sink>) -> Result<T> + Send,
    ) -> PyResult<T> {
        let mut writer = self.take()?;
        let before = progress_of(&writer);
        let of_work = &mut writer;
        let outcome = run(py, &self.cancel, move || work(of_work));
        match outcome {
            Ok(_) => self.put(State::Open(writer)),
            Err(_) if self.is_as_before(py, &mut writer, before) => self.put(State::Open(writer)),
            Err(_) => {
                py.detach(|| discard(*writer));
                self.put(State::Closed);
            }
        }
        outcome
    }

    /// Whether a call that failed has left the writer unchanged.
    fn is_as_before(&self, py: Python<'_>, writer: &mut ArrowWriter<Sink>, before: Progress) -> bool {
        let may_go_on = !self.cancel.is_cancelled() && progress_of(writer) == before;
        may_go_on && py.detach(|| guarded(|| accepts(writer, self.schema.clone()))).is_ok()
    }

    /// Takes the writer for one call. Until it is put back, no other call can.
    fn take(&self) -> PyResult<Box<ArrowWriter<Sink>>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, State::Busy) {
            State::Open(writer) => Ok(writer),
            State::Busy => Err(PyValueError::new_err(
                "another thread, or what it calls, is writing to the file: its calls come one after the other",
            )),
            State::Closed => {
                *state = State::Closed;
                Err(PyValueError::new_err("the file is closed"))
            }
        }
    }

    fn put(&self, state: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

/// A sink whose file is discarded unless a writer takes it.
struct Begun(Option<Sink>);

impl Begun {
    fn begin(mut self, schema: SchemaRef, properties: WriterProperties) -> Result<ArrowWriter<Sink>> {
        // Nothing may be written to a sink before its writer exists, so the schema is tried with another sink first.
        ArrowWriter::try_new(std::io::sink(), schema.clone(), Some(properties.clone())).map(drop)?;
        let sink = self.0.take().ok_or_else(|| Error::argument("no sink"))?;
        ArrowWriter::try_new(sink, schema, Some(properties))
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(sink) = self.0.take() {
            sink.discard();
        }
    }
}

/// Writes row groups of `most` rows; none for a table without rows: several readers fail at an empty row group.
fn write_table(
    writer: &mut ArrowWriter<Sink>,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    most: usize,
) -> Result<()> {
    let (mut group, mut rows) = (Vec::new(), 0);
    for batch in batches {
        let mut rest = batch?;
        while rest.num_rows() > 0 {
            let n = (most - rows).min(rest.num_rows());
            let is_whole = n == rest.num_rows();
            group.push(if is_whole { rest.clone() } else { rest.slice(0, n) });
            rest = rest.slice(n, rest.num_rows() - n);
            rows += n;
            if rows == most {
                writer.write_table(&std::mem::take(&mut group))?;
                rows = 0;
            }
        }
    }
    writer.write_table(&group)
}

/// The number of row groups in the file, and of rows in the unfinished one.
type Progress = (usize, usize);

fn progress_of(writer: &ArrowWriter<Sink>) -> Progress {
    (writer.flushed_row_groups().len(), writer.in_progress_rows())
}

/// Whether rows of `schema` can be written: the writer reports that for an empty batch. A failed writer accepts none.
fn accepts(writer: &mut ArrowWriter<Sink>, schema: SchemaRef) -> Result<()> {
    writer.write(&RecordBatch::new_empty(schema))
}

/// Fails if a column has nulls that the schema forbids. The engine would find them only when it encodes the rows, with
/// those of earlier calls.
fn check_nulls(schema: &SchemaRef, batch: &RecordBatch) -> Result<()> {
    let columns = schema.fields().iter().zip(batch.columns());
    match columns.filter(|(field, _)| !field.is_nullable()).find(|(_, array)| array.logical_null_count() > 0)
    {
        Some((field, _)) => {
            let message = "a null, where the schema says that there is none";
            Err(Error::argument(message).in_column(field.name().as_str()))
        }
        None => Ok(()),
    }
}

fn discard(writer: ArrowWriter<Sink>) {
    writer.into_sink().discard();
}

fn in_file(error: Error, name: Option<&str>) -> Error {
    match name {
        Some(name) => error.in_file(name),
        None => error,
    }
}

impl Drop for Writer {
    /// A file that is not closed is discarded.
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let State::Open(writer) = std::mem::replace(state, State::Closed) {
            let mut writer = Some(*writer);
            Python::try_attach(|py| py.detach(|| writer.take().map(discard)));
        }
    }
}
