//! Rewrites a file as advised.

use crate::advise::{facts, wanted};
use crate::encryption::{Decryption, Encryption};
use crate::options::Options;
use crate::work::run;
use marquetry::errors::CancelToken;
use marquetry_cli::{OptimizeOptions, optimize as write_again};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;

/// Rewrites a file with the advice for it, and returns the outcome. `source` may be a URL.
#[pyfunction]
#[pyo3(signature = (source, target, options=None))]
pub(crate) fn optimize<'py>(
    py: Python<'py>,
    source: PathBuf,
    target: PathBuf,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new(py, options)?;
    let cancel = CancelToken::new();
    let wanted = OptimizeOptions::default()
        .with_advise(wanted(&options)?)
        .with_sort(options.take("sort")?.unwrap_or(false))
        .with_types(options.take("types")?.unwrap_or(false))
        .with_proof(options.take("proof")?.unwrap_or(true))
        .with_overwrite(options.take("overwrite")?.unwrap_or(false))
        .with_memory_limit(options.take("memory_limit")?)
        .with_decryption(options.take::<Py<Decryption>>("decryption")?.map(|keys| keys.get().properties()))
        .with_encryption(options.take::<Py<Encryption>>("encryption")?.map(|keys| keys.get().properties()))
        .with_decrypt(options.take("decrypt")?.unwrap_or(false))
        .with_cancel(cancel.clone());
    options.finish()?;
    let done = run(py, &cancel, move || write_again(source, target, &wanted))?;
    let columns = PyList::empty(py);
    for column in &done.columns {
        columns.append((&column.column, column.before, column.predicted, column.got))?;
    }
    let out = PyDict::new(py);
    out.set_item("before", done.before)?;
    out.set_item("predicted", done.predicted)?;
    out.set_item("got", done.size)?;
    out.set_item("copied", done.is_copy)?;
    out.set_item("columns", columns)?;
    out.set_item("also", done.also.iter().map(|kind| kind.name()).collect::<Vec<_>>())?;
    out.set_item("notes", &done.notes)?;
    out.set_item("advice", facts(py, &done.advice)?)?;
    Ok(out)
}
