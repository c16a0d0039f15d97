//! Readers of the bytes that FILE values refer to.

use crate::capsule::BatchReader;
use crate::errors::to_python;
use crate::reentrance::{ObjectCalls, Turns, begin_reading, release};
use crate::source::Input;
use crate::work::run;
use arrow_array::RecordBatch;
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::ChunkReader;
use marquetry::errors::{CancelToken, Error, Result};
use marquetry_file_refs::{FileAccess, FileReader, FileRef, FileRefColumn};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// An iterator over the values of a FILE column, row by row.
#[pyclass(frozen, module = "marquetry._marquetry")]
pub(crate) struct FileRefs {
    access: Arc<FileAccess>,
    cancel: CancelToken,
    name: Option<String>,
    object: Option<ObjectCalls>,
    rows: Turns<Rows>,
}

struct Rows {
    reader: Option<BatchReader>,
    batch: Option<RecordBatch>,
    next: usize,
}

impl FileRefs {
    /// For batches with one column. `allow` are directories, and URL prefixes.
    #[expect(clippy::too_many_arguments, reason = "what a file knows of itself")]
    pub(crate) fn new(
        open: OpenFile,
        reader: BatchReader,
        allow: Vec<String>,
        compare: bool,
        base: Option<String>,
        cancel: CancelToken,
        name: Option<String>,
        object: Option<ObjectCalls>,
    ) -> Result<Self> {
        let mut access = FileAccess::none().with_own_file(open.into_source()?);
        if let Some(base) = base {
            access = access.with_base(base);
        }
        if !compare {
            access = access.without_checksums();
        }
        for allowed in allow {
            access = match allowed.contains("://") {
                true => access.with_urls(&allowed, |url| Input::Url(url.to_owned()).open())?,
                false => access.with_directory(&allowed)?,
            };
        }
        let rows = Turns::new(Rows { reader: Some(reader), batch: None, next: 0 });
        Ok(FileRefs { access: Arc::new(access), cancel, name, object, rows })
    }

    fn next(&self) -> Result<Option<Option<FileContent>>> {
        let mut turn = self.rows.take(self.object.as_ref())?;
        let rows = &mut *turn;
        while rows.batch.as_ref().is_none_or(|batch| rows.next == batch.num_rows()) {
            let next = rows.reader.as_mut().and_then(Iterator::next).transpose().map_err(Error::from);
            (rows.batch, rows.next) = (next?, 0);
            if rows.batch.is_none() {
                rows.reader = None;
                return Ok(None);
            }
        }
        let Some(batch) = &rows.batch else { return Ok(None) };
        let column = FileRefColumn::try_new(batch.column(0))?;
        let found = column
            .get(rows.next)
            .map(|reference| FileContent::new(&reference, self.access.clone(), self.object.clone()));
        rows.next += 1;
        Ok(Some(found))
    }
}

#[pymethods]
impl FileRefs {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    /// Returns the reader of the next row; None for a null.
    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let _reading = begin_reading(self.object.as_ref()).map_err(|error| to_python(py, &error))?;
        let next = run(py, &self.cancel, || {
            self.next().map_err(|error| crate::source::named(error, self.name.clone()))
        })?;
        next.map(|found| match found {
            Some(content) => Ok(Py::new(py, content)?.into_any()),
            None => Ok(py.None()),
        })
        .transpose()
    }
}

impl Drop for FileRefs {
    /// Drops the reader without the interpreter's lock, for which its threads may wait.
    fn drop(&mut self) {
        if let Some(reader) = self.rows.get_mut().reader.take() {
            self.cancel.cancel();
            let mut reader = Some(reader);
            let object = self.object.as_ref();
            Python::try_attach(|py| py.detach(|| release(object, reader.take())));
        }
    }
}

/// A reader of the bytes that a FILE value refers to. It opens them at the first read.
#[pyclass(frozen, module = "marquetry._marquetry")]
pub(crate) struct FileContent {
    access: Arc<FileAccess>,
    uri: Option<String>,
    offset: Option<i64>,
    size: Option<i64>,
    content_type: Option<String>,
    checksum: Option<String>,
    inline: Option<Vec<u8>>,
    object: Option<ObjectCalls>,
    reader: Turns<Option<FileReader>>,
}

impl FileContent {
    fn new(of: &FileRef<'_>, access: Arc<FileAccess>, object: Option<ObjectCalls>) -> Self {
        FileContent {
            access,
            uri: of.uri.map(str::to_owned),
            offset: of.offset,
            size: of.size,
            content_type: of.content_type.map(str::to_owned),
            checksum: of.checksum.map(str::to_owned),
            inline: of.inline.map(<[u8]>::to_vec),
            object,
            reader: Turns::new(None),
        }
    }

    fn open(&self) -> Result<FileReader> {
        self.access.open(&FileRef {
            uri: self.uri.as_deref(),
            offset: self.offset,
            size: self.size,
            content_type: self.content_type.as_deref(),
            checksum: self.checksum.as_deref(),
            inline: self.inline.as_deref(),
        })
    }

    /// Reads up to `most` bytes, or all that are left.
    fn read_some(&self, most: Option<usize>) -> Result<Vec<u8>> {
        let mut reader = self.reader.take(self.object.as_ref())?;
        if reader.is_none() {
            *reader = Some(self.open()?);
        }
        let Some(reader) = reader.as_mut() else { return Ok(Vec::new()) };
        match most {
            None => reader.read_all(u64::MAX),
            Some(most) => reader.read_some(most).map(Vec::from),
        }
    }
}

#[pymethods]
impl FileContent {
    /// URI of the file with the bytes, if the value has one.
    #[getter]
    fn uri(&self) -> Option<&str> {
        self.uri.as_deref()
    }

    /// Offset of the first byte, if the value has one.
    #[getter]
    fn offset(&self) -> Option<i64> {
        self.offset
    }

    /// Number of bytes, if the value has it.
    #[getter]
    fn size(&self) -> Option<i64> {
        self.size
    }

    /// Media type of the bytes, if the value has one.
    #[getter]
    fn content_type(&self) -> Option<&str> {
        self.content_type.as_deref()
    }

    /// Checksum of the bytes, if the value has one.
    #[getter]
    fn checksum(&self) -> Option<&str> {
        self.checksum.as_deref()
    }

    /// Reads up to `size` bytes, or all that are left if it is negative. Returns empty bytes at the end.
    #[pyo3(signature = (size=-1))]
    fn read<'py>(&self, py: Python<'py>, size: i64) -> PyResult<Bound<'py, PyBytes>> {
        let _reading = begin_reading(self.object.as_ref()).map_err(|error| to_python(py, &error))?;
        let most = usize::try_from(size).ok();
        let bytes = run(py, &CancelToken::new(), || self.read_some(most))?;
        Ok(PyBytes::new(py, &bytes))
    }
}
