//! Plans how far columns are decoded ahead by several threads, and which of them by more than one thread at a time.

use super::root_reader::RootReader;
use marquetry_core::metadata::{ColumnChunk, ParquetMetaData};
use marquetry_format::PageType;

/// What batches there are.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchGrid {
    /// Rows that are passed over before the first.
    pub(super) skip: usize,
    /// Rows of all batches together, and of each but the last.
    pub(super) rows: usize,
    pub(super) size: usize,
}

impl BatchGrid {
    pub(super) fn count(self) -> usize {
        self.rows.div_ceil(self.size.max(1))
    }

    /// Rows of all batches before.
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
    /// How many threads may read it side by side.
    pub(super) readers: usize,
    /// How many batches it is read at a time, and how many it may be ahead.
    pub(super) stride: usize,
    pub(super) window: usize,
}

/// What is known of a field's size.
struct Size {
    /// Bytes of a batch, about.
    batch: u64,
    /// Bytes of a page of each of its columns together, about.
    page: u64,
}

/// What several threads are to read.
#[derive(Debug, Clone, Copy)]
pub(super) struct ColumnPlan {
    pub(super) batches: BatchGrid,
    pub(super) threads: usize,
    /// Pages that one of them reads of a field at a time, where several read one.
    pub(super) pages: u64,
    /// Bytes that may be ready before they are wanted, if a budget bounds that: then no field is read in parts.
    pub(super) ahead: Option<usize>,
}

/// How each of `roots` is read.
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
        // INVARIANT: an index is only known to be right where all pages are read.
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

/// How many batches of `batch` bytes have so many bytes.
fn batches_of(bytes: u64, batch: u64) -> usize {
    usize::try_from(bytes / batch.max(1)).unwrap_or(usize::MAX)
}

impl Size {
    /// By what the footer says of the first row groups.
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
        // What dictionaries and runs make of a byte is not known; a value has eight, or less.
        let values = root.columns.len() as u128 * 8;
        let of_row = u128::from(bytes).div_ceil(u128::from(rows.max(1))).max(values);
        Size { batch: u64::try_from(of_row * batch_size as u128).unwrap_or(u64::MAX), page }
    }
}

/// How many data pages a chunk has, if its metadata says.
pub(super) fn data_pages(chunk: ColumnChunk<'_>) -> Option<u64> {
    let is_data = |kind: PageType| matches!(kind, PageType::DATA_PAGE | PageType::DATA_PAGE_V2);
    let of_data = chunk.encoding_stats()?.into_iter().filter(|stats| is_data(stats.page_type));
    Some(of_data.fold(0u64, |sum, stats| sum.saturating_add(u64::try_from(stats.count).unwrap_or(0))))
}

/// PERF: how many bytes may be read ahead, about. More would be more than the cache, and than the allocator keeps: fresh
/// memory costs as much as decoding does.
pub(super) const IN_FLIGHT: u64 = 8 << 20;
/// The same where a field is read in parts, which have many pages.
const IN_FLIGHT_IN_PARTS: u64 = 64 << 20;
/// PERF: rows of a field that are read at a time. Handing it over costs as much as some thousand values.
const STRIDE_ROWS: usize = 1 << 14;
/// How many times that a field may be ahead.
const STRIDES: usize = 4;
/// PERF: pages of a field that are read at a time where several threads read it: the one in which strides meet is decoded
/// twice.
pub(super) const PAGES_PER_STRIDE: u64 = 8;
/// The bytes of a page where no one says, and the least that it counts as.
pub(super) const USUAL_PAGE: u64 = 1 << 20;
const LEAST_PAGE: u64 = 1 << 17;
/// Row groups that tell how large rows are.
pub(super) const FEW_ROW_GROUPS: usize = 4;
