//! Encrypts the pages of a chunk, and its other modules.

use super::chunk_bytes::ChunkBytes;
use crate::statistics::BloomFilterHead;
use marquetry_base::{Error, ErrorKind, Result};
use marquetry_crypto::{CTR_OVERHEAD, EncryptionKey, FileAad, GCM_OVERHEAD, ModuleType};
use marquetry_format as format;
use marquetry_format::{PageHeader, PageType};

/// The encryptor of a chunk at its place in a file.
pub(super) struct ChunkEncryptor<'a> {
    key: &'a EncryptionKey,
    aad: &'a FileAad,
    frame: PageFrame,
    row_group: usize,
    column: usize,
}

/// How a page is encrypted.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageFrame {
    /// Whether the page is encrypted by AES-CTR.
    pub(super) is_ctr: bool,
    /// Number of bytes of the encrypted page that its header does not count.
    pub(super) uncounted_bytes: usize,
}

impl<'a> ChunkEncryptor<'a> {
    pub(super) fn new(
        key: &'a EncryptionKey,
        aad: &'a FileAad,
        frame: PageFrame,
        (row_group, column): (usize, usize),
    ) -> Self {
        ChunkEncryptor { key, aad, frame, row_group, column }
    }

    /// Encrypts a module of which the chunk has only one.
    pub(super) fn module(&self, kind: ModuleType, content: &[u8]) -> Result<Vec<u8>> {
        let mut module = Vec::new();
        self.key.seal_gcm(content, &self.aad.column(kind, self.row_group, self.column)?, &mut module)?;
        Ok(module)
    }

    /// Encrypts a bloom filter as two modules, one behind the other. `filter` is its header and bits.
    pub(super) fn bloom_filter(&self, filter: &[u8]) -> Result<Vec<u8>> {
        let (header, bits) = filter.split_at(BloomFilterHead::read(filter)?.header_bytes());
        let mut modules = self.module(ModuleType::BloomFilterHeader, header)?;
        modules.extend(self.module(ModuleType::BloomFilterBitset, bits)?);
        Ok(modules)
    }

    /// Encrypts the pages of a chunk with their headers, and passes each to `write`. Sizes and offsets in `meta` and
    /// `index` become those of the encrypted pages.
    ///
    /// Fails if `bytes` are not the pages of a chunk, if the index has another number of pages, or if `write` fails.
    pub(super) fn pages(
        &self,
        bytes: ChunkBytes,
        meta: &mut format::ColumnMetaData,
        index: Option<&mut format::OffsetIndex>,
        mut write: impl FnMut(Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let mut places = index.map(|index| index.page_locations.iter_mut());
        let (mut position, mut data_pages, mut first_data) = (0i64, 0, None);
        let mut dictionary = None;
        let mut pages = PageSplitter { bytes, window: Vec::new(), at: 0 };
        while let Some((header, header_len, body)) = pages.next()? {
            let number = match header.type_ {
                PageType::DICTIONARY_PAGE if data_pages == 0 && dictionary.is_none() => None,
                PageType::DATA_PAGE | PageType::DATA_PAGE_V2 => Some(data_pages),
                other => return Err(Error::unsupported(format!("a {other} in an encrypted chunk"))),
            };
            let page = self.page(header, number, body).map_err(|error| error.in_page(data_pages))?;
            let len = i32::try_from(page.bytes.len()).map_err(|_| Error::argument("a page of over 2 GiB"))?;
            match number {
                None => dictionary = Some(position),
                Some(_) => {
                    first_data.get_or_insert(position);
                    data_pages += 1;
                    if let Some(places) = &mut places {
                        let place = places.next().ok_or_else(other_pages)?;
                        (place.offset, place.compressed_page_size) = (position, len);
                    }
                }
            }
            position += i64::from(len);
            meta.total_uncompressed_size += page.header_len as i64 - header_len as i64;
            write(page.bytes)?;
        }
        if places.is_some_and(|mut places| places.next().is_some()) {
            return Err(other_pages());
        }
        meta.total_compressed_size = position;
        meta.data_page_offset = first_data.unwrap_or(0);
        meta.dictionary_page_offset = dictionary;
        meta.index_page_offset = None;
        Ok(())
    }

    /// Encrypts a page and its header. `number` is the number of a data page; `None` for the dictionary page.
    fn page(&self, mut header: PageHeader, number: Option<usize>, body: &[u8]) -> Result<EncryptedPage> {
        let aad = |data: ModuleType, dictionary: ModuleType| match number {
            Some(number) => self.aad.page(data, self.row_group, self.column, number),
            None => self.aad.column(dictionary, self.row_group, self.column),
        };
        let overhead = if self.frame.is_ctr { CTR_OVERHEAD } else { GCM_OVERHEAD };
        let mut sealed = Vec::with_capacity(body.len() + overhead);
        match self.frame.is_ctr {
            true => self.key.seal_ctr(body, &mut sealed)?,
            false => {
                self.key.seal_gcm(
                    body,
                    &aad(ModuleType::DataPage, ModuleType::DictionaryPage)?,
                    &mut sealed,
                )?;
            }
        }
        header.compressed_page_size = i32::try_from(sealed.len() - self.frame.uncounted_bytes)
            .map_err(|_| Error::argument("a page of over 2 GiB"))?;
        // SPEC: README.md, "Checksumming": over the page as stored. In a CTR page, nothing else detects changes.
        header.crc = (header.crc.is_some() || self.frame.is_ctr).then(|| crc32fast::hash(&sealed) as i32);
        let mut writer = format::Writer::new();
        header.write(&mut writer);
        let mut bytes = Vec::with_capacity(sealed.len() + 128);
        let aad = aad(ModuleType::DataPageHeader, ModuleType::DictionaryPageHeader)?;
        self.key.seal_gcm(&writer.finish(), &aad, &mut bytes)?;
        let header_len = bytes.len();
        bytes.append(&mut sealed);
        Ok(EncryptedPage { bytes, header_len })
    }
}

struct EncryptedPage {
    /// Header and page, both encrypted.
    bytes: Vec<u8>,
    header_len: usize,
}

/// Splits the bytes of a chunk into pages.
struct PageSplitter {
    bytes: ChunkBytes,
    /// Bytes that were taken from the chunk; the next page is at `at`.
    window: Vec<u8>,
    at: usize,
}

impl PageSplitter {
    /// Returns the next page's header, the header's length, and the page; `None` at the end.
    fn next(&mut self) -> Result<Option<(PageHeader, usize, &[u8])>> {
        if !self.has(1)? {
            return Ok(None);
        }
        let (header, header_len) = loop {
            let mut reader = format::Reader::new(&self.window[self.at..]);
            match PageHeader::read(&mut reader) {
                Ok(header) => break (header, reader.position()),
                Err(error) => {
                    let there = self.window.len() - self.at;
                    if error.kind() != ErrorKind::Truncated || !self.has(there + 1)? {
                        return Err(error.without_offset());
                    }
                }
            }
        };
        let body = usize::try_from(header.compressed_page_size).map_err(|_| {
            Error::corrupt(format!("compressed_page_size is {}", header.compressed_page_size))
        })?;
        if !self.has(header_len + body)? {
            return Err(Error::truncated("a chunk that ends inside of a page"));
        }
        let start = self.at + header_len;
        self.at = start + body;
        Ok(Some((header, header_len, &self.window[start..start + body])))
    }

    /// Whether there are `len` more bytes; takes them from the chunk.
    fn has(&mut self, len: usize) -> Result<bool> {
        while self.window.len() - self.at < len {
            let Some(piece) = self.bytes.take_piece()? else { return Ok(false) };
            if self.at > 0 {
                self.window.drain(..self.at);
                self.at = 0;
            }
            self.window.extend_from_slice(&piece);
        }
        Ok(true)
    }
}

#[cold]
fn other_pages() -> Error {
    Error::argument("the offset index of a chunk has other pages than the chunk")
}
