//! Options that Python passes as a dictionary: each is taken out by its name, and remaining ones are an error.

use crate::errors::to_python;
use marquetry::errors::Result;
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The options that were not taken yet.
pub(crate) struct Options<'py>(Bound<'py, PyDict>);

impl<'py> Options<'py> {
    /// Copies `options`, from which options are then taken.
    pub(crate) fn new(py: Python<'py>, options: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        options.map_or_else(|| Ok(PyDict::new(py)), |options| options.copy()).map(Options)
    }

    pub(crate) fn py(&self) -> Python<'py> {
        self.0.py()
    }

    /// Takes the option `name`; `None` if it is not given, or is `None`.
    pub(crate) fn take<T: FromPyObjectOwned<'py>>(&self, name: &str) -> PyResult<Option<T>> {
        let Some(value) = self.0.get_item(name)? else {
            return Ok(None);
        };
        self.0.del_item(name)?;
        if value.is_none() {
            return Ok(None);
        }
        match value.extract::<T>() {
            Ok(value) => Ok(Some(value)),
            Err(error) => {
                let error: PyErr = error.into();
                Err(PyTypeError::new_err(format!("option {name}: {}", error.value(self.py()))))
            }
        }
    }

    /// Takes the option `name`, and parses it.
    pub(crate) fn parsed<T>(&self, name: &str, parse: impl Fn(&str) -> Result<T>) -> PyResult<Option<T>> {
        let text: Option<String> = self.take(name)?;
        text.map(|text| parse(&text).map_err(|error| to_python(self.py(), &error))).transpose()
    }

    /// Fails if an unknown option is left.
    pub(crate) fn finish(self) -> PyResult<()> {
        match self.0.keys().get_item(0) {
            Ok(name) => Err(PyTypeError::new_err(format!("there is no option {name}"))),
            Err(_) => Ok(()),
        }
    }
}
