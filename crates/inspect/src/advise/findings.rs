//! All kinds of advice, what brings most first.

use super::advice::{Advice, ColumnAdvice};
use super::bloom_filters::bloom_filters;
use super::finding::{AdviceKind, BeforeAfter, Change, Confidence, Finding};
use super::measure::column_bytes;
use super::missing_parts::{lost_dictionaries, missing_indexes};
use super::nesting::{lists_of_one, shreddings};
use super::options::{AdviseOptions, Goal};
use super::query::{AskedColumn, asked_columns};
use super::row_groups::{pages, row_groups};
use super::sample::{SAMPLE_ROWS, Sample, like, sample_bytes};
use super::sort_order::sort_order;
use super::time_left::TimeLeft;
use super::wide_types::wide_types;
use crate::reencode::ColumnSource;
use marquetry_base::{Error, Result};
use marquetry_core::write::ColumnPath;
use std::collections::BTreeMap;

/// Adds what is found to `advice`, of which the columns are known. What fails, and what there is no time for, is told there, too.
pub(super) fn find(input: &ColumnSource, options: &AdviseOptions, time: TimeLeft, advice: &mut Advice) {
    let columns = input.metadata.schema().num_columns();
    if input.metadata.num_rows() == 0 || columns == 0 {
        return;
    }
    let sample = match () {
        () if columns > MOST_COLUMNS => Err(format!(
            "{columns} columns are too many to be tried as a table: only encodings and codecs are measured"
        )),
        () if time.is_over() => Err("no time was left for anything but encodings and codecs".to_owned()),
        () => Sample::read(input, SAMPLE_ROWS, sample_bytes(options.budget), time.share(0.3))
            .map_err(|error| format!("rows: {error}")),
    };
    let mut found = Found { findings: Vec::from_iter(of_columns(advice)), advice, time };
    match sample {
        Ok(sample) => of_sample(input, options, &sample, &mut found),
        Err(told) => found.advice.not_measured.push(told),
    }
    let mut findings = found.findings;
    let size = input.source.len().max(1) as f64;
    findings.sort_by(|a, b| worth(b, options.goal, size).total_cmp(&worth(a, options.goal, size)));
    advice.findings = findings;
}

/// What takes rows.
fn of_sample(input: &ColumnSource, options: &AdviseOptions, sample: &Sample, found: &mut Found<'_>) {
    let time = found.time;
    let asked = asked(options);
    if let Some(finding) = found.findings.first_mut() {
        // Without a figure of its time it is told, too.
        if let Ok(Some((before, after))) = decode_seconds(input, sample, found.advice) {
            finding.decode = Some(BeforeAfter::new(before, after));
        }
    }
    found.add("indexes", || Ok(Vec::from_iter(missing_indexes(input, sample, &options.queries, time)?)));
    found.add("row groups", || Ok(Vec::from_iter(row_groups(input, sample)?)));
    found.add("pages", || Ok(Vec::from_iter(pages(input, sample, largest(input))?)));
    found.add("lists", || lists_of_one(input, sample, time.share(0.3)));
    found.add("VARIANT", || shreddings(input, sample));
    found.add("bloom filters", || bloom_filters(input, sample, &asked, time.share(0.3)));
    let lost = || lost_dictionaries(input, options.window_rows, time.share(0.2));
    found.add("dictionaries", || Ok(Vec::from_iter(lost()?)));
    found.add("types", || wide_types(input, sample, time.share(0.5)));
    found.add("sort order", || {
        Ok(Vec::from_iter(sort_order(input, sample, &options.queries, &asked, time.share(1.0))?))
    });
}

/// What was found so far.
struct Found<'a> {
    advice: &'a mut Advice,
    findings: Vec<Finding>,
    time: TimeLeft,
}

impl Found<'_> {
    fn add(&mut self, what: &str, look: impl FnOnce() -> Result<Vec<Finding>, Error>) {
        if self.time.is_over() {
            return self.advice.not_measured.push(format!("{what}: no time was left"));
        }
        match look() {
            Ok(findings) => self.findings.extend(findings),
            Err(error) => self.advice.not_measured.push(format!("{what}: {error}")),
        }
    }
}

/// What all queries ask of each column.
fn asked(options: &AdviseOptions) -> BTreeMap<String, AskedColumn> {
    let mut all: BTreeMap<String, AskedColumn> = BTreeMap::new();
    for (column, asked) in options.queries.iter().flat_map(|query| asked_columns(&query.predicate)) {
        let known = all.entry(column).or_default();
        known.is_equal |= asked.is_equal;
        known.is_compared |= asked.is_compared;
    }
    all
}

/// What the advice of the columns brings together.
fn of_columns(advice: &Advice) -> Option<Finding> {
    let chosen: Vec<_> = advice.columns.iter().filter(|column| column.choice.is_some()).collect();
    if chosen.is_empty() {
        return None;
    }
    let bytes = |of: fn(&ColumnAdvice) -> u64| chosen.iter().map(|column| of(column)).sum::<u64>();
    let (stored, predicted) = (bytes(|column| column.bytes), bytes(|column| column.predicted));
    let what = format!(
        "write {} of {} columns with other encodings and codecs: {:.1} % of the file",
        chosen.len(),
        advice.columns.len(),
        (predicted as f64 - stored as f64) / advice.file_bytes.max(1) as f64 * 100.0
    );
    let least = chosen.iter().map(|column| column.measured).fold(1.0, f64::min);
    let confidence = if least >= 1.0 { Confidence::Certain } else { Confidence::Sample(least) };
    let finding = Finding::new(AdviceKind::Encoding, what, confidence, Change::Columns);
    let names = chosen.iter().map(|column| &column.column);
    Some(finding.of_columns(names).with_bytes(stored, predicted))
}

/// Seconds that decoding the file takes with its main codec, and as is advised; `None` if columns that are written have other names
/// than those of the file, as those of maps and lists of old writers.
fn decode_seconds(input: &ColumnSource, sample: &Sample, advice: &Advice) -> Result<Option<(f64, f64)>> {
    let before = sample.write(like(&input.metadata)?.build())?;
    let schema = before.metadata.schema();
    if schema.num_columns() != advice.columns.len() {
        return Ok(None);
    }
    let mut properties = like(&input.metadata)?;
    for (column, choice) in advice.columns.iter().filter_map(|column| Some((column, column.choice?))) {
        let path = schema.column(column.leaf).path();
        let path = || ColumnPath::new(path.iter().map(|name| name.to_string()).collect());
        properties = properties
            .set_column_compression(path(), choice.compression)
            .set_column_encoding(path(), choice.encoding);
    }
    let after = sample.write(properties.build())?;
    Ok(Some((sample.scaled(before.decode_seconds()?), sample.scaled(after.decode_seconds()?))))
}

/// The column with the most bytes.
fn largest(input: &ColumnSource) -> usize {
    let columns = 0..input.metadata.schema().num_columns();
    columns.max_by_key(|leaf| column_bytes(&input.metadata, *leaf).unwrap_or(0)).unwrap_or(0)
}

/// What an advice is worth for a goal: shares of bytes, time and rows, of which one counts most.
fn worth(finding: &Finding, goal: Goal, size: f64) -> f64 {
    let bytes = finding.saved_bytes() as f64 / size;
    let skipped = finding.skipped.map_or(0.0, |skipped| skipped.after - skipped.before);
    let decode = finding.decode.map_or(0.0, |decode| match decode.before > 0.0 {
        true => 1.0 - decode.after / decode.before,
        false => 0.0,
    });
    let (of_bytes, of_decode, of_skipped) = match goal {
        Goal::Size => (1.0, 0.1, 0.3),
        Goal::Scan => (0.3, 1.0, 0.3),
        Goal::Filter => (0.2, 0.1, 1.0),
    };
    bytes * of_bytes + decode * of_decode + skipped * of_skipped
}

/// Tables of more columns are not tried as a whole: each reader and writer of them would take a large part of the budget.
const MOST_COLUMNS: usize = 1_000;
