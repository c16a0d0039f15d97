//! `verify`: do files keep the format's rules?

mod sarif;

use crate::args::Files;
use crate::commands::rules::named;
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::output::Output;
use crate::printable::printable;
use clap::Args as ClapArgs;
use marquetry::errors::{Error, ErrorLocation};
use marquetry_verify::{Finding, Level, Report, Rule, Severity, VerifyOptions, verify};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

#[derive(Debug, ClapArgs)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    files: Files,
    /// Look at metadata only: footer, indexes, headers of bloom filters
    #[arg(long, conflicts_with = "deep")]
    quick: bool,
    /// Decode everything, and hold all that is said of the values against them
    #[arg(long)]
    deep: bool,
    /// Check only this rule, or all whose id begins so, such as page; may be given again
    #[arg(long, value_name = "ID|PREFIX")]
    rule: Vec<String>,
    /// Leave out this rule, or all whose id begins so; may be given again
    #[arg(long, value_name = "ID|PREFIX")]
    ignore: Vec<String>,
    /// Show so many findings of each rule for each file; the others are counted
    #[arg(long, value_name = "N", default_value_t = 20)]
    most: usize,
    /// How many threads; by default one for each processor
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

pub(crate) const VERIFY_HELP: &str = "\
Without --quick and --deep every byte of every page is read and held against its checksum; page headers are held against
footer and indexes; levels are counted where they are not compressed, and in columns of lists. Nothing else is
decompressed, so that a page without a checksum may be damaged in its values: --deep finds that. `marquetry rules` lists
what is checked. --rule with a rule of a deeper level looks that deep; --quick refuses it.

Exit code: 1 if there is a finding that is invalid or corrupt, or a file cannot be read; 0 if there are only suspicious
ones or style, or none.
JSON: {file, pages, bytes, worst, findings: [{rule, severity, spec, row_group, column, page, offset, message}],
omitted: [{rule, count}]}; `worst` is a severity or null, `spec` the section of the format that the rule is from.
SARIF: one document of version 2.1.0 for all files; corrupt and invalid are errors, suspicious warnings, style notes. Files
that cannot be read are notifications of the invocation.

Examples:
  marquetry verify wines.parquet
  marquetry verify --deep 'data/*.parquet' --ignore list-legacy
  marquetry verify --rule statistics --rule bloom wines.parquet
  marquetry verify --quick data/*.parquet --format sarif > findings.sarif";

pub(crate) fn run(args: &VerifyArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let mut sarif = output.is_sarif().then(sarif::Document::new);
    let files = args.files.expanded_or(|file, failure| {
        sarif.iter_mut().for_each(|sarif| sarif.add_failure(file, &failure));
        outcome.report(Some(file), &failure);
    });
    let threads = args.threads.filter(|threads| *threads > 0);
    let threads = threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let workers = threads.min(files.len()).max(1);
    let options = args.options(threads.div_ceil(workers))?;
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
            // Fewer, if no more can be started.
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
            started += 1;
        }
        drop(sender);
        let mut show = |i: usize, report| show(args, &files[i], report, &mut sarif, output, outcome);
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

impl VerifyArgs {
    fn options(&self, threads: usize) -> Result<VerifyOptions, Failure> {
        let asked = self.rule.iter().map(|text| named(text)).collect::<Result<Vec<_>, _>>()?;
        let ignored = self.ignore.iter().map(|text| named(text)).collect::<Result<Vec<_>, _>>()?.concat();
        // That it finds nothing would look as if there were nothing to find.
        for (text, rules) in self.rule.iter().zip(&asked).filter(|_| self.quick) {
            if let Some(least) =
                rules.iter().map(|rule| rule.level).min().filter(|least| *least > Level::Quick)
            {
                return Err(Failure::Usage(format!(
                    "{text} is checked from the level {} on: leave out --quick",
                    least.name()
                )));
            }
        }
        let asked = asked.concat();
        let level = match (self.quick, self.deep) {
            (true, _) => Level::Quick,
            (_, true) => Level::Deep,
            // A rule that is asked for is checked.
            _ => asked.iter().map(|rule| rule.level).fold(Level::Default, Ord::max),
        };
        let ids = |rules: Vec<&Rule>| rules.into_iter().map(|rule| rule.id.to_owned()).collect::<Vec<_>>();
        Ok(VerifyOptions::default()
            .with_level(level)
            .with_rules((!self.rule.is_empty()).then(|| ids(asked)))
            .with_ignore(ids(ignored))
            .with_findings_per_rule(self.most)
            .with_decryption(crate::keys::given().cloned())
            .with_threads(threads))
    }
}

fn verify_file(file: &Path, options: &VerifyOptions) -> Result<Report, Error> {
    verify(crate::remote::source(file)?, options)
}

/// Hands reports on in the order of the files, as soon as those before are done.
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
    args: &VerifyArgs,
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
        None if output.is_json() => output.json(&object(file, &report))?,
        None => text(args, file, &report, output)?,
    }
    if report.worst() >= Some(Severity::Invalid) {
        outcome.report(Some(file), &Failure::Check(summary(&report)));
    }
    Ok(())
}

fn text(args: &VerifyArgs, file: &Path, report: &Report, output: &mut Output) -> Result<(), Failure> {
    if args.files.are_several() {
        let name = file_name::shown_on_line(file);
        output.line(format!("{name}: {}", headline(report)))?;
    } else {
        output.line(headline(report))?;
    }
    for Finding { rule, place, message, .. } in &report.findings {
        let place = places(place);
        let message = printable(message);
        output.line(format!("  {:<10} {}: {message}{place}", rule.severity.name(), rule.id))?;
    }
    for (rule, more) in &report.omitted {
        output.line(format!("  {:<10} {}: {more} more", rule.severity.name(), rule.id))?;
    }
    Ok(())
}

fn headline(report: &Report) -> String {
    let ok = match report.findings.is_empty() && report.omitted.is_empty() {
        true => "ok".to_owned(),
        false => summary(report),
    };
    format!("{ok}, {} pages, {} bytes checked", report.pages, report.bytes)
}

/// How many findings there are of each severity, the worst first.
fn summary(report: &Report) -> String {
    let mut counts: BTreeMap<Severity, u64> = BTreeMap::new();
    report.findings.iter().for_each(|finding| *counts.entry(finding.rule.severity).or_default() += 1);
    report.omitted.iter().for_each(|(rule, more)| *counts.entry(rule.severity).or_default() += more);
    let shown = counts.iter().rev().map(|(severity, count)| format!("{count} {}", severity.name()));
    shown.collect::<Vec<_>>().join(", ")
}

fn places(place: &ErrorLocation) -> String {
    let mut parts = Vec::new();
    parts.extend(place.column.as_ref().map(|column| format!("column {}", printable(column))));
    parts.extend(place.row_group.map(|row_group| format!("row group {row_group}")));
    parts.extend(place.page.map(|page| format!("page {page}")));
    parts.extend(place.offset.map(|offset| format!("byte {offset}")));
    if parts.is_empty() { String::new() } else { format!(", in {}", parts.join(", ")) }
}

fn object(file: &Path, report: &Report) -> Value {
    let findings = report.findings.iter().map(|Finding { rule, place, message, .. }| {
        json!({
            "rule": rule.id,
            "severity": rule.severity.name(),
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
        "worst": report.worst().map(Severity::name),
        "findings": findings.collect::<Vec<_>>(),
        "omitted": omitted.collect::<Vec<_>>(),
    })
}
