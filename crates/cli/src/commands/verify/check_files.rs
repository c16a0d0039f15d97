//! Checks files in several threads, and prints the findings.

use super::places::places;
use super::{github, sarif};
use crate::args::Files;
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::hyperlinks;
use crate::output::Output;
use crate::printable::printable;
use marquetry::errors::Error;
use marquetry_base::counted;
use marquetry_verify::{Finding, Judgement, Report, Severity, VerifyOptions, verify};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// Files, and how to check them.
pub(crate) struct Job<'a> {
    pub(crate) files: &'a Files,
    /// In total; one for each processor by default.
    pub(crate) threads: Option<usize>,
    pub(crate) options: VerifyOptions,
    pub(crate) judgement: &'a Judgement,
}

/// Checks files, several at a time, and prints the findings in the order of the files.
pub(crate) fn check_files(job: &Job<'_>, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let mut sarif = output.is_sarif().then(|| sarif::Document::new(job.judgement.clone()));
    let files = job.files.expanded_or(|file, failure| {
        sarif.iter_mut().for_each(|sarif| sarif.add_failure(file, &failure));
        outcome.report(Some(file), &failure);
    });
    let threads = job.threads.filter(|threads| *threads > 0);
    let threads = threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let workers = threads.min(files.len()).max(1);
    let options = job.options.clone().with_threads(threads.div_ceil(workers));
    let next = AtomicUsize::new(0);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(workers);
        let mut started = 0;
        for _ in 0..workers {
            let (sender, files, next, is_over, options) = (sender.clone(), &files, &next, &is_over, &options);
            let work = move || {
                while !is_over.load(Ordering::Relaxed)
                    && let i = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(file) = files.get(i)
                    && sender.send((i, verify_file(file, options))).is_ok()
                {}
            };
            // Fewer, if the system starts no more.
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
            started += 1;
        }
        drop(sender);
        let mut show = |i: usize, report| show(job, &files[i], report, &mut sarif, output, outcome);
        let shown = match started {
            0 => (0..files.len()).try_for_each(|i| show(i, verify_file(&files[i], &options))),
            _ => in_order(receiver, show),
        };
        is_over.store(true, Ordering::Relaxed);
        shown
    })?;
    match sarif {
        Some(sarif) => Ok(output.json(&sarif.finish())?),
        None => Ok(()),
    }
}

fn verify_file(file: &Path, options: &VerifyOptions) -> Result<Report, Error> {
    verify(crate::remote::source(file)?, options)
}

/// Passes reports on in the order of the files, each as soon as those before it are done.
fn in_order(
    receiver: mpsc::Receiver<(usize, Result<Report, Error>)>,
    mut each: impl FnMut(usize, Result<Report, Error>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    for (i, report) in receiver {
        waiting.insert(i, report);
        while let Some(report) = waiting.remove(&next) {
            each(next, report)?;
            next += 1;
        }
    }
    Ok(())
}

fn show(
    job: &Job<'_>,
    file: &Path,
    report: Result<Report, Error>,
    sarif: &mut Option<sarif::Document>,
    output: &mut Output,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            let failure = Failure::File(error);
            sarif.iter_mut().for_each(|sarif| sarif.add_failure(file, &failure));
            outcome.report(Some(file), &failure);
            return Ok(());
        }
    };
    match sarif {
        Some(sarif) => sarif.add(file, &report),
        None if output.is_json() => output.json(&object(file, &report, job.judgement))?,
        None if output.is_github() => github::annotate(file, &report, job.judgement, output)?,
        None => text(job, file, &report, output)?,
    }
    if job.judgement.fails(&report) {
        outcome.report(Some(file), &Failure::Check(summary(&report, job.judgement)));
    }
    Ok(())
}

fn text(job: &Job<'_>, file: &Path, report: &Report, output: &mut Output) -> Result<(), Failure> {
    if job.files.are_several() {
        let name = file_name::shown_on_line(file);
        output.linked(&name, hyperlinks::of_file(file))?;
        output.line(format!(": {}", headline(report, job.judgement)))?;
    } else {
        output.line(headline(report, job.judgement))?;
    }
    for Finding { rule, place, message, .. } in &report.findings {
        let place = places(place);
        let severity = job.judgement.severity(rule).name();
        let message = printable(message);
        write!(output, "  {severity:<10} ")?;
        output.linked(rule.id, hyperlinks::of_spec(rule.spec))?;
        output.line(format!(": {message}{place}"))?;
    }
    for (rule, more) in &report.omitted {
        output.line(format!("  {:<10} {}: {more} more", job.judgement.severity(rule).name(), rule.id))?;
    }
    Ok(())
}

fn headline(report: &Report, judgement: &Judgement) -> String {
    let ok = match report.findings.is_empty() && report.omitted.is_empty() {
        true => "ok".to_owned(),
        false => summary(report, judgement),
    };
    format!("{ok}, {}, {} bytes checked", counted(report.pages, "page"), report.bytes)
}

/// The number of findings of each severity, the worst first.
fn summary(report: &Report, judgement: &Judgement) -> String {
    let mut counts: BTreeMap<Severity, u64> = BTreeMap::new();
    report
        .findings
        .iter()
        .for_each(|finding| *counts.entry(judgement.severity(finding.rule)).or_default() += 1);
    report
        .omitted
        .iter()
        .for_each(|(rule, more)| *counts.entry(judgement.severity(rule)).or_default() += more);
    let shown = counts.iter().rev().map(|(severity, count)| format!("{count} {}", severity.name()));
    shown.collect::<Vec<_>>().join(", ")
}

fn object(file: &Path, report: &Report, judgement: &Judgement) -> Value {
    let findings = report.findings.iter().map(|Finding { rule, place, message, .. }| {
        json!({
            "rule": rule.id,
            "severity": judgement.severity(rule).name(),
            "spec": rule.spec,
            "row_group": place.row_group,
            "column": place.column.as_deref(),
            "page": place.page,
            "offset": place.offset,
            "message": message,
        })
    });
    let omitted = report.omitted.iter().map(|(rule, count)| json!({"rule": rule.id, "count": count}));
    json!({
        "file": file_name::shown(file),
        "pages": report.pages,
        "bytes": report.bytes,
        "worst": judgement.worst(report).map(Severity::name),
        "findings": findings.collect::<Vec<_>>(),
        "omitted": omitted.collect::<Vec<_>>(),
    })
}
