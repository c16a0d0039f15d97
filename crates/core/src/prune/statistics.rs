//! Pruning by the statistics of column chunks.

use super::extent::{Bounds, Extent, Nulls, Outcomes};
use super::plan::Verdict;
use super::{Run, bounds_are_believed, column_pair, geospatial};
use crate::metadata::{ColumnChunk, ParquetMetaData};
use crate::predicate::{ColumnComparison, Condition, Test};
use crate::sort_order::SortOrder;
use marquetry_base::Result;

impl Run<'_> {
    /// Returns the verdict on a condition by the footer.
    pub(super) fn ask_statistics(&self, condition: &Condition, chunk: ColumnChunk<'_>) -> Verdict {
        match &condition.test {
            Test::Box(asked) => {
                let pass = geospatial::may_intersect(asked, chunk);
                self.extent(chunk, Bounds::default()).verdict_of(condition, Outcomes { pass, fail: true })
            }
            _ => self.extent(chunk, self.bounds(condition.column, chunk)).verdict(condition),
        }
    }

    /// Returns the verdict on a comparison of two columns by the footer.
    pub(super) fn ask_statistics_of_two(&self, compared: &ColumnComparison) -> Result<Verdict> {
        let (left, right) = (self.chunk(compared.left.column)?, self.chunk(compared.right.column)?);
        let left = self.extent(left, self.bounds(compared.left.column, left));
        let right = self.extent(right, self.bounds(compared.right.column, right));
        Ok(column_pair::verdict(compared, &left, &right))
    }

    /// Returns what is known of all rows of a chunk, with these bounds.
    pub(super) fn extent<'b>(&self, chunk: ColumnChunk<'b>, bounds: Bounds<'b>) -> Extent<'b> {
        extent_of(chunk, self.group.num_rows(), bounds)
    }

    /// Returns the order of the bounds of a column; `None` if they are not trusted.
    pub(super) fn order(&self, column: usize) -> Option<SortOrder> {
        order_of(self.metadata, column)
    }

    /// Returns the bounds of a chunk.
    pub(super) fn bounds<'b>(&self, column: usize, chunk: ColumnChunk<'b>) -> Bounds<'b> {
        bounds_of(self.metadata, column, chunk).map_or_else(Bounds::default, |believed| believed.bounds)
    }
}

/// Returns what is known of the `entries` values and nulls of a chunk, with these bounds.
pub(super) fn extent_of<'b>(chunk: ColumnChunk<'b>, entries: u64, bounds: Bounds<'b>) -> Extent<'b> {
    // QUIRK: if not every row is counted as a value, nulls are not counted either.
    let is_complete = u64::try_from(chunk.num_values()) == Ok(entries);
    let statistics = chunk.statistics().filter(|_| is_complete);
    let sizes = chunk.size_statistics().filter(|_| is_complete);
    let histogram = sizes.and_then(|sizes| sizes.definition_level_histogram);
    let histogram: Option<Vec<i64>> = histogram.map(|counts| counts.iter().collect());
    let nulls = statistics.and_then(|statistics| statistics.null_count);
    let nans = statistics.and_then(|statistics| statistics.nan_count);
    Extent {
        rows: entries,
        nulls: Nulls::of(chunk.leaf(), entries, nulls, histogram.as_deref()),
        nans: nans.and_then(|nans| u64::try_from(nans).ok()),
        bounds,
    }
}

/// Returns the order of the bounds of a column; `None` if they are not trusted.
pub(super) fn order_of(metadata: &ParquetMetaData, column: usize) -> Option<SortOrder> {
    let leaf = metadata.schema().column(column);
    let declared = metadata.column_orders().and_then(|orders| orders.get(column));
    SortOrder::for_reading(leaf, declared).filter(|_| bounds_are_believed(metadata.created_by(), leaf))
}

/// Trusted bounds and their order.
pub(super) struct Believed<'a> {
    pub(super) bounds: Bounds<'a>,
    pub(super) order: SortOrder,
    /// Whether they are the deprecated `min` and `max`.
    pub(super) are_deprecated: bool,
}

/// Returns the bounds of a chunk: in the order that the footer declares, or else the deprecated ones if their order is
/// that of the type. `None` if there are none, or none that are trusted.
pub(super) fn bounds_of<'a>(
    metadata: &ParquetMetaData,
    column: usize,
    chunk: ColumnChunk<'a>,
) -> Option<Believed<'a>> {
    let statistics = chunk.statistics()?;
    let leaf = chunk.leaf();
    let has_bounds = statistics.min_value.is_some() || statistics.max_value.is_some();
    let (order, are_deprecated) = match (order_of(metadata, column), SortOrder::for_deprecated(leaf)) {
        (Some(order), _) if has_bounds => (order, false),
        (_, deprecated) => (deprecated?, true),
    };
    let (min, max) = match are_deprecated {
        false => (statistics.min_value, statistics.max_value),
        true => (statistics.min, statistics.max),
    };
    Some(Believed { bounds: Bounds::of(leaf, order, min, max), order, are_deprecated })
}
