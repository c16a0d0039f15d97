//! Bloom filters that are worth their bytes.

use super::finding::{AdviceKind, Change, Confidence, Finding};
use super::looked_at::LookedAt;
use super::query::{AskedColumn, skipped_share};
use super::sample::Sample;
use super::sort_order::point_queries;
use super::time_left::TimeLeft;
use crate::reencode::{ColumnSource, Reencoder};
use marquetry_base::Result;
use marquetry_core::statistics::BloomFilter;
use marquetry_core::write::DEFAULT_BLOOM_FILTER_FPP;
use std::collections::{BTreeMap, HashSet};

/// Recommends a bloom filter for each column that queries compare for equality, and whose values bounds do not tell
/// apart. Filters are built from the values of some row groups, and tested with values of others.
pub(super) fn bloom_filters(
    input: &ColumnSource,
    sample: &Sample,
    asked: &BTreeMap<String, AskedColumn>,
    time: TimeLeft,
) -> Result<LookedAt> {
    let schema = input.metadata.schema();
    let mut looked = LookedAt::default();
    for leaf in 0..schema.num_columns() {
        let name = schema.column(leaf).dotted();
        if !asked.get(&**name).is_some_and(|asked| asked.is_equal) {
            continue;
        }
        match time.is_over() {
            true => looked.left.push(leaf),
            false => looked.findings.extend(bloom_filter(input, sample, leaf, time)?),
        }
    }
    Ok(looked)
}

fn bloom_filter(
    input: &ColumnSource,
    sample: &Sample,
    leaf: usize,
    time: TimeLeft,
) -> Result<Option<Finding>> {
    let column = input.metadata.schema().column(leaf);
    let groups = input.metadata.num_row_groups();
    // In lists it is unknown what is asked for. A single row group has all values.
    if groups < 2 || column.max_rep() > 0 || column.path().len() > 1 {
        return Ok(None);
    }
    let chunks = input.metadata.row_groups().map(|group| group.column(leaf));
    let chunks = chunks.collect::<Result<Vec<_>>>()?;
    if chunks.iter().all(|chunk| chunk.bloom_filter_offset().is_some()) {
        return Ok(None);
    }
    let Ok(root) = sample.batch.schema().index_of(column.name()) else { return Ok(None) };
    let queries = point_queries(sample, root)?;
    let before = skipped_share(&*input.source, &input.metadata, &queries, time)?;
    let Some(before) = before else { return Ok(None) };
    let looked_at: Vec<usize> = match groups <= MOST_GROUPS {
        true => (0..groups).collect(),
        false => (0..MOST_GROUPS).map(|i| i * groups / MOST_GROUPS).collect(),
    };
    let mut filters = Vec::new();
    for group in &looked_at {
        if time.is_over() {
            return Ok(None);
        }
        filters.push(Filter::of(input, *group, leaf, time)?);
    }
    let (mut absent, mut maybe) = (0u64, 0u64);
    let (mut asked, mut skipped) = (0u64, 0u64);
    for (i, filter) in filters.iter().enumerate() {
        for other in filters.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, other)| other) {
            for hash in other.hashes.iter().take(MOST_ASKED) {
                asked += 1;
                if filter.hashes.contains(hash) {
                    continue;
                }
                absent += 1;
                match filter.bits.might_contain_hash(*hash) {
                    true => maybe += 1,
                    false => skipped += 1,
                }
            }
        }
    }
    if asked == 0 {
        return Ok(None);
    }
    let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
    // A value is in its own row group anyway.
    let after = share(skipped, asked) * (groups - 1) as f64 / groups as f64;
    let bytes = filters.iter().fold(0u64, |sum, filter| sum.saturating_add(filter.bytes));
    let bytes = (bytes as f64 * groups as f64 / looked_at.len() as f64) as u64;
    let sizes = chunks.iter().map(|chunk| u64::try_from(chunk.compressed_size()).unwrap_or(0));
    let read = sizes.fold(0u64, u64::saturating_add);
    // The bytes that a query need not read must exceed those that it reads of filters: a header and a block of each.
    let gain = (after - before) * read as f64;
    if after - before < LEAST_GAIN || gain < (BLOCK_AND_HEADER * groups as u64) as f64 || bytes > read {
        return Ok(None);
    }
    let what = format!(
        "a bloom filter for {}: {bytes} bytes, {:.2} % false positives; a query for one value would skip {:.0} % of the rows instead of {:.0} %",
        column.dotted(),
        share(maybe, absent) * 100.0,
        after * 100.0,
        before * 100.0
    );
    let confidence = Confidence::of(looked_at.len() as u64, groups as u64);
    let finding = Finding::new(AdviceKind::BloomFilter, what, confidence, Change::BloomFilters);
    Ok(Some(finding.of_columns([&**column.dotted()]).with_bytes(0, bytes).with_skipped(before, after)))
}

/// The bloom filter of a column chunk.
struct Filter {
    bits: BloomFilter,
    hashes: HashSet<u64>,
    /// Size of the filter with its header.
    bytes: u64,
}

impl Filter {
    fn of(input: &ColumnSource, group: usize, leaf: usize, time: TimeLeft) -> Result<Self> {
        let mut hashes = HashSet::new();
        let rows = input.metadata.row_group(group).num_rows().min(MOST_ROWS);
        Reencoder::new(input, &[group], leaf, false).each_values(rows, |values| {
            BloomFilter::each_hash(values, 0..values.len(), |hash| {
                hashes.insert(hash);
            });
            !time.is_over()
        })?;
        let mut bits = BloomFilter::new(hashes.len() as u64, FALSE_POSITIVES);
        hashes.iter().for_each(|hash| bits.insert_hash(*hash));
        let mut written = Vec::new();
        bits.write(&mut written);
        Ok(Filter { bits, hashes, bytes: written.len() as u64 })
    }
}

/// Number of row groups from which filters are built.
const MOST_GROUPS: usize = 8;
/// Maximum number of rows of a row group from which its filter is built.
const MOST_ROWS: u64 = 1 << 20;
/// Maximum number of values of each row group with which the other filters are tested.
const MOST_ASKED: usize = 1_000;
/// Minimum share of the rows that a filter must let queries skip in addition.
const LEAST_GAIN: f64 = 0.2;
/// The rate of false positives that the writer aims at.
const FALSE_POSITIVES: f64 = DEFAULT_BLOOM_FILTER_FPP;
/// Number of bytes that a reader reads of a filter.
const BLOCK_AND_HEADER: u64 = 64;
