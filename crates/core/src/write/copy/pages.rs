//! Copies a chunk page by page: pages that need not change stay a range of their file.

use super::recompress::Recompressor;
use crate::metadata::ColumnChunk;
use crate::page::{Checksum, ChecksumTrust, LocatedHeader, PageBuffers, PageOptions, PageReader};
use crate::source::Source;
use crate::write::chunk_bytes::ChunkBytes;
use marquetry_base::{Error, Limits, Result};
use marquetry_codec::Codec;
use marquetry_format::{Encoding, OffsetIndex, PageHeader, PageLocation, Reader, Writer};
use std::ops::Range;
use std::sync::Arc;

/// The changes to make to pages.
pub(super) struct PageCopyPlan {
    /// Source codec, target codec and its level.
    pub(super) recompress: Option<(Codec, Codec, Option<i32>)>,
    /// Whether pages without a checksum get one.
    pub(super) checksums: bool,
    /// Whether wrong checksums are errors.
    pub(super) verify: bool,
    /// Whether to correct wrong checksums, because the writer is known for them.
    pub(super) reseal: bool,
    /// Whether V2 pages that are marked as uncompressed are compressed, because the writer is known for that.
    pub(super) mark_compressed: bool,
    /// Whether pages are encrypted, and must be decrypted.
    pub(super) decrypt: bool,
    /// Whether to drop statistics in page headers.
    pub(super) drop_statistics: bool,
    /// Whether to rewrite headers that are not as we would write them.
    pub(super) normalize_headers: bool,
    /// Whether to set the numbers of rows and nulls in headers of V2 pages by their levels.
    pub(super) recount: bool,
    /// Number of rows in the row group.
    pub(super) rows: u64,
    /// Whether to count rows by levels if the header does not state them.
    pub(super) count_rows: bool,
    pub(super) trust: ChecksumTrust,
    pub(super) limits: Arc<Limits>,
}

impl PageCopyPlan {
    /// Whether more of the pages is needed than their headers.
    pub(super) fn opens_pages(&self) -> bool {
        let looks = self.checksums || self.verify || self.reseal;
        let looks = looks || self.normalize_headers || self.recount;
        self.recompress.is_some() || looks || self.mark_compressed || self.decrypt || self.drop_statistics
    }
}

/// The copied pages of a chunk, with their counts and offsets.
#[derive(Default)]
pub(super) struct CopiedPages {
    pub(super) bytes: ChunkBytes,
    /// Offset of the dictionary page in the bytes; `first_data` is that of the first data page.
    pub(super) dictionary: Option<u64>,
    pub(super) first_data: Option<u64>,
    /// Size of headers and pages before compression, in bytes.
    pub(super) uncompressed: i64,
    pub(super) values: u64,
    pub(super) kept: u64,
    pub(super) sealed: u64,
    pub(super) recompressed: u64,
    /// Number of pages that were dropped.
    pub(super) dropped: u64,
    /// Locations of the data pages; `first_row_index` is correct only if `rows` is known.
    locations: Vec<PageLocation>,
    /// Number of rows that begin in the pages so far, if known.
    rows: Option<u64>,
    /// Whether every page begins with a row.
    begin_rows: bool,
    rows_wanted: u64,
}

impl CopiedPages {
    pub(super) fn data_pages(&self) -> usize {
        self.locations.len()
    }

    /// Returns the old index with the new offsets, or a new one if that is wanted and rows are known.
    pub(super) fn offset_index(&self, old: Option<OffsetIndex>, wanted: bool) -> Option<OffsetIndex> {
        if let Some(mut index) = old {
            for (page, new) in index.page_locations.iter_mut().zip(&self.locations) {
                (page.offset, page.compressed_page_size) = (new.offset, new.compressed_page_size);
            }
            return Some(index);
        }
        let is_known = self.begin_rows && self.rows == Some(self.rows_wanted);
        (wanted && is_known && !self.locations.is_empty()).then(|| OffsetIndex {
            page_locations: self.locations.clone(),
            unencoded_byte_array_data_bytes: None,
        })
    }
}

/// Copies the pages of `chunk`. `None` if `index` does not match them.
pub(super) fn copy_pages(
    source: &Arc<dyn Source>,
    chunk: ColumnChunk<'_>,
    task: &PageCopyPlan,
    index: Option<&OffsetIndex>,
) -> Result<Option<CopiedPages>> {
    let options =
        PageOptions { limits: task.limits.clone(), verify_checksums: task.verify, trust: task.trust };
    let recompressor = match task.recompress {
        Some((from, to, level)) => Some(Recompressor::new(from, to, level)?),
        None => None,
    };
    let mut walk = Walk {
        source,
        task,
        index,
        pages: PageReader::new(source.clone(), chunk, options, PageBuffers::default())?,
        max_rep: chunk.leaf().max_rep(),
        max_def: chunk.leaf().max_def(),
        recompressor,
        run: 0..0,
        end: 0,
        rows_are_claimed: false,
        recounted: None,
        out: CopiedPages {
            rows: Some(0),
            begin_rows: true,
            rows_wanted: task.rows,
            ..CopiedPages::default()
        },
    };
    while let Some(start) = walk.next()? {
        let fits = walk.page(&start).map_err(|error| start.place(error))?;
        if !fits {
            return Ok(None);
        }
    }
    walk.finish(chunk)
}

struct Walk<'a> {
    source: &'a Arc<dyn Source>,
    task: &'a PageCopyPlan,
    index: Option<&'a OffsetIndex>,
    pages: PageReader,
    max_rep: u8,
    max_def: u8,
    recompressor: Option<Recompressor>,
    /// Consecutive pages that stay unchanged, and were not added to the bytes yet.
    run: Range<u64>,
    /// Offset of the end of the last page.
    end: u64,
    /// Whether rows were counted by headers, which only claim them.
    rows_are_claimed: bool,
    /// The counts by the page's levels, if its header is to have them.
    recounted: Option<PageCounts>,
    out: CopiedPages,
}

/// The counts of a page by its levels.
struct PageCounts {
    rows: usize,
    nulls: usize,
    /// Whether the first entry begins a row.
    begins_row: bool,
}

impl Walk<'_> {
    fn next(&mut self) -> Result<Option<LocatedHeader>> {
        if let Some(start) = self.pages.next_header()? {
            return Ok(Some(start));
        }
        // QUIRK: the footer's number of values may not count nulls; there are more pages then.
        let is_incomplete = match self.index {
            Some(index) => self.out.locations.len() < index.page_locations.len(),
            None => self.out.rows.is_some_and(|rows| rows < self.task.rows),
        };
        if is_incomplete { self.pages.next_uncounted_header() } else { Ok(None) }
    }

    /// Copies a page. Returns whether it is where the index states.
    fn page(&mut self, start: &LocatedHeader) -> Result<bool> {
        let stored_len = u64::try_from(start.header.compressed_page_size).unwrap_or(0);
        let end = start.body + stored_len;
        self.end = end;
        if start.is_data() {
            let expected = self.index.map(|index| index.page_locations.get(self.out.locations.len()));
            let is_there = expected.is_none_or(|page| {
                page.is_some_and(|page| {
                    u64::try_from(page.offset).is_ok_and(|at| at == start.offset)
                        && i64::from(page.compressed_page_size) == (end - start.offset) as i64
                })
            });
            if !is_there {
                return Ok(false);
            }
        } else if !start.is_dictionary() {
            // SPEC: index pages were never used, and other kinds are unknown.
            self.out.dropped += 1;
            return Ok(true);
        }
        let first_row = self.out.rows.unwrap_or(0);
        self.recounted = None;
        if start.is_data() {
            if self.task.recount && start.header.data_page_header_v2.is_some() {
                self.recounted = Some(self.count_levels(start)?);
            }
            self.count(start)?;
        }
        let at = self.position();
        match self.changed(start)? {
            None => self.keep(start, end),
            Some((header, body)) => self.replace(header, body, start.body..end),
        }
        let size = i32::try_from(self.position() - at).map_err(|_| Error::corrupt("a page of over 2 GiB"))?;
        match start.is_data() {
            true => {
                self.out.first_data.get_or_insert(at);
                let (offset, first_row_index) = (at as i64, first_row as i64);
                self.out.locations.push(PageLocation { offset, compressed_page_size: size, first_row_index });
            }
            false if self.out.first_data.is_none() => {
                self.out.dictionary.get_or_insert(at);
            }
            false => {}
        }
        Ok(true)
    }

    /// Counts the page's values, and its rows if possible.
    fn count(&mut self, start: &LocatedHeader) -> Result<()> {
        let values = start.num_values()?;
        self.out.values += values as u64;
        let Some(rows) = self.out.rows else { return Ok(()) };
        let here = match (self.max_rep, &self.recounted, start.num_rows()) {
            (0, ..) => Some(values),
            (_, Some(counted), _) => {
                self.out.begin_rows &= counted.begins_row;
                Some(counted.rows)
            }
            (_, None, Some(rows)) => {
                self.rows_are_claimed = true;
                Some(rows)
            }
            (_, None, None) if self.index.is_none() && (self.task.count_rows || self.task.opens_pages()) => {
                let counted = self.count_levels(start)?;
                self.out.begin_rows &= counted.begins_row;
                Some(counted.rows)
            }
            _ => None,
        };
        self.out.rows = here.map(|here| rows.saturating_add(here as u64));
        Ok(())
    }

    fn count_levels(&mut self, start: &LocatedHeader) -> Result<PageCounts> {
        let mut page = self.pages.data(start, self.max_rep, self.max_def)?;
        let (mut levels, mut left) = (Vec::new(), page.num_values);
        let mut counted = PageCounts { rows: 0, nulls: 0, begins_row: true };
        while left > 0 {
            let n = left.min(LEVELS_AT_ONCE);
            levels.clear();
            page.rep.decode(n, &mut levels)?;
            if left == page.num_values {
                counted.begins_row = levels.first() == Some(&0);
            }
            counted.rows += levels.iter().filter(|level| **level == 0).count();
            if self.task.recount {
                levels.clear();
                counted.nulls += n - page.def.skip(n, &mut levels)?;
            }
            left -= n;
        }
        self.pages.recycle(page.values);
        Ok(counted)
    }

    /// Returns the page's new header, and its new body if that changes as well; `None` if the page stays unchanged.
    fn changed(&mut self, start: &LocatedHeader) -> Result<Option<(PageHeader, Option<Vec<u8>>)>> {
        if !self.task.opens_pages() {
            return Ok(None);
        }
        let checksum = self.pages.checksum(start)?;
        let stored = self.pages.stored_bytes(start)?;
        if let (Checksum::Bad { stored, computed }, true) = (checksum, self.task.verify) {
            return Err(Error::corrupt(format!(
                "checksum mismatch: the page says {stored:08x}, its bytes give {computed:08x}; \
                 turn checksum verification off to copy it anyway"
            )));
        }
        let wants_seal = match checksum {
            Checksum::Absent => self.task.checksums,
            Checksum::Untrusted => true,
            Checksum::Good | Checksum::Bad { .. } => false,
        };
        let v2 = start.header.data_page_header_v2.as_ref();
        let is_unmarked = self.task.mark_compressed && v2.is_some_and(|v2| !v2.is_compressed);
        let is_same = self.recompressor.is_none() && !wants_seal && !is_unmarked;
        let stays = is_same && !self.task.decrypt && !self.task.drop_statistics && self.recounted.is_none();
        if stays && !self.task.normalize_headers {
            return Ok(None);
        }
        let mut header = self.header(start)?;
        if self.task.normalize_headers {
            self.normalize(&mut header);
            if stays && self.is_normal(start, &header)? {
                return Ok(None);
            }
        }
        if let (true, Some(v2)) = (is_unmarked, &mut header.data_page_header_v2) {
            v2.is_compressed = true;
        }
        if let (Some(counted), Some(v2)) = (&self.recounted, &mut header.data_page_header_v2) {
            let count = |n| i32::try_from(n).map_err(|_| Error::corrupt("a page of over 2^31 entries"));
            (v2.num_rows, v2.num_nulls) = (count(counted.rows)?, count(counted.nulls)?);
        }
        let body = match &mut self.recompressor {
            Some(recompressor) => Some(recompressor.page(&mut header, stored.as_slice())?),
            None if self.task.decrypt => {
                header.compressed_page_size =
                    i32::try_from(stored.len()).map_err(|_| Error::corrupt("a page of over 2 GiB"))?;
                Some(stored.as_slice().to_vec())
            }
            None => None,
        };
        // QUIRK: a 0 that stands for no checksum (see `Checksum`) is not replaced.
        let had_seal = header.crc.is_some() && checksum != Checksum::Absent;
        header.crc = (had_seal || self.task.checksums)
            .then(|| crc32fast::hash(body.as_deref().unwrap_or(stored.as_slice())) as i32);
        Ok(Some((header, body)))
    }

    /// Reads the page's whole header. Statistics that are dropped need not be readable.
    fn header(&mut self, start: &LocatedHeader) -> Result<PageHeader> {
        let bytes = self.pages.header_bytes(start)?;
        let mut reader = Reader::with_limits(&bytes, &self.task.limits);
        match self.task.drop_statistics {
            true => PageHeader::read_without_statistics(&mut reader),
            false => PageHeader::read(&mut reader),
        }
    }

    /// Normalizes fields of a header that we ignore and other readers may not: encodings of levels that the column does
    /// not have.
    fn normalize(&self, header: &mut PageHeader) {
        let Some(v1) = &mut header.data_page_header else { return };
        let levels = [
            (self.max_def, &mut v1.definition_level_encoding),
            (self.max_rep, &mut v1.repetition_level_encoding),
        ];
        for (max, encoding) in levels {
            if max == 0 && !matches!(*encoding, Encoding::RLE | Encoding::BIT_PACKED) {
                *encoding = Encoding::RLE;
            }
        }
    }

    /// Whether a header is stored exactly as it would be written. A strict reader may refuse a header with a flipped
    /// bit where we ignore an unknown field, or assume that levels are RLE, which the format requires to be stated.
    fn is_normal(&mut self, start: &LocatedHeader, header: &PageHeader) -> Result<bool> {
        let mut writer = Writer::new();
        header.write(&mut writer);
        Ok(*writer.finish() == *self.pages.header_bytes(start)?)
    }

    fn keep(&mut self, start: &LocatedHeader, end: u64) {
        self.out.kept += 1;
        self.out.uncompressed +=
            (start.body - start.offset) as i64 + i64::from(start.header.uncompressed_page_size);
        self.extend(start.offset..end);
    }

    /// Adds bytes of the file.
    fn extend(&mut self, page: Range<u64>) {
        if self.run.end == page.start {
            self.run.end = page.end;
        } else {
            self.flush();
            self.run = page;
        }
    }

    fn replace(&mut self, header: PageHeader, body: Option<Vec<u8>>, stored: Range<u64>) {
        self.flush();
        let mut writer = Writer::new();
        header.write(&mut writer);
        let mut bytes = writer.finish();
        self.out.uncompressed += bytes.len() as i64 + i64::from(header.uncompressed_page_size);
        match body {
            Some(body) => {
                self.out.recompressed += 1;
                bytes.extend_from_slice(&body);
                self.out.bytes.push(bytes);
            }
            None => {
                self.out.sealed += 1;
                self.out.bytes.push(bytes);
                self.run = stored;
            }
        }
    }

    /// Returns the offset of the next page in the bytes.
    fn position(&self) -> u64 {
        self.out.bytes.len() + (self.run.end - self.run.start)
    }

    /// Adds the pending unchanged pages to the bytes.
    fn flush(&mut self) {
        let run = std::mem::replace(&mut self.run, 0..0);
        if !run.is_empty() {
            self.out.bytes.push_from(self.source.clone(), run);
        }
    }

    fn finish(mut self, chunk: ColumnChunk<'_>) -> Result<Option<CopiedPages>> {
        if self.index.is_some_and(|index| index.page_locations.len() != self.out.locations.len()) {
            return Ok(None);
        }
        if chunk.leaf().max_rep() == 0 && self.out.values > self.task.rows {
            return Err(Error::corrupt(format!(
                "the pages have {} values, the row group {} rows",
                self.out.values, self.task.rows
            )));
        }
        match self.out.rows {
            Some(rows) if rows < self.task.rows && !self.rows_are_claimed => {
                let missing = self.task.rows - rows;
                return Err(Error::corrupt(format!(
                    "the pages end {missing} rows before the row group does"
                )));
            }
            None if self.index.is_none() => self.keep_rest(chunk),
            _ => {}
        }
        self.flush();
        Ok(Some(self.out))
    }

    /// Adds the rest of the chunk, by the size in the footer, because it is unknown whether all rows were seen.
    fn keep_rest(&mut self, chunk: ColumnChunk<'_>) {
        // INVARIANT: rows of decrypted pages are counted.
        let Some(range) = chunk.byte_range().ok().filter(|_| !self.task.decrypt) else { return };
        let rest = self.end.max(range.start)..range.end.min(chunk.data_end().unwrap_or(self.source.len()));
        if rest.start < rest.end {
            self.out.uncompressed += (rest.end - rest.start) as i64;
            self.extend(rest);
        }
    }
}

/// Number of levels to count at a time: a page may claim many.
const LEVELS_AT_ONCE: usize = 8192;
