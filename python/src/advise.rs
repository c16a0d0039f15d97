//! What would make a file smaller or faster.

use crate::errors::to_python;
use crate::options::Options;
use crate::source::{Input, named};
use crate::work::run;
use marquetry::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, Int96Unit};
use marquetry::errors::{CancelToken, Error, Limits};
use marquetry::file::properties::Compat;
use marquetry::predicate::Predicate;
use marquetry_inspect::{
    Advice, AdviseOptions, BeforeAfter, ColumnSource, Finding, Goal, Query, advise as look,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::time::Duration;

/// What is advised of a file.
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
    options.finish()?;
    let reader = ArrowReaderOptions::new()
        .with_limits(Limits::default().with_cancel(cancel.clone()))
        .with_int96(Int96Unit::Nanoseconds);
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

fn wanted(options: &Options<'_>) -> PyResult<AdviseOptions> {
    let goal = match options.take::<String>("goal")?.as_deref() {
        None | Some("size") => Goal::Size,
        Some("scan") => Goal::Scan,
        Some("filter") => Goal::Filter,
        Some(other) => {
            return Err(PyValueError::new_err(format!("goal is size, scan or filter, not {other:?}")));
        }
    };
    let compat = match options.take::<String>("compat")?.as_deref() {
        None | Some("modern") => Compat::Modern,
        Some("latest") => Compat::Latest,
        Some(other) => {
            return Err(PyValueError::new_err(format!("compat is modern or latest, not {other:?}")));
        }
    };
    let seconds = options.take::<f64>("budget")?.unwrap_or(10.0);
    let budget = Duration::try_from_secs_f64(seconds)
        .map_err(|_| PyValueError::new_err("budget is a number of seconds, not negative"))?;
    let queries = options.take::<Vec<String>>("queries")?.unwrap_or_default();
    let queries = queries.iter().map(|text| Predicate::parse(text).map(Query::new));
    let queries = queries.collect::<Result<Vec<_>, _>>().map_err(|error| to_python(options.py(), &error))?;
    let options = AdviseOptions::default().with_goal(goal).with_compat(compat);
    Ok(options.with_budget(budget).with_queries(queries))
}

fn facts<'py>(py: Python<'py>, advice: &Advice) -> PyResult<Bound<'py, PyDict>> {
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
