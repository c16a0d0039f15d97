//! Writes pages and opens them again.

use bytes::Bytes;
use marquetry_base::{MemoryBudget, PADDING, PaddedBytes, Result};
use marquetry_encoding::dictionary::Dictionary;
use marquetry_encoding::registry::EncodingEntry;
use marquetry_encoding::{Decode, Encode, EncodedPage, PhysicalType, Values, plain};
use std::sync::Arc;

/// The values section of a page, and what is needed to read it.
#[derive(Clone)]
pub(crate) struct Page {
    pub(crate) row: &'static EncodingEntry,
    pub(crate) physical: PhysicalType,
    pub(crate) bytes: Vec<u8>,
    pub(crate) max_values: usize,
    pub(crate) dictionary: Option<Arc<Dictionary>>,
}

impl Page {
    /// Encodes all of `values` as one page.
    pub(crate) fn write(row: &'static EncodingEntry, physical: PhysicalType, values: &Values) -> Page {
        let mut encoder = (row.encoder)(physical).unwrap();
        encoder.encode(values, 0..values.len()).unwrap();
        Page::finish(row, physical, &mut *encoder, values.len())
    }

    /// Finishes the page of the `n` values that the encoder has, with the current dictionary.
    pub(crate) fn finish(
        row: &'static EncodingEntry,
        physical: PhysicalType,
        encoder: &mut dyn Encode,
        n: usize,
    ) -> Page {
        let mut bytes = Vec::new();
        encoder.finish(&mut bytes).unwrap();
        Page { row, physical, bytes, max_values: n, dictionary: encoder.dictionary().cloned().map(Arc::new) }
    }

    /// Creates a decoder of the page. What follows its bytes is neither zeros nor more of the page.
    pub(crate) fn open(&self) -> Result<Box<dyn Decode>> {
        let mut file = self.bytes.clone();
        file.resize(self.bytes.len() + PADDING, 0xa5);
        (self.row.decoder)(&EncodedPage {
            bytes: PaddedBytes::from_file_range(&Bytes::from(file), 0..self.bytes.len()),
            max_values: self.max_values,
            physical: self.physical,
            dictionary: self.dictionary.clone(),
            memory: MemoryBudget::default(),
        })
    }

    /// Decodes the next `n` values.
    pub(crate) fn next(&self, decoder: &mut dyn Decode, n: usize) -> Result<Values> {
        let mut out = self.physical.shape().empty();
        decoder.decode(n, &mut out)?;
        Ok(out)
    }

    /// Decodes the first `n` values of the page.
    pub(crate) fn decode(&self, n: usize) -> Result<Values> {
        self.next(&mut *self.open()?, n)
    }

    /// Returns this page with its dictionary, if it has one, written to a dictionary page and read again.
    pub(crate) fn with_dictionary_page(&self) -> Page {
        let mut page = self.clone();
        if let Some(dictionary) = &self.dictionary {
            let values = dictionary.values();
            let bytes = PaddedBytes::from(plain::encode(values).unwrap());
            page.dictionary = Some(Arc::new(Dictionary::read(bytes, self.physical, values.len()).unwrap()));
        }
        page
    }
}

/// Returns the values in `range`.
pub(crate) fn part(values: &Values, range: std::ops::Range<usize>) -> Values {
    let mut out = values.shape().empty();
    out.push_range(values, range).unwrap();
    out
}
