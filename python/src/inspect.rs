//! Profiles columns, and compares files.

use crate::encryption::Decryption;
use crate::options::Options;
use crate::source::{Input, named};
use crate::work::run;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;
use marquetry::arrow::StringLayout;
use marquetry::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, Int96Unit};
use marquetry::errors::{CancelToken, Error, Limits};
use marquetry::file::{LocalFile, Source};
use marquetry_inspect::{
    Aspect, ColumnStats, DiffFile, DiffOptions, Lengths, RowsDiff, StatsOptions, column_stats, diff_footers,
    diff_rows, footer_stats, table_stats as stats_of_table,
};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::sync::Arc;

/// Returns the number of rows of a file, and statistics of its columns.
#[pyfunction]
#[pyo3(signature = (source, options=None))]
pub(crate) fn stats<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<(u64, Bound<'py, PyList>)> {
    let options = Options::new(py, options)?;
    let cancel = CancelToken::new();
    let wanted = stats_options(&options)?;
    let is_quick = options.take("quick")?.unwrap_or(false);
    let reader = reader_options(&options, &cancel)?;
    options.finish()?;
    let input = Input::new(source)?;
    let name = input.name();
    let (rows, columns) = run(py, &cancel, move || {
        let looked = || {
            let source = input.open()?;
            // The unit of INT96 is determined by reading values, which does not happen here.
            let metadata =
                ArrowReaderMetadata::load(source.clone(), reader.clone().with_int96(Int96Unit::Nanoseconds))?;
            let rows = metadata.metadata().num_rows();
            let columns = match is_quick {
                true => footer_stats(&metadata, &wanted)?,
                false => column_stats(source, reader, &wanted)?,
            };
            Ok((rows, columns))
        };
        looked().map_err(|error: Error| named(error, name))
    })?;
    Ok((rows, columns_facts(py, &columns)?))
}

/// Returns the number of rows of several files, and statistics of their columns over all files.
#[pyfunction]
#[pyo3(signature = (paths, options=None))]
pub(crate) fn table_stats<'py>(
    py: Python<'py>,
    paths: Vec<String>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<(u64, Bound<'py, PyList>)> {
    let options = Options::new(py, options)?;
    let cancel = CancelToken::new();
    let wanted = stats_options(&options)?;
    let reader = reader_options(&options, &cancel)?;
    options.finish()?;
    let (rows, columns) = run(py, &cancel, move || {
        let (mut rows, mut files) = (0u64, Vec::new());
        for path in &paths {
            let source: Arc<dyn Source> = Arc::new(LocalFile::open(path)?);
            let reader = reader.clone().with_int96(Int96Unit::Nanoseconds);
            let opened = ArrowReaderMetadata::load(source.clone(), reader);
            let metadata = opened.map_err(|error: Error| error.in_file(path.as_str()))?;
            rows = rows.saturating_add(metadata.metadata().num_rows());
            files.push((path.as_str(), source));
        }
        Ok((rows, stats_of_table(files, reader, &wanted)?))
    })?;
    Ok((rows, columns_facts(py, &columns)?))
}

fn stats_options(options: &Options<'_>) -> PyResult<StatsOptions> {
    let mut wanted = StatsOptions::default();
    wanted.columns = options.take("columns")?;
    wanted.most_common = options.take("common")?.unwrap_or(wanted.most_common);
    wanted.threads = options.take("threads")?.unwrap_or(0);
    Ok(wanted)
}

fn columns_facts<'py>(py: Python<'py>, columns: &[ColumnStats]) -> PyResult<Bound<'py, PyList>> {
    let out = PyList::empty(py);
    for column in columns {
        out.append(column_facts(py, column)?)?;
    }
    Ok(out)
}

/// Returns the differences between two files.
#[pyfunction]
#[pyo3(signature = (left, right, options=None))]
pub(crate) fn diff<'py>(
    py: Python<'py>,
    left: &Bound<'py, PyAny>,
    right: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new(py, options)?;
    let cancel = CancelToken::new();
    let mut wanted = DiffOptions::default();
    wanted.columns = options.take("columns")?;
    wanted.key = options.take("key")?.unwrap_or_default();
    wanted.samples = options.take("samples")?.unwrap_or(wanted.samples);
    wanted.threads = options.take("threads")?.unwrap_or(0);
    let with_rows =
        options.take("rows")?.unwrap_or(false) || wanted.columns.is_some() || !wanted.key.is_empty();
    let reader = reader_options(&options, &cancel)?.with_int96(Int96Unit::Nanoseconds);
    options.finish()?;
    let (left, right) = (Input::new(left)?, Input::new(right)?);
    let (facts, rows) = run(py, &cancel, move || {
        let open = |input: Input| {
            let name = input.name();
            let opened = input.open().and_then(|source| DiffFile::open(source, reader.clone()));
            opened.map_err(|error| named(error, name))
        };
        let (left, right) = (open(left)?, open(right)?);
        let mut facts = diff_footers(left.metadata(), right.metadata())?;
        let mut rows = None;
        if with_rows {
            facts.retain(|fact| matches!(fact.aspect, Aspect::Schema | Aspect::Metadata));
            rows = Some(diff_rows(&left, &right, &wanted)?);
        }
        Ok((facts, rows))
    })?;
    let out = PyDict::new(py);
    let facts = facts.into_iter().map(|fact| (fact.aspect.name(), fact.of, fact.fact, fact.left, fact.right));
    out.set_item("differences", facts.collect::<Vec<_>>())?;
    out.set_item("rows", rows.map(|rows| rows_facts(py, &rows)).transpose()?)?;
    Ok(out)
}

fn reader_options(options: &Options<'_>, cancel: &CancelToken) -> PyResult<ArrowReaderOptions> {
    let reader = ArrowReaderOptions::new()
        .with_limits(Limits::default().with_cancel(cancel.clone()))
        .with_text(StringLayout::Utf8View)
        .with_int96(Int96Unit::Auto);
    Ok(match options.take::<Py<Decryption>>("decryption")? {
        Some(keys) => reader.with_file_decryption_properties(keys.get().properties()),
        None => reader,
    })
}

fn rows_facts<'py>(py: Python<'py>, rows: &RowsDiff) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("left", rows.rows.0)?;
    out.set_item("right", rows.rows.1)?;
    out.set_item("removed", rows.removed)?;
    out.set_item("added", rows.added)?;
    out.set_item("changed", rows.changed)?;
    out.set_item("reordered", rows.is_reordered)?;
    out.set_item("first_moved", rows.first_moved)?;
    out.set_item("removed_rows", &rows.removed_rows)?;
    out.set_item("added_rows", &rows.added_rows)?;
    out.set_item("changed_rows", &rows.changed_rows)?;
    out.set_item("changed_columns", rows.changed_columns.to_vec())?;
    out.set_item("changed_looked_at", rows.changed_looked_at)?;
    out.set_item("columns", &rows.columns)?;
    out.set_item("not_compared", &rows.not_compared)?;
    Ok(out)
}

fn column_facts<'py>(py: Python<'py>, column: &ColumnStats) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("column", &column.column)?;
    out.set_item("type", column.field.data_type().to_string())?;
    out.set_item("values", column.values)?;
    out.set_item("nulls", column.nulls)?;
    out.set_item("nans", column.nans)?;
    out.set_item("distinct", column.distinct.map(|distinct| distinct.count))?;
    out.set_item("distinct_error", column.distinct.map(|distinct| distinct.error))?;
    let bounds = column.bounds.as_ref().map(|bounds| values(py, bounds)).transpose()?;
    let bound = |i: usize| bounds.as_ref().map(|bounds| bounds.get_item(i)).transpose();
    out.set_item("min", bound(0)?)?;
    out.set_item("max", bound(1)?)?;
    out.set_item("exact_bounds", column.are_bounds_exact)?;
    out.set_item("mean", column.mean)?;
    out.set_item("deviation", column.deviation)?;
    let quartiles = column.quartiles.as_ref();
    out.set_item("quartiles", quartiles.map(|it| values(py, &it.values)).transpose()?)?;
    out.set_item("rank_error", quartiles.map(|it| it.rank_error))?;
    let common = PyList::empty(py);
    if let Some(found) = &column.common {
        for (value, (at_least, at_most)) in values(py, &found.values)?.iter().zip(&found.counts) {
            common.append((value, *at_least, *at_most))?;
        }
    }
    out.set_item("common", common)?;
    let lengths = |lengths: Option<Lengths>| lengths.map(|it| (it.least, it.mean, it.greatest));
    out.set_item("length", lengths(column.lengths))?;
    out.set_item("list_length", lengths(column.list_lengths))?;
    let histogram = column.histogram.as_ref();
    out.set_item("histogram", histogram.map(|it| (it.lower, it.upper, it.counts.clone())))?;
    Ok(out)
}

/// The values of an array in Python: numbers, text, bytes; values of other types as text, with the name of the Python type.
fn values<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
    let failed = |error| crate::errors::arrow_to_python(py, error);
    let formatter = ArrayFormatter::try_new(array.as_ref(), &FormatOptions::default()).map_err(failed)?;
    let out = PyList::empty(py);
    for i in 0..array.len() {
        out.append(value(py, array, i, &formatter)?)?;
    }
    Ok(out)
}

fn value<'py>(
    py: Python<'py>,
    array: &ArrayRef,
    i: usize,
    shown: &ArrayFormatter<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(i) {
        return Ok(py.None().into_bound(py));
    }
    let text = || shown.value(i).to_string();
    match array.data_type() {
        DataType::Boolean => array.as_boolean().value(i).into_bound_py_any(py),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(i).into_bound_py_any(py),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(i).into_bound_py_any(py),
        DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32 => text().parse::<i64>().unwrap_or_default().into_bound_py_any(py),
        DataType::Float16 => array.as_primitive::<Float16Type>().value(i).to_f64().into_bound_py_any(py),
        DataType::Float32 => f64::from(array.as_primitive::<Float32Type>().value(i)).into_bound_py_any(py),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(i).into_bound_py_any(py),
        DataType::Utf8 => array.as_string::<i32>().value(i).into_bound_py_any(py),
        DataType::Binary => PyBytes::new(py, array.as_binary::<i32>().value(i)).into_bound_py_any(py),
        DataType::LargeUtf8 => array.as_string::<i64>().value(i).into_bound_py_any(py),
        DataType::LargeBinary => PyBytes::new(py, array.as_binary::<i64>().value(i)).into_bound_py_any(py),
        DataType::FixedSizeBinary(_) => {
            PyBytes::new(py, array.as_fixed_size_binary().value(i)).into_bound_py_any(py)
        }
        DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => py.import("decimal")?.getattr("Decimal")?.call1((text(),)),
        DataType::Date32 | DataType::Date64 => {
            let date = py.import("datetime")?.getattr("date")?;
            // Python does not support such years.
            date.call_method1("fromisoformat", (text(),)).or_else(|_| text().into_bound_py_any(py))
        }
        _ => text().into_bound_py_any(py),
    }
}
