//! Readers of pyarrow, whose batches may come from a generator.
//!
//! They are called through Python, so that an exception is raised again as itself, KeyboardInterrupt and SystemExit
//! included. Arrow's C stream would pass on only its text.

use crate::capsule::{import_batch, import_schema};
use crate::ending::Callee;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::PyStopIteration;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// A `pyarrow.RecordBatchReader`.
pub(crate) struct PyarrowReader {
    reader: Callee,
    schema: SchemaRef,
}

impl PyarrowReader {
    /// `None` if `object` is no such reader.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        // If nobody has imported pyarrow, no object is of its classes.
        let modules = object.py().import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
        let class = match modules.get_item("pyarrow")? {
            Some(pyarrow) => pyarrow.getattr_opt("RecordBatchReader")?,
            None => None,
        };
        match class {
            Some(class) if object.is_instance(&class)? => {
                let schema = Arc::new(import_schema(&object.getattr("schema")?)?);
                Ok(Some(PyarrowReader { reader: Callee::new(object.clone().unbind()), schema }))
            }
            _ => Ok(None),
        }
    }
}

impl Iterator for PyarrowReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.reader.with(|reader| {
            let batch = reader.call_method0("read_next_batch");
            match batch.and_then(|batch| import_batch(&batch, &self.schema)) {
                Ok(batch) => Ok(Some(batch)),
                Err(error) if error.is_instance_of::<PyStopIteration>(reader.py()) => Ok(None),
                Err(error) => Err(error),
            }
        });
        batch.map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose()
    }
}

impl RecordBatchReader for PyarrowReader {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
