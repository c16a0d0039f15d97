//! Arrow's C data interface in capsules: the only file here with `unsafe`.
//!
//! Nothing is copied in either direction. This relies on the PyCapsule protocol: a capsule with the right name holds a
//! valid struct of the C data interface, which its consumer moves out, and marks as released.

use crate::dictionary_extensions::{with_values, without_dictionaries};
use crate::ending::{Call, reopen};
use crate::errors::{arrow_to_python, shown};
use crate::exported_schema::exported_schema;
use crate::names::check_names;
use crate::offsets::without_offsets;
use crate::pyarrow_reader::PyarrowReader;
use crate::required_values::{has_required_values, without_nulls};
use crate::text_check::check_text;
use crate::work::guarded;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, RecordBatch, RecordBatchIterator, RecordBatchOptions, RecordBatchReader, StructArray,
};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use marquetry::errors::Error;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::ffi::CStr;
use std::mem;
use std::ptr::{self, NonNull};
use std::sync::Arc;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

const NOT_TEXT: &str = "the metadata of the schema, or of a field, is not text (UTF-8): marquetry.parquet carries such metadata; \
    or take it away, with replace_schema_metadata for that of the schema";
const NULL_ROW: &str = "a row is null: rows of a table are structs that are there";

/// A reader of batches that can be sent to another thread.
pub(crate) type BatchReader = Box<dyn RecordBatchReader + Send>;

pub(crate) fn export_schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    check_names(py, schema)?;
    let exported = exported_schema(schema).map_err(|error| arrow_to_python(py, error))?;
    PyCapsule::new_with_value(py, exported, SCHEMA)
}

/// Exports the schema and the array of a batch.
pub(crate) fn export_batch<'py>(
    py: Python<'py>,
    batch: &RecordBatch,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let batch = match has_required_values(&batch.schema()) {
        true => &without_nulls(batch).map_err(|error| arrow_to_python(py, error))?,
        false => batch,
    };
    let array = StructArray::from(batch.clone()).to_data();
    let (array, _) = to_ffi(&array).map_err(|error| arrow_to_python(py, error))?;
    // Exported separately, because a struct array does not have the schema's metadata.
    Ok((export_schema(py, &batch.schema())?, PyCapsule::new_with_value(py, array, ARRAY)?))
}

pub(crate) fn export_stream<'py>(py: Python<'py>, reader: BatchReader) -> PyResult<Bound<'py, PyCapsule>> {
    check_names(py, &reader.schema())?;
    let changes = has_required_values(&reader.schema());
    let exported = FFI_ArrowArrayStream::new(Box::new(Guarded { reader: Some(reader), changes }));
    PyCapsule::new_with_value(py, exported, STREAM)
}

/// A reader that C code calls: it does not panic, its error texts contain no NUL, and it does not hold the
/// interpreter's lock, which our threads may wait for.
struct Guarded {
    reader: Option<BatchReader>,
    /// Whether there are values whose nulls must not be exported.
    changes: bool,
}

impl Guarded {
    fn detached<T: Send>(work: impl FnOnce() -> T + Send) -> T {
        let mut work = Some(work);
        // Before PyO3 takes the thread for attached, and drops deferred references.
        let lock = Lock::taken();
        let attached = match &lock {
            Some(_) => Python::try_attach(|py| {
                reopen(py);
                work.take().map(|work| py.detach(work))
            }),
            None => None,
        };
        drop(lock);
        match (attached.flatten(), work) {
            (Some(out), _) => out,
            (None, Some(work)) => work(),
            // `try_attach` either runs its closure or does not.
            (None, None) => unreachable!("work that was done has an outcome"),
        }
    }
}

/// The interpreter's lock, held until this is dropped. If a thread called Python, and was then called by a library that
/// has released the lock in the meantime, PyO3 takes the thread for attached, although it is not.
struct Lock(pyo3::ffi::PyGILState_STATE);

impl Lock {
    /// Takes the lock; `None` without an interpreter.
    fn taken() -> Option<Self> {
        // SAFETY: may be asked at any time.
        let is_there = unsafe { pyo3::ffi::Py_IsInitialized() } != 0;
        // SAFETY: any thread may call this while there is an interpreter; where the lock is held already, it counts one more.
        is_there.then(|| Lock(unsafe { pyo3::ffi::PyGILState_Ensure() }))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // SAFETY: the state is that of `PyGILState_Ensure` on this thread, as a `PyGILState_STATE` is not sent; given back once.
        unsafe { pyo3::ffi::PyGILState_Release(self.0) }
    }
}

impl Iterator for Guarded {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let reader = self.reader.as_mut()?;
        let changes = self.changes;
        let mut next = || {
            let batch = reader.next().transpose()?;
            batch.map(|batch| if changes { without_nulls(&batch) } else { Ok(batch) }).transpose()
        };
        let next = Self::detached(|| guarded(|| next().map_err(Error::from)));
        next.map_err(|error| ArrowError::ExternalError(shown(&error).replace('\0', "\\0").into())).transpose()
    }
}

impl RecordBatchReader for Guarded {
    fn schema(&self) -> SchemaRef {
        self.reader.as_ref().map_or_else(|| Arc::new(Schema::empty()), |reader| reader.schema())
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let reader = self.reader.take();
        Self::detached(move || drop(reader));
    }
}

/// Imports the schema of `object` by `__arrow_c_schema__`.
pub(crate) fn import_schema(object: &Bound<'_, PyAny>) -> PyResult<Schema> {
    let _call = Call::begin(object.py())?;
    // The schema of its batches: Arrow's export loses that the keys of a map are sorted.
    if let Ok(stream) = object.cast::<crate::table::Stream>() {
        return Ok(stream.get().batch_schema());
    }
    let capsule = object.call_method0("__arrow_c_schema__")?;
    let exported = take_schema(&capsule)?;
    let schema = read_schema(&exported).and_then(|schema| {
        Ok(match without_dictionaries(&schema, &exported)? {
            Some(plain) => plain.as_ref().clone(),
            None => schema,
        })
    });
    schema.map_err(|error| arrow_to_python(object.py(), error))
}

fn read_schema(exported: &FFI_ArrowSchema) -> Result<Schema, ArrowError> {
    Schema::try_from(exported).map_err(of_metadata)
}

/// A clear error for metadata that is not text: Arrow's own reader parses nothing else.
fn of_metadata(error: ArrowError) -> ArrowError {
    match error {
        ArrowError::ParseError(text) if text.contains("utf-8") => {
            ArrowError::ExternalError(Box::new(Error::argument(NOT_TEXT)))
        }
        error => error,
    }
}

/// Imports the batches of `object` by `__arrow_c_stream__` or `__arrow_c_array__`.
pub(crate) fn import_batches(object: &Bound<'_, PyAny>) -> PyResult<BatchReader> {
    let py = object.py();
    let _call = Call::begin(py)?;
    if let Ok(stream) = object.cast::<crate::table::Stream>() {
        return stream.get().take(py);
    }
    if let Ok(table) = object.cast::<crate::table::Table>() {
        return Ok(table.get().reader());
    }
    if let Some(reader) = PyarrowReader::of(object)? {
        return Ok(Box::new(reader));
    }
    if object.hasattr("__arrow_c_stream__")? {
        let capsule = object.call_method0("__arrow_c_stream__")?;
        let pointer: NonNull<FFI_ArrowArrayStream> = pointer(&capsule, STREAM)?;
        // SAFETY: a capsule of this name holds a stream that is valid until it is released, and no one else reads it while we hold
        // the interpreter's lock. It is moved out, which leaves a released one behind.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
        if stream.release.is_none() {
            return Err(PyValueError::new_err("the Arrow stream was read already"));
        }
        let reader = guarded(|| Stream::new(stream).map_err(Error::from));
        return Ok(Box::new(reader.map_err(|error| crate::errors::to_python(py, &error))?));
    }
    if object.hasattr("__arrow_c_array__")? {
        let capsules = object.call_method0("__arrow_c_array__")?;
        let batch = take_batch(capsules.cast::<PyTuple>()?)?;
        let schema = batch.schema();
        return Ok(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
    }
    let name = object.get_type().name()?;
    Err(PyTypeError::new_err(format!("{name} has neither __arrow_c_stream__ nor __arrow_c_array__")))
}

/// A stream of another library. Arrow's own reader is not used, as it panics at structs in slices of structs.
struct Stream {
    stream: FFI_ArrowArrayStream,
    schema: SchemaRef,
    /// The schema that its batches are converted to, if it differs.
    plain: Option<SchemaRef>,
}

impl Stream {
    fn new(mut stream: FFI_ArrowArrayStream) -> Result<Self, ArrowError> {
        let Some(get_schema) = stream.get_schema else { return Err(no_callback("get_schema")) };
        let mut exported = FFI_ArrowSchema::empty();
        // SAFETY: the stream has not been released; its callback fills in what it is given, or fails.
        if unsafe { get_schema(&mut stream, &mut exported) } != 0 {
            return Err(last_error(&mut stream));
        }
        let schema = Arc::new(read_schema(&exported)?);
        let plain = without_dictionaries(&schema, &exported)?;
        Ok(Stream { stream, schema, plain })
    }

    /// Reads the next batch; `None` at the end.
    fn read(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let Some(get_next) = self.stream.get_next else { return Err(no_callback("get_next")) };
        // The other library may call Python code.
        let _call = Call::begin_detached().map_err(|at_exit| ArrowError::ExternalError(Box::new(at_exit)))?;
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: as for the schema; `&mut self` keeps other threads away.
        if unsafe { get_next(&mut self.stream, &mut array) } != 0 {
            return Err(last_error(&mut self.stream));
        }
        if array.is_released() {
            return Ok(None);
        }
        // SAFETY: arrays of a stream are valid, and of its schema, by the protocol.
        let batch = unsafe { batch_of(array, &self.schema) }?;
        Ok(Some(match &self.plain {
            Some(plain) => with_values(&batch, plain)?,
            None => batch,
        }))
    }
}

impl Drop for Stream {
    /// The release callback may be Python code, too.
    fn drop(&mut self) {
        let stream = mem::replace(&mut self.stream, FFI_ArrowArrayStream::empty());
        match Call::begin_detached() {
            Ok(_call) => drop(stream),
            Err(_) => mem::forget(stream),
        }
    }
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        self.plain.as_ref().unwrap_or(&self.schema).clone()
    }
}

/// Converts an array to a batch.
///
/// # Safety
/// The array is valid, and of this schema.
unsafe fn batch_of(array: FFI_ArrowArray, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let rows = DataType::Struct(schema.fields().clone());
    // SAFETY: as the caller says.
    let data = without_offsets(unsafe { data_of(array, rows) }?)?;
    if data.null_count() > 0 {
        return Err(ArrowError::InvalidArgumentError(NULL_ROW.to_owned()));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(data.len()));
    let columns = StructArray::from(data).into_parts().1;
    let batch = RecordBatch::try_new_with_options(schema.clone(), columns, &options)?;
    check_text(&batch)?;
    Ok(batch)
}

/// The data of an array. Null arrays have no buffers in Arrow's crates, but one in some libraries, such as polars.
///
/// # Safety
/// The array is valid, and of this type.
unsafe fn data_of(array: FFI_ArrowArray, data_type: DataType) -> Result<ArrayData, ArrowError> {
    let mut of_nulls = Vec::new();
    // SAFETY: as the caller says; the array is ours alone, and so are its children.
    unsafe { take_buffers_of_nulls(&array, &data_type, &mut of_nulls) };
    let array = match of_nulls.is_empty() {
        true => array,
        false => {
            let FFI_ArrowArray { length, null_count, offset, n_buffers, n_children, .. } = array;
            let FFI_ArrowArray { buffers, children, dictionary, .. } = array;
            let private_data = Box::into_raw(Box::new(WithoutBuffers { array, of_nulls })).cast();
            let release = Some(release_with_buffers as unsafe extern "C" fn(*mut FFI_ArrowArray));
            FFI_ArrowArray {
                length,
                null_count,
                offset,
                n_buffers,
                n_children,
                buffers,
                children,
                dictionary,
                release,
                private_data,
            }
        }
    };
    // SAFETY: as the caller says.
    unsafe { from_ffi_and_data_type(array, data_type) }
}

/// An array of another library, and the number of buffers that its Null arrays had; they have none now.
struct WithoutBuffers {
    array: FFI_ArrowArray,
    of_nulls: Vec<(NonNull<FFI_ArrowArray>, i64)>,
}

/// Removes the buffers of Null arrays within an array.
///
/// # Safety
/// The array is valid, of this type, and nobody else's.
unsafe fn take_buffers_of_nulls(
    array: &FFI_ArrowArray,
    data_type: &DataType,
    taken: &mut Vec<(NonNull<FFI_ArrowArray>, i64)>,
) {
    let mut within = |index: usize, data_type: &DataType| {
        let is_there = i64::try_from(index).is_ok_and(|index| index < array.n_children);
        // SAFETY: a valid array has as many children as it says.
        let child = is_there.then(|| NonNull::new(unsafe { *array.children.add(index) })).flatten();
        // SAFETY: children are valid, of the types that the type says, and go with their array.
        unsafe { take_buffers_of_null(child, data_type, taken) };
    };
    match data_type {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => within(0, field.data_type()),
        DataType::Struct(fields) => {
            fields.iter().enumerate().for_each(|(index, field)| within(index, field.data_type()));
        }
        DataType::Union(fields, _) => {
            fields.iter().enumerate().for_each(|(index, (_, field))| within(index, field.data_type()));
        }
        DataType::RunEndEncoded(_, values) => within(1, values.data_type()),
        // SAFETY: as for children.
        DataType::Dictionary(_, values) => unsafe {
            take_buffers_of_null(NonNull::new(array.dictionary), values, taken);
        },
        _ => (),
    }
}

/// Removes the buffers of a Null array, or of those within an array.
///
/// # Safety
/// The array is valid, of this type, and nobody else's.
unsafe fn take_buffers_of_null(
    array: Option<NonNull<FFI_ArrowArray>>,
    data_type: &DataType,
    taken: &mut Vec<(NonNull<FFI_ArrowArray>, i64)>,
) {
    let Some(mut place) = array else { return };
    // SAFETY: as the caller says.
    let array = unsafe { place.as_mut() };
    match data_type {
        DataType::Null if array.n_buffers > 0 => taken.push((place, mem::take(&mut array.n_buffers))),
        // SAFETY: as the caller says.
        _ => unsafe { take_buffers_of_nulls(array, data_type, taken) },
    }
}

/// Restores the buffers for the library that releases them.
///
/// # Safety
/// `data_of` has made the array, which is not released yet.
unsafe extern "C" fn release_with_buffers(array: *mut FFI_ArrowArray) {
    // SAFETY: as the caller says; the box is taken once, as a released array has no callback.
    let array = unsafe { &mut *array };
    array.release = None;
    // SAFETY: the same.
    let without = unsafe { Box::from_raw(array.private_data.cast::<WithoutBuffers>()) };
    for (mut null, buffers) in without.of_nulls {
        // SAFETY: children live until their array is released, which is the next step.
        unsafe { null.as_mut() }.n_buffers = buffers;
    }
    drop(without.array);
}

/// Imports the batch of `object` by `__arrow_c_array__`, with the names and metadata of `schema`, whose types it must have.
pub(crate) fn import_batch(object: &Bound<'_, PyAny>, schema: &SchemaRef) -> PyResult<RecordBatch> {
    let py = object.py();
    let capsules = object.call_method0("__arrow_c_array__")?;
    let (exported, array) = take_array(capsules.cast::<PyTuple>()?)?;
    let in_arrow = |error| arrow_to_python(py, error);
    let stored = Arc::new(read_schema(&exported).map_err(in_arrow)?);
    let plain = without_dictionaries(&stored, &exported).map_err(in_arrow)?;
    let given = plain.as_ref().unwrap_or(&stored);
    let is_same = given.fields().len() == schema.fields().len()
        && given.fields().iter().zip(schema.fields()).all(|(given, field)| {
            given.name() == field.name() && given.data_type().equals_datatype(field.data_type())
        });
    if !is_same {
        let message = "a batch of other columns, or other types, than its reader says";
        return Err(crate::errors::to_python(py, &Error::argument(message)));
    }
    let of_array = if plain.is_some() { &stored } else { schema };
    // SAFETY: whoever made the array says that it is valid, and of a schema whose types are those of this one.
    let batch = unsafe { batch_of(array, of_array) }.map_err(in_arrow)?;
    match plain {
        Some(_) => with_values(&batch, schema).map_err(in_arrow),
        None => Ok(batch),
    }
}

fn no_callback(name: &str) -> ArrowError {
    ArrowError::CDataInterface(format!("the Arrow stream has no {name}"))
}

/// The stream's error of the call that just failed.
fn last_error(stream: &mut FFI_ArrowArrayStream) -> ArrowError {
    let said = stream.get_last_error.and_then(|get_last_error| {
        // SAFETY: the last call of the stream failed, which is when it may be asked.
        let text = NonNull::new(unsafe { get_last_error(stream) }.cast_mut())?;
        // SAFETY: what is not null ends with NUL, and lives until the next call; it is copied here.
        Some(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
    });
    ArrowError::CDataInterface(said.unwrap_or_else(|| "the Arrow stream failed, and does not say why".into()))
}

fn take_schema(capsule: &Bound<'_, PyAny>) -> PyResult<FFI_ArrowSchema> {
    let pointer: NonNull<FFI_ArrowSchema> = pointer(capsule, SCHEMA)?;
    // SAFETY: as for streams; the empty one that takes its place is a released one.
    Ok(unsafe { ptr::replace(pointer.as_ptr(), FFI_ArrowSchema::empty()) })
}

fn take_array(capsules: &Bound<'_, PyTuple>) -> PyResult<(FFI_ArrowSchema, FFI_ArrowArray)> {
    let schema = take_schema(&capsules.get_item(0)?)?;
    let pointer: NonNull<FFI_ArrowArray> = pointer(&capsules.get_item(1)?, ARRAY)?;
    // SAFETY: as for streams; the empty one that takes its place is a released one.
    let array = unsafe { ptr::replace(pointer.as_ptr(), FFI_ArrowArray::empty()) };
    match array.is_released() {
        // Its contents are gone.
        true => Err(PyValueError::new_err("the Arrow array of the capsule was taken before")),
        false => Ok((schema, array)),
    }
}

fn take_batch(capsules: &Bound<'_, PyTuple>) -> PyResult<RecordBatch> {
    let py = capsules.py();
    let (schema, array) = take_array(capsules)?;
    let data_type = DataType::try_from(&schema).map_err(|error| arrow_to_python(py, of_metadata(error)))?;
    if !matches!(data_type, DataType::Struct(_)) {
        return Err(PyTypeError::new_err(format!(
            "an array of {data_type} is not a table: rows are structs"
        )));
    }
    // SAFETY: whoever made the two says that they belong together, and that the array is valid.
    let data = unsafe { data_of(array, data_type) };
    if data.as_ref().is_ok_and(|data| data.null_count() > 0) {
        return Err(PyValueError::new_err(NULL_ROW));
    }
    let batch = data.and_then(|data| {
        let batch = RecordBatch::from(StructArray::from(without_offsets(data)?));
        let batch = batch.with_schema(Arc::new(read_schema(&schema)?))?;
        check_text(&batch)?;
        match without_dictionaries(&batch.schema(), &schema)? {
            Some(plain) => with_values(&batch, &plain),
            None => Ok(batch),
        }
    });
    batch.map_err(|error| arrow_to_python(py, error))
}

/// The address of the struct in a capsule of this name.
fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &'static CStr) -> PyResult<NonNull<T>> {
    Ok(capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))?.cast())
}
