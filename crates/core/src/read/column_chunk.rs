//! One column chunk: its dictionary, and its data pages one after the other.

use super::chunk_dictionary::ChunkDictionary;
use super::column_batch::ColumnBatch;
use super::damage::ChunkDamage;
use super::expected_size::RESERVED_ROWS;
use super::offset_index_cursor::{ChunkPosition, OffsetIndexCursor};
use super::page_decoder::{DecodeScratch, PageDecoder, TrailingBytes};
use super::target::ReadTarget;
use crate::metadata::ColumnChunk;
use crate::page::{LocatedHeader, PageBuffers, PageOptions, PageReader};
use crate::row_mask::next_one;
use crate::source::Source;
use marquetry_base::{Error, Limits, PaddedBytes, Result};
use marquetry_encoding::Bitmap;
use marquetry_encoding::code::{PLAIN, PLAIN_DICTIONARY, RLE_DICTIONARY};
use std::ops::Range;
use std::sync::Arc;

/// A reader of a column chunk, front to back.
pub struct ColumnChunkReader {
    pages: PageReader,
    target: Arc<ReadTarget>,
    dictionary: ChunkDictionary,
    /// Maximum rows that will be read; `None` for all.
    row_limit: Option<usize>,
    page: Option<PageDecoder>,
    /// Memory of the open page, for reuse after it.
    memory: Option<PaddedBytes>,
    scratch: DecodeScratch,
    limits: Arc<Limits>,
    position: ChunkPosition,
    /// The offset index, if it may be used.
    offset_index: OffsetIndexCursor,
    /// The damage of the chunk if only its readable pages are read, and which of these is next.
    readable: Option<(Arc<ChunkDamage>, usize)>,
    /// Whether the page before this one is lost, so that the rest of its last row must be skipped.
    is_after_gap: bool,
}

impl ColumnChunkReader {
    /// Creates a reader at the first row of `chunk`. `buffers` may come from a chunk that was read before.
    pub fn new(
        source: Arc<dyn Source>,
        chunk: ColumnChunk<'_>,
        target: Arc<ReadTarget>,
        options: PageOptions,
        buffers: PageBuffers,
    ) -> Result<Self> {
        check_levels(chunk)?;
        Ok(ColumnChunkReader {
            scratch: DecodeScratch::new(&target, &options.limits),
            limits: options.limits.clone(),
            pages: PageReader::new(source, chunk, options, buffers)?,
            dictionary: ChunkDictionary::new(&target),
            target,
            row_limit: None,
            page: None,
            memory: None,
            position: ChunkPosition::default(),
            offset_index: OffsetIndexCursor::default(),
            readable: None,
            is_after_gap: false,
        })
    }

    /// Reads only the readable pages of a damaged chunk, as if there were no others. Reading must not have begun.
    pub fn with_damage(mut self, damage: Arc<ChunkDamage>) -> Result<Self> {
        if let Some(offset) = damage.dictionary {
            let header = self.pages.seek(offset, 0)?;
            self.dictionary.find(&mut self.pages, &header)?;
        }
        self.readable = Some((damage, 0));
        Ok(self)
    }

    /// Announces that at most `row_limit` rows will be read. The dictionary is then decoded only as far as they may
    /// need it.
    #[must_use]
    pub fn with_row_limit(self, row_limit: Option<usize>) -> Self {
        ColumnChunkReader { row_limit, ..self }
    }

    /// Sets whether to read only little ahead.
    #[must_use]
    pub(super) fn with_short_reads(mut self, are_short: bool) -> Self {
        if are_short {
            self.pages.read_short();
        }
        self
    }

    /// Loads the offset index of `chunk`, the chunk of this reader, if it has a valid one. It is used to skip pages, or
    /// only to count their rows.
    pub(super) fn attach_offset_index(
        &mut self,
        source: &dyn Source,
        chunk: ColumnChunk<'_>,
        rows: u64,
        limits: &Limits,
        counts_only: bool,
    ) -> Result<()> {
        self.offset_index.attach(source, chunk, rows, limits, counts_only)
    }

    /// Returns the buffers for the next chunk.
    pub fn into_buffers(mut self) -> PageBuffers {
        self.close();
        self.pages.into_buffers()
    }

    /// Appends the next `rows` rows to `out`. Returns how many were read: fewer only at the end of the chunk.
    pub fn read(&mut self, rows: usize, out: &mut ColumnBatch) -> Result<usize> {
        let mut done = 0;
        while self.has_next(rows - done)? {
            self.unify_dictionary(out)?;
            if out.dictionary.is_some() && out.values.is_empty() {
                out.values.reserve((rows - done).min(RESERVED_ROWS));
            }
            let Self { page: Some(page), target, scratch, .. } = self else {
                break;
            };
            let result = match target.max_rep {
                0 => page.read_flat(rows - done, target, scratch, out),
                _ => page.read_nested(rows - done, target, scratch, out),
            };
            let read = result.map_err(|error| page.header.place(error))?;
            self.position.row += read as u64;
            done += read;
        }
        out.held.merge(self.pages.take_retained());
        Ok(done)
    }

    /// Appends the selected rows among the next `rows.len()` rows to `out`: those whose bit in `keep[rows]` is 1. Returns how
    /// many rows were consumed, selected or not: fewer than `rows.len()` only at the end of the chunk.
    pub fn read_selected(
        &mut self,
        keep: &Bitmap,
        rows: Range<usize>,
        out: &mut ColumnBatch,
    ) -> Result<usize> {
        let mut done = 0;
        // Whether the row that continues in the next page is selected.
        let mut is_kept = false;
        loop {
            if is_kept && self.ends_row_with_page() {
                is_kept = false;
                self.position.has_begun = false;
            }
            let at = rows.start + done;
            let zeros = next_one(keep, at..rows.end, 0).unwrap_or(rows.end) - at;
            if zeros > self.entries_left() && !is_kept {
                let skipped = self.skip(zeros)?;
                done += skipped;
                if skipped < zeros {
                    return Ok(done);
                }
                continue;
            }
            if !self.has_next(rows.end - at)? {
                return Ok(done);
            }
            self.unify_dictionary(out)?;
            let Self { page: Some(page), target, scratch, .. } = self else {
                return Ok(done);
            };
            let result = match target.max_rep {
                0 => page.read_flat_selected(keep, at..rows.end, target, scratch, out),
                _ => page.read_nested_selected(keep, at..rows.end, &mut is_kept, target, scratch, out),
            };
            let read = result.map_err(|error| page.header.place(error))?;
            self.position.row += read as u64;
            done += read;
        }
    }

    /// Ensures that the open page's values or indices can be appended to `out`.
    fn unify_dictionary(&mut self, out: &mut ColumnBatch) -> Result<()> {
        let gives_indices = self.page.as_ref().is_some_and(PageDecoder::gives_indices);
        match self.dictionary.entries() {
            Some(dictionary) if gives_indices => out.begin_indices(dictionary)?,
            _ => out.begin_values(self.target.physical.shape())?,
        }
        if gives_indices
            && out.dictionary.is_none()
            && let Some(dictionary) = self.dictionary.entries().cloned()
            && let Some(page) = self.page.take()
        {
            // The batch has values already, or indices into another dictionary, which became values.
            self.page = Some(page.with_values_of(dictionary));
        }
        Ok(())
    }

    /// Skips the next `rows` rows. Returns how many were skipped: fewer only at the end of the chunk.
    pub fn skip(&mut self, rows: usize) -> Result<usize> {
        let mut done = 0;
        loop {
            done += self.leave_page(rows - done)?;
            done += self.skip_pages(rows - done)?;
            if !self.has_next(rows - done)? {
                return Ok(done);
            }
            let Self { page: Some(page), target, scratch, .. } = self else {
                return Ok(done);
            };
            let result = match target.max_rep {
                0 => page.skip_flat(rows - done, scratch),
                _ => page.skip_nested(rows - done),
            };
            let skipped = result.map_err(|error| page.header.place(error))?;
            self.position.row += skipped as u64;
            done += skipped;
        }
    }

    /// Returns the number of entries that the open page has left, which is an upper bound of its rows.
    pub(super) fn entries_left(&self) -> usize {
        self.page.as_ref().map_or(0, PageDecoder::entries_left)
    }

    /// Whether one of the pages of the next `rows` rows has no row whose bit is 1, as far as the offset index shows.
    pub(super) fn leaves_out_pages(&self, keep: &Bitmap, rows: usize) -> bool {
        self.offset_index.leaves_out_pages(&self.position, keep, rows)
    }

    /// Leaves the open page, and jumps over others, if the row `rows` rows ahead is certainly not in them. Returns how
    /// many rows were passed.
    fn leave_page(&mut self, rows: usize) -> Result<usize> {
        let left = self.entries_left();
        if rows <= left {
            // A page has no more rows than entries, so the row may be in this page.
            return Ok(0);
        }
        let jumped = self.seek_to_row(rows)?;
        if jumped == 0 && self.target.max_rep == 0 && left > 0 {
            self.close();
            self.position.row += left as u64;
            return Ok(left);
        }
        Ok(jumped)
    }

    /// Jumps by the offset index to the page in which the row `rows` rows ahead begins, if that skips a page. Returns
    /// how many rows were passed: 0 if there was no jump.
    fn seek_to_row(&mut self, rows: usize) -> Result<usize> {
        let Some(page) = self.offset_index.page_ahead(&self.position, rows) else { return Ok(0) };
        self.close();
        self.pages.count_skipped(page.saturating_sub(self.position.data_pages));
        self.offset_index.seek_to_page(page, &mut self.pages, &mut self.dictionary, &mut self.position)
    }

    /// Skips whole pages without decompressing them, while their numbers of rows are known and add up to at most
    /// `rows`. Returns how many rows were passed.
    fn skip_pages(&mut self, rows: usize) -> Result<usize> {
        let mut done = 0;
        if rows >= MANY_ROWS {
            self.pages.limit_read_ahead();
        }
        while self.page.as_ref().is_none_or(PageDecoder::is_over) && done < rows {
            self.close();
            let Some(header) = self.next_header(false)? else {
                break;
            };
            match self.rows_of(&header)? {
                Some(n) if header.is_data() && n <= rows - done => {
                    self.check_offset_index(&header)?;
                    self.pages.count_skipped(1);
                    self.position.has_begun |= n > 0;
                    self.position.row += n as u64;
                    done += n;
                }
                _ => {
                    self.open(header)?;
                    if self.page.is_some() {
                        break;
                    }
                }
            }
        }
        Ok(done)
    }

    /// Returns the number of rows of the page that [`next_header`](Self::next_header) found, if it is known without the
    /// page's levels.
    fn rows_of(&self, header: &LocatedHeader) -> Result<Option<usize>> {
        let index = &self.offset_index;
        Ok(match (self.target.max_rep, &self.readable) {
            (0, _) => Some(header.num_values()?),
            // INVARIANT: no checksum covers the header's number of rows; `find_damage` counted them.
            (_, Some((damage, next))) => Some(damage.rows_in(next - 1)),
            _ if index.counts_only() => index.rows_of(self.position.data_pages.saturating_sub(1)),
            _ => header.num_rows(),
        })
    }

    /// Opens the next page if the open one is used up. Returns whether there is something to read for `rows` more rows.
    /// If `rows` is 0, that is the rest of the last row, which may continue from one V1 page to the next.
    fn has_next(&mut self, rows: usize) -> Result<bool> {
        if rows == 0 && self.target.max_rep == 0 {
            return Ok(false);
        }
        if rows == 0 && self.ends_row_with_page() {
            self.position.has_begun = false;
            return Ok(false);
        }
        if !self.open_next(rows > 0)? {
            return Ok(false);
        }
        let Some(page) = &mut self.page else {
            return Ok(false);
        };
        if self.target.max_rep > 0 {
            let begins = page.begins_row().map_err(|error| page.header.place(error))?;
            if !begins && !self.position.has_begun {
                return Err(page.header.place(Error::corrupt("the first repetition level is not 0")));
            }
            self.position.has_begun = true;
            return Ok(rows > 0 || !begins);
        }
        Ok(true)
    }

    /// Whether the last row ends with the open page, by the offset index. The next page's header may not even have been
    /// fetched; once it is opened, its levels must agree.
    fn ends_row_with_page(&self) -> bool {
        self.offset_index.starts_pages_with_rows() && self.entries_left() == 0
    }

    /// Ensures that the open page has entries left. Returns whether there is such a page.
    fn open_next(&mut self, rows_are_missing: bool) -> Result<bool> {
        while self.page.as_ref().is_none_or(PageDecoder::is_over) {
            self.close();
            let Some(header) = self.next_header(rows_are_missing)? else { return Ok(false) };
            self.open(header)?;
        }
        Ok(true)
    }

    /// Reads the header of the next page to read: the next one of the chunk, of the offset index, or of the readable
    /// pages.
    fn next_header(&mut self, rows_are_missing: bool) -> Result<Option<LocatedHeader>> {
        let Some((damage, next)) = &mut self.readable else {
            if self.offset_index.is_followed() {
                let has_dictionary = self.dictionary.is_found();
                return self.offset_index.next_header(&mut self.pages, has_dictionary, &mut self.position);
            }
            let header = match self.pages.next_header()? {
                None if rows_are_missing => self.pages.next_uncounted_header()?,
                header => header,
            };
            self.position.data_pages += usize::from(header.as_ref().is_some_and(LocatedHeader::is_data));
            return Ok(header);
        };
        let Some(page) = damage.pages.get(*next) else {
            return Ok(None);
        };
        *next += 1;
        self.is_after_gap = page.is_after_gap;
        self.pages.seek(page.offset, page.index).map(Some)
    }

    /// Fails if the pages so far claim more entries than a row group of `rows` rows can have, after all of these were
    /// read: entries that one page claims in excess are missing from another. In a nested column, whose rows only the
    /// levels define, no further row may begin in the last page either: one wrong bit in its levels makes many rows of
    /// few.
    ///
    /// QUIRK: some footers do not count nulls, others count more rows than the row group has; and the only page of a
    /// chunk may claim any number.
    pub(super) fn check_entries(&self, rows: u64) -> Result<()> {
        if self.target.max_rep > 0
            && self.readable.is_none()
            && let Some(page) = self.page.as_ref().filter(|page| !page.is_over())
        {
            let message = format!("more rows begin than the {rows} of the row group");
            return Err(page.header.place(Error::corrupt(message)));
        }
        let rows = if self.target.max_rep == 0 { rows } else { 0 };
        let (seen, most) = (self.pages.values_seen(), rows.max(self.pages.num_values()));
        let last = self.page.as_ref().map_or(Ok(0), |page| page.header.num_values())?;
        match self.readable.is_none() && seen > most && (last as u64) < seen {
            true => Err(Error::corrupt(format!("page headers claim {seen} entries, the footer {most}"))),
            false => Ok(()),
        }
    }

    /// Returns the page reader, for walking over headers.
    pub(super) fn pages(&mut self) -> &mut PageReader {
        &mut self.pages
    }

    /// Decodes all of the dictionary page at `header`.
    pub(super) fn try_dictionary(&mut self, header: &LocatedHeader) -> Result<()> {
        self.dictionary.find_and_read(&mut self.pages, header)
    }

    /// Decodes a data page and drops its values; of a flat column at most `rows` rows. Returns how many rows begin in
    /// it, and the bytes that follow its entries.
    pub(super) fn try_decode(&mut self, header: LocatedHeader, rows: u64) -> Result<(u64, TrailingBytes)> {
        self.close();
        let counted = header.num_values()? as u64;
        let decoded = self.open(header).and_then(|()| self.try_decode_open(rows));
        let page = self.page.as_ref().filter(|page| page.is_over());
        let trailing = page.map_or_else(TrailingBytes::default, PageDecoder::trailing_bytes);
        self.close();
        Ok((if self.target.max_rep == 0 { decoded.map(|_| counted) } else { decoded }?, trailing))
    }

    fn try_decode_open(&mut self, rows: u64) -> Result<u64> {
        let mut done = 0;
        while let Self { page: Some(page), target, scratch, limits, .. } = self
            && !page.is_over()
            && (done < rows || target.max_rep > 0)
        {
            let mut out = ColumnBatch::for_target(target, limits);
            let left = usize::try_from(rows - done.min(rows)).unwrap_or(usize::MAX);
            let read = match target.max_rep {
                0 => page.read_flat(ROWS_PER_TRIAL.min(left), target, scratch, &mut out),
                _ => page.read_nested(ROWS_PER_TRIAL, target, scratch, &mut out),
            };
            done += read? as u64;
        }
        Ok(done)
    }

    fn close(&mut self) {
        self.page = None;
        if let Some(memory) = self.memory.take() {
            self.pages.recycle(memory);
        }
    }

    /// Opens a data page, keeps a dictionary page, and ignores any other page.
    fn open(&mut self, header: LocatedHeader) -> Result<()> {
        if header.is_dictionary() {
            return self.dictionary.find(&mut self.pages, &header);
        }
        if !header.is_data() || header.num_values()? == 0 {
            // SPEC: index pages are not used, and unknown kinds must be skipped.
            return Ok(());
        }
        self.check_offset_index(&header)?;
        self.open_data(header)
    }

    /// Fails if the page at `header`, which is next, contradicts the offset index.
    fn check_offset_index(&mut self, header: &LocatedHeader) -> Result<()> {
        let is_nested = self.target.max_rep > 0;
        let rows = if is_nested { header.num_rows() } else { Some(header.num_values()?) };
        self.offset_index.check_page(header, rows, is_nested, &self.position)
    }

    fn open_data(&mut self, header: LocatedHeader) -> Result<()> {
        let encoding = header.encoding().map_or(PLAIN, |encoding| encoding.0);
        let is_dictionary_encoded = matches!(encoding, PLAIN_DICTIONARY | RLE_DICTIONARY);
        if is_dictionary_encoded && self.row_limit.is_none() {
            self.dictionary.read(&mut self.pages, usize::MAX)?;
        }
        let mut page = self.pages.data(&header, self.target.max_rep, self.target.max_def)?;
        self.offset_index.check_levels(&header, &page)?;
        let bytes = std::mem::replace(&mut page.values, PaddedBytes::copy_of(&[]));
        self.memory = Some(bytes.clone());
        if let Some(rows) = self.row_limit.filter(|_| is_dictionary_encoded) {
            self.dictionary.read_for_page(&mut self.pages, &bytes, page.max_values, rows)?;
        }
        let dictionary = self.dictionary.entries().filter(|_| is_dictionary_encoded);
        let page = PageDecoder::new(header, page, bytes, dictionary, &self.target, &self.limits);
        let mut page = page?;
        if self.is_after_gap && self.target.max_rep > 0 {
            page.skip_nested(0).map_err(|error| page.header.place(error))?;
        }
        self.page = Some(page);
        Ok(())
    }
}

/// Fails if the schema gives the column another number of levels than the footer's histograms have. If a damaged byte
/// makes a column required, its levels would be taken for values.
fn check_levels(chunk: ColumnChunk<'_>) -> Result<()> {
    let (Some(sizes), leaf) = (chunk.size_statistics(), chunk.leaf()) else { return Ok(()) };
    let histograms = [
        ("repetition", sizes.repetition_level_histogram, leaf.max_rep()),
        ("definition", sizes.definition_level_histogram, leaf.max_def()),
    ];
    for (kind, histogram, max) in histograms {
        let counted = histogram.map_or(0, |counts| counts.iter().count());
        // SPEC: histograms are optional.
        if counted > 0 && counted != usize::from(max) + 1 {
            return Err(Error::corrupt(format!(
                "the schema gives it {} {kind} levels, the footer counts the values of {counted}",
                usize::from(max) + 1
            )));
        }
    }
    Ok(())
}

/// Number of rows to skip that probably covers the whole next page.
const MANY_ROWS: usize = 4096;

/// Rows to decode at a time when testing whether a page is readable.
const ROWS_PER_TRIAL: usize = 8192;
