//! Rates layouts of pages by minimum description length: the likeliest table is the one that takes the fewest bits to
//! describe.
//!
//! What costs bits are columns, pages that end before they are full, row groups of different lengths, and chunks of one
//! column that differ from row group to row group. The bits are rough, so a layout is only taken if all others cost far
//! more.

use crate::found_page::FoundPage;
use crate::layout_finder::LayoutFinder;
use crate::table_layout::TableLayout;
use std::ops::Range;

/// The description length of a layout in bits, without what all layouts have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LayoutCost {
    /// The cost of columns, pages and row groups.
    pub(crate) structure: f64,
    /// The cost of the chunks' contents.
    pub(crate) content: f64,
}

impl LayoutCost {
    pub(crate) fn new(layout: &TableLayout, finder: &mut LayoutFinder<'_>) -> Self {
        let pages = finder.pages();
        let Some(first) = layout.groups.first() else {
            return LayoutCost { structure: NEW_KIND, content: 0.0 };
        };
        let mut cost = LayoutCost { structure: row_group_cost(layout), content: 0.0 };
        let period = period(&first.chunks, finder);
        let mut columns = vec![0.0];
        for (column, chunk) in first.chunks.iter().enumerate() {
            let is_like_last =
                column > 0 && finder.kinds.are_alike(first.chunks[column - 1].start, chunk.start);
            let kind = if is_like_last { SAME_KIND } else { NEW_KIND };
            columns.push(columns[column] + kind + page_cost(&pages[chunk.clone()]));
            cost.content += repetition_cost(layout, column, finder);
            // Other columns are seldom as similar as the same column in another row group.
            if let Some(other) = column.checked_sub(period) {
                let difference = difference_cost(&first.chunks[other], chunk, first.rows, finder);
                cost.content += (ALIKE_BY_CHANCE - difference).max(0.0);
            }
        }
        // A repetition of column kinds is described at once. The more kinds repeat, the less likely is chance: it
        // happens with two or three columns.
        let period = period as f64;
        let repeated = REPEATED_KINDS + (period * REPEATED_KIND).min(MOST_FOR_REPEATED);
        let repeated = repeated.min(period * FEW_REPEATED_KINDS);
        cost.structure += columns[first.chunks.len()].min(columns[period as usize] + repeated);
        cost
    }

    /// Adds the cost of other evidence against a layout.
    pub(crate) fn plus(self, bits: f64) -> Self {
        LayoutCost { structure: self.structure + bits, ..self }
    }

    /// Whether a layout of `row_groups` row groups is far likelier than another. Contents can support it only a little:
    /// small chunks of one column differ by chance, and those of two columns are similar by chance.
    pub(crate) fn is_far_less(&self, other: &LayoutCost, row_groups: usize) -> bool {
        let structure = other.structure - self.structure;
        let (alone, least) = match row_groups {
            0 | 1 => (MARGIN_OF_ONE_GROUP, MARGIN_OF_ONE_GROUP),
            2 => (MARGIN_OF_TWO_GROUPS, MARGIN_OF_TWO_GROUPS),
            _ => (MARGIN_OF_STRUCTURE, MARGIN),
        };
        structure >= alone && structure + other.content - self.content >= least.min(MARGIN_WITH_CONTENT)
    }
}

/// Whether the chunks of some columns differ from their neighbours, but not from those `by` row groups on. What looks
/// like one column of many row groups is then `by` columns of fewer.
pub(crate) fn alternates(layout: &TableLayout, by: usize, finder: &mut LayoutFinder<'_>) -> bool {
    let groups = &layout.groups[..layout.groups.len().min(MOST_COMPARED + by)];
    if groups.len() < by + 2 || groups.iter().any(|group| group.rows != groups[0].rows) {
        return false;
    }
    let mut costs = |column: usize, by: usize| -> Vec<[f64; 2]> {
        let pairs = groups.iter().zip(&groups[by..]);
        pairs.map(|(a, b)| difference_costs(&a.chunks[column], &b.chunks[column], a.rows, finder)).collect()
    };
    let alternating = (0..layout.columns).filter(|&column| {
        let (near, far) = (costs(column, 1), costs(column, by));
        (0..2).any(|measure| {
            let nearest = near.iter().map(|costs| costs[measure]).fold(f64::INFINITY, f64::min);
            let farthest = far.iter().map(|costs| costs[measure]).fold(0.0, f64::max);
            nearest > 2.0 * farthest + 0.3
        })
    });
    // With very many columns, a few alternate by chance.
    alternating.count() > layout.columns / 20
}

/// Returns the least number of columns after which their kinds repeat, or the number of all columns if they do not.
fn period(chunks: &[Range<usize>], finder: &mut LayoutFinder<'_>) -> usize {
    let mut repeats = |period: usize| {
        (period..chunks.len()).all(|i| finder.kinds.are_alike(chunks[i - period].start, chunks[i].start))
    };
    (1..chunks.len()).find(|period| repeats(*period)).unwrap_or(chunks.len())
}

/// Returns the cost of the numbers of rows.
fn row_group_cost(layout: &TableLayout) -> f64 {
    let mut runs: Vec<(u64, usize)> = Vec::new();
    for group in &layout.groups {
        match runs.last_mut() {
            Some((rows, count)) if *rows == group.rows => *count += 1,
            _ => runs.push((group.rows, 1)),
        }
    }
    let cost = |(i, pair): (usize, &[(u64, usize)])| match i + 2 == runs.len() && pair[1].0 < pair[0].0 {
        true => SHORTER_LAST_GROUP,
        false => OTHER_ROWS,
    };
    let changes: f64 = runs.windows(2).enumerate().map(cost).sum();
    // If the lengths of all runs of equal row groups have a common divisor, each run is more likely a single row group.
    let divisor = runs.iter().map(|(_, count)| *count).fold(0, gcd);
    let repeated = if divisor > 1 { (runs.len() - 1) as f64 * EQUAL_AFTER_CHANGE } else { 0.0 };
    changes + repeated
}

/// Returns the cost of the page ends inside a chunk.
fn page_cost(chunk: &[FoundPage]) -> f64 {
    let data: Vec<&FoundPage> = chunk.iter().filter(|page| !page.is_dictionary()).collect();
    let Some((last, inner)) = data.split_last() else { return 0.0 };
    let Some(first) = inner.first() else { return 0.0 };
    let is_regular = inner.iter().all(|page| page.values() == first.values());
    let is_marked = data.len() < chunk.len() || is_regular && last.values() < first.values();
    let cost = |page: &&FoundPage| match (is_full(page), is_regular, is_marked) {
        (true, ..) => FULL_PAGE,
        (false, true, true) => MARKED_PAGE,
        (false, true, false) => UNMARKED_PAGE,
        (false, false, _) => IRREGULAR_PAGE,
    };
    inner.iter().map(cost).sum::<f64>().min(MOST_FOR_PAGES)
}

/// Returns the cost of differences between the chunks of a column, among row groups of equal length.
fn repetition_cost(layout: &TableLayout, column: usize, finder: &mut LayoutFinder<'_>) -> f64 {
    let groups = || layout.groups.iter().chain(&layout.cut_off);
    let mut costs: Vec<f64> = groups()
        .zip(groups().skip(1))
        .filter(|(a, b)| a.rows == b.rows)
        .filter_map(|(a, b)| Some(difference_cost(&a.chunks[column], b.chunks.get(column)?, a.rows, finder)))
        .take(MOST_COMPARED)
        .collect();
    costs.sort_unstable_by(f64::total_cmp);
    // The median: one row group may be unusual, but not most of them.
    match costs[..] {
        [] => 0.0,
        [only] => only,
        _ => costs[costs.len() / 2] * 2.0,
    }
}

/// Returns the cost of stating that two chunks of as many rows are of one column.
fn difference_cost(a: &Range<usize>, b: &Range<usize>, rows: u64, finder: &mut LayoutFinder<'_>) -> f64 {
    let [by_size, by_content] = difference_costs(a, b, rows, finder);
    by_size.min(MOST_FOR_SIZE).max(by_content.min(MOST_FOR_CONTENT))
}

/// Returns that cost by size, and by content.
fn difference_costs(
    a: &Range<usize>,
    b: &Range<usize>,
    rows: u64,
    finder: &mut LayoutFinder<'_>,
) -> [f64; 2] {
    let pages = finder.pages();
    let by_size = ChunkSize::new(&pages[a.clone()]).distance(&ChunkSize::new(&pages[b.clone()]));
    let by_content = finder.kinds.kind(a.start).histogram.distance(&finder.kinds.kind(b.start).histogram);
    // Half the square of the distance in standard deviations, in bits.
    let cost = |distance: f64, variance: f64| 0.72 * distance.powi(2) / variance;
    [cost(by_size, DISTANCE_VARIANCE + VARIANCE_BY_CHANCE / rows as f64), cost(by_content, DISTANCE_VARIANCE)]
}

/// The sizes of a chunk, which are similar for chunks of one column in row groups of equal length.
struct ChunkSize {
    bytes: u64,
    dictionary: u64,
}

impl ChunkSize {
    fn new(chunk: &[FoundPage]) -> ChunkSize {
        let bytes = chunk.iter().map(|page| page.end - page.body).sum();
        let dictionaries = chunk.iter().filter_map(|page| page.header.dictionary_page_header.as_ref());
        let dictionary = dictionaries.map(|header| u64::from(header.num_values.unsigned_abs())).sum();
        ChunkSize { bytes, dictionary }
    }

    /// Returns how much two chunks differ: 1 if one is twice as large as the other. The overhead of short ones does not
    /// count.
    fn distance(&self, other: &ChunkSize) -> f64 {
        let ratio = |a: u64, b: u64, slack: u64| ((a + slack) as f64 / (b + slack) as f64).log2().abs();
        ratio(self.bytes, other.bytes, 64).max(ratio(self.dictionary, other.dictionary, 8))
    }
}

/// Whether a page reached a limit at which writers begin the next page by default.
fn is_full(page: &FoundPage) -> bool {
    page.values() >= FULL_ROWS || page.uncompressed() >= FULL_BYTES
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The bits that a layout must cost less than all others. Fewer row groups show less of what its columns are, and need
/// more.
const MARGIN: f64 = 8.0;
/// The part of the margin that the structure alone must have.
const MARGIN_OF_STRUCTURE: f64 = 7.0;
const MARGIN_OF_TWO_GROUPS: f64 = 10.0;
const MARGIN_OF_ONE_GROUP: f64 = 16.0;
/// The margin of structure and contents together.
const MARGIN_WITH_CONTENT: f64 = 8.0;
/// The cost of a column of another kind than the one before it, or of the same kind; and of the statement that all
/// kinds repeat.
const NEW_KIND: f64 = 5.0;
const SAME_KIND: f64 = 3.5;
const REPEATED_KINDS: f64 = 8.0;
const REPEATED_KIND: f64 = 0.5;
const MOST_FOR_REPEATED: f64 = 4.0;
/// The maximum cost of a column that is of the kind of another by chance.
const FEW_REPEATED_KINDS: f64 = 2.5;
/// The variance of the distance between two chunks of one column, and what chance adds to it, divided by the rows.
const DISTANCE_VARIANCE: f64 = 0.0225;
const VARIANCE_BY_CHANCE: f64 = 2.0;
const MOST_FOR_SIZE: f64 = 10.0;
/// Dates and counters differ in each row group.
const MOST_FOR_CONTENT: f64 = 4.0;
const ALIKE_BY_CHANCE: f64 = 1.0;
/// Maximum number of row groups that are compared with the one before them.
const MOST_COMPARED: usize = 15;
/// The costs of pages behind which a chunk goes on: full pages; pages of a chunk whose end shows by a dictionary or by
/// a shorter last page; pages of a chunk whose end does not show; pages of different lengths.
const FULL_PAGE: f64 = 0.1;
const MARKED_PAGE: f64 = 0.5;
const UNMARKED_PAGE: f64 = 1.5;
const IRREGULAR_PAGE: f64 = 2.0;
const MOST_FOR_PAGES: f64 = 12.0;
/// The costs of a last row group that is shorter than the others, and of other changes.
const SHORTER_LAST_GROUP: f64 = 2.0;
const OTHER_ROWS: f64 = 4.0;
const EQUAL_AFTER_CHANGE: f64 = 6.0;
/// The lowest page limits in use: rows of parquet-rs, parquet-mr and others; bytes of Impala, less a little.
const FULL_ROWS: u64 = 20_000;
const FULL_BYTES: u64 = 60 << 10;
