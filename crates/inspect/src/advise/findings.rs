//! Finds all kinds of recommendations, the most useful first.

use super::advice::{Advice, ColumnAdvice};
use super::bloom_filters::bloom_filters;
use super::finding::{AdviceKind, BeforeAfter, Change, Confidence, Finding};
use super::looked_at::{LookedAt, told};
use super::measure::column_bytes;
use super::missing_parts::{lost_dictionaries, missing_indexes};
use super::nesting::{lists_of_one, shreddings};
use super::options::{AdviseOptions, Goal};
use super::query::{AskedColumn, asked_columns};
use super::row_groups::{pages, row_groups};
use super::sample::{SAMPLE_ROWS, Sample, like, sample_bytes};
use super::sampled_columns::{Lots, SampledColumns};
use super::sort_order::sort_order;
use super::time_left::TimeLeft;
use super::wide_types::wide_types;
use crate::reencode::ColumnSource;
use marquetry_base::{Error, Result};
use marquetry_core::write::ColumnPath;
use std::collections::{BTreeMap, HashSet};

/// Adds all findings to `advice`, whose columns are known. Failures, and what there is no time for, are noted there,
/// too.
pub(super) fn find(input: &ColumnSource, options: &AdviseOptions, time: TimeLeft, advice: &mut Advice) {
    if input.metadata.num_rows() == 0 || input.metadata.schema().num_columns() == 0 {
        return;
    }
    let asked = asked(options);
    let lots = Lots::of(input, &asked, advice);
    let mut columns = advice.columns.clone();
    columns.sort_by_key(|column| column.leaf);
    let mut found =
        Found { findings: Vec::from_iter(of_columns(advice)), advice, time, left: BTreeMap::new() };
    // With very many columns, other lots are tried as well.
    let part = if lots.first.share < 1.0 { 4 } else { 1 };
    let most_bytes = sample_bytes(options.budget) / part;
    let sample = match time.is_over() {
        true => Err("no time was left for anything but encodings and codecs".to_owned()),
        false => Sample::read(input, &lots.first, (SAMPLE_ROWS, most_bytes), time.share(0.3))
            .map_err(|error| format!("rows: {error}")),
    };
    match sample {
        Ok(sample) => {
            of_sample(input, options, (&sample, &columns), &asked, &mut found);
            for lot in &lots.others {
                of_lot(input, (lot, &columns), most_bytes, &mut found);
            }
        }
        Err(told) => found.advice.not_measured.push(told),
    }
    found.tell_left(input, &lots);
    let mut findings = found.findings;
    findings.retain(|finding| options.goal != Goal::Size || !is_larger_type(finding));
    let shared = shared_names(input);
    findings.retain(|finding| !is_of_any(finding, &shared));
    let size = input.source.len().max(1) as f64;
    findings.sort_by(|a, b| worth(b, options.goal, size).total_cmp(&worth(a, options.goal, size)));
    advice.findings = findings;
}

/// Finds what needs rows. `columns` are those of the file, by their indexes.
fn of_sample(
    input: &ColumnSource,
    options: &AdviseOptions,
    (sample, columns): (&Sample, &[ColumnAdvice]),
    asked: &BTreeMap<String, AskedColumn>,
    found: &mut Found<'_>,
) {
    let (time, is_part) = (found.time, sample.columns.share < 1.0);
    if !is_part {
        found.time_columns(input, sample);
    }
    found.add("indexes", || Ok(missing_indexes(input, sample, &options.queries, time)?.into()));
    found.add("row groups", || Ok(row_groups(input, sample)?.into()));
    found.add("pages", || Ok(pages(input, sample, largest(input))?.into()));
    found.add("lists", || lists_of_one(input, sample, time.share(0.3)));
    found.add("VARIANT", || shreddings(input, sample));
    found.add("bloom filters", || bloom_filters(input, sample, asked, time.share(0.3)));
    found.add("dictionaries", || lost_dictionaries(input, options.window_rows, time.share(0.2)));
    // With very many columns, the other lots get a part of the time, too.
    let (of_types, of_order) = if is_part { (0.3, 0.4) } else { (0.5, 1.0) };
    found.add(TYPES, || wide_types(input, sample, columns, time.share(of_types)));
    found.add("sort order", || {
        Ok(sort_order(input, sample, &options.queries, asked, time.share(of_order))?.into())
    });
    if is_part && !time.is_over() {
        found.time_columns(input, sample);
    }
}

/// Tries other types on one more lot of very many columns.
fn of_lot(
    input: &ColumnSource,
    (lot, columns): (&SampledColumns, &[ColumnAdvice]),
    most_bytes: u64,
    found: &mut Found<'_>,
) {
    let time = found.time;
    if time.is_over() {
        let schema = input.metadata.schema();
        let leaves = lot.roots.iter().flat_map(|root| schema.columns_of(*root));
        return found.left.entry(TYPES).or_default().extend(leaves);
    }
    match Sample::read(input, lot, (LOT_ROWS, most_bytes), time) {
        Ok(sample) => {
            found.add("lists", || lists_of_one(input, &sample, time));
            found.add("VARIANT", || shreddings(input, &sample));
            found.add(TYPES, || wide_types(input, &sample, columns, time));
        }
        Err(error) => found.advice.not_measured.push(format!("rows: {error}")),
    }
}

/// The findings so far.
struct Found<'a> {
    advice: &'a mut Advice,
    findings: Vec<Finding>,
    time: TimeLeft,
    /// The topics for which there was no time, and their columns.
    left: BTreeMap<&'static str, Vec<usize>>,
}

impl Found<'_> {
    /// Measures how long columns take to decode with the recommended changes. If that fails, the recommendation has no
    /// time.
    fn time_columns(&mut self, input: &ColumnSource, sample: &Sample) {
        if let Some(finding) = self.findings.iter_mut().find(|finding| finding.change == Change::Columns)
            && let Ok(Some((before, after))) = decode_seconds(input, sample, self.advice)
        {
            finding.decode = Some(BeforeAfter::new(before, after));
        }
    }

    fn add(&mut self, what: &'static str, look: impl FnOnce() -> Result<LookedAt, Error>) {
        if self.time.is_over() {
            let told = format!("{what}: no time was left");
            if !self.advice.not_measured.contains(&told) {
                self.advice.not_measured.push(told);
            }
            return;
        }
        match look() {
            Ok(looked) => {
                self.findings.extend(looked.findings);
                self.left.entry(what).or_default().extend(looked.left);
            }
            Err(error) => self.advice.not_measured.push(format!("{what}: {error}")),
        }
    }

    /// Notes all columns that were not examined.
    fn tell_left(&mut self, input: &ColumnSource, lots: &Lots) {
        for (what, left) in self.left.iter().filter(|(_, left)| !left.is_empty()) {
            self.advice.not_measured.push(told(what, left, &input.metadata));
        }
        let schema = input.metadata.schema();
        for root in &lots.too_wide {
            let (name, columns) = (schema.fields()[*root].name(), schema.columns_of(*root).len());
            self.advice.not_measured.push(format!(
                "{name}: the {columns} columns below it are too many to be tried as a table: only encodings and codecs are measured"
            ));
        }
    }
}

/// Returns how all queries use each column.
fn asked(options: &AdviseOptions) -> BTreeMap<String, AskedColumn> {
    let mut all: BTreeMap<String, AskedColumn> = BTreeMap::new();
    for (column, asked) in options.queries.iter().flat_map(|query| asked_columns(&query.predicate)) {
        let known = all.entry(column).or_default();
        known.is_equal |= asked.is_equal;
        known.is_compared |= asked.is_compared;
    }
    all
}

/// Returns the effect of the recommendations for columns together.
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

/// Returns the seconds to decode the file with its main codec, and as recommended. `None` if the written columns are
/// not those of the file, as with maps and lists of old writers.
fn decode_seconds(input: &ColumnSource, sample: &Sample, advice: &Advice) -> Result<Option<(f64, f64)>> {
    let before = sample.write(like(&input.metadata)?.build())?;
    let schema = before.metadata.schema();
    let roots = sample.columns.roots.iter();
    let leaves: Vec<usize> = roots.flat_map(|root| input.metadata.schema().columns_of(*root)).collect();
    if schema.num_columns() != leaves.len() {
        return Ok(None);
    }
    let mut properties = like(&input.metadata)?;
    for (column, choice) in advice.columns.iter().filter_map(|column| Some((column, column.choice?))) {
        let Ok(written) = leaves.binary_search(&column.leaf) else { continue };
        let path = schema.column(written).path();
        let path = || ColumnPath::new(path.iter().map(|name| name.to_string()).collect());
        properties = properties
            .set_column_compression(path(), choice.compression)
            .set_column_encoding(path(), choice.encoding);
    }
    let after = sample.write(properties.build())?;
    Ok(Some((sample.in_file(before.decode_seconds()?), sample.in_file(after.decode_seconds()?))))
}

/// Returns the column with the most bytes.
fn largest(input: &ColumnSource) -> usize {
    let columns = 0..input.metadata.schema().num_columns();
    columns.max_by_key(|leaf| column_bytes(&input.metadata, *leaf).unwrap_or(0)).unwrap_or(0)
}

/// Whether it recommends a type that takes more bytes, because it is decoded faster.
fn is_larger_type(finding: &Finding) -> bool {
    let is_type = matches!(finding.kind, AdviceKind::Type | AdviceKind::ListOfOne | AdviceKind::Variant);
    is_type && finding.saved_bytes() < 0
}

/// Returns names that several root fields share, so that they are ambiguous.
fn shared_names(input: &ColumnSource) -> HashSet<&str> {
    let mut names = HashSet::new();
    let roots = input.metadata.schema().fields().iter().map(|field| field.name());
    roots.filter(|name| !names.insert(*name)).collect()
}

/// Whether it would sort by a column with such a name, or change its type.
fn is_of_any(finding: &Finding, names: &HashSet<&str>) -> bool {
    let needs_name = matches!(finding.change, Change::Sort | Change::Type(_));
    needs_name && finding.columns.iter().any(|column| names.contains(&**column))
}

/// Returns the worth of a finding for a goal: shares of bytes, time and rows, one of which counts most.
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

/// The topic that is examined for columns that are not in the first lot.
const TYPES: &str = "types";
/// Number of rows of a sample of theirs.
const LOT_ROWS: u64 = 1 << 14;
