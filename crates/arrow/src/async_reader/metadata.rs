//! Reads footers and page indexes of asynchronous sources, which can be kept.

use super::cached_tail::CachedTail;
use super::page_index_cache::PageIndexCache;
use super::range_fetcher::RangeFetcher;
use super::source::{AsyncSource, FileVersion};
use crate::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ProjectionMask};
use marquetry_base::{Error, ErrorKind, MemoryBudget, Result, Span};
use marquetry_core::fetch::{CoalesceOptions, RangeCache, index_ranges};
use marquetry_core::source::Source;
use std::sync::Arc;

impl ArrowReaderMetadata {
    /// Reads the footer of `source`, with one request for the end of the file, and a second one if the footer is longer.
    ///
    /// The result knows the version of the file. Keep it, clone it and pass it to
    /// [`new_with_metadata`](crate::async_reader::ParquetRecordBatchStreamBuilder::new_with_metadata) to read the same
    /// file again without reading its footer.
    ///
    /// Fails as [`load`](Self::load) does, or if the source fails.
    pub async fn load_async<S: AsyncSource + ?Sized>(
        source: &S,
        options: ArrowReaderOptions,
    ) -> Result<Self> {
        if options.checkpoint_recovery {
            // The search would read the whole file, backwards.
            return Err(Error::argument("looking for a checkpoint needs a file that is at hand"));
        }
        let tail = Span::open().instrument(source.read_tail(options.footer_size_hint)).await?;
        let version = tail.version;
        let Some(start) = version.len.checked_sub(tail.bytes.len() as u64) else {
            return Err(Error::new(ErrorKind::Io, "more bytes given than the file has"));
        };
        let bytes = RangeCache::new(version.len);
        bytes.insert(start, tail.bytes);
        let remote = unbounded(source, &version);
        let mut metadata = remote.run(&bytes, || Self::read(&bytes, options.clone())).await?;
        // The footer was parsed. Bytes read before it may be indexes or pages, so they are kept.
        bytes.retain(0..metadata.metadata.data_end().unwrap_or(0));
        metadata.known = Some(Arc::new(CachedTail { version, bytes }));
        Ok(metadata)
    }

    /// Fetches the page indexes of the chosen columns and keeps them with the footer. Otherwise each stream fetches
    /// what it needs of them.
    ///
    /// Fails if the source fails, or if the file has another version than the footer.
    pub async fn with_page_index<S: AsyncSource + ?Sized>(
        mut self,
        source: &S,
        columns: &ProjectionMask,
    ) -> Result<Self> {
        let version = self.version_of(source).await?;
        let bytes = self.known_bytes(&version);
        let leaves: Vec<usize> =
            (0..self.metadata.schema().num_columns()).filter(|&leaf| columns.leaf_included(leaf)).collect();
        let groups = 0..self.metadata.num_row_groups();
        let ranges = groups.flat_map(|group| index_ranges(&self.metadata, group, &leaves)).collect();
        unbounded(source, &version).fetch(&bytes, ranges).await?;
        self.known = Some(Arc::new(CachedTail { version, bytes }));
        Ok(self)
    }

    /// Drops the kept bytes of the file. The footer and version stay.
    pub(crate) fn without_bytes(mut self) -> Self {
        if let Some(known) = &self.known {
            let version = known.version.clone();
            self.known = Some(Arc::new(CachedTail { bytes: RangeCache::new(version.len), version }));
        }
        self
    }

    /// Returns how many bytes of the file are kept with the metadata. The footer counts with its size in the file.
    pub(crate) fn kept_bytes(&self) -> u64 {
        self.known.as_ref().map_or(0, |known| {
            let footer =
                known.version.len.saturating_sub(self.metadata.data_end().unwrap_or(known.version.len));
            known.bytes.bytes().saturating_add(footer)
        })
    }

    /// Sets the version of a file whose metadata was read by other means. Streams then request this version only.
    #[must_use]
    pub fn with_file_version(mut self, version: FileVersion) -> Self {
        let bytes = self.known_bytes(&version);
        self.known = Some(Arc::new(CachedTail { version, bytes }));
        self
    }

    /// Makes streams use `cache`: they take page indexes from it, and add those that they fetch. The cache must belong
    /// to this version of this file.
    #[must_use]
    pub fn with_page_index_cache(mut self, cache: &PageIndexCache) -> Self {
        self.page_indexes = Some(cache.clone());
        self
    }

    /// Returns the version of the file that the footer belongs to. It is known if [`load_async`](Self::load_async) read
    /// the footer, or if it was [set](Self::with_file_version).
    pub fn file_version(&self) -> Option<&FileVersion> {
        self.known.as_ref().map(|known| &known.version)
    }

    /// Returns the version to read. If the metadata does not know it, that is the current one.
    pub(super) async fn version_of<S: AsyncSource + ?Sized>(&self, source: &S) -> Result<FileVersion> {
        match self.file_version() {
            Some(version) => Ok(version.clone()),
            None => Ok(source.read_tail(FEW_BYTES).await?.version),
        }
    }

    /// Creates a buffer with the bytes of the file that are known already.
    pub(super) fn known_bytes(&self, version: &FileVersion) -> RangeCache {
        let bytes = RangeCache::new(version.len);
        if let Some(known) = &self.known {
            bytes.insert_all_of(&known.bytes);
        }
        if let Some(indexes) = &self.page_indexes {
            indexes.give(&bytes);
        }
        if let Some(cached) = self.cached.as_ref().filter(|cached| cached.len() == version.len) {
            bytes.insert_all_of(cached);
        }
        bytes
    }
}

/// Creates a fetcher without a memory budget. Metadata outlives the reads that have a budget: `Limits::footer_bytes` bounds it.
fn unbounded<'a, S: AsyncSource + ?Sized>(source: &'a S, version: &'a FileVersion) -> RangeFetcher<'a, S> {
    let (cost, memory) = (CoalesceOptions::OBJECT_STORE, MemoryBudget::default());
    RangeFetcher { source, version, cost, memory, counters: Arc::default() }
}

/// Size of a request made only to learn the version: stores refuse requests for no bytes.
const FEW_BYTES: usize = 8;
