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
    /// Reads the footer of `source`: one request for the end of the file, and a second one if the footer is longer.
    ///
    /// The result knows which version of the file it is of. Keep it, clone it and hand it to
    /// [`new_with_metadata`](crate::async_reader::ParquetRecordBatchStreamBuilder::new_with_metadata) to read the same
    /// file again without reading its footer.
    ///
    /// Fails as [`load`](Self::load) does, or if the source does.
    pub async fn load_async<S: AsyncSource + ?Sized>(
        source: &S,
        options: ArrowReaderOptions,
    ) -> Result<Self> {
        if options.checkpoint_recovery {
            // It would read all of the file, backwards.
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
        // The footer was parsed; what was read before it may be indexes or pages.
        bytes.retain(0..metadata.metadata.data_end().unwrap_or(0));
        metadata.known = Some(Arc::new(CachedTail { version, bytes }));
        Ok(metadata)
    }

    /// Fetches the page indexes of the chosen columns, to be kept with the footer. Without that a stream fetches what it
    /// needs of them, each time.
    ///
    /// Fails if the source does, or if the file is not the one any more that the footer is of.
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

    /// Without what is known of the file beside its footer and version.
    pub(crate) fn without_bytes(mut self) -> Self {
        if let Some(known) = &self.known {
            let version = known.version.clone();
            self.known = Some(Arc::new(CachedTail { bytes: RangeCache::new(version.len), version }));
        }
        self
    }

    /// How many bytes of the file are kept with the metadata, the footer as large as it is in the file.
    pub(crate) fn kept_bytes(&self) -> u64 {
        self.known.as_ref().map_or(0, |known| {
            let footer =
                known.version.len.saturating_sub(self.metadata.data_end().unwrap_or(known.version.len));
            known.bytes.bytes().saturating_add(footer)
        })
    }

    /// Metadata that was read by other means, of this version of the file: a stream of it asks the source for no other one.
    #[must_use]
    pub fn with_file_version(mut self, version: FileVersion) -> Self {
        let bytes = self.known_bytes(&version);
        self.known = Some(Arc::new(CachedTail { version, bytes }));
        self
    }

    /// Has streams keep the page indexes that they fetch in `cache`, and take from there those that it has. It is of this version of this
    /// file.
    #[must_use]
    pub fn with_page_index_cache(mut self, cache: &PageIndexCache) -> Self {
        self.page_indexes = Some(cache.clone());
        self
    }

    /// Which version of the file the footer is of, if it was read by [`load_async`](Self::load_async),
    /// or if that was [said](Self::with_file_version).
    pub fn file_version(&self) -> Option<&FileVersion> {
        self.known.as_ref().map(|known| &known.version)
    }

    /// The version to read; of metadata that does not know it, the one that is there now.
    pub(super) async fn version_of<S: AsyncSource + ?Sized>(&self, source: &S) -> Result<FileVersion> {
        match self.file_version() {
            Some(version) => Ok(version.clone()),
            None => Ok(source.read_tail(FEW_BYTES).await?.version),
        }
    }

    /// A buffer with what is known of the file already.
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

/// Metadata outlives the reads that have a budget of memory: `Limits::footer_bytes` bounds it.
fn unbounded<'a, S: AsyncSource + ?Sized>(source: &'a S, version: &'a FileVersion) -> RangeFetcher<'a, S> {
    let (cost, memory) = (CoalesceOptions::OBJECT_STORE, MemoryBudget::default());
    RangeFetcher { source, version, cost, memory, counters: Arc::default() }
}

/// For a request that is only to tell the version: stores refuse to give no bytes.
const FEW_BYTES: usize = 8;
