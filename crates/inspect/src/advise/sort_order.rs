//! Orders of rows, tried on a sample.

use super::finding::{AdviceKind, Change, Finding};
use super::query::{AskedColumn, Query, skipped_share};
use super::sample::{MeasuredFile, Sample, like, wrong};
use super::time_left::TimeLeft;
use crate::reencode::ColumnSource;
use arrow_array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow_row::{RowConverter, SortField};
use arrow_schema::{DataType, SortOptions};
use arrow_select::take::take_record_batch;
use marquetry_arrow::literals;
use marquetry_base::Result;
use marquetry_core::predicate::{ColumnPath, Comparison, Literal, Predicate};
use std::collections::{BTreeMap, HashSet};

/// Finds the order that is best for the queries or, without queries, has the fewest bytes. `None` if no order helps
/// much.
pub(super) fn sort_order(
    input: &ColumnSource,
    sample: &Sample,
    queries: &[Query],
    asked: &BTreeMap<String, AskedColumn>,
    time: TimeLeft,
) -> Result<Option<Finding>> {
    if sample.rows() < FEWEST_ROWS {
        return Ok(None);
    }
    let mut search = Search::new(input, sample, queries, time)?;
    let candidates = search.candidates(asked);
    if candidates.is_empty() {
        return Ok(None);
    }
    let mut best: Option<Tried> = None;
    let mut left = candidates;
    for tried_columns in TRIED {
        let mut next: Option<Tried> = None;
        for column in left.iter().copied().take(tried_columns) {
            // The first one is always tried.
            if time.is_over() && (next.is_some() || best.is_some()) {
                break;
            }
            let mut keys = best.as_ref().map_or_else(Vec::new, |best| best.keys.clone());
            keys.push(column);
            let tried = search.try_order(keys)?;
            if next.as_ref().is_none_or(|next| search.is_better(&tried, next)) {
                next = Some(tried);
            }
        }
        let Some(next) = next else { break };
        if best.as_ref().is_some_and(|best| !search.is_better_by_enough(&next, best)) {
            break;
        }
        left.retain(|column| !next.keys.contains(column));
        best = Some(next);
    }
    let Some(best) = best else { return Ok(None) };
    search.finding(&best)
}

/// An order, and its effect on the sample.
struct Tried {
    keys: Vec<usize>,
    bytes: u64,
    skipped: Option<f64>,
    file: MeasuredFile,
}

struct Search<'a> {
    input: &'a ColumnSource,
    sample: &'a Sample,
    queries: &'a [Query],
    time: TimeLeft,
    /// Number of rows of a row group, so that the sample has as many row groups as the file.
    group_rows: usize,
    page_rows: usize,
    /// Bytes of the sample in its present order.
    bytes: u64,
    decode: f64,
}

impl<'a> Search<'a> {
    fn new(
        input: &'a ColumnSource,
        sample: &'a Sample,
        queries: &'a [Query],
        time: TimeLeft,
    ) -> Result<Self> {
        let share = sample.rows() as f64 / sample.of.max(1) as f64;
        let groups = input.metadata.num_row_groups().clamp(1, MOST_GROUPS) as u64;
        let group_rows = sample.rows().div_ceil(groups).max(1) as usize;
        let page_rows = ((PAGE_ROWS as f64 * share).ceil() as usize).clamp(1, PAGE_ROWS);
        let mut search =
            Search { input, sample, queries, time, group_rows, page_rows, bytes: 0, decode: 0.0 };
        let file = search.write(&sample.batch)?;
        (search.bytes, search.decode) = (sample.weighed(&file)?, file.decode_seconds()?);
        Ok(search)
    }

    fn write(&self, batch: &RecordBatch) -> Result<MeasuredFile> {
        let properties = like(&self.input.metadata)?
            .set_max_row_group_row_count(Some(self.group_rows))
            .set_data_page_row_count_limit(self.page_rows);
        MeasuredFile::write(batch, properties.build())
    }

    /// Returns the columns that rows may be sorted by: those that queries compare, or those with the fewest distinct
    /// values first.
    fn candidates(&self, asked: &BTreeMap<String, AskedColumn>) -> Vec<usize> {
        let schema = self.sample.batch.schema();
        let is_compared = |name: &str| asked.get(name).is_some_and(|asked| asked.is_compared);
        let fields = schema.fields().iter().enumerate();
        let mut sized: Vec<(bool, usize, usize)> = fields
            .filter(|(_, field)| is_sortable(field.data_type()))
            .map(|(i, field)| (!is_compared(field.name()), distinct(self.sample.batch.column(i)), i))
            // A single value has no order.
            .filter(|(_, distinct, _)| *distinct > 1)
            .collect();
        if !self.queries.is_empty() && sized.iter().any(|(is_other, ..)| !is_other) {
            sized.retain(|(is_other, ..)| !is_other);
        }
        sized.sort_unstable();
        sized.into_iter().map(|(_, _, i)| i).collect()
    }

    fn try_order(&mut self, keys: Vec<usize>) -> Result<Tried> {
        let sorted = sorted(&self.sample.batch, &keys)?;
        let file = self.write(&sorted)?;
        let skipped = match self.queries.is_empty() {
            true => None,
            false => skipped_share(&*file.source, &file.metadata, self.queries, self.time)?,
        };
        Ok(Tried { keys, bytes: self.sample.weighed(&file)?, skipped, file })
    }

    fn is_better(&self, tried: &Tried, than: &Tried) -> bool {
        match (tried.skipped, than.skipped) {
            (Some(ours), Some(theirs)) if (ours - theirs).abs() > 0.01 => ours > theirs,
            _ => tried.bytes < than.bytes,
        }
    }

    fn is_better_by_enough(&self, tried: &Tried, than: &Tried) -> bool {
        match (tried.skipped, than.skipped) {
            (Some(ours), Some(theirs)) if (ours - theirs).abs() > 0.01 => ours > theirs,
            _ => (tried.bytes as f64) < than.bytes as f64 * (1.0 - LEAST_SAVING / 2.0),
        }
    }

    /// Returns the recommendation of an order, if it helps enough.
    fn finding(&self, best: &Tried) -> Result<Option<Finding>> {
        let name = |column: &usize| self.sample.batch.schema().field(*column).name().clone();
        let names: Vec<String> = best.keys.iter().map(name).collect();
        let made_up;
        let queries = match self.queries {
            [] => {
                made_up = point_queries(self.sample, best.keys[0])?;
                &made_up[..]
            }
            given => given,
        };
        let before = skipped_share(&*self.input.source, &self.input.metadata, queries, self.time)?;
        let after = skipped_share(&*best.file.source, &best.file.metadata, queries, self.time)?;
        let saves = best.bytes as f64 <= self.bytes as f64 * (1.0 - LEAST_SAVING);
        let gain = after.zip(before).map_or(0.0, |(after, before)| after - before);
        let grows = best.bytes as f64 > self.bytes as f64 * MOST_GROWTH;
        let is_worth_it = match self.queries.is_empty() {
            true => saves,
            false => (saves && gain > -0.01) || (gain >= LEAST_GAIN && !grows),
        };
        if !is_worth_it {
            return Ok(None);
        }
        let file = self.input.source.len();
        let ratio = best.bytes as f64 / self.bytes as f64;
        let skips = match before.zip(after) {
            Some((before, after)) => {
                let asked = if self.queries.is_empty() {
                    format!("a query for one {}", names[0])
                } else {
                    "queries".to_owned()
                };
                format!(
                    "; {asked} would skip {:.0} % of the rows instead of {:.0} %",
                    after * 100.0,
                    before * 100.0
                )
            }
            None => String::new(),
        };
        let what = format!("sort by {}: {:+.1} % bytes{skips}", names.join(", "), (ratio - 1.0) * 100.0);
        let confidence = self.sample.confidence();
        let mut finding = Finding::new(AdviceKind::SortOrder, what, confidence, Change::Sort)
            .of_columns(names)
            .with_bytes(file, (file as f64 * ratio) as u64)
            .with_decode(self.sample.in_file(self.decode), self.sample.in_file(best.file.decode_seconds()?));
        if let Some((before, after)) = before.zip(after) {
            finding = finding.with_skipped(before, after);
        }
        Ok(Some(finding))
    }
}

/// Returns a few queries, each for one value of a column that occurs.
pub(super) fn point_queries(sample: &Sample, column: usize) -> Result<Vec<Query>> {
    let array = sample.batch.column(column);
    let schema = sample.batch.schema();
    let name = schema.field(column).name();
    let step = (array.len() / ASKED_VALUES).max(1);
    let places: UInt32Array = (0..array.len()).step_by(step).map(|row| row as u32).collect();
    let values = arrow_select::take::take(array, &places, None).map_err(wrong)?;
    // Some types have no literals.
    let Ok(values) = literals(&values) else { return Ok(Vec::new()) };
    let query = |literal: Literal| {
        Query::new(Predicate::Compare { column: ColumnPath::from(name), is: Comparison::Eq, literal })
    };
    Ok(values.into_iter().filter(|literal| *literal != Literal::Null).map(query).collect())
}

fn is_sortable(data_type: &DataType) -> bool {
    !data_type.is_nested() && !matches!(data_type, DataType::Null | DataType::Dictionary(..))
}

/// Returns the number of distinct values in the first rows.
fn distinct(array: &ArrayRef) -> usize {
    let array = array.slice(0, array.len().min(COUNTED_ROWS));
    let Ok(converter) = RowConverter::new(vec![SortField::new(array.data_type().clone())]) else { return 0 };
    let Ok(rows) = converter.convert_columns(&[array]) else { return 0 };
    rows.iter().collect::<HashSet<_>>().len()
}

/// Sorts the rows by the columns, nulls last. Equal rows keep their order.
fn sorted(batch: &RecordBatch, keys: &[usize]) -> Result<RecordBatch> {
    let options = SortOptions { descending: false, nulls_first: false };
    let field = |i: &usize| SortField::new_with_options(batch.column(*i).data_type().clone(), options);
    let converter = RowConverter::new(keys.iter().map(field).collect()).map_err(wrong)?;
    let columns: Vec<ArrayRef> = keys.iter().map(|i| batch.column(*i).clone()).collect();
    let rows = converter.convert_columns(&columns).map_err(wrong)?;
    let mut order: Vec<u32> = (0..batch.num_rows() as u32).collect();
    order.sort_by(|a, b| rows.row(*a as usize).cmp(&rows.row(*b as usize)));
    take_record_batch(batch, &UInt32Array::from(order)).map_err(wrong)
}

/// Minimum number of rows of a file that gains by an order.
const FEWEST_ROWS: u64 = 4_096;
const MOST_KEYS: usize = 3;
/// Number of columns that are tried as the first, second and third key.
const TRIED: [usize; MOST_KEYS] = [6, 4, 2];
/// Minimum saving of an order that is worthwhile.
const LEAST_SAVING: f64 = 0.05;
/// Minimum share of the rows that it lets queries skip in addition.
const LEAST_GAIN: f64 = 0.1;
/// Maximum growth of the file for an order by which queries gain.
const MOST_GROWTH: f64 = 1.1;
/// Number of rows of a page, as the writer limits it.
const PAGE_ROWS: usize = 20_000;
/// Number of values that are asked for if there are no queries.
const ASKED_VALUES: usize = 16;
/// Maximum number of row groups that a sample is written with.
const MOST_GROUPS: usize = 64;
/// Number of rows in which distinct values are counted.
const COUNTED_ROWS: usize = 1 << 16;
