//! Copying column chunks from file to file without decoding their values.
//!
//! ```text
//! nothing changes    the chunk's bytes are a range of its file; the indexes prove where it ends, or page headers do
//! something does     page by page: a new header where it must change, a new compression where it is asked for
//! ```
//!
//! Encoded values are never touched. Statistics, indexes and bloom filters are carried over, as far as they hold
//! in a file that has another name under `created_by`.

mod page_indexes;
mod pages;
mod recompress;
mod row_group;
mod trust;

pub use row_group::{CopiedRowGroup, copy_row_group};

use super::chunk_bytes::ChunkBytes;
use super::encoded_chunk::EncodedChunk;
use crate::metadata::{ColumnChunk, ParquetMetaData};
use crate::page::{ChecksumTrust, plain_pages_are_believed};
use crate::prune::bounds_are_believed;
use crate::source::Source;
use crate::statistics::may_count_suffixes;
use marquetry_base::{Error, Limits, Result};
use marquetry_codec::Codec;
use marquetry_format as format;
use page_indexes::Indexes;
use pages::{CopiedPages, PageCopyPlan, copy_pages};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Settings of a copy: what to change.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CopySettings {
    /// The codec that pages must have, and its level. Pages that have the codec are kept, unless there is a level.
    /// `None` keeps the codec, except LZO and the deprecated LZ4, which are only read.
    pub codec: Option<(Codec, Option<i32>)>,
    /// Whether pages without a checksum get one.
    pub checksums: bool,
    /// Whether a chunk without an offset index gets one, if its pages allow it.
    pub offset_index: bool,
    /// Whether a page with a wrong checksum is an error. Only pages that are inspected are verified: those of a chunk
    /// for which this or any other setting needs more than a copy of its bytes.
    pub verify_checksums: bool,
    /// Whether to copy the chunk as if it had no offset index, because the caller knows that it is wrong.
    pub ignore_offset_index: bool,
    /// Whether to drop statistics in page headers. This makes the copy inspect the pages of such a chunk.
    pub drop_page_statistics: bool,
    /// Whether to rewrite page headers that are not, byte for byte, what we would write: a flipped bit may have removed
    /// a field that we do not need, but others do. This makes the copy inspect the pages of such a chunk.
    pub normalize_page_headers: bool,
    /// Whether to set the numbers of rows and nulls in headers of V2 pages by their levels, because the caller knows
    /// that they are wrong.
    pub recount_page_headers: bool,
    /// Limits on the sizes of pages.
    pub limits: Arc<Limits>,
}

impl CopySettings {
    /// Sets [`codec`](Self::codec).
    #[must_use]
    pub fn with_codec(mut self, codec: Option<(Codec, Option<i32>)>) -> Self {
        self.codec = codec;
        self
    }

    /// Sets [`checksums`](Self::checksums).
    #[must_use]
    pub fn with_checksums(mut self, checksums: bool) -> Self {
        self.checksums = checksums;
        self
    }

    /// Sets [`offset_index`](Self::offset_index).
    #[must_use]
    pub fn with_offset_index(mut self, offset_index: bool) -> Self {
        self.offset_index = offset_index;
        self
    }

    /// Sets [`verify_checksums`](Self::verify_checksums).
    #[must_use]
    pub fn with_verify_checksums(mut self, verify_checksums: bool) -> Self {
        self.verify_checksums = verify_checksums;
        self
    }

    /// Sets [`ignore_offset_index`](Self::ignore_offset_index).
    #[must_use]
    pub fn with_ignore_offset_index(mut self, ignore_offset_index: bool) -> Self {
        self.ignore_offset_index = ignore_offset_index;
        self
    }

    /// Sets [`drop_page_statistics`](Self::drop_page_statistics).
    #[must_use]
    pub fn with_drop_page_statistics(mut self, drop_page_statistics: bool) -> Self {
        self.drop_page_statistics = drop_page_statistics;
        self
    }

    /// Sets [`normalize_page_headers`](Self::normalize_page_headers).
    #[must_use]
    pub fn with_normalize_page_headers(mut self, normalize_page_headers: bool) -> Self {
        self.normalize_page_headers = normalize_page_headers;
        self
    }

    /// Sets [`recount_page_headers`](Self::recount_page_headers).
    #[must_use]
    pub fn with_recount_page_headers(mut self, recount_page_headers: bool) -> Self {
        self.recount_page_headers = recount_page_headers;
        self
    }

    /// Sets [`limits`](Self::limits).
    #[must_use]
    pub fn with_limits(mut self, limits: Arc<Limits>) -> Self {
        self.limits = limits;
        self
    }
}

impl Default for CopySettings {
    /// Copies the bytes unchanged.
    fn default() -> Self {
        CopySettings {
            codec: None,
            checksums: false,
            offset_index: false,
            verify_checksums: false,
            ignore_offset_index: false,
            drop_page_statistics: false,
            normalize_page_headers: false,
            recount_page_headers: false,
            limits: Arc::default(),
        }
    }
}

/// A chunk that was copied for another file, and what was changed.
#[derive(Debug)]
#[non_exhaustive]
pub struct CopiedChunk {
    /// The chunk.
    pub chunk: EncodedChunk,
    /// Number of pages that are copied unchanged; `None` if pages were not inspected, and all are.
    pub pages_kept: Option<u64>,
    /// Number of pages with a new header around the same bytes.
    pub pages_sealed: u64,
    /// Number of pages that were recompressed.
    pub pages_recompressed: u64,
    /// What was dropped, and why.
    pub notes: Vec<Cow<'static, str>>,
}

/// Copies the chunk of a column in a row group of `source`, whose footer is `metadata`.
///
/// If the chunk is encrypted and there is a key, its pages are decrypted.
///
/// Fails if the chunk is encrypted and there is no key; if it is in another file, or not where the footer states; if it
/// has fewer rows than its row group; or if a page that must be inspected is damaged. The error has the column and the
/// row group.
///
/// # Panics
/// If there is no such row group or column.
pub fn copy_chunk(
    source: &Arc<dyn Source>,
    metadata: &ParquetMetaData,
    row_group: usize,
    column: usize,
    settings: &CopySettings,
) -> Result<CopiedChunk> {
    let group = metadata.row_group(row_group);
    let chunk = group.column(column)?;
    let origin = Origin { source, chunk, rows: group.num_rows(), created_by: metadata.created_by() };
    let place = |error: Error| error.in_column(chunk.leaf().dotted().clone()).in_row_group(row_group);
    origin.copy(settings).map_err(place)
}

/// Removes the bounds of a chunk and of its pages, for a file that orders values differently.
pub fn drop_bounds(chunk: &mut EncodedChunk) {
    chunk.column_index = None;
    if let Some(statistics) = &mut chunk.metadata.statistics {
        (statistics.min_value, statistics.max_value) = (None, None);
        (statistics.is_min_value_exact, statistics.is_max_value_exact) = (None, None);
    }
}

/// The source of a chunk.
struct Origin<'a> {
    source: &'a Arc<dyn Source>,
    chunk: ColumnChunk<'a>,
    /// Number of rows in the row group.
    rows: u64,
    created_by: Option<&'a str>,
}

impl Origin<'_> {
    fn copy(&self, settings: &CopySettings) -> Result<CopiedChunk> {
        self.check()?;
        let mut notes = Vec::new();
        let (ignore, limits) = (settings.ignore_offset_index, &*settings.limits);
        let mut indexes = Indexes::read(&**self.source, self.chunk, self.rows, ignore, limits, &mut notes)?;
        let target = self.target(settings)?;
        let Some(codec) = Codec::from_code(self.chunk.compression().0) else {
            self.refuse_encrypted()?;
            notes.push("pages of an unknown codec are copied without a look at them".into());
            let range = self.declared()?;
            return self.whole(range, indexes, notes, settings);
        };
        let trust = ChecksumTrust::of_writer(self.created_by);
        let task = PageCopyPlan {
            recompress: target.map(|(to, level)| (codec, to, level)),
            checksums: settings.checksums,
            verify: settings.verify_checksums,
            // This writer's name excuses wrong checksums, and the new file has another name.
            reseal: trust == ChecksumTrust::Disbelieved,
            decrypt: self.chunk.is_encrypted(),
            drop_statistics: settings.drop_page_statistics,
            normalize_headers: settings.normalize_page_headers,
            recount: settings.recount_page_headers,
            mark_compressed: codec != Codec::Uncompressed && !plain_pages_are_believed(self.created_by),
            rows: self.rows,
            count_rows: settings.offset_index,
            trust,
            limits: settings.limits.clone(),
        };
        if !task.opens_pages()
            && (indexes.offset.is_some() || !settings.offset_index)
            && let Some(range) = self.proven(&indexes)
        {
            return self.whole(range, indexes, notes, settings);
        }
        let pages = match copy_pages(self.source, self.chunk, &task, indexes.offset.as_ref())? {
            Some(pages) => pages,
            None => {
                notes.push("an offset index that does not fit the pages".into());
                (indexes.offset, indexes.column) = (None, None);
                let again = copy_pages(self.source, self.chunk, &task, None)?;
                again.ok_or_else(|| Error::corrupt("the pages are in no order"))?
            }
        };
        self.finish(pages, target.map(|(to, _)| to), indexes, notes, settings)
    }

    fn check(&self) -> Result<()> {
        let chunk = self.chunk;
        chunk.decryptor()?;
        if let Some(path) = chunk.elsewhere() {
            return Err(Error::unsupported(format!("the pages are in another file, {path}")));
        }
        if !trust::prefixes_are_believed(self.created_by)
            && chunk.encodings().contains(format::Encoding::DELTA_BYTE_ARRAY)
        {
            return Err(Error::unsupported(
                "DELTA_BYTE_ARRAY pages of parquet-mr before 1.8 may go on from page to page, which readers know by \
                 that name only: they cannot be copied to a file of another writer",
            ));
        }
        Ok(())
    }

    /// Fails if the chunk is encrypted, because encrypted pages cannot be copied without decrypting them.
    fn refuse_encrypted(&self) -> Result<()> {
        match self.chunk.is_encrypted() {
            true => Err(Error::unsupported("encrypted pages of an unknown codec")),
            false => Ok(()),
        }
    }

    /// Returns the codec that the pages must get; `None` if they keep theirs.
    fn target(&self, settings: &CopySettings) -> Result<Option<(Codec, Option<i32>)>> {
        match (settings.codec, Codec::from_code(self.chunk.compression().0)) {
            (Some((to, None)), Some(codec)) if to == codec => Ok(None),
            (Some(_), None) => Err(self.chunk.codec().err().unwrap_or_else(|| Error::unsupported("a codec"))),
            (Some(to), Some(_)) => Ok(Some(to)),
            (None, Some(Codec::Lz4)) => Ok(Some((Codec::Lz4Raw, None))),
            (None, Some(Codec::Lzo)) => Ok(Some((Codec::Snappy, None))),
            (None, _) => Ok(None),
        }
    }

    /// Returns the chunk's byte range by the footer. Fails if it does not end before the footer.
    fn declared(&self) -> Result<Range<u64>> {
        let range = self.chunk.byte_range()?;
        let end = self.chunk.data_end().unwrap_or(self.source.len()).min(self.source.len());
        match range.end <= end {
            true => Ok(range),
            false => Err(Error::truncated(format!(
                "pages from byte {} to {}, there is room for them up to {end}",
                range.start, range.end
            ))),
        }
    }

    /// Returns the chunk's byte range, if the offset index proves that the footer is right about its end.
    fn proven(&self, indexes: &Indexes) -> Option<Range<u64>> {
        let range = self.declared().ok()?;
        let pages = &indexes.offset.as_ref()?.page_locations;
        let (first, last) = (pages.first()?, pages.last()?);
        let end = last.offset.checked_add(i64::from(last.compressed_page_size))?;
        let is_right = u64::try_from(end).is_ok_and(|end| end == range.end)
            && first.offset == self.chunk.data_page_offset()
            && first.offset as u64 >= range.start;
        is_right.then_some(range)
    }

    /// Copies the chunk as one range of the file.
    fn whole(
        &self,
        range: Range<u64>,
        indexes: Indexes,
        notes: Vec<Cow<'static, str>>,
        settings: &CopySettings,
    ) -> Result<CopiedChunk> {
        let mut metadata = self.metadata()?;
        let inside = |at: i64| {
            u64::try_from(at).ok().filter(|at| range.contains(at)).map(|at| (at - range.start) as i64)
        };
        metadata.data_page_offset = inside(metadata.data_page_offset).unwrap_or(0);
        metadata.dictionary_page_offset =
            metadata.dictionary_page_offset.filter(|at| *at > 0).and_then(inside);
        metadata.index_page_offset = metadata.index_page_offset.filter(|at| *at > 0).and_then(inside);
        let mut bytes = ChunkBytes::new();
        bytes.push_from(self.source.clone(), range.clone());
        let offset_index = indexes.offset.map(|index| moved(index, range.start));
        let chunk = EncodedChunk {
            bytes,
            taken: 0,
            metadata,
            column_index: indexes.column,
            offset_index,
            bloom_filter: None,
        };
        let copied = CopiedChunk { chunk, pages_kept: None, pages_sealed: 0, pages_recompressed: 0, notes };
        self.with_the_rest(copied, settings)
    }

    /// Assembles the chunk that was copied page by page.
    fn finish(
        &self,
        pages: CopiedPages,
        codec: Option<Codec>,
        indexes: Indexes,
        mut notes: Vec<Cow<'static, str>>,
        settings: &CopySettings,
    ) -> Result<CopiedChunk> {
        let mut metadata = self.metadata()?;
        if let Some(codec) = codec {
            metadata.codec = format::CompressionCodec(codec.code());
        }
        metadata.num_values = i64::try_from(pages.values).map_err(|_| Error::corrupt("too many values"))?;
        metadata.total_compressed_size = pages.bytes.len() as i64;
        metadata.total_uncompressed_size = pages.uncompressed;
        metadata.data_page_offset = pages.first_data.unwrap_or(0) as i64;
        metadata.dictionary_page_offset = pages.dictionary.map(|at| at as i64);
        metadata.index_page_offset = None;
        if pages.dropped > 0 {
            notes.push("pages that are neither data nor dictionaries".into());
        }
        let had_index = indexes.offset.is_some();
        let offset_index = pages.offset_index(indexes.offset, settings.offset_index);
        if offset_index.is_none() && settings.offset_index && pages.data_pages() > 0 {
            notes.push(
                "no offset index: rows go on from page to page, or are not as many as in the row group"
                    .into(),
            );
        }
        let column_index = indexes.column.filter(|index| {
            index.null_pages.len() == pages.data_pages() && (had_index || offset_index.is_some())
        });
        let chunk = EncodedChunk {
            bytes: pages.bytes,
            taken: 0,
            metadata,
            column_index,
            offset_index,
            bloom_filter: None,
        };
        let copied = CopiedChunk {
            chunk,
            pages_kept: Some(pages.kept),
            pages_sealed: pages.sealed,
            pages_recompressed: pages.recompressed,
            notes,
        };
        self.with_the_rest(copied, settings)
    }

    /// Adds the bloom filter, and drops what must not be trusted under another writer's name.
    fn with_the_rest(&self, mut copied: CopiedChunk, settings: &CopySettings) -> Result<CopiedChunk> {
        let filter =
            page_indexes::bloom_filter(&**self.source, self.chunk, &settings.limits, &mut copied.notes)?;
        copied.chunk.bloom_filter = filter;
        self.drop_counts_of_suffixes(&mut copied);
        if !bounds_are_believed(self.created_by, self.chunk.leaf())
            && let Some(statistics) = &mut copied.chunk.metadata.statistics
            && (statistics.min.is_some() || statistics.max.is_some() || statistics.min_value.is_some())
        {
            copied.notes.push("bounds that readers do not take from this writer".into());
            (statistics.min, statistics.max) = (None, None);
            drop_bounds(&mut copied.chunk);
        }
        Ok(copied)
    }

    /// QUIRK: parquet-cpp's count of string bytes is that of the stored bytes, if the encoding is DELTA_BYTE_ARRAY.
    /// Readers know that by its name, which the new file does not have.
    fn drop_counts_of_suffixes(&self, copied: &mut CopiedChunk) {
        let chunk = &mut copied.chunk;
        if !may_count_suffixes(self.created_by, self.chunk.encodings().iter()) {
            return;
        }
        let in_chunk = chunk.metadata.size_statistics.as_mut();
        let in_chunk = in_chunk.and_then(|sizes| sizes.unencoded_byte_array_data_bytes.take());
        let in_pages = chunk.offset_index.as_mut();
        let in_pages = in_pages.and_then(|index| index.unencoded_byte_array_data_bytes.take());
        if in_chunk.is_some() || in_pages.is_some() {
            copied
                .notes
                .push("counts of the bytes of strings, which this writer counts in another way".into());
        }
    }

    /// Returns the footer's metadata of the chunk, without offsets of parts that are outside of its bytes.
    fn metadata(&self) -> Result<format::ColumnMetaData> {
        let mut meta = self.chunk.meta_data()?;
        // QUIRK: paths may be absent.
        meta.path_in_schema = self.chunk.leaf().path_in_schema();
        (meta.bloom_filter_offset, meta.bloom_filter_length) = (None, None);
        Ok(meta)
    }
}

/// Returns the index with offsets relative to the chunk's first byte.
fn moved(mut index: format::OffsetIndex, start: u64) -> format::OffsetIndex {
    index.page_locations.iter_mut().for_each(|page| page.offset = page.offset.wrapping_sub(start as i64));
    index
}
