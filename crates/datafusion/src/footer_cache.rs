//! A footer cache: the footers and page indexes that a session keeps, by the version of their files.

use crate::error::of_file;
use crate::store_file::{StoreFile, tag};
use datafusion::common::HashMap;
use datafusion::error::Result;
use datafusion::execution::cache::cache_manager::{CachedFileMetadataEntry, FileMetadata, FileMetadataCache};
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry_arrow::async_reader::PageIndexCache;
use marquetry_base::Limits;
use object_store::ObjectStore;
use std::any::Any;
use std::sync::Arc;

/// The cached footers of a session; without a session's cache, none is kept.
#[derive(Clone, Default)]
pub(crate) struct FooterCache {
    cache: Option<Arc<FileMetadataCache>>,
}

impl FooterCache {
    pub(crate) fn new(cache: Arc<FileMetadataCache>) -> Self {
        FooterCache { cache: Some(cache) }
    }

    /// The footer of a file: the cached one if the file has not changed, or else one that is read.
    pub(crate) async fn footer(
        &self,
        file: &StoreFile,
        options: &ArrowReaderOptions,
    ) -> Result<ArrowReaderMetadata> {
        let path = &file.meta().location;
        if let Some(kept) = self.cached(file) {
            return kept.with_options(options.clone()).map_err(|error| of_file(error, path));
        }
        let footer = ArrowReaderMetadata::load_async(file, options.clone()).await;
        let mut footer = footer.map_err(|error| of_file(error, path))?;
        if let (true, Some(version)) = (self.cache.is_some(), footer.file_version().cloned()) {
            let indexes = PageIndexCache::default();
            // Bytes that were fetched along with the footer are pages of this file: their room is for other footers.
            // The limits are those of a query's memory, which the entry outlives.
            let options = options.clone().with_limits(Limits::default());
            let kept = ArrowReaderMetadata::try_new(footer.metadata().clone(), options);
            let kept = kept.map_err(|error| of_file(error, path))?.with_file_version(version);
            footer = footer.with_page_index_cache(&indexes);
            self.keep(file, kept.with_page_index_cache(&indexes), indexes);
        }
        Ok(footer)
    }

    fn keep(&self, file: &StoreFile, footer: ArrowReaderMetadata, indexes: PageIndexCache) {
        let Some(cache) = &self.cache else { return };
        // The schema is kept, too, and as much again for the types that the table reads its columns as.
        let of_table = 2 * footer.schema().fields().size();
        let (counted_indexes, counted) = (indexes.bytes(), footer.memory_size() + of_table);
        let (store, tag) = (file.store().clone(), tag(file.meta()));
        let kept = CachedFooter { store, tag, footer, indexes, counted_indexes, counted };
        cache.put(&file.meta().location, CachedFileMetadataEntry::new(file.meta().clone(), Arc::new(kept)));
    }

    fn cached(&self, file: &StoreFile) -> Option<ArrowReaderMetadata> {
        let entry = self.cache.as_ref()?.get(&file.meta().location)?;
        // The cache's key is the path alone: another store may have the same path, and another format the same file.
        let kept = entry.file_metadata.as_any().downcast_ref::<CachedFooter>()?;
        let is_same = entry.meta.size == file.meta().size
            && kept.tag == tag(file.meta())
            && Arc::ptr_eq(&kept.store, file.store());
        if is_same && kept.indexes.bytes() > kept.counted_indexes {
            // Page indexes that were added since count as well.
            self.keep(file, kept.footer.clone(), kept.indexes.clone());
        }
        is_same.then(|| kept.footer.clone())
    }
}

/// A footer in the cache.
struct CachedFooter {
    /// Names of stores do not distinguish two web servers, nor two in-memory stores.
    store: Arc<dyn ObjectStore>,
    tag: String,
    footer: ArrowReaderMetadata,
    /// The page indexes of `footer`.
    indexes: PageIndexCache,
    /// Bytes of the page indexes, and of the whole entry, as the cache counts them.
    counted_indexes: u64,
    counted: usize,
}

impl FileMetadata for CachedFooter {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn memory_size(&self) -> usize {
        self.counted
    }

    fn extra_info(&self) -> HashMap<String, String> {
        [("reader".to_owned(), "marquetry".to_owned())].into_iter().collect()
    }
}

impl std::fmt::Debug for FooterCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FooterCache").field("is_kept", &self.cache.is_some()).finish()
    }
}
