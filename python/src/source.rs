//! Sources of bytes: paths, URLs, bytes in memory, file objects.

use crate::ending::{Call, Callee};
use crate::errors::from_python;
use crate::reentrance::{ObjectCalls, Turns};
use bytes::Bytes;
use marquetry::errors::{Error, Result};
use marquetry::file::{LocalFile, Source};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyString};
use std::path::PathBuf;
use std::sync::Arc;

/// A source that is not open yet.
pub(crate) enum Input {
    Path(PathBuf),
    Url(String),
    Memory(Bytes),
    Object(FileObject),
}

impl Input {
    /// Interprets `object`: text is a path or a URL, a path-like object a path, `bytes` the contents of a file, and an object
    /// with `read` and `seek` a file. Other buffers are copied.
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let _call = Call::begin(object.py())?;
        if let Ok(text) = object.cast::<PyString>() {
            // Text that is not valid Unicode is a file name, as Python represents these.
            return Ok(match text.to_str() {
                Ok(url) if is_url(url) => Input::Url(url.to_owned()),
                _ => Input::Path(object.extract()?),
            });
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Input::Memory(Bytes::from_owner(PyBackedBytes::from(bytes.clone()))));
        }
        if object.hasattr("__fspath__")? {
            return Ok(Input::Path(path_of(object)?));
        }
        if object.hasattr("read")? && object.hasattr("seek")? {
            return FileObject::new(object).map(Input::Object);
        }
        // The owner of a writable buffer may change it.
        let buffer = object.py().import("builtins")?.getattr("memoryview")?.call1((object,));
        let Ok(buffer) = buffer else {
            let name = object.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "a path, a URL, bytes or a file object in binary mode is wanted, not {name}"
            )));
        };
        let bytes: PyBackedBytes = buffer.call_method0("tobytes")?.extract()?;
        Ok(Input::Memory(Bytes::from_owner(bytes)))
    }

    /// Its name in errors.
    pub(crate) fn name(&self) -> Option<String> {
        match self {
            Input::Path(path) => Some(path.display().to_string()),
            Input::Url(url) => Some(url.clone()),
            Input::Memory(_) | Input::Object(_) => None,
        }
    }

    /// Returns the calls of the file object, if it is one.
    pub(crate) fn object(&self) -> Option<ObjectCalls> {
        match self {
            Input::Object(file) => Some(file.calls.clone()),
            Input::Path(_) | Input::Url(_) | Input::Memory(_) => None,
        }
    }

    /// Opens the source, without the interpreter's lock.
    pub(crate) fn open(self) -> Result<Arc<dyn Source>> {
        Ok(match self {
            Input::Path(path) => Arc::new(LocalFile::open(path)?),
            Input::Url(url) => open_url(&url)?,
            Input::Memory(bytes) => Arc::new(bytes),
            Input::Object(file) => Arc::new(file),
        })
    }
}

/// The path of a path-like object, which may be text or bytes.
pub(crate) fn path_of(object: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    object.py().import("os")?.call_method1("fsdecode", (object,))?.extract()
}

/// The error with the name of the file.
pub(crate) fn named(error: Error, name: Option<String>) -> Error {
    match name {
        Some(name) => error.in_file(name),
        None => error,
    }
}

/// URL schemes of stores and web servers.
const SCHEMES: [&str; 9] = ["s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "http", "https"];

fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| SCHEMES.contains(&scheme))
}

#[cfg(feature = "remote")]
fn open_url(url: &str) -> Result<Arc<dyn Source>> {
    use marquetry_object_store::StoreRegistry;
    use std::sync::OnceLock;
    /// One registry for the process, so that connections are reused from file to file.
    static STORES: OnceLock<StoreRegistry> = OnceLock::new();
    if STORES.get().is_none() {
        let _ = STORES.set(StoreRegistry::new()?);
    }
    let stores = STORES.get().ok_or_else(|| Error::argument("no stores"))?;
    Ok(Arc::new(stores.open(url)?))
}

#[cfg(not(feature = "remote"))]
fn open_url(url: &str) -> Result<Arc<dyn Source>> {
    Err(Error::unsupported("this build knows no URLs; open a file object of fsspec instead").in_file(url))
}

/// An object with `read`, `seek` and `tell`. One thread reads at a time, except for pyarrow's files, which have `read_at`.
pub(crate) struct FileObject {
    calls: ObjectCalls,
    object: Callee,
    len: u64,
    has_read_at: bool,
    position: Turns<()>,
}

impl FileObject {
    fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if object.is_instance(&object.py().import("io")?.getattr("TextIOBase")?)? {
            return Err(of_text());
        }
        let has_read_at = object.hasattr("read_at")? && object.hasattr("size")?;
        let len = if has_read_at {
            object.call_method0("size")?.extract()?
        } else {
            let end = object.call_method1("seek", (0, 2))?;
            if end.is_none() { object.call_method0("tell")?.extract()? } else { end.extract()? }
        };
        Ok(FileObject {
            calls: ObjectCalls::default(),
            object: Callee::new(object.clone().unbind()),
            len,
            has_read_at,
            position: Turns::new(()),
        })
    }

    fn read(&self, object: &Bound<'_, PyAny>, offset: u64, len: usize) -> PyResult<Bytes> {
        if self.has_read_at {
            return piece(&object.call_method1("read_at", (len, offset))?);
        }
        object.call_method1("seek", (offset,))?;
        let first = piece(&object.call_method1("read", (len,))?)?;
        if first.is_empty() || first.len() >= len {
            return Ok(first);
        }
        // An unbuffered file may return less than was asked for.
        let mut bytes = Vec::from(first);
        while bytes.len() < len {
            let more = piece(&object.call_method1("read", (len - bytes.len(),))?)?;
            if more.is_empty() {
                break;
            }
            bytes.extend_from_slice(&more);
        }
        Ok(bytes.into())
    }
}

fn of_text() -> PyErr {
    PyTypeError::new_err("the file was opened in text mode; a binary file is wanted")
}

/// The result of `read`: bytes as they are, other buffers copied.
fn piece(read: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    if let Ok(bytes) = read.cast::<PyBytes>() {
        return Ok(Bytes::from_owner(PyBackedBytes::from(bytes.clone())));
    }
    if read.is_instance_of::<PyString>() {
        return Err(of_text());
    }
    let view = read.py().import("builtins")?.getattr("memoryview")?.call1((read,))?;
    let bytes: PyBackedBytes = view.call_method0("tobytes")?.extract()?;
    Ok(Bytes::from_owner(bytes))
}

impl Source for FileObject {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        // The turn is taken without the interpreter's lock; otherwise two threads could wait for each other.
        let _alone = match self.has_read_at {
            true => None,
            false => Some(self.position.take(Some(&self.calls))?),
        };
        let bytes = self.object.with(|object| {
            let _inside = self.calls.enter(object.py())?;
            self.read(object, offset, len)
        });
        let bytes = bytes.map_err(from_python)?;
        match bytes.len() {
            read if read == len => Ok(bytes),
            read => {
                Err(Error::truncated(format!("{len} bytes wanted, the file object gave {read}")).at(offset))
            }
        }
    }
}
