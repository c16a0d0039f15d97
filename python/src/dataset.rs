//! Many files as one table.

use crate::file::reader_options;
use crate::options::Options;
use crate::table::{Schema, Stream};
use crate::work::run;
use marquetry::dataset;
use marquetry::errors::{CancelToken, Limits, Result};
use marquetry::predicate::Predicate;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// Many files that are read as one table. Each call opens them again.
#[pyclass(frozen, module = "marquetry._marquetry")]
pub(crate) struct Dataset {
    paths: Vec<PathBuf>,
    union_by_name: bool,
    partitions: bool,
}

#[pymethods]
impl Dataset {
    #[new]
    fn new(paths: Vec<PathBuf>, union_by_name: bool, partitions: bool) -> Self {
        Dataset { paths, union_by_name, partitions }
    }

    fn files(&self, py: Python<'_>) -> PyResult<Vec<PathBuf>> {
        let cancel = CancelToken::new();
        run(py, &cancel, || Ok(self.table()?.files().map(PathBuf::from).collect()))
    }

    #[pyo3(signature = (reader=None))]
    fn num_rows(&self, py: Python<'_>, reader: Option<&Bound<'_, PyDict>>) -> PyResult<u64> {
        let cancel = CancelToken::new();
        let scan = self.scan(py, &cancel, reader, None)?;
        run(py, &cancel, || scan()?.num_rows())
    }

    #[pyo3(signature = (reader=None, options=None))]
    fn schema(
        &self,
        py: Python<'_>,
        reader: Option<&Bound<'_, PyDict>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Schema> {
        let cancel = CancelToken::new();
        let scan = self.scan(py, &cancel, reader, options)?;
        run(py, &cancel, || scan()?.schema().map(Schema))
    }

    #[pyo3(signature = (reader=None, options=None))]
    fn stream(
        &self,
        py: Python<'_>,
        reader: Option<&Bound<'_, PyDict>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Stream> {
        let cancel = CancelToken::new();
        let scan = self.scan(py, &cancel, reader, options)?;
        let reader = run(py, &cancel, || scan()?.batches())?;
        Ok(Stream::new(Box::new(reader), cancel, None))
    }
}

impl Dataset {
    fn table(&self) -> Result<dataset::Dataset> {
        let table = marquetry::dataset(&self.paths)?;
        Ok(table.union_by_name(self.union_by_name).partitions(self.partitions))
    }

    /// Creates the requested table, without the interpreter's lock.
    fn scan(
        &self,
        py: Python<'_>,
        cancel: &CancelToken,
        reader: Option<&Bound<'_, PyDict>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<impl FnOnce() -> Result<dataset::Dataset> + Send> {
        let (reader, limits) = reader_options(Options::new(py, reader)?, Limits::default())?;
        let reader = reader.with_limits(limits.with_cancel(cancel.clone()));
        let options = Options::new(py, options)?;
        let columns: Option<Vec<String>> = options.take("columns")?;
        let filter = options.parsed("filter", Predicate::parse)?;
        let batch_size: Option<usize> = options.take("batch_size")?;
        let limit: Option<usize> = options.take("limit")?;
        let offset: Option<usize> = options.take("offset")?;
        options.finish()?;
        Ok(move || {
            let mut table = self.table()?.options(reader);
            if let Some(columns) = columns {
                table = table.columns(columns);
            }
            if let Some(filter) = filter {
                table = table.filter(filter);
            }
            if let Some(rows) = batch_size {
                table = table.batch_size(rows);
            }
            if let Some(rows) = limit {
                table = table.limit(rows);
            }
            if let Some(rows) = offset {
                table = table.offset(rows);
            }
            Ok(table)
        })
    }
}
