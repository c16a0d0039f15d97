//! Functions that check or recover whole files.

use crate::encryption::Decryption;
use crate::options::Options;
use crate::source::{Input, named};
use crate::work::run;
use marquetry::errors::{CancelToken, Error, ErrorLocation, Limits, Result};
use marquetry::file::AtomicFile;
use marquetry_recover::{RecoverOptions, Report, recover as recover_file, recover_encrypted};
use marquetry_verify::{Judgement, Level, LintProfile, Rule, VerifyOptions};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;
use std::sync::Arc;

/// Checks a file against the rules of the format, or a profile, and returns the findings.
#[pyfunction]
#[pyo3(signature = (source, options=None))]
pub(crate) fn verify<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new(py, options)?;
    let cancel = CancelToken::new();
    let profile = options.parsed("profile", |text| text.parse::<LintProfile>())?;
    let mut verify = profile.as_ref().map_or_else(VerifyOptions::default, LintProfile::options);
    verify.limits = Limits::default().with_cancel(cancel.clone());
    verify.level = options.parsed("level", level)?.unwrap_or(verify.level);
    verify.rules = options.take("rules")?;
    verify.ignore.extend(options.take::<Vec<String>>("ignore")?.unwrap_or_default());
    verify.findings_per_rule = options.take("most")?.unwrap_or(verify.findings_per_rule);
    verify.threads = options.take("threads")?.unwrap_or(0);
    verify.decryption = options.take::<Py<Decryption>>("decryption")?.map(|keys| keys.get().properties());
    options.finish()?;
    let input = Input::new(source)?;
    let name = input.name();
    let report = run(py, &cancel, move || {
        let checked = input.open().and_then(|source| marquetry_verify::verify(source, &verify));
        checked.map_err(|error| named(error, name))
    })?;
    let judgement = profile.map_or_else(Judgement::default, |profile| profile.judgement);
    let severity = |rule: &Rule| judgement.severity(rule).name();
    let findings = PyList::empty(py);
    for finding in &report.findings {
        let found = PyDict::new(py);
        found.set_item("rule", finding.rule.id)?;
        found.set_item("severity", severity(finding.rule))?;
        found.set_item("title", finding.rule.title)?;
        found.set_item("spec", finding.rule.spec)?;
        found.set_item("message", &finding.message)?;
        place(&finding.place, &found)?;
        findings.append(found)?;
    }
    let out = PyDict::new(py);
    out.set_item("findings", findings)?;
    let omitted = report.omitted.iter().map(|(rule, count)| (rule.id, *count)).collect::<Vec<_>>();
    out.set_item("omitted", omitted)?;
    out.set_item("worst", judgement.worst(&report).map(|severity| severity.name()))?;
    out.set_item("fails", judgement.fails(&report))?;
    out.set_item("pages", report.pages)?;
    out.set_item("bytes", report.bytes)?;
    Ok(out)
}

fn level(name: &str) -> Result<Level> {
    [Level::Quick, Level::Default, Level::Deep]
        .into_iter()
        .find(|level| level.name() == name)
        .ok_or_else(|| Error::argument(format!("level is {name}, and should be quick, default or deep")))
}

fn place(place: &ErrorLocation, out: &Bound<'_, PyDict>) -> PyResult<()> {
    out.set_item("column", place.column.as_deref())?;
    out.set_item("row_group", place.row_group)?;
    out.set_item("page", place.page)?;
    out.set_item("byte", place.offset)
}

/// Writes what can be saved of a broken file to a new file.
#[pyfunction]
#[pyo3(signature = (source, target, options=None))]
pub(crate) fn recover<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    target: PathBuf,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new(py, options)?;
    let cancel = CancelToken::new();
    let limits = Arc::new(Limits::default().with_cancel(cancel.clone()));
    let recover = RecoverOptions::default()
        .with_partial(options.take("partial")?.unwrap_or(false))
        .with_keep_appended(options.take("keep_appended")?.unwrap_or(false))
        .with_threads(options.take("threads")?.unwrap_or(0))
        .with_limits(limits.clone());
    let keys = options.take::<Py<Decryption>>("decryption")?.map(|keys| keys.get().properties());
    options.finish()?;
    let input = Input::new(source)?;
    let name = input.name();
    let report = run(py, &cancel, move || {
        let recovered = || {
            if let Some(keys) = keys {
                let Some(found) = recover_encrypted(input.open()?, &keys, &limits)? else {
                    return Ok(Report::default());
                };
                found.write(AtomicFile::create(&target)?)?.finish()?;
                return Ok(found.report().clone());
            }
            let recovery = recover_file(input.open()?, &recover)?;
            // If nothing was found, no file is written.
            if !recovery.report().row_groups.is_empty() {
                recovery.write(AtomicFile::create(&target)?, None)?.finish()?;
            }
            Ok(recovery.report().clone())
        };
        recovered().map_err(|error| named(error, name))
    })?;
    let out = PyDict::new(py);
    out.set_item("schema", report.schema.map(|origin| origin.name()))?;
    out.set_item("rows", report.rows())?;
    out.set_item("bytes", report.bytes)?;
    out.set_item("bytes_kept", report.bytes_kept())?;
    let decisions = report.decisions.iter();
    let decisions = decisions.map(|made| (made.what.clone(), made.why.clone(), made.confidence.name()));
    out.set_item("decisions", decisions.collect::<Vec<_>>())?;
    let groups = report.row_groups.iter();
    let groups = groups
        .map(|kept| (kept.bytes.start, kept.bytes.end, kept.rows, kept.nulls.clone(), kept.why.clone()));
    out.set_item("row_groups", groups.collect::<Vec<_>>())?;
    let losses =
        report.losses.iter().map(|lost| (lost.bytes.start, lost.bytes.end, lost.rows, lost.why.clone()));
    out.set_item("losses", losses.collect::<Vec<_>>())?;
    Ok(out)
}
