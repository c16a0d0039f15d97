//! Trusted statistics, for engines that prune by rules of their own.

use super::extent::{Bounds, Extent};
use super::pages::Pages;
use super::statistics::{bounds_of, extent_of, order_of};
use crate::metadata::RowGroup;
use crate::page_index::PageIndex;
use crate::sort_order::SortOrder;
use marquetry_base::{Error, Result};
use marquetry_encoding::PhysicalType;
use std::borrow::Cow;

/// Statistics of a column chunk, or of one of its data pages, that are trusted by the rules of
/// [`prune_row_group`](super::prune_row_group).
///
/// - Bounds need an order: the one that the footer declares for the column, if it is known and legal for the type.
///   Otherwise the deprecated `min` and `max` are used, for booleans, signed integers and floats.
/// - Bounds of byte strings and unsigned integers by parquet-mr before 1.10 and parquet-cpp before 1.3 are not trusted.
/// - Both bounds are ignored if one is NaN, does not have the length of the type, or is out of the range of an 8-bit or
///   16-bit integer, or if the lower one is above the upper one.
/// - Bounds of floats are those of all values except NaN. A lower bound of zero is -0, an upper one +0, unless the order
///   is total.
/// - Null counts are ignored if the file contradicts itself, and where writers count differently: in a column of an
///   optional struct, or in a list, only a histogram of definition levels shows the number of nulls.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrustedStatistics<'a> {
    /// Number of rows in the row group or the page.
    pub rows: u64,
    /// The order of the bounds; `None` if there are no trusted bounds.
    pub order: Option<SortOrder>,
    /// The lower bound, at most the minimum: PLAIN, byte strings without a length, and perhaps truncated.
    pub min: Option<Cow<'a, [u8]>>,
    /// The upper bound, at least the maximum.
    pub max: Option<Cow<'a, [u8]>>,
    /// Whether `min` is a value that occurs, if the writer states it. `None` for pages, and for a zero with two signs.
    pub is_min_exact: Option<bool>,
    /// Whether `max` is a value that occurs, if the writer states it.
    pub is_max_exact: Option<bool>,
    /// Number of entries without a value: the value itself is null, or anything above it is null or empty.
    pub null_count: Option<u64>,
    /// Number of NaNs, for floats.
    pub nan_count: Option<u64>,
}

impl<'a> TrustedStatistics<'a> {
    /// Returns the trusted statistics of `column` in a row group. Nothing is read, because they are in the footer.
    ///
    /// Fails if the footer has no readable chunk of the column; see [`RowGroup::column`].
    ///
    /// # Panics
    /// If the schema has no such column.
    ///
    /// ```
    /// use marquetry_core::prune::TrustedStatistics;
    /// # use marquetry_core::io::read_metadata;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
    /// # let file = bytes::Bytes::from(std::fs::read(path)?);
    /// let metadata = read_metadata(&file, &Default::default())?.metadata;
    /// let year = metadata.schema().find("year").unwrap();
    /// let known = TrustedStatistics::of_chunk(metadata.row_group(0), year)?;
    /// let least = i32::from_le_bytes(known.min.as_deref().unwrap().try_into()?);
    /// assert!(least > 1900 && known.rows == 100);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_chunk(group: RowGroup<'a>, column: usize) -> Result<Self> {
        let (chunk, rows) = (group.column(column)?, group.num_rows());
        let entries = match chunk.leaf().max_rep() {
            0 => rows,
            _ => u64::try_from(chunk.num_values()).unwrap_or(0),
        };
        let known = bounds_of(group.metadata(), column, chunk);
        let statistics = chunk.statistics().filter(|_| known.as_ref().is_some_and(|it| !it.are_deprecated));
        let order = known.as_ref().map(|known| known.order);
        let bounds = known.map_or_else(Bounds::default, |known| known.bounds);
        let mut out = TrustedStatistics::of(rows, order, extent_of(chunk, entries, bounds));
        let is_exact = |bound: &Option<Cow<'_, [u8]>>, said: Option<bool>| {
            let (bound, order) = (bound.as_ref()?, order?);
            let is_cut = match chunk.leaf().physical() {
                PhysicalType::FixedLenByteArray(width) => bound.len() < width,
                _ => false,
            };
            Some(said? && !is_cut && (order.is_total() || !order.is_zero(bound)))
        };
        out.is_min_exact = is_exact(&out.min, statistics.and_then(|it| it.is_min_value_exact));
        out.is_max_exact = is_exact(&out.max, statistics.and_then(|it| it.is_max_value_exact));
        Ok(out)
    }

    /// Returns the trusted statistics of each data page of `column` in a row group, in order. A chunk without an offset
    /// index in `index` counts as one page of which only the rows are known; without a column index only the rows of
    /// each page are known.
    ///
    /// Fails if the two indexes do not match each other, or the row group.
    ///
    /// # Panics
    /// If the schema has no such column.
    pub fn of_pages(group: RowGroup<'_>, column: usize, index: &PageIndex) -> Result<Vec<Self>> {
        let leaf = group.metadata().schema().column(column);
        let place = |error: Error| error.in_column(leaf.dotted().clone()).in_row_group(group.index());
        let Some(places) = index.offset_index(group.index(), column) else {
            return Ok(vec![TrustedStatistics::of_rows(group.num_rows())]);
        };
        let Some(bounds) = index.column_index(group.index(), column) else {
            let rows = Pages::rows_of(places, group.num_rows()).map_err(place)?;
            return Ok(rows.iter().map(|rows| TrustedStatistics::of_rows(rows.end - rows.start)).collect());
        };
        let pages = Pages::new(bounds.clone(), places, group.num_rows(), leaf).map_err(place)?;
        let order = order_of(group.metadata(), column);
        let of_page = |page| {
            let (rows, extent) = pages.known(page, order, leaf);
            let known = TrustedStatistics::of(rows, order, extent);
            TrustedStatistics {
                min: known.min.map(|min| Cow::Owned(min.into_owned())),
                max: known.max.map(|max| Cow::Owned(max.into_owned())),
                ..known
            }
        };
        Ok((0..pages.len()).map(of_page).collect())
    }

    /// Creates statistics of which only the number of rows is known.
    fn of_rows(rows: u64) -> Self {
        TrustedStatistics {
            rows,
            order: None,
            min: None,
            max: None,
            is_min_exact: None,
            is_max_exact: None,
            null_count: None,
            nan_count: None,
        }
    }

    fn of<'b>(rows: u64, order: Option<SortOrder>, extent: Extent<'b>) -> TrustedStatistics<'b> {
        let (null_count, nan_count) = (extent.nulls.exact(), extent.nans);
        let (min, max) = extent.bounds.into_parts();
        TrustedStatistics {
            order: order.filter(|_| min.is_some() || max.is_some()),
            min,
            max,
            null_count,
            nan_count,
            ..TrustedStatistics::of_rows(rows)
        }
    }
}
