//! The pages of one column chunk, front to back.

use super::checksum::{Checksum, ChecksumTrust, check};
use super::writer::plain_pages_are_believed;
use crate::metadata::ColumnChunk;
use crate::source::Source;
use bytes::{Bytes, BytesMut};
use marquetry_base::{Error, ErrorKind, Limits, MemoryReservation, PADDING, PaddedBytes, Result};
use marquetry_codec::{Codec, Decompressor};
use marquetry_encoding::PhysicalType;
use marquetry_encoding::levels::Levels;
use marquetry_format::{DataPageHeader, DataPageHeaderV2, Encoding, PageHeader, PageType, Reader};
use std::ops::Range;
use std::sync::Arc;

/// How pages are read.
#[derive(Debug, Clone)]
pub struct PageOptions {
    /// What a page may cost.
    pub limits: Arc<Limits>,
    /// Whether pages are held against their checksums.
    pub verify_checksums: bool,
    /// Whether the writer's checksums can be believed.
    pub trust: ChecksumTrust,
}

/// Walks over the pages of a column chunk. Reads ahead in windows, so that memory does not grow with the chunk.
pub struct PageReader {
    source: Arc<dyn Source>,
    pub(super) options: PageOptions,
    pub(super) codec: Codec,
    pub(super) physical: PhysicalType,
    /// Whether V2 pages that are marked as plain are.
    believes_plain: bool,
    /// Where the footer says that the chunk ends: a hint for reading ahead, see [`ColumnChunk::byte_range`].
    end: u64,
    /// Where the next page's header is.
    position: u64,
    /// Bytes that were read ahead, and where they begin.
    window: Bytes,
    window_start: u64,
    /// How far to read ahead of what is needed.
    ahead: u64,
    window_held: MemoryReservation,
    /// What the dictionary takes.
    pub(super) dictionary_held: MemoryReservation,
    /// How many values, nulls included, the chunk should have, and how many the pages passed so far had.
    num_values: u64,
    values_seen: u64,
    index: usize,
    pub(super) memory: PageMemory,
}

/// What is used again from page to page, and can be from chunk to chunk: codec contexts, and memory for a page.
#[derive(Default)]
pub struct PageMemory {
    /// How many columns beside this one are read side by side with it.
    others: usize,
    decompressor: Decompressor,
    /// For the next bytes that are read ahead.
    window: BytesMut,
    /// For the next decompressed page.
    pub(super) spare: Vec<u8>,
    /// What the decompressed page takes, or `spare` after it.
    pub(super) page: MemoryReservation,
    /// What pages and windows take that values still refer to.
    lasting: MemoryReservation,
}

/// A page's header, and where the page is.
#[derive(Debug, Clone)]
pub struct PageStart {
    /// The header, without statistics.
    pub header: PageHeader,
    /// The number of the page in its chunk; a dictionary page counts.
    pub index: usize,
    /// Where the header begins in the file.
    pub offset: u64,
    /// Where the page's bytes begin in the file.
    pub body: u64,
}

/// A data page, opened: its levels and the bytes of its values.
#[derive(Debug)]
pub struct DataPage {
    /// How many entries: values, nulls, and empty or absent lists.
    pub num_values: usize,
    /// At most so many of them are values.
    pub max_values: usize,
    /// The code of the values' encoding.
    pub encoding: i32,
    /// Repetition levels.
    pub rep: Levels,
    /// DefinitionLevels levels.
    pub def: Levels,
    /// What follows the levels.
    pub values: PaddedBytes,
}

impl PageMemory {
    /// Memory of one of so many columns that are read side by side: they share what is read ahead. Default 1.
    pub fn one_of(columns: usize) -> Self {
        PageMemory { others: columns.saturating_sub(1), ..PageMemory::default() }
    }

    /// New memory, of one of as many columns.
    #[must_use]
    pub fn another(&self) -> Self {
        PageMemory { others: self.others, ..PageMemory::default() }
    }

    /// How far to read ahead at most.
    fn most_ahead(&self) -> u64 {
        (READ_AHEAD_TOGETHER / (self.others as u64 + 1)).clamp(LEAST_READ_AHEAD, READ_AHEAD)
    }
}

impl PageReader {
    /// The pages of `chunk`. `memory` may come from a chunk that was read before.
    pub fn new(
        source: Arc<dyn Source>,
        chunk: ColumnChunk<'_>,
        options: PageOptions,
        memory: PageMemory,
    ) -> Result<Self> {
        if chunk.is_encrypted() {
            return Err(Error::encrypted("the column is encrypted, and no key was given"));
        }
        let num_values = u64::try_from(chunk.num_values())
            .map_err(|_| Error::corrupt(format!("{} values in a column chunk", chunk.num_values())))?;
        // QUIRK: a chunk without values may have no pages at all, and no sensible offset.
        let range = if num_values == 0 { chunk.byte_range().unwrap_or(0..0) } else { chunk.byte_range()? };
        if let Some(path) = chunk.elsewhere() {
            return Err(Error::unsupported(format!("the pages are in another file, {path}")));
        }
        Ok(PageReader {
            end: range.end.min(source.len()),
            source,
            options,
            codec: chunk.codec()?,
            physical: chunk.leaf().physical(),
            believes_plain: plain_pages_are_believed(chunk.created_by()),
            position: range.start,
            window: Bytes::new(),
            window_start: 0,
            ahead: memory.most_ahead(),
            window_held: MemoryReservation::default(),
            dictionary_held: MemoryReservation::default(),
            num_values,
            values_seen: 0,
            index: 0,
            memory,
        })
    }

    /// How many values, nulls included, the footer says that there are.
    pub fn num_values(&self) -> u64 {
        self.num_values
    }

    /// How many values, nulls included, the pages passed so far had.
    pub fn values_seen(&self) -> u64 {
        self.values_seen
    }

    /// The next page's header; `None` after the last page.
    ///
    /// The page is passed: its bytes can be asked for with the methods that take a [`PageStart`], or left unread.
    pub fn next_start(&mut self) -> Result<Option<PageStart>> {
        if self.values_seen >= self.num_values {
            return Ok(None);
        }
        self.start().map(Some)
    }

    /// The next page's header although the chunk's values were all seen, for a reader that still misses rows.
    ///
    /// QUIRK: some writers do not count nulls in the footer's number of values. There are more pages then, up to where
    /// the footer says that the chunk ends.
    pub fn next_uncounted_start(&mut self) -> Result<Option<PageStart>> {
        if self.position >= self.end {
            return Ok(None);
        }
        self.start().map(Some)
    }

    /// The header at byte `offset`, as that of page `index` of the chunk: for who knows where pages are. The page after it
    /// is the next one.
    pub fn start_at(&mut self, offset: u64, index: usize) -> Result<PageStart> {
        (self.position, self.index) = (offset, index);
        self.start()
    }

    /// [`start_at`](Self::start_at) for who knows all bytes of the page, `range`: no others are read for it.
    pub fn start_within(&mut self, range: Range<u64>, index: usize) -> Result<PageStart> {
        self.ahead = self.ahead.min(range.end.saturating_sub(range.start));
        self.start_at(range.start, index)
    }

    /// Says that the pages to come are passed over: of each no more than the header is read, until one is needed.
    pub fn expect_to_pass(&mut self) {
        self.ahead = self.ahead.min(FIRST_HEADER_READ as u64);
    }

    /// Where the next page's header should be.
    pub fn position(&self) -> u64 {
        self.position
    }

    fn start(&mut self) -> Result<PageStart> {
        let (index, offset) = (self.index, self.position);
        let start = self.read_start().map_err(|error| error.in_page(index).at(offset))?;
        self.index += 1;
        Ok(start)
    }

    fn read_start(&mut self) -> Result<PageStart> {
        let offset = self.position;
        let (header, len) = self.read_header(offset)?;
        let stored = size(header.compressed_page_size, "compressed_page_size")?;
        let uncompressed = size(header.uncompressed_page_size, "uncompressed_page_size")?;
        self.options.limits.check_page(uncompressed, stored)?;
        let body = offset + len as u64;
        let next = body + stored as u64;
        if next > self.source.len() {
            return Err(Error::truncated(format!(
                "the page has {stored} bytes, the file ends {} bytes after its header",
                self.source.len() - body
            )));
        }
        self.position = next;
        let start = PageStart { header, index: self.index, offset, body };
        self.values_seen += start.num_values()? as u64;
        Ok(start)
    }

    /// Parses the header at `offset`; reads more where the window holds only a part of it.
    fn read_header(&mut self, offset: u64) -> Result<(PageHeader, usize)> {
        let there = usize::try_from(self.source.len().saturating_sub(offset)).unwrap_or(usize::MAX);
        if there == 0 {
            return Err(Error::truncated("the file ends before the page header"));
        }
        let limit = self.options.limits.page_header_bytes;
        // A short page may be all that there is for now.
        let mut wanted = match self.window_holds(offset) {
            0 => self.source.at_hand(offset, FIRST_HEADER_READ),
            held => held.min(FIRST_HEADER_READ),
        };
        loop {
            let bytes = self.window_at(offset, wanted.min(there))?;
            let mut reader = Reader::with_limits(&bytes, &self.options.limits);
            match PageHeader::read_without_statistics(&mut reader) {
                Ok(header) => {
                    Limits::check("page_header_bytes", reader.position(), limit)?;
                    return Ok((header, reader.position()));
                }
                Err(error) if error.kind() == ErrorKind::Truncated && bytes.len() < there => {
                    // The header has more bytes than there are in the window.
                    Limits::check("page_header_bytes", bytes.len() + 1, limit)?;
                    wanted = bytes.len().saturating_mul(4).max(FIRST_HEADER_READ).min(limit);
                }
                Err(error) => return Err(in_header(error).offset_by(offset)),
            }
        }
    }

    /// The bytes of a page's header. They are at hand while the page is the last one that was passed and nothing of it was
    /// read.
    pub fn header_bytes(&mut self, start: &PageStart) -> Result<Bytes> {
        let len = (start.body - start.offset) as usize;
        Ok(self.window_at(start.offset, len)?.slice(0..len))
    }

    /// What a page's checksum says of its bytes.
    pub fn checksum(&mut self, start: &PageStart) -> Result<Checksum> {
        let stored = self.stored(start)?;
        Ok(check(&start.header, stored.as_slice(), self.options.trust))
    }

    /// Reads a data page of a column whose largest levels are given.
    pub fn data(&mut self, start: &PageStart, max_rep: u8, max_def: u8) -> Result<DataPage> {
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

    /// Takes back the memory of a page that nothing refers to any more, for the next one.
    pub fn recycle(&mut self, page: PaddedBytes) {
        match page.into_unshared() {
            Some(memory) => self.memory.spare = memory,
            None => self.memory.lasting.join(std::mem::take(&mut self.memory.page)),
        }
    }

    /// What pages that were passed take because values that were read refer to them.
    pub fn take_lasting(&mut self) -> MemoryReservation {
        std::mem::take(&mut self.memory.lasting)
    }

    /// What the next chunk can use again.
    pub fn into_memory(mut self) -> PageMemory {
        self.leave_window();
        // Values of the last batch may refer to it.
        self.memory.lasting.join(self.dictionary_held);
        self.memory
    }

    fn data_v1(
        &mut self,
        start: &PageStart,
        header: &DataPageHeader,
        max_rep: u8,
        max_def: u8,
    ) -> Result<DataPage> {
        let num_values = start.num_values()?;
        let stored = self.verified(start)?;
        let bytes = self.decompressed(stored, start.uncompressed_len(), self.codec, None)?;
        let (rep, rep_len) = Levels::v1(header.repetition_level_encoding.0, &bytes, max_rep, num_values)
            .map_err(|error| in_levels("repetition", error))?;
        let rest = bytes.slice(rep_len..bytes.len());
        let (def, def_len) = Levels::v1(header.definition_level_encoding.0, &rest, max_def, num_values)
            .map_err(|error| in_levels("definition", error))?;
        let values = rest.slice(def_len..rest.len());
        Ok(DataPage { num_values, max_values: num_values, encoding: header.encoding.0, rep, def, values })
    }

    fn data_v2(
        &mut self,
        start: &PageStart,
        header: &DataPageHeaderV2,
        max_rep: u8,
        max_def: u8,
    ) -> Result<DataPage> {
        let num_values = start.num_values()?;
        let nulls = size(header.num_nulls, "DataPageHeaderV2.num_nulls")?;
        let rep_len = size(header.repetition_levels_byte_length, "repetition_levels_byte_length")?;
        let def_len = size(header.definition_levels_byte_length, "definition_levels_byte_length")?;
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
        let is_compressed = header.is_compressed || !self.believes_plain;
        let codec = if is_compressed { self.codec } else { Codec::Uncompressed };
        // QUIRK: a page of nulls only may have no value bytes at all, not even what a codec makes of nothing.
        let values =
            if stored_values == 0 { values } else { self.decompressed(values, values_len, codec, None)? };
        let max_values = num_values.saturating_sub(nulls);
        // QUIRK: `num_nulls` counts absent lists or not, by writer; it only bounds where it is plausible.
        let max_values = if max_rep > 0 { num_values } else { max_values };
        Ok(DataPage { num_values, max_values, encoding: header.encoding.0, rep, def, values })
    }

    /// A page's bytes as stored, held against its checksum.
    pub(super) fn verified(&mut self, start: &PageStart) -> Result<PaddedBytes> {
        let stored = self.stored(start)?;
        if self.options.verify_checksums
            && let Checksum::Bad { stored, computed } =
                check(&start.header, stored.as_slice(), self.options.trust)
        {
            return Err(Error::corrupt(format!(
                "checksum mismatch: the page says {stored:08x}, its bytes give {computed:08x}; \
                 turn checksum verification off to read it anyway"
            )));
        }
        Ok(stored)
    }

    /// A page's bytes as they are in the file.
    pub fn stored(&mut self, start: &PageStart) -> Result<PaddedBytes> {
        let len = start.stored_len();
        let bytes = self.window_at(start.body, len)?;
        // Pages that are needed come in groups: the more of them, the further ahead.
        self.ahead = (self.ahead * 4).min(self.memory.most_ahead());
        Ok(PaddedBytes::within(&bytes, 0..len))
    }

    /// The `len` bytes that stored ones decompress to; with a `part` the first bytes of them, that many at least.
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
        // For a part too: frames that ask for much memory are decompressed whole.
        let more = (len + PADDING).saturating_sub(self.memory.page.bytes());
        self.memory.page.join(self.options.limits.memory.reserve(more)?);
        let mut out = std::mem::take(&mut self.memory.spare);
        let decompressor = &mut self.memory.decompressor;
        match part {
            Some(part) => decompressor.decompress_part(codec, stored.as_slice(), len, part, &mut out)?,
            None => decompressor.decompress(codec, stored.as_slice(), len, &mut out)?,
        }
        Ok(PaddedBytes::from(out))
    }

    /// Bytes of the file from `offset` on: at least `len`, and as many more as were read ahead.
    fn window_at(&mut self, offset: u64, len: usize) -> Result<Bytes> {
        let end = offset + len as u64;
        let window_end = self.window_start + self.window.len() as u64;
        if offset < self.window_start || end > window_end {
            let wanted = self.ahead(offset, len).max(len as u64) + PADDING as u64;
            let there = self.source.len().saturating_sub(offset);
            let read = usize::try_from(wanted.min(there)).unwrap_or(usize::MAX);
            let read = self.source.at_hand(offset, read).max(len);
            let held = self.options.limits.memory.reserve(read)?;
            self.leave_window();
            let memory = std::mem::take(&mut self.memory.window);
            self.window = self.source.read_again(offset, read, memory)?;
            (self.window_start, self.window_held) = (offset, held);
        }
        Ok(self.window.slice((offset - self.window_start) as usize..))
    }

    /// Gives up what was read ahead. Its memory is used again, unless values refer to it.
    fn leave_window(&mut self) {
        let held = std::mem::take(&mut self.window_held);
        match std::mem::take(&mut self.window).try_into_mut() {
            Ok(memory) => self.memory.window = memory,
            Err(_) => self.memory.lasting.join(held),
        }
    }

    /// How many bytes from `offset` on were read ahead.
    fn window_holds(&self, offset: u64) -> usize {
        let window_end = self.window_start + self.window.len() as u64;
        if offset < self.window_start { 0 } else { window_end.saturating_sub(offset) as usize }
    }

    /// How far to read from `offset` on, where `len` bytes are needed.
    ///
    /// PERF: the part of a page at the end of a window is read again with the rest of the page. Large pages are
    /// therefore read one by one, each with the next header; and a short chunk is read at once.
    fn ahead(&self, offset: u64, len: usize) -> u64 {
        let most = self.memory.most_ahead();
        match self.end.saturating_sub(offset) {
            left if left <= 2 * most && self.ahead == most => left,
            _ if len as u64 > most / 8 => (len + FIRST_HEADER_READ) as u64,
            _ => self.ahead,
        }
    }
}

impl PageStart {
    /// How many entries the page has: values, nulls, and empty or absent lists. 0 for other than data pages.
    pub fn num_values(&self) -> Result<usize> {
        let header = &self.header;
        let count = match header.type_ {
            PageType::DATA_PAGE => header.data_page_header.as_ref().map(|header| header.num_values),
            PageType::DATA_PAGE_V2 => header.data_page_header_v2.as_ref().map(|header| header.num_values),
            _ => return Ok(0),
        };
        let count = count.ok_or_else(|| Error::corrupt(format!("a {} without its header", header.type_)))?;
        size(count, "num_values")
    }

    /// The encoding of the values, of a data page.
    pub fn encoding(&self) -> Option<Encoding> {
        let header = &self.header;
        match header.type_ {
            PageType::DATA_PAGE => header.data_page_header.as_ref().map(|header| header.encoding),
            PageType::DATA_PAGE_V2 => header.data_page_header_v2.as_ref().map(|header| header.encoding),
            _ => None,
        }
    }

    /// How many rows begin in the page, if the header says.
    pub fn num_rows(&self) -> Option<usize> {
        usize::try_from(self.header.data_page_header_v2.as_ref()?.num_rows).ok()
    }

    /// Where the page is in the file, header and bytes.
    pub fn range(&self) -> Range<u64> {
        self.offset..self.body.saturating_add(self.stored_len() as u64)
    }

    /// Whether it is a data page.
    pub fn is_data(&self) -> bool {
        matches!(self.header.type_, PageType::DATA_PAGE | PageType::DATA_PAGE_V2)
    }

    /// Whether it is a dictionary page.
    pub fn is_dictionary(&self) -> bool {
        self.header.type_ == PageType::DICTIONARY_PAGE
    }

    /// Adds the page and its offset to an error's place.
    pub fn place(&self, error: Error) -> Error {
        error.without_offset().in_page(self.index).at(self.offset)
    }

    fn stored_len(&self) -> usize {
        self.header.compressed_page_size as usize
    }

    pub(super) fn uncompressed_len(&self) -> usize {
        self.header.uncompressed_page_size as usize
    }
}

/// Window for a header's first attempt; headers take 20 to 100 bytes without statistics.
const FIRST_HEADER_READ: usize = 256;
/// How far to read ahead: large enough that reads are few.
const READ_AHEAD: u64 = 1 << 20;
/// How far columns that are read side by side do together: a wide file does not fill the memory.
const READ_AHEAD_TOGETHER: u64 = 16 << 20;
/// However many columns there are: with less, most pages would be read twice, first for their header.
const LEAST_READ_AHEAD: u64 = 8 << 10;

pub(super) fn size(value: i32, name: &str) -> Result<usize> {
    usize::try_from(value).map_err(|_| Error::corrupt(format!("{name} is {value}")))
}

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
