//! Plans how many threads fit into a shared memory budget, including what is read ahead.

use super::column_schedule::{FEW_ROW_GROUPS, IN_FLIGHT, USUAL_PAGE, data_pages};
use marquetry_base::MemoryBudget;
use marquetry_core::metadata::ParquetMetaData;

/// Estimates how many bytes one thread holds while it reads these columns of a file side by side: pages, read-ahead,
/// dictionaries, and a batch. Uses the metadata of the first row groups.
pub(super) fn memory_of(
    metadata: &ParquetMetaData,
    leaves: impl IntoIterator<Item = usize>,
    batch_size: usize,
) -> u64 {
    let mut sum = 0u64;
    for leaf in leaves {
        let (mut bytes, mut rows, mut pages, mut largest) = (0u64, 0u64, 0u64, 0u64);
        for row_group in metadata.row_groups().take(FEW_ROW_GROUPS) {
            let Ok(chunk) = row_group.column(leaf) else { continue };
            let of_chunk = u64::try_from(chunk.uncompressed_size()).unwrap_or(0);
            bytes = bytes.saturating_add(of_chunk);
            rows = rows.saturating_add(row_group.num_rows());
            pages = pages.saturating_add(data_pages(chunk).unwrap_or(of_chunk / USUAL_PAGE + 1));
            largest = largest.max(of_chunk);
        }
        let page = bytes / pages.max(1);
        let batch = (bytes / rows.max(1)).saturating_add(8).saturating_mul(batch_size as u64);
        // A page counts compressed, decompressed, and as the rest of its window. Values may be longer in memory than stored.
        let held = page.saturating_mul(3).saturating_add(batch.saturating_mul(4));
        sum = sum.saturating_add(held).saturating_add(largest.min(USUAL_DICTIONARY));
    }
    sum
}

/// Returns how many of `threads` threads fit into the budget. Each holds `each` bytes, and `ahead` bytes are ready
/// besides. Half of what is left of the budget stays free for others.
pub(super) fn threads_within(budget: &MemoryBudget, threads: usize, each: u64, ahead: u64) -> usize {
    if budget.tight_limit().is_none() {
        return threads;
    }
    let room = (budget.left() as u64 / 2).saturating_sub(ahead);
    threads.min(usize::try_from(room / each.max(1)).unwrap_or(usize::MAX)).max(1)
}

/// Returns how many threads decode columns, which hold `held` bytes together: `wanted`, or 1 if there is memory for one only.
pub(super) fn column_threads(wanted: usize, budget: &MemoryBudget, held: impl FnOnce() -> u64) -> usize {
    // All threads together hold what one thread would, and what is ahead.
    match wanted > 1 && threads_within(budget, 2, held() / 2, IN_FLIGHT) > 1 {
        true => wanted,
        false => 1,
    }
}

/// Returns how many bytes may be ready ahead: at most `most`, and an eighth of what is left of the budget.
pub(super) fn ahead_within(budget: &MemoryBudget, most: usize) -> usize {
    match budget.tight_limit() {
        None => most,
        Some(_) => most.min(budget.left() / 8),
    }
}

/// Limit of most writers for the size of a dictionary page, in bytes.
const USUAL_DICTIONARY: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_as_many_as_there_is_memory_for() {
        let threads = |budget: &MemoryBudget| threads_within(budget, 8, 10 << 20, 20 << 20);
        assert_eq!(threads(&MemoryBudget::default()), 8);
        let budget = MemoryBudget::new(200 << 20);
        assert_eq!((threads(&budget), ahead_within(&budget, 1 << 30)), (8, 25 << 20));
        let held = budget.reserve(80 << 20).unwrap();
        assert_eq!((threads(&budget), ahead_within(&budget, 1 << 30)), (4, 15 << 20));
        drop(held);
        assert_eq!(threads(&MemoryBudget::new(1)), 1);
        assert_eq!(ahead_within(&MemoryBudget::default(), 1 << 30), 1 << 30);
    }
}
