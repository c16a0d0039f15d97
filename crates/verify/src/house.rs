//! Checks the limits that a house sets for its own files: sizes, codecs, what has to be there.

use crate::context::VerifyContext;
use crate::findings::Findings;
use crate::house_limits::HouseLimits;
use crate::rule::{Level, Rule, Severity, rule};
use marquetry_base::ErrorLocation;
use marquetry_core::metadata::{ColumnChunk, RowGroup};

const ROW_GROUP_ROWS: Rule = house("house-row-group-rows", "Row groups have as many rows as the house wants");
const ROW_GROUP_BYTES: Rule = house("house-row-group-bytes", "Row groups are no larger than the house wants");
const FILE_BYTES: Rule = house("house-file-bytes", "The file is as large as the house wants");
const FOOTER_BYTES: Rule = house("house-footer-bytes", "The footer is no larger than the house wants");
const COLUMNS: Rule = house("house-columns", "There are no more columns than the house wants");
const CODEC: Rule = house("house-codec", "Chunks have codecs that the house allows");
const STATISTICS: Rule =
    house("house-statistics", "Chunks have bounds and counts of nulls, if the house wants them");
const PAGE_INDEX: Rule = house("house-page-index", "Chunks have page indexes, if the house wants them");
const BLOOM: Rule = house("house-bloom-filter", "Columns that the house names have bloom filters");
const SORTED: Rule = house("house-sorted", "Row groups say that they are sorted as the house wants");

/// All rules of houses. Each is checked if [`HouseLimits`] ask for it. They are not rules of the format, and not among
/// [`RULES`](crate::RULES).
pub static HOUSE_RULES: &[Rule] = ALL;

pub(crate) const ALL: &[Rule] = &[
    ROW_GROUP_ROWS,
    ROW_GROUP_BYTES,
    FILE_BYTES,
    FOOTER_BYTES,
    COLUMNS,
    CODEC,
    STATISTICS,
    PAGE_INDEX,
    BLOOM,
    SORTED,
];

const fn house(id: &'static str, title: &'static str) -> Rule {
    rule(id, Severity::Style, Level::Quick, title, "a limit of the house")
}

/// Checks the footer against the limits.
pub(crate) fn check(file: &VerifyContext, limits: &HouseLimits, findings: &mut Findings) {
    let here = ErrorLocation::default;
    let size = file.source.len();
    within(size, limits.file_bytes, "bytes", |message| findings.add(&FILE_BYTES, here(), || message));
    let footer = size.saturating_sub(file.data_end);
    within(footer, (None, limits.footer_bytes), "bytes", |message| {
        findings.add(&FOOTER_BYTES, here(), || message)
    });
    let columns = file.metadata.schema().num_columns() as u64;
    within(columns, (None, limits.columns), "columns", |message| findings.add(&COLUMNS, here(), || message));
    let last = file.metadata.num_row_groups().saturating_sub(1);
    for group in file.metadata.row_groups() {
        let place = || here().with_row_group(group.index());
        let (least, most) = limits.row_group_rows;
        // The last row group has the rows that are left.
        let least = least.filter(|_| group.index() < last);
        within(group.num_rows(), (least, most), "rows", |message| {
            findings.add(&ROW_GROUP_ROWS, place(), || message)
        });
        check_sorting(file, limits, group, findings);
        let mut stored = 0u64;
        // A row group may claim to have more columns than there are.
        for column in 0..group.num_columns().min(file.metadata.schema().num_columns()) {
            // A chunk that cannot be read is a finding of the format's rules.
            let Ok(chunk) = group.column(column) else { continue };
            stored = stored.saturating_add(u64::try_from(chunk.compressed_size()).unwrap_or(0));
            check_chunk(limits, chunk, file.place(group.index(), column), findings);
        }
        let most = (None, limits.row_group_bytes);
        within(stored, most, "bytes", |message| findings.add(&ROW_GROUP_BYTES, place(), || message));
    }
    for name in limits.bloom_filters.iter().filter(|name| file.metadata.schema().find(name).is_none()) {
        findings
            .add(&BLOOM, here(), || format!("there is no column {name:?}, which has to have a bloom filter"));
    }
}

fn check_chunk(limits: &HouseLimits, chunk: ColumnChunk<'_>, place: ErrorLocation, findings: &mut Findings) {
    if let Some(codecs) = &limits.codecs {
        let codec = chunk.compression().to_string();
        if !codecs.iter().any(|allowed| allowed.eq_ignore_ascii_case(&codec)) {
            findings.add(&CODEC, place.clone(), || format!("{codec} is not among {}", codecs.join(", ")));
        }
    }
    if limits.statistics {
        let statistics = chunk.statistics();
        let nulls = statistics.as_ref().and_then(|statistics| statistics.null_count);
        let has_bounds = statistics.is_some_and(|it| it.min_value.is_some() && it.max_value.is_some());
        match nulls {
            None => findings.add(&STATISTICS, place.clone(), || "there is no count of nulls".to_owned()),
            Some(nulls) if nulls < chunk.num_values() && !has_bounds => {
                findings.add(&STATISTICS, place.clone(), || "there are no bounds".to_owned());
            }
            Some(_) => {}
        }
    }
    if limits.page_index {
        for (range, what) in
            [(chunk.column_index_range(), "column index"), (chunk.offset_index_range(), "offset index")]
        {
            if range.is_none_or(|range| range.is_empty()) {
                findings.add(&PAGE_INDEX, place.clone(), || format!("there is no {what}"));
            }
        }
    }
    let wants_bloom = limits.bloom_filters.iter().any(|name| **name == **chunk.leaf().dotted());
    if wants_bloom && chunk.bloom_filter_offset().is_none() {
        findings.add(&BLOOM, place, || "there is no bloom filter".to_owned());
    }
}

fn check_sorting(file: &VerifyContext, limits: &HouseLimits, group: RowGroup<'_>, findings: &mut Findings) {
    if limits.sorted_by.is_empty() {
        return;
    }
    let name = |column: i32| {
        let number =
            usize::try_from(column).ok().filter(|number| *number < file.metadata.schema().num_columns());
        number.map_or("?".to_owned(), |number| file.leaf(number).dotted().to_string())
    };
    let sorted: Vec<String> = group.sorting_columns().iter().map(|column| name(column.column_idx)).collect();
    if !sorted.starts_with(&limits.sorted_by) {
        let place = ErrorLocation::default().with_row_group(group.index());
        findings.add(&SORTED, place, || {
            let said = if sorted.is_empty() { "no order is stated".to_owned() } else { sorted.join(", ") };
            format!("{said}, where {} is wanted", limits.sorted_by.join(", "))
        });
    }
}

/// Passes a message to `tell` if a number is outside of its limits.
fn within(number: u64, (least, most): (Option<u64>, Option<u64>), of: &str, tell: impl FnOnce(String)) {
    match (least, most) {
        (Some(least), _) if number < least => tell(format!("{number} {of}, and {least} at least are wanted")),
        (_, Some(most)) if number > most => tell(format!("{number} {of}, and {most} at most are wanted")),
        _ => {}
    }
}
