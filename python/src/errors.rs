//! Converts errors to exceptions.
//!
//! The classes are Python's (`marquetry/_errors.py`); the contents of errors are passed as plain values. An exception
//! of a file object passes through the engine inside an error, and is raised again as itself.

use crate::ending::Call;
use crate::work::guarded;
use arrow_schema::ArrowError;
use marquetry::errors::{Error, ErrorKind};
use pyo3::prelude::*;
use std::error::Error as StdError;
use std::io;

/// Converts an error to an exception.
pub(crate) fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    if let Some(original) = exception_within(py, error) {
        return original;
    }
    let _call = match Call::begin(py) {
        Ok(call) => call,
        Err(at_exit) => return at_exit,
    };
    let place = error.place();
    let made = py.import("marquetry._errors").and_then(|module| {
        let (kind, message, text) = (error.kind().name(), error.message(), error.to_string());
        let facts = (kind, message, text, errno(error), place.file.as_deref());
        module.getattr("make")?.call1((
            facts,
            place.column.as_deref(),
            place.row_group,
            place.page,
            place.offset,
        ))
    });
    made.map_or_else(|failed| failed, PyErr::from_value)
}

/// Converts an error of Arrow to an exception.
pub(crate) fn arrow_to_python(py: Python<'_>, error: ArrowError) -> PyErr {
    to_python(py, &Error::from(error))
}

/// The error for an exception that was raised while the engine waited for Python.
pub(crate) fn from_python(exception: PyErr) -> Error {
    Error::caused_by(ErrorKind::Io, "Python raised an exception", exception)
}

/// As [`from_python`], for traits of the standard library.
pub(crate) fn io_from_python(exception: PyErr) -> io::Error {
    io::Error::other(exception)
}

/// The text of `error`, without the interpreter's lock: an exception within it is formatted, unless Python ends.
pub(crate) fn shown(error: &Error) -> String {
    let text = Call::begin_detached().ok().and_then(|_call| guarded(|| Ok(error.to_string())).ok());
    text.unwrap_or_else(|| error.message().to_owned())
}

fn exception_within(py: Python<'_>, error: &Error) -> Option<PyErr> {
    let mut cause: Option<&(dyn StdError + 'static)> = error.get_ref().map(|cause| cause as _);
    while let Some(current) = cause {
        if let Some(exception) = current.downcast_ref::<PyErr>() {
            return Some(exception.clone_ref(py));
        }
        cause = match current.downcast_ref::<io::Error>() {
            Some(of_io) => of_io.get_ref().map(|inner| inner as _),
            None => current.source(),
        };
    }
    None
}

/// The error number of the operating system.
fn errno(error: &Error) -> Option<i32> {
    error.get_ref().and_then(|cause| cause.downcast_ref::<io::Error>()).and_then(io::Error::raw_os_error)
}
