//! What the footer lacks: statistics and indexes; and dictionaries that writers gave up.

use super::candidates::Choice;
use super::finding::{AdviceKind, Change, Confidence, Finding};
use super::measure::{encoded_bytes, stored_bytes, windows};
use super::query::{Query, skipped_share};
use super::sample::{Sample, like};
use super::time_left::TimeLeft;
use crate::reencode::ColumnSource;
use marquetry_base::Result;
use marquetry_codec::Codec;
use marquetry_core::metadata::ColumnChunk;
use marquetry_core::write::{EnabledStatistics, Encoding};
use marquetry_format::{Encoding as Code, PageType};

/// Statistics and page indexes that are missing: what they cost, and what queries skip by them.
pub(super) fn missing_indexes(
    input: &ColumnSource,
    sample: &Sample,
    queries: &[Query],
    time: TimeLeft,
) -> Result<Option<Finding>> {
    let (mut chunks, mut without_bounds, mut without_index) = (0u64, 0u64, 0u64);
    for group in input.metadata.row_groups() {
        for chunk in group.columns() {
            let chunk = chunk?;
            chunks += 1;
            without_bounds += u64::from(lacks_bounds(chunk));
            without_index += u64::from(lacks_index(chunk));
        }
    }
    let pages_tell = input.metadata.num_rows() > PAGE_ROWS;
    // One page has the bounds of its chunk.
    if chunks == 0 || (without_bounds == 0 && (without_index == 0 || !pages_tell)) {
        return Ok(None);
    }
    let groups = input.metadata.num_row_groups().clamp(1, MOST_GROUPS) as u64;
    let rows = sample.rows().div_ceil(groups).max(1) as usize;
    let write = |level| {
        let properties = like(&input.metadata)?.set_max_row_group_row_count(Some(rows));
        sample.write(properties.set_statistics_enabled(level).build())
    };
    let (none, all) = (write(EnabledStatistics::None)?, write(EnabledStatistics::Page)?);
    let missing = without_bounds.max(without_index) as f64 / chunks as f64;
    // Indexes of a sample have as many bytes for each page as those of the file.
    let costs = sample.scaled(all.bytes().saturating_sub(none.bytes()) as f64) * missing;
    let before = skipped_share(&*input.source, &input.metadata, queries, time)?;
    let after = skipped_share(&*all.source, &all.metadata, queries, time)?;
    let skips = match before.zip(after) {
        Some((before, after)) => {
            format!(
                "; queries would skip {:.0} % of the rows instead of {:.0} %",
                after.max(before) * 100.0,
                before * 100.0
            )
        }
        None => String::new(),
    };
    let what = format!(
        "{without_bounds} of {chunks} column chunks have no bounds, {without_index} no page index: {costs:.0} bytes for both{skips}"
    );
    let size = input.source.len();
    let mut finding = Finding::new(AdviceKind::Indexes, what, Confidence::Certain, Change::Indexes)
        .with_bytes(size, size.saturating_add(costs as u64));
    if let Some((before, after)) = before.zip(after) {
        finding = finding.with_skipped(before, after.max(before));
    }
    Ok(Some(finding))
}

fn lacks_bounds(chunk: ColumnChunk<'_>) -> bool {
    let has = chunk.statistics().is_some_and(|it| {
        it.min_value.is_some() || it.min.is_some() || it.null_count == Some(chunk.num_values())
    });
    // Of INT96 and lists of bytes without an order there are none.
    !has && chunk.leaf().physical() != marquetry_encoding::PhysicalType::Int96
}

fn lacks_index(chunk: ColumnChunk<'_>) -> bool {
    chunk.column_index_range().is_none_or(|range| range.is_empty())
        || chunk.offset_index_range().is_none_or(|range| range.is_empty())
}

/// Columns whose dictionary the writer gave up in the middle of a chunk, though a larger one has fewer bytes.
pub(super) fn lost_dictionaries(
    input: &ColumnSource,
    window_rows: u64,
    time: TimeLeft,
) -> Result<Vec<Finding>> {
    let mut found = Vec::new();
    for leaf in 0..input.metadata.schema().num_columns() {
        if time.is_over() {
            break;
        }
        let mut mixed = Vec::new();
        for group in input.metadata.row_groups() {
            if is_mixed(group.column(leaf)?) {
                mixed.push(group.index());
            }
        }
        let Some(&middle) = mixed.get(mixed.len() / 2) else { continue };
        let group = input.metadata.row_group(middle);
        let chunk = group.column(leaf)?;
        let compression = match chunk.codec()? {
            Codec::Lzo => Codec::Snappy,
            Codec::Lz4 => Codec::Lz4Raw,
            codec => codec,
        };
        let choice = Choice { encoding: Encoding::Auto, compression: compression.to_string().parse()? };
        let windows = windows(middle, group.num_rows(), window_rows);
        let [window] = windows[..] else { continue };
        let measured = encoded_bytes(input, leaf, window, choice, (time, u64::MAX))?;
        if measured.rows < window.rows {
            break;
        }
        let (before, after) = (stored_bytes(&input.metadata, middle, leaf)?, measured.bytes);
        if after as f64 > before as f64 * (1.0 - LEAST_SAVING) {
            continue;
        }
        let all = mixed.iter().try_fold(0u64, |sum, group| {
            Ok::<_, marquetry_base::Error>(sum.saturating_add(stored_bytes(&input.metadata, *group, leaf)?))
        })?;
        let predicted = (all as f64 * after as f64 / before.max(1) as f64) as u64;
        let name = input.metadata.schema().column(leaf).dotted();
        let what = format!(
            "the dictionary of {name} was given up in {} of {} row groups: whole ones save {:.1} %",
            mixed.len(),
            input.metadata.num_row_groups(),
            (1.0 - after as f64 / before as f64) * 100.0
        );
        let confidence = Confidence::of(1, mixed.len() as u64);
        let finding = Finding::new(AdviceKind::Dictionary, what, confidence, Change::Dictionaries);
        found.push(finding.of_columns([&**name]).with_bytes(all, predicted));
    }
    Ok(found)
}

/// Whether some data pages of a chunk have a dictionary, and others not.
fn is_mixed(chunk: ColumnChunk<'_>) -> bool {
    let is_keys = |code: Code| code == Code::RLE_DICTIONARY || code == Code::PLAIN_DICTIONARY;
    if chunk.dictionary_page_offset().is_none() {
        return false;
    }
    match chunk.encoding_stats() {
        Some(stats) => {
            let data = || {
                stats.into_iter().filter(|it| {
                    it.count > 0 && matches!(it.page_type, PageType::DATA_PAGE | PageType::DATA_PAGE_V2)
                })
            };
            data().any(|it| is_keys(it.encoding)) && data().any(|it| !is_keys(it.encoding))
        }
        None => false,
    }
}

/// A file of fewer rows has one page a chunk.
const PAGE_ROWS: u64 = 20_000;
const LEAST_SAVING: f64 = 0.03;
/// Row groups that a sample is written with.
const MOST_GROUPS: usize = 64;
