//! Reads the pages of a column chunk, front to back or at given offsets.

use super::buffers::PageBuffers;
use super::checksum::{Checksum, check};
use super::hidden_levels::{check_no_levels, has_hidden_levels, is_worth_a_look, plain_len, says_levels};
use super::located_header::{LocatedHeader, size};
use super::page_decryptor::PageDecryptor;
use super::page_options::PageOptions;
use super::read_ahead::{FIRST_HEADER_READ, ReadAhead};
use super::writer::plain_pages_are_believed;
use crate::metadata::ColumnChunk;
use crate::source::Source;
use bytes::Bytes;
use marquetry_base::{Error, ErrorKind, Limits, MemoryReservation, PADDING, PaddedBytes, Result, Stopwatch};
use marquetry_codec::Codec;
use marquetry_crypto::LENGTH_BYTES;
use marquetry_encoding::PhysicalType;
use marquetry_encoding::levels::Levels;
use marquetry_format::{DataPageHeader, DataPageHeaderV2, PageHeader, PageType, Reader};
use std::ops::Range;
use std::sync::Arc;

/// A reader of the pages of a column chunk. It reads ahead in windows, so that memory does not grow with the chunk.
pub struct PageReader {
    pub(super) options: PageOptions,
    pub(super) codec: Codec,
    pub(super) physical: PhysicalType,
    /// Whether `is_compressed` of V2 headers is reliable.
    trusts_is_compressed: bool,
    /// Offset of the next page's header.
    position: u64,
    read_ahead: ReadAhead,
    /// Latest end of the last page; `u64::MAX` if that is unknown.
    last_end: u64,
    counts_dictionaries: bool,
    /// Whether the writer adds nothing behind the values of its pages.
    fills_pages: bool,
    /// The decryptor of pages and headers, if they are encrypted.
    decryptor: Option<PageDecryptor>,
    /// Reservation for the dictionary.
    pub(super) dictionary_held: MemoryReservation,
    /// Number of values in the chunk by the footer, nulls included.
    num_values: u64,
    /// Number of values in the pages so far by their headers, nulls included.
    values_seen: u64,
    index: usize,
    pub(super) buffers: PageBuffers,
}

/// A decompressed data page: its levels and the bytes of its values.
#[derive(Debug)]
#[non_exhaustive]
pub struct DataPage {
    /// Number of entries: values, nulls, and empty or absent lists.
    pub num_values: usize,
    /// Upper bound of the number of entries that are values.
    pub max_values: usize,
    /// The code of the values' encoding.
    pub encoding: i32,
    /// Repetition levels.
    pub rep: Levels,
    /// Definition levels.
    pub def: Levels,
    /// The bytes after the levels.
    pub values: PaddedBytes,
}

impl PageReader {
    /// Creates a reader of the pages of `chunk`. `buffers` may come from a chunk that was read before.
    pub fn new(
        source: Arc<dyn Source>,
        chunk: ColumnChunk<'_>,
        options: PageOptions,
        buffers: PageBuffers,
    ) -> Result<Self> {
        let num_values = u64::try_from(chunk.num_values())
            .map_err(|_| Error::corrupt(format!("{} values in a column chunk", chunk.num_values())))?;
        // QUIRK: a chunk without values may have no pages at all, and no sensible offset.
        let range = if num_values == 0 { chunk.byte_range().unwrap_or(0..0) } else { chunk.byte_range()? };
        if let Some(path) = chunk.elsewhere() {
            return Err(Error::unsupported(format!("the pages are in another file, {path}")));
        }
        let end = range.end.min(source.len());
        let decryptor = PageDecryptor::of_chunk(chunk, range.start)?;
        // QUIRK: DuckDB's sizes do not count what encryption adds.
        let last_end = if range.is_empty() || decryptor.is_some() { u64::MAX } else { range.end };
        let is_fastparquet = chunk.created_by().is_some_and(|name| name.starts_with("fastparquet"));
        Ok(PageReader {
            read_ahead: ReadAhead::new(source, options.limits.memory.clone(), end, &buffers),
            last_end,
            counts_dictionaries: !is_fastparquet,
            // QUIRK: fastparquet writes eight zeros behind the values of each page.
            fills_pages: !is_fastparquet,
            decryptor,
            options,
            codec: chunk.codec()?,
            physical: chunk.leaf().physical(),
            trusts_is_compressed: plain_pages_are_believed(chunk.created_by()),
            position: range.start,
            dictionary_held: MemoryReservation::default(),
            num_values,
            values_seen: 0,
            index: 0,
            buffers,
        })
    }

    /// Returns the number of values by the footer, nulls included.
    pub fn num_values(&self) -> u64 {
        self.num_values
    }

    /// Returns the number of values in the pages so far by their headers, nulls included.
    pub fn values_seen(&self) -> u64 {
        self.values_seen
    }

    /// Reads the next page's header; returns `None` after the last page.
    ///
    /// Moves past the page. Its bytes are read only by methods that take the [`LocatedHeader`].
    pub fn next_header(&mut self) -> Result<Option<LocatedHeader>> {
        if self.values_seen >= self.num_values {
            return Ok(None);
        }
        self.locate_header().map(Some)
    }

    /// Reads the next page's header, even if the pages so far have all values that the footer counts. For a reader that
    /// still misses rows.
    ///
    /// QUIRK: some writers do not count nulls in the footer's number of values. There are more pages then, up to the
    /// end of the chunk by the footer.
    pub fn next_uncounted_header(&mut self) -> Result<Option<LocatedHeader>> {
        if self.position >= self.read_ahead.end() {
            return Ok(None);
        }
        self.locate_header().map(Some)
    }

    /// Reads the header at byte `offset`, of page `index` of the chunk. The next page is the one after it.
    pub fn seek(&mut self, offset: u64, index: usize) -> Result<LocatedHeader> {
        (self.position, self.index) = (offset, index);
        self.locate_header()
    }

    /// Like [`seek`](Self::seek), but limits read-ahead to `range`, the exact bytes of the page.
    pub fn seek_within(&mut self, range: Range<u64>, index: usize) -> Result<LocatedHeader> {
        self.read_ahead.limit_to_page(range.end.saturating_sub(range.start));
        self.seek(range.start, index)
    }

    /// Reads ahead no more than a header until a page is needed: the next pages will probably be skipped.
    pub fn limit_read_ahead(&mut self) {
        self.read_ahead.limit(FIRST_HEADER_READ as u64);
    }

    /// Reads little ahead from now on, because few of the pages are wanted.
    pub(crate) fn read_short(&mut self) {
        self.read_ahead.stay_short();
    }

    /// Counts skipped pages, if pages are counted.
    pub(crate) fn count_skipped(&self, pages: usize) {
        if let Some(counters) = &self.buffers.counters {
            counters.skipped(pages);
        }
    }

    /// Returns the expected offset of the next page's header.
    pub fn position(&self) -> u64 {
        self.position
    }

    fn locate_header(&mut self) -> Result<LocatedHeader> {
        self.options.limits.cancel.check()?;
        let (index, offset) = (self.index, self.position);
        let start = self.read_located_header().map_err(|error| error.in_page(index).at(offset))?;
        self.index += 1;
        Ok(start)
    }

    fn read_located_header(&mut self) -> Result<LocatedHeader> {
        let offset = self.position;
        let (header, len) = match self.decryptor {
            None => self.read_header(offset)?,
            Some(_) => self.read_encrypted_header(offset).map_err(in_header)?,
        };
        let stored = size(header.compressed_page_size, "compressed_page_size")?;
        let uncompressed = size(header.uncompressed_page_size, "uncompressed_page_size")?;
        self.options.limits.check_page(uncompressed, stored)?;
        let body = offset + len as u64;
        let next = body + stored as u64;
        let file_len = self.read_ahead.source_len();
        if next > file_len {
            return Err(Error::truncated(format!(
                "the page has {stored} bytes, the file ends {} bytes after its header",
                file_len - body
            )));
        }
        // QUIRK: old versions of parquet-mr do not count the dictionary page's header in the chunk's size
        // (PARQUET-816), and old ones of fastparquet do not count the dictionary page at all.
        if self.index == 0 && header.type_ == PageType::DICTIONARY_PAGE {
            let uncounted = if self.counts_dictionaries { len } else { len + stored };
            self.last_end = self.last_end.saturating_add(uncounted as u64);
        }
        if next > self.last_end {
            let behind = next - self.last_end;
            return Err(Error::corrupt(format!("the page ends {behind} bytes behind its column chunk")));
        }
        self.position = next;
        let start = LocatedHeader { header, index: self.index, offset, body };
        self.values_seen += start.num_values()? as u64;
        Ok(start)
    }

    /// Parses the header at `offset`, and reads more if the window has only a part of it. Also returns the header's
    /// length.
    fn read_header(&mut self, offset: u64) -> Result<(PageHeader, usize)> {
        let there =
            usize::try_from(self.read_ahead.source_len().saturating_sub(offset)).unwrap_or(usize::MAX);
        if there == 0 {
            return Err(Error::truncated("the file ends before the page header"));
        }
        let limit = self.options.limits.page_header_bytes;
        let mut wanted = self.read_ahead.header_bytes_at(offset);
        loop {
            let bytes = self.read_ahead.bytes_at(offset, wanted.min(there), &mut self.buffers)?;
            let mut reader = Reader::with_limits(&bytes, &self.options.limits);
            match PageHeader::read_without_statistics(&mut reader) {
                Ok(header) => {
                    Limits::check("page_header_bytes", reader.position(), limit)?;
                    return Ok((header, reader.position()));
                }
                Err(error) if error.kind() == ErrorKind::Truncated && bytes.len() < there => {
                    // The header is longer than the window.
                    Limits::check("page_header_bytes", bytes.len() + 1, limit)?;
                    let more = bytes.len().saturating_mul(4).max(FIRST_HEADER_READ).min(limit);
                    // The bytes after the page may not have been fetched, but the page's own are.
                    wanted = match self.read_ahead.available(offset, more.min(there)) {
                        held if held > bytes.len() => held,
                        _ => more,
                    };
                }
                Err(error) => return Err(in_header(error).offset_by(offset)),
            }
        }
    }

    /// Decrypts and parses the header at `offset`. Also returns the length of its module.
    fn read_encrypted_header(&mut self, offset: u64) -> Result<(PageHeader, usize)> {
        let there = self.read_ahead.source_len().saturating_sub(offset);
        let there = usize::try_from(there).unwrap_or(usize::MAX);
        let limit = self.options.limits.page_header_bytes;
        let wanted = self.read_ahead.header_bytes_at(offset).max(LENGTH_BYTES).min(there);
        let mut bytes = self.read_ahead.bytes_at(offset, wanted, &mut self.buffers)?;
        let len = PageDecryptor::header_len(&bytes, limit)?.filter(|len| *len <= there);
        let len = len.ok_or_else(|| Error::truncated("the file ends inside the page header"))?;
        if bytes.len() < len {
            bytes = self.read_ahead.bytes_at(offset, len, &mut self.buffers)?;
        }
        let Some(decryptor) = &mut self.decryptor else { return Err(Error::corrupt("not encrypted")) };
        let header = decryptor.open_header(&bytes[..len], offset, self.index)?;
        let mut header =
            PageHeader::read_without_statistics(&mut Reader::with_limits(header, &self.options.limits))?;
        // QUIRK: DuckDB does not count what encryption adds. From here on the header counts the stored bytes.
        header.compressed_page_size =
            header.compressed_page_size.saturating_add(decryptor.uncounted_page_bytes() as i32);
        Ok((header, len))
    }

    /// Returns the bytes of a page's header, decrypted if they are encrypted. Directly after the header was read, this
    /// needs no request.
    pub fn header_bytes(&mut self, start: &LocatedHeader) -> Result<Bytes> {
        let len = (start.body - start.offset) as usize;
        if let Some(decryptor) = &mut self.decryptor {
            if let Some(header) = decryptor.last_header(start.offset) {
                return Ok(Bytes::copy_from_slice(header));
            }
            let module = self.read_ahead.bytes_at(start.offset, len, &mut self.buffers)?.slice(0..len);
            let header = decryptor.open_header(&module, start.offset, start.index);
            return header.map(Bytes::copy_from_slice).map_err(|error| start.place(in_header(error)));
        }
        Ok(self.read_ahead.bytes_at(start.offset, len, &mut self.buffers)?.slice(0..len))
    }

    /// Compares a page's stored bytes with its checksum.
    pub fn checksum(&mut self, start: &LocatedHeader) -> Result<Checksum> {
        let stored = self.raw_bytes(start)?;
        Ok(check(&start.header, stored.as_slice(), self.options.trust))
    }

    /// Reads a data page of a column with these maximum levels.
    pub fn data(&mut self, start: &LocatedHeader, max_rep: u8, max_def: u8) -> Result<DataPage> {
        let page = match (&start.header.data_page_header, &start.header.data_page_header_v2) {
            (Some(header), _) if start.header.type_ == PageType::DATA_PAGE => {
                self.data_v1(start, header, max_rep, max_def)
            }
            (_, Some(header)) if start.header.type_ == PageType::DATA_PAGE_V2 => {
                self.data_v2(start, header, max_rep, max_def)
            }
            _ => Err(Error::corrupt(format!("no header for a {}", start.header.type_))),
        };
        page.map_err(|error| start.place(error))
    }

    /// Whether a page of a column without levels should be read only to check that it has none; [`data`](Self::data)
    /// fails if it has.
    pub fn may_hide_levels(&self, start: &LocatedHeader) -> bool {
        self.fills_pages && is_worth_a_look(start, self.codec, self.physical)
    }

    /// Takes the memory of a page back for the next one, unless something still refers to it.
    pub fn recycle(&mut self, page: PaddedBytes) {
        match page.try_into_vec() {
            Some(memory) => self.buffers.spare = memory,
            None => {
                self.buffers.retained.merge(std::mem::take(&mut self.buffers.page));
                self.buffers.retained.merge(std::mem::take(&mut self.buffers.opened_held));
            }
        }
    }

    /// Takes the reservation for earlier pages that values still refer to.
    pub fn take_retained(&mut self) -> MemoryReservation {
        self.buffers.take_retained()
    }

    /// Returns the buffers for the next chunk.
    pub fn into_buffers(mut self) -> PageBuffers {
        self.read_ahead.clear(&mut self.buffers);
        // Values of the last batch may refer to the dictionary.
        self.buffers.retained.merge(self.dictionary_held);
        self.buffers
    }

    fn data_v1(
        &mut self,
        start: &LocatedHeader,
        header: &DataPageHeader,
        max_rep: u8,
        max_def: u8,
    ) -> Result<DataPage> {
        let num_values = start.num_values()?;
        self.check_claim(start, num_values)?;
        let stored = self.verified(start)?;
        let bytes = self.decompressed(stored, start.uncompressed_len(), self.codec, None)?;
        let (rep, rep_len) = Levels::v1(header.repetition_level_encoding.0, &bytes, max_rep, num_values)
            .map_err(|error| in_levels("repetition", error))?;
        let rest = bytes.slice(rep_len..bytes.len());
        let (def, def_len) = Levels::v1(header.definition_level_encoding.0, &rest, max_def, num_values)
            .map_err(|error| in_levels("definition", error))?;
        let values = rest.slice(def_len..rest.len());
        if max_def == 0 && self.fills_pages && says_levels(header) {
            check_no_levels(values.as_slice(), num_values, header.encoding.0, self.physical)?;
        }
        Ok(DataPage { num_values, max_values: num_values, encoding: header.encoding.0, rep, def, values })
    }

    fn data_v2(
        &mut self,
        start: &LocatedHeader,
        header: &DataPageHeaderV2,
        max_rep: u8,
        max_def: u8,
    ) -> Result<DataPage> {
        let num_values = start.num_values()?;
        self.check_claim(start, num_values)?;
        let nulls = size(header.num_nulls, "DataPageHeaderV2.num_nulls")?;
        let rep_len = size(header.repetition_levels_byte_length, "repetition_levels_byte_length")?;
        let def_len = size(header.definition_levels_byte_length, "definition_levels_byte_length")?;
        if max_def == 0 && def_len > 0 && nulls > 0 {
            return Err(has_hidden_levels());
        }
        let stored = self.verified(start)?;
        let levels = rep_len + def_len;
        let (Some(stored_values), Some(values_len)) =
            (stored.len().checked_sub(levels), start.uncompressed_len().checked_sub(levels))
        else {
            return Err(Error::corrupt(format!("{levels} bytes of levels in a page of {}", stored.len())));
        };
        let rep = Levels::rle(stored.slice(0..rep_len), max_rep)?;
        let def = Levels::rle(stored.slice(rep_len..levels), max_def)?;
        let values = stored.slice(levels..levels + stored_values);
        let is_compressed = header.is_compressed || !self.trusts_is_compressed;
        let codec = if is_compressed { self.codec } else { Codec::Uncompressed };
        // QUIRK: a page of only nulls may have no value bytes at all, not even an empty compressed block.
        let values =
            if stored_values == 0 { values } else { self.decompressed(values, values_len, codec, None)? };
        let max_values = num_values.saturating_sub(nulls);
        // QUIRK: some writers count absent lists in `num_nulls`, others do not, so it is a bound for flat columns only.
        let max_values = if max_rep > 0 { num_values } else { max_values };
        Ok(DataPage { num_values, max_values, encoding: header.encoding.0, rep, def, values })
    }

    /// Reads a page's stored bytes, verifies the checksum, and decrypts them if they are encrypted.
    pub(super) fn verified(&mut self, start: &LocatedHeader) -> Result<PaddedBytes> {
        if let Some(counters) = &self.buffers.counters {
            counters.page();
        }
        let stored = self.raw_bytes(start)?;
        if self.options.verify_checksums
            && let Checksum::Bad { stored, computed } =
                check(&start.header, stored.as_slice(), self.options.trust)
        {
            return Err(Error::corrupt(format!(
                "checksum mismatch: the page says {stored:08x}, its bytes give {computed:08x}; \
                 turn checksum verification off to read it anyway"
            )));
        }
        self.opened(stored, start)
    }

    /// Returns a page's bytes as they would be in a file without encryption.
    pub fn stored_bytes(&mut self, start: &LocatedHeader) -> Result<PaddedBytes> {
        let stored = self.raw_bytes(start)?;
        self.opened(stored, start).map_err(|error| start.place(error))
    }

    /// Decrypts a page's bytes, if they are encrypted.
    fn opened(&mut self, stored: PaddedBytes, start: &LocatedHeader) -> Result<PaddedBytes> {
        let Some(decryptor) = &self.decryptor else { return Ok(stored) };
        let more = (stored.len() + PADDING).saturating_sub(self.buffers.opened_held.bytes());
        self.buffers.opened_held.merge(self.options.limits.memory.reserve(more)?);
        decryptor.open_page(stored.as_slice(), start, std::mem::take(&mut self.buffers.opened))
    }

    /// Returns a page's bytes as they are in the file.
    pub fn raw_bytes(&mut self, start: &LocatedHeader) -> Result<PaddedBytes> {
        let len = start.stored_len();
        let bytes = self.read_ahead.bytes_at(start.body, len, &mut self.buffers)?;
        self.read_ahead.extend(&self.buffers);
        Ok(PaddedBytes::from_file_range(&bytes, 0..len))
    }

    /// Fails if a page claims to be far larger than `n` values can be in any encoding, levels included: decompressing
    /// it would be a waste. Strings have any size.
    pub(super) fn check_claim(&self, start: &LocatedHeader, n: usize) -> Result<()> {
        let Some(width) = plain_len(1, self.physical) else { return Ok(()) };
        let len = start.uncompressed_len();
        let most = n.saturating_mul(width.saturating_add(BYTES_BESIDE_VALUE)).saturating_mul(2);
        match len > most.saturating_add(BYTES_BESIDE_VALUES) {
            true => Err(Error::corrupt(format!(
                "a page of {n} values of {width} bytes that says it has {len} bytes"
            ))),
            false => Ok(()),
        }
    }

    /// Decompresses `stored` to `len` bytes. With `part`, decompresses at least the first `part` bytes and perhaps not
    /// the rest.
    pub(super) fn decompressed(
        &mut self,
        stored: PaddedBytes,
        len: usize,
        codec: Codec,
        part: Option<usize>,
    ) -> Result<PaddedBytes> {
        if codec == Codec::Uncompressed {
            if stored.len() != len {
                let message =
                    format!("an uncompressed page of {} bytes, its header says {len}", stored.len());
                return Err(Error::corrupt(message));
            }
            return Ok(stored);
        }
        // Reserves `len` for a part as well: frames with a large window are decompressed completely.
        let more = (len + PADDING).saturating_sub(self.buffers.page.bytes());
        self.buffers.page.merge(self.options.limits.memory.reserve(more)?);
        let mut out = std::mem::take(&mut self.buffers.spare);
        let mut decompressor = self.buffers.decompressors.take().unwrap_or_default();
        let start = self.buffers.counters.as_ref().map(|_| Stopwatch::start());
        let done = match part {
            Some(part) => decompressor
                .decompress_prefix(codec, stored.as_slice(), len, part, &mut out)
                .map(|()| out.len()),
            None => decompressor.decompress_over(codec, stored.as_slice(), len, &mut out).map(|()| len),
        };
        self.buffers.decompressors.give_back(decompressor);
        let len = done?;
        if let (Some(counters), Some(start)) = (&self.buffers.counters, start) {
            counters.decompressed(len, start);
        }
        if self.decryptor.is_some()
            && let Some(memory) = stored.try_into_vec()
        {
            self.buffers.opened = memory;
        }
        Ok(PaddedBytes::from_start(out, len))
    }
}

/// Maximum bytes of levels and of an encoding's overhead per value: a run of one value, whose length takes 5 bytes, for
/// each.
const BYTES_BESIDE_VALUE: usize = 16;
/// Maximum bytes that do not depend on the number of values: a page may be padded, and miniblocks are full.
const BYTES_BESIDE_VALUES: usize = 1 << 20;

fn in_header(error: Error) -> Error {
    let framed = Error::new(error.kind(), format!("page header: {}", error.message()));
    match error.place().offset {
        Some(offset) => framed.at(offset),
        None => framed,
    }
}

fn in_levels(kind: &str, error: Error) -> Error {
    Error::new(error.kind(), format!("{kind} levels: {}", error.message()))
}
