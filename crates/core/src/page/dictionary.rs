//! The dictionary page of a column chunk: stored bytes, of which no more is decompressed than is asked for.

use super::chunk_pages::{PageReader, PageStart, size};
use marquetry_base::{Error, PaddedBytes, Result};
use marquetry_encoding::dictionary::Dictionary;
use marquetry_encoding::{PhysicalType, plain};

/// A dictionary page as it stands in the file.
#[derive(Debug, Clone)]
pub struct DictionaryPage {
    start: PageStart,
    stored: PaddedBytes,
    num_values: usize,
}

impl DictionaryPage {
    /// Its header, and where it is.
    pub fn start(&self) -> &PageStart {
        &self.start
    }

    /// How many entries there are, if its header is right.
    pub fn num_values(&self) -> usize {
        self.num_values
    }
}

impl PageReader {
    /// The dictionary page that begins at `start`, held against its checksum, and not yet decompressed.
    pub fn dictionary_page(&mut self, start: &PageStart) -> Result<DictionaryPage> {
        self.stored_dictionary(start).map_err(|error| start.place(error))
    }

    /// Reads the first entries of a dictionary page: at least `entries` of them, or all.
    pub fn dictionary(&mut self, page: &DictionaryPage, entries: usize) -> Result<Dictionary> {
        self.first_entries(page, entries).map_err(|error| page.start.place(error))
    }

    fn stored_dictionary(&mut self, start: &PageStart) -> Result<DictionaryPage> {
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
        Ok(DictionaryPage { start: start.clone(), stored: self.verified(start)?, num_values })
    }

    fn first_entries(&mut self, page: &DictionaryPage, entries: usize) -> Result<Dictionary> {
        let (len, all) = (page.start.uncompressed_len(), page.num_values);
        // Entries of about one length: what is missing if they are not is decompressed with the next attempt.
        let mut wanted = match entries < all {
            true => usize::try_from(len as u64 * entries as u64 / all as u64).unwrap_or(len),
            false => len,
        };
        loop {
            wanted += ROUNDING;
            let part = (wanted <= len / 2 && self.codec.can_stop()).then_some(wanted);
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
            // A string takes 4 bytes of the page at least, and then a view of 16 and, to be put end to end, an entry of 8.
            let factor = if self.physical == PhysicalType::ByteArray { 6 } else { 1 };
            self.dictionary_held
                .join(self.options.limits.memory.reserve(bytes.len().saturating_mul(factor))?);
            let dictionary = Dictionary::read(bytes.clone(), self.physical, n)?;
            match bytes.into_unshared() {
                Some(memory) => self.memory.spare = memory,
                // Strings stay where they are.
                None => self.dictionary_held.join(std::mem::take(&mut self.memory.page)),
            }
            return Ok(dictionary);
        }
    }
}

/// A few bytes more than the share of the entries that are wanted.
const ROUNDING: usize = 64;

const PLAIN: i32 = 0;
const PLAIN_DICTIONARY: i32 = 2;
