//! The command line of the program that the wheel installs.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command with the given arguments, of which the first is the program's name, and returns the exit code.
///
/// From here on, Rust handles signals that end the process, so no Python code should run afterwards.
#[pyfunction]
pub(crate) fn command_line(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| marquetry_cli::main(arguments))
}
