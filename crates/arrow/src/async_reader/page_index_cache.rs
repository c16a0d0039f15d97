//! Page indexes that streams have fetched, for the next stream of the same file.

use bytes::Bytes;
use marquetry_core::fetch::{RangeCache, index_ranges};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::source::Source;
use std::sync::{Arc, OnceLock};

/// A cache of the stored column and offset indexes of one version of a file, as far as streams fetched them. Clones
/// share the cache.
///
/// Its size is bounded by the size of the file's indexes.
///
/// ```
/// use futures::executor::block_on;
/// use futures::{StreamExt, TryStreamExt};
/// use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
/// use marquetry_arrow::async_reader::{PageIndexCache, ParquetRecordBatchStreamBuilder};
/// use marquetry_core::predicate::Predicate;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// let file = bytes::Bytes::from(std::fs::read(path)?);
/// let cache = PageIndexCache::default();
/// let footer = block_on(ArrowReaderMetadata::load_async(&file, ArrowReaderOptions::new()))?;
/// let footer = footer.with_page_index_cache(&cache);
/// for _ in 0..2 {
///     // The second time nothing is asked for but pages.
///     let stream = ParquetRecordBatchStreamBuilder::new_with_metadata(file.clone(), footer.clone());
///     let stream = stream.with_predicate(Predicate::parse("year >= 2015")?).build()?;
///     let batches: Vec<_> = block_on(stream.try_collect())?;
///     assert!(!batches.is_empty());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct PageIndexCache(Arc<OnceLock<RangeCache>>);

impl PageIndexCache {
    /// Returns how many bytes are cached.
    pub fn bytes(&self) -> u64 {
        self.0.get().map_or(0, RangeCache::bytes)
    }

    /// Copies the cached indexes to `buffered`, which belongs to the same file.
    pub(super) fn give(&self, buffered: &RangeCache) {
        if let Some(kept) = self.0.get() {
            buffered.insert_all_of(kept);
        }
    }

    /// Caches the indexes of `leaves` in a row group, as far as `buffered` has them.
    pub(super) fn take(
        &self,
        buffered: &RangeCache,
        metadata: &ParquetMetaData,
        row_group: usize,
        leaves: &[usize],
    ) {
        let kept = self.0.get_or_init(|| RangeCache::new(buffered.len()));
        for range in kept.missing_of(index_ranges(metadata, row_group, leaves)) {
            if buffered.missing_of([range.clone()]).is_empty()
                && let Ok(bytes) = buffered.read_at(range.start, (range.end - range.start) as usize)
            {
                // A copy, so that bytes fetched along with it are not kept in memory.
                kept.insert(range.start, Bytes::copy_from_slice(&bytes));
            }
        }
    }
}
