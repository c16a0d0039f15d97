//! The dictionary page of a column chunk: stored bytes, which are decompressed only as far as needed.

use super::located_header::{LocatedHeader, size};
use super::reader::PageReader;
use marquetry_base::{Error, PaddedBytes, Result};
use marquetry_encoding::code::{PLAIN, PLAIN_DICTIONARY};
use marquetry_encoding::dictionary::Dictionary;
use marquetry_encoding::{PhysicalType, plain};

/// A dictionary page as stored in the file.
#[derive(Debug, Clone)]
pub struct DictionaryPage {
    start: LocatedHeader,
    stored: PaddedBytes,
    num_values: usize,
}

impl DictionaryPage {
    /// Returns the header and its place in the file.
    pub fn start(&self) -> &LocatedHeader {
        &self.start
    }

    /// Number of entries, by the page's header.
    pub fn num_values(&self) -> usize {
        self.num_values
    }
}

impl PageReader {
    /// Reads the dictionary page that begins at `start` and verifies its checksum, without decompressing it.
    pub fn dictionary_page(&mut self, start: &LocatedHeader) -> Result<DictionaryPage> {
        self.stored_dictionary(start).map_err(|error| start.place(error))
    }

    /// Reads the first entries of a dictionary page: at least `entries` of them, or all if there are fewer.
    pub fn dictionary(&mut self, page: &DictionaryPage, entries: usize) -> Result<Dictionary> {
        let read = if self.physical == PhysicalType::ByteArray {
            self.first_entries(page, entries)
        } else {
            self.with_shared_memory(|reader| reader.first_entries(page, entries))
        };
        read.map_err(|error| page.start.place(error))
    }

    fn stored_dictionary(&mut self, start: &LocatedHeader) -> Result<DictionaryPage> {
        let Some(header) = &start.header.dictionary_page_header else {
            return Err(Error::corrupt("a dictionary page without its header"));
        };
        let encoding = header.encoding.0;
        if encoding != PLAIN && encoding != PLAIN_DICTIONARY {
            return Err(Error::unsupported(format!("a dictionary in encoding {}", header.encoding)));
        }
        if self.physical == PhysicalType::Boolean {
            return Err(Error::corrupt("a dictionary of BOOLEAN values"));
        }
        let num_values = size(header.num_values, "DictionaryPageHeader.num_values")?;
        // Values of other types take at least a byte of the page each.
        if self.physical == PhysicalType::FixedLenByteArray(0) && num_values > MAX_ENTRIES_OF_NO_BYTES {
            return Err(Error::corrupt(format!("a dictionary of {num_values} values of no bytes")));
        }
        self.check_claim(start, num_values)?;
        let stored = self.verified(start)?;
        self.dictionary_held.merge(std::mem::take(&mut self.buffers.opened_held));
        Ok(DictionaryPage { start: start.clone(), stored, num_values })
    }

    /// Calls `read` with memory that other columns use as well, instead of the reader's own.
    fn with_shared_memory<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let (memory, held) = self.buffers.dictionaries.take().unwrap_or_default();
        let own = std::mem::replace(&mut self.buffers.spare, memory);
        let own_held = std::mem::replace(&mut self.buffers.page, held);
        let out = read(self);
        let memory = std::mem::replace(&mut self.buffers.spare, own);
        let held = std::mem::replace(&mut self.buffers.page, own_held);
        if (1..=SHARED_BYTES).contains(&memory.capacity()) {
            self.buffers.dictionaries.give_back((memory, held));
        }
        out
    }

    fn first_entries(&mut self, page: &DictionaryPage, entries: usize) -> Result<Dictionary> {
        let (len, all) = (page.start.uncompressed_len(), page.num_values);
        // QUIRK: arrow-rs writes a length before each value, which can be recognized in a whole page only.
        let may_have_lengths = matches!(self.physical, PhysicalType::FixedLenByteArray(width)
            if all.checked_mul(width.saturating_add(4)) == Some(len));
        // Assumes entries of about equal length. If that gives too few entries, the next attempt decompresses more.
        let mut wanted = match entries < all {
            true => usize::try_from(len as u64 * entries as u64 / all as u64).unwrap_or(len),
            false => len,
        };
        loop {
            wanted += ROUNDING_BYTES;
            let has_use_of_part = wanted <= len / 2 && self.codec.supports_prefix() && !may_have_lengths;
            let part = has_use_of_part.then_some(wanted);
            let bytes = self.decompressed(page.stored.clone(), len, self.codec, part)?;
            let n = match bytes.len() == len {
                true => all,
                false => plain::count_whole(bytes.as_slice(), self.physical).min(all),
            };
            if n < entries.min(all) {
                self.recycle(bytes);
                wanted = wanted.saturating_mul(2);
                continue;
            }
            // A string takes a view of 16 bytes, 8 bytes more if strings are gathered with offsets, and at least 4
            // bytes of the page.
            let held = match self.physical {
                PhysicalType::ByteArray => n.min(bytes.len() / 4).saturating_mul(24),
                _ => bytes.len(),
            };
            self.dictionary_held.merge(self.options.limits.memory.reserve(held)?);
            let dictionary = Dictionary::read(bytes.clone(), self.physical, n)?;
            match bytes.try_into_vec() {
                Some(memory) => self.buffers.spare = memory,
                // Strings refer to the page.
                None => self.dictionary_held.merge(std::mem::take(&mut self.buffers.page)),
            }
            return Ok(dictionary);
        }
    }
}

/// Maximum size of a dictionary page whose memory is kept for other columns, in bytes: what writers make by default.
const SHARED_BYTES: usize = 2 << 20;

/// Bytes to decompress beyond the estimated size of the wanted entries.
const ROUNDING_BYTES: usize = 64;

/// Maximum entries of a dictionary whose values have no bytes: all of them are equal, so writers need only one.
const MAX_ENTRIES_OF_NO_BYTES: usize = 1 << 16;
