//! Where a file is written: under a path, once it is whole or as it comes, or into a file object.

use crate::errors::{from_python, io_from_python};
use marquetry::errors::{Error, Result};
use marquetry::file::AtomicFile;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// Where bytes go.
pub(crate) enum Target {
    Path { path: PathBuf, atomic: bool },
    Object(Py<PyAny>),
}

impl Target {
    /// A path, or what has `write`. With `atomic` the file has its name once it is whole, and is on the disk then.
    pub(crate) fn new(object: &Bound<'_, PyAny>, atomic: bool) -> PyResult<Self> {
        if object.is_instance_of::<PyString>() || object.hasattr("__fspath__")? {
            return Ok(Target::Path { path: object.extract()?, atomic });
        }
        if object.hasattr("write")? {
            return Ok(Target::Object(object.clone().unbind()));
        }
        let name = object.get_type().name()?;
        Err(PyTypeError::new_err(format!("a path or a file object to write to is wanted, not {name}")))
    }

    /// What errors call it.
    pub(crate) fn name(&self) -> Option<String> {
        match self {
            Target::Path { path, .. } => Some(path.display().to_string()),
            Target::Object(_) => None,
        }
    }

    pub(crate) fn create(self) -> Result<Sink> {
        Ok(match self {
            Target::Path { path, atomic: true } => Sink::Atomic(AtomicFile::create(path)?),
            Target::Path { path, atomic: false } => {
                let file = File::create(&path).map_err(|error| Error::io("cannot create the file", error))?;
                Sink::Plain(PlainFile { file: BufWriter::with_capacity(BUFFER, file), path, is_whole: false })
            }
            Target::Object(object) => Sink::Object(BufWriter::with_capacity(BUFFER, FileObject(object))),
        })
    }
}

/// What bytes are written to.
pub(crate) enum Sink {
    Atomic(AtomicFile),
    Plain(PlainFile),
    Object(BufWriter<FileObject>),
}

/// A file that has its name from the beginning, and is removed unless it becomes whole.
pub(crate) struct PlainFile {
    file: BufWriter<File>,
    path: PathBuf,
    is_whole: bool,
}

impl Drop for PlainFile {
    fn drop(&mut self) {
        if !self.is_whole {
            // It may be gone already.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Bytes that are written at a time: a call into Python costs as much as many of them.
const BUFFER: usize = 1 << 18;

impl Sink {
    /// All was written.
    pub(crate) fn finish(self) -> Result<()> {
        let failed = |error| Error::io("cannot write the file", error);
        match self {
            Sink::Atomic(file) => file.finish(),
            Sink::Plain(mut file) => {
                file.file.flush().map_err(failed)?;
                file.is_whole = true;
                Ok(())
            }
            Sink::Object(mut file) => {
                file.flush().map_err(failed)?;
                Python::attach(|py| {
                    let object = file.get_ref().0.bind(py);
                    if object.hasattr("flush")? { object.call_method0("flush").map(drop) } else { Ok(()) }
                })
                .map_err(from_python)
            }
        }
    }

    /// Gives the file up: what has a path is removed.
    pub(crate) fn discard(self) {
        match self {
            Sink::Atomic(file) => file.discard(),
            Sink::Plain(file) => drop(file),
            Sink::Object(file) => drop(file.into_parts()),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Atomic(file) => file.write(bytes),
            Sink::Plain(file) => file.file.write(bytes),
            Sink::Object(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Atomic(file) => file.flush(),
            Sink::Plain(file) => file.file.flush(),
            Sink::Object(file) => file.flush(),
        }
    }
}

/// A file object that is written to.
pub(crate) struct FileObject(Py<PyAny>);

impl Write for FileObject {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let written = self.0.bind(py).call_method1("write", (PyBytes::new(py, bytes),))?;
            // Files that are not buffered say how much they took; others may say nothing.
            match written.is_none() {
                true => Ok(bytes.len()),
                false => written.extract::<usize>().map(|taken| taken.min(bytes.len())),
            }
        })
        .map_err(io_from_python)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
