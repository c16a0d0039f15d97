//! The target of a file: a path, where it appears once complete, a pipe, or a file object.

use crate::ending::{Call, Callee};
use crate::errors::{from_python, io_from_python, to_python};
use crate::source::path_of;
use marquetry::errors::{Error, Result};
use marquetry::file::AtomicFile;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The target of bytes.
pub(crate) enum Target {
    Path { path: PathBuf, may_be_pipe: bool },
    Object(Callee),
}

impl Target {
    /// A path, or an object with `write`. A file gets its name once it is complete and on disk. With `may_be_pipe`,
    /// pipes and devices are written to directly; without, they are an error.
    pub(crate) fn new(object: &Bound<'_, PyAny>, may_be_pipe: bool) -> PyResult<Self> {
        let _call = Call::begin(object.py())?;
        if object.is_instance_of::<PyString>() || object.hasattr("__fspath__")? {
            return Ok(Target::Path { path: path_of(object)?, may_be_pipe });
        }
        if object.hasattr("write")? {
            return Ok(Target::Object(Callee::new(object.clone().unbind())));
        }
        let name = object.get_type().name()?;
        Err(PyTypeError::new_err(format!("a path or a file object to write to is wanted, not {name}")))
    }

    /// Its name in errors.
    pub(crate) fn name(&self) -> Option<String> {
        match self {
            Target::Path { path, .. } => Some(path.display().to_string()),
            Target::Object(_) => None,
        }
    }

    pub(crate) fn create(self) -> Result<Sink> {
        Ok(match self {
            Target::Path { path, may_be_pipe: true } if is_pipe(&path) => {
                let pipe = OpenOptions::new().write(true).open(&path);
                let pipe = pipe.map_err(|error| Error::io("cannot write to what is there", error))?;
                Sink::Pipe(BufWriter::with_capacity(BUFFER, pipe))
            }
            Target::Path { path, .. } => Sink::Atomic(AtomicFile::create(path)?),
            Target::Object(object) => Sink::Object(BufWriter::with_capacity(BUFFER, FileObject(object))),
        })
    }
}

/// An open target.
pub(crate) enum Sink {
    Atomic(AtomicFile),
    Pipe(BufWriter<File>),
    Object(BufWriter<FileObject>),
}

/// Whether `path` exists, and is neither a file nor a directory.
fn is_pipe(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Buffer size in bytes: a call into Python costs as much as writing many bytes.
const BUFFER: usize = 1 << 18;

impl Sink {
    /// Completes the file.
    pub(crate) fn finish(self) -> Result<()> {
        let failed = |error| Error::io("cannot write the file", error);
        match self {
            Sink::Atomic(file) => file.finish(),
            Sink::Pipe(mut pipe) => pipe.flush().map_err(failed),
            Sink::Object(mut file) => {
                file.flush().map_err(failed)?;
                let flushed = file.get_ref().0.with(|object| {
                    if object.hasattr("flush")? { object.call_method0("flush").map(drop) } else { Ok(()) }
                });
                flushed.map_err(from_python)
            }
        }
    }

    /// Discards the file: one with a path is removed.
    pub(crate) fn discard(self) {
        match self {
            Sink::Atomic(file) => file.discard(),
            Sink::Pipe(pipe) => drop(pipe.into_parts()),
            Sink::Object(file) => drop(file.into_parts()),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Atomic(file) => file.write(bytes),
            Sink::Pipe(pipe) => pipe.write(bytes),
            Sink::Object(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Atomic(file) => file.flush(),
            Sink::Pipe(pipe) => pipe.flush(),
            Sink::Object(file) => file.flush(),
        }
    }
}

/// Writes the bytes of a file; at a path in one step.
#[pyfunction]
pub(crate) fn write_bytes(py: Python<'_>, target: &Bound<'_, PyAny>, contents: &[u8]) -> PyResult<()> {
    let target = Target::new(target, true)?;
    let name = target.name();
    let write = || {
        let mut sink = target.create()?;
        sink.write_all(contents).map_err(|error| Error::io("cannot write the file", error))?;
        sink.finish()
    };
    let in_file = |error: Error| name.iter().fold(error, |error, name| error.in_file(name.as_str()));
    py.detach(|| write().map_err(in_file)).map_err(|error| to_python(py, &error))
}

/// A file object to write to.
pub(crate) struct FileObject(Callee);

impl Write for FileObject {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.with(|object| {
            let written = object.call_method1("write", (PyBytes::new(object.py(), bytes),))?;
            // Unbuffered files return how much they took; others may return nothing.
            match written.is_none() {
                true => Ok(bytes.len()),
                false => written.extract::<usize>().map(|taken| taken.min(bytes.len())),
            }
        });
        written.map_err(io_from_python)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
