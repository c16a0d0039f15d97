//! The command line, for the program that the wheel installs.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Does what the arguments say, of which the first is the program's own name, and gives the exit code. Signals that end the process are
/// taken care of in Rust from here on: nothing of Python is to come after it.
#[pyfunction]
pub(crate) fn command_line(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| marquetry_cli::main(arguments))
}
