//! Advice that makes a file smaller or faster.

use crate::encryption::Decryption;
use crate::errors::to_python;
use crate::options::Options;
use crate::source::{Input, named};
use crate::work::run;
use marquetry::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, Int96Unit};
use marquetry::errors::{CancelToken, Error, Limits};
use marquetry::file::properties::Compat;
use marquetry::file::{LocalFile, Source};
use marquetry::predicate::Predicate;
use marquetry_inspect::{
    Advice, AdviseOptions, BeforeAfter, ColumnSource, Finding, Goal, Query, advise as look,
    advise_merging as look_at_all,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::Arc;
use std::time::Duration;

/// Returns the advice for a file.
#[pyfunction]
#[pyo3(signature = (source, options=None))]
pub(crate) fn advise<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new(py, options)?;
    let cancel = CancelToken::new();
    let wanted = wanted(&options)?;
    let reader = reader_options(&options, &cancel)?;
    options.finish()?;
    let input = Input::new(source)?;
    let name = input.name();
    let advice = run(py, &cancel, move || {
        let looked = || {
            let source = input.open()?;
            let metadata = ArrowReaderMetadata::load(source.clone(), reader)?;
            look(&ColumnSource::new(source, metadata.metadata().clone()), &wanted)
        };
        looked().map_err(|error: Error| named(error, name))
    })?;
    facts(py, &advice)
}

/// Returns a finding if files of a directory should be merged.
#[pyfunction]
#[pyo3(signature = (paths, budget, options=None))]
pub(crate) fn advise_merging<'py>(
    py: Python<'py>,
    paths: Vec<String>,
    budget: f64,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let options = Options::new(py, options)?;
    let cancel = CancelToken::new();
    let reader = reader_options(&options, &cancel)?;
    options.finish()?;
    let budget = seconds(budget)?;
    let found = run(py, &cancel, move || {
        let open = |path: String| {
            let source: Arc<dyn Source> = Arc::new(LocalFile::open(&path)?);
            let opened = ArrowReaderMetadata::load(source.clone(), reader.clone());
            let metadata = opened.map_err(|error: Error| error.in_file(path.as_str()))?;
            Ok((path, ColumnSource::new(source, metadata.metadata().clone())))
        };
        let files = paths.into_iter().map(open).collect::<Result<Vec<_>, Error>>()?;
        look_at_all(&files, budget)
    })?;
    found.map(|finding| finding_facts(py, &finding)).transpose()
}

fn reader_options(options: &Options<'_>, cancel: &CancelToken) -> PyResult<ArrowReaderOptions> {
    let reader = ArrowReaderOptions::new()
        .with_limits(Limits::default().with_cancel(cancel.clone()))
        .with_int96(Int96Unit::Nanoseconds);
    Ok(match options.take::<Py<Decryption>>("decryption")? {
        Some(keys) => reader.with_file_decryption_properties(keys.get().properties()),
        None => reader,
    })
}

fn seconds(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| PyValueError::new_err("budget is a number of seconds, not negative"))
}

/// Parses the options of advice.
pub(crate) fn wanted(options: &Options<'_>) -> PyResult<AdviseOptions> {
    let goal = match options.take::<String>("for")?.as_deref() {
        None | Some("size") => Goal::Size,
        Some("scan") => Goal::Scan,
        Some("filter") => Goal::Filter,
        Some(other) => {
            return Err(PyValueError::new_err(format!("for_ is size, scan or filter, not {other:?}")));
        }
    };
    let compat = match options.take::<String>("compat")?.as_deref() {
        None | Some("modern") => Compat::Modern,
        Some("latest") => Compat::Latest,
        Some(other) => {
            return Err(PyValueError::new_err(format!("compat is modern or latest, not {other:?}")));
        }
    };
    let budget = seconds(options.take::<f64>("budget")?.unwrap_or(10.0))?;
    let wrong = |error: Error| to_python(options.py(), &error);
    let conditions = options.take::<Vec<String>>("where")?.unwrap_or_default();
    let conditions = conditions.iter().map(|text| Predicate::parse(text).map(Query::new));
    let mut queries = conditions.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    let lines = options.take::<String>("queries")?.unwrap_or_default();
    queries.extend(Query::parse_lines(&lines).map_err(wrong)?);
    let options = AdviseOptions::default().with_goal(goal).with_compat(compat);
    Ok(options.with_budget(budget).with_queries(queries))
}

/// The advice as a Python dictionary.
pub(crate) fn facts<'py>(py: Python<'py>, advice: &Advice) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyList::empty(py);
    for column in &advice.columns {
        let out = PyDict::new(py);
        out.set_item("column", &column.column)?;
        out.set_item("bytes", column.bytes)?;
        out.set_item("predicted", column.predicted)?;
        out.set_item("error", column.error)?;
        out.set_item("measured", column.measured)?;
        out.set_item("encoding", column.choice.map(|choice| choice.encoding.to_string()))?;
        let codec = column.choice.map(|choice| choice.compression.codec().to_string());
        out.set_item("compression", codec)?;
        out.set_item("level", column.choice.and_then(|choice| choice.compression.level()))?;
        columns.append(out)?;
    }
    let findings = PyList::empty(py);
    for finding in &advice.findings {
        findings.append(finding_facts(py, finding)?)?;
    }
    let out = PyDict::new(py);
    out.set_item("size", advice.file_bytes)?;
    out.set_item("predicted", advice.predicted_bytes)?;
    out.set_item("columns", columns)?;
    out.set_item("findings", findings)?;
    out.set_item("not_measured", &advice.not_measured)?;
    Ok(out)
}

fn finding_facts<'py>(py: Python<'py>, finding: &Finding) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("kind", finding.kind.name())?;
    out.set_item("columns", &finding.columns)?;
    out.set_item("what", &finding.what)?;
    out.set_item("bytes", pair(finding.bytes))?;
    out.set_item("decode", pair(finding.decode))?;
    out.set_item("skipped", pair(finding.skipped))?;
    out.set_item("confidence", finding.confidence.share())?;
    Ok(out)
}

fn pair<T: Copy>(figures: Option<BeforeAfter<T>>) -> Option<(T, T)> {
    figures.map(|it| (it.before, it.after))
}
