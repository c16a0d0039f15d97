//! Plans how far columns are decoded ahead by several threads, and which of them by more than one thread at a time.

use super::root_reader::RootReader;
use marquetry_core::metadata::{ColumnChunk, ParquetMetaData};
use marquetry_format::PageType;

/// How the rows are divided into batches.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchGrid {
    /// Rows to skip before the first batch.
    pub(super) skip: usize,
    /// Rows of all batches together, and rows of each batch but the last.
    pub(super) rows: usize,
    pub(super) size: usize,
}

impl BatchGrid {
    pub(super) fn count(self) -> usize {
        self.rows.div_ceil(self.size.max(1))
    }

    /// Returns the number of rows in the batches before this one.
    pub(super) fn first_of(self, batch: usize) -> usize {
        batch.saturating_mul(self.size).min(self.rows)
    }

    pub(super) fn rows_of(self, batch: usize) -> usize {
        self.first_of(batch + 1) - self.first_of(batch)
    }
}

/// How a field is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ColumnSchedule {
    /// Maximum number of threads that read it at the same time.
    pub(super) readers: usize,
    /// How many batches a thread reads at a time, and how many it may be ahead.
    pub(super) stride: usize,
    pub(super) window: usize,
}

/// Estimated sizes of a field.
struct Size {
    /// Approximate size of a batch, in bytes.
    batch: u64,
    /// Approximate size of one page of each of its columns together, in bytes.
    page: u64,
}

/// The parameters of a read by several threads.
#[derive(Debug, Clone, Copy)]
pub(super) struct ColumnPlan {
    pub(super) batches: BatchGrid,
    pub(super) threads: usize,
    /// How many pages of a field a thread reads at a time, if several threads read the field.
    pub(super) pages: u64,
    /// Bytes that may be ready before they are wanted, if a budget bounds that. No field is read in parts then.
    pub(super) ahead: Option<usize>,
}

/// Plans how each of `roots` is read.
pub(super) fn plan_columns(
    roots: &[RootReader],
    metadata: &ParquetMetaData,
    plan: ColumnPlan,
) -> Vec<ColumnSchedule> {
    let ColumnPlan { batches, threads, pages, ahead } = plan;
    let sizes: Vec<Size> = roots.iter().map(|root| Size::of(root, metadata, batches.size)).collect();
    let all = sizes.iter().fold(0u64, |all, size| all.saturating_add(size.batch)).max(1);
    let in_flight = ahead.map_or(IN_FLIGHT, |ahead| IN_FLIGHT.min(ahead as u64));
    let most = batches_of(in_flight, all).max(2);
    let stride = (STRIDE_ROWS / batches.size.max(1)).clamp(1, most / 2);
    let of_one = ColumnSchedule { readers: 1, stride, window: most.min(stride * STRIDES) };
    let schedule = |(root, size): (&RootReader, Size)| {
        let shares = (u128::from(size.batch) * threads as u128).div_ceil(u128::from(all)) as usize;
        let most = batches_of(IN_FLIGHT_IN_PARTS, all).max(2);
        let part = pages.saturating_mul(size.page.max(LEAST_PAGE));
        let stride = batches_of(part, size.batch).clamp(1, most / 2);
        let readers = shares.min(batches.count().div_ceil(stride)).min(most / stride);
        // INVARIANT: an offset index is only known to be right if all pages are read.
        match readers > 1
            && ahead.is_none()
            && batches.skip == 0
            && root.columns.iter().all(|column| column.1.is_splittable())
        {
            true => ColumnSchedule { readers, stride, window: most.min(stride * (readers + 1)) },
            false => of_one,
        }
    };
    roots.iter().zip(sizes).map(schedule).collect()
}

/// Returns how many batches of `batch` bytes fit into `bytes`.
fn batches_of(bytes: u64, batch: u64) -> usize {
    usize::try_from(bytes / batch.max(1)).unwrap_or(usize::MAX)
}

impl Size {
    /// Estimates the sizes from the metadata of the first row groups.
    fn of(root: &RootReader, metadata: &ParquetMetaData, batch_size: usize) -> Size {
        let (mut bytes, mut rows, mut pages) = (0u64, 0u64, vec![(0u64, 0u64); root.columns.len()]);
        for row_group in metadata.row_groups().take(FEW_ROW_GROUPS) {
            rows = rows.saturating_add(row_group.num_rows());
            for ((leaf, ..), (of_pages, count)) in root.columns.iter().zip(&mut pages) {
                let Ok(chunk) = row_group.column(*leaf) else { continue };
                let of_chunk = u64::try_from(chunk.uncompressed_size()).unwrap_or(0);
                bytes = bytes.saturating_add(of_chunk);
                *of_pages = of_pages.saturating_add(of_chunk);
                *count = count.saturating_add(data_pages(chunk).unwrap_or(of_chunk / USUAL_PAGE + 1));
            }
        }
        let page = pages.iter().fold(0u64, |sum, (bytes, count)| sum.saturating_add(bytes / count.max(&1)));
        // Dictionaries and runs expand by an unknown factor, so a value counts as at least eight bytes.
        let values = root.columns.len() as u128 * 8;
        let of_row = u128::from(bytes).div_ceil(u128::from(rows.max(1))).max(values);
        Size { batch: u64::try_from(of_row * batch_size as u128).unwrap_or(u64::MAX), page }
    }
}

/// Returns how many data pages a chunk has, if its metadata states it.
pub(super) fn data_pages(chunk: ColumnChunk<'_>) -> Option<u64> {
    let is_data = |kind: PageType| matches!(kind, PageType::DATA_PAGE | PageType::DATA_PAGE_V2);
    let of_data = chunk.encoding_stats()?.into_iter().filter(|stats| is_data(stats.page_type));
    Some(of_data.fold(0u64, |sum, stats| sum.saturating_add(u64::try_from(stats.count).unwrap_or(0))))
}

/// PERF: approximate number of bytes that may be read ahead. More would exceed the cache, and what the allocator keeps:
/// fresh memory costs as much as decoding does.
pub(super) const IN_FLIGHT: u64 = 8 << 20;
/// The same for a field that is read in parts, which have many pages.
const IN_FLIGHT_IN_PARTS: u64 = 64 << 20;
/// PERF: rows of a field that a thread reads at a time. Handing over an array costs as much as some thousand values.
const STRIDE_ROWS: usize = 1 << 14;
/// How many strides a field may be ahead.
const STRIDES: usize = 4;
/// PERF: pages of a field that a thread reads at a time, if several threads read the field. The page in which two
/// strides meet is decoded twice.
pub(super) const PAGES_PER_STRIDE: u64 = 8;
/// Assumed size of a page if the metadata does not state it, in bytes. Below it, the minimum that a page counts as.
pub(super) const USUAL_PAGE: u64 = 1 << 20;
const LEAST_PAGE: u64 = 1 << 17;
/// Number of row groups from which the size of rows is estimated.
pub(super) const FEW_ROW_GROUPS: usize = 4;
