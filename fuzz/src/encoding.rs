//! The encodings of values: the same laws for all rows of the registry.

use crate::input::{Input, Splits};
use crate::memory::earned;
use bytes::Bytes;
use marquetry_base::{PADDING, PaddedBytes, Result};
use marquetry_encoding::dictionary::Dictionary;
use marquetry_encoding::registry::{self, EncodingEntry};
use marquetry_encoding::{Decode, EncodedPage, PhysicalType, Shape, Values};
use std::sync::Arc;

/// PLAIN.
pub fn plain(data: &[u8]) {
    laws(0, data);
}

/// RLE_DICTIONARY; PLAIN_DICTIONARY is the same.
pub fn dictionary(data: &[u8]) {
    laws(8, data);
}

/// DELTA_BINARY_PACKED.
pub fn delta_binary_packed(data: &[u8]) {
    laws(5, data);
}

/// DELTA_LENGTH_BYTE_ARRAY.
pub fn delta_length_byte_array(data: &[u8]) {
    laws(6, data);
}

/// DELTA_BYTE_ARRAY.
pub fn delta_byte_array(data: &[u8]) {
    laws(7, data);
}

/// BYTE_STREAM_SPLIT.
pub fn byte_stream_split(data: &[u8]) {
    laws(9, data);
}

/// ALP.
pub fn alp(data: &[u8]) {
    laws(10, data);
}

/// Input: physical type, number of values (2 bytes), nulls that are counted with them, seed of the splits; for
/// dictionaries, entries and bytes of the dictionary page (2 bytes), and that page; the page.
pub(crate) fn laws(code: i32, data: &[u8]) {
    let mut input = Input(data);
    let row = registry::find(code).expect("a row of the registry");
    let legal: Vec<_> = PHYSICAL.into_iter().filter(|physical| (row.supports)(*physical)).collect();
    let physical = input.pick(&legal);
    let n = usize::from(input.u16() % 5_000);
    let nulls = usize::from(input.u8());
    let seed = u64::from(input.u8());
    let dictionary = match code {
        8 => {
            let entries = usize::from(input.u8());
            let len = usize::from(input.u16());
            let bytes = PaddedBytes::copy_of(input.take(len));
            let Ok(dictionary) = Dictionary::read(bytes, physical, entries) else {
                return;
            };
            Some(Arc::new(dictionary))
        }
        _ => None,
    };
    let page = Page { row, physical, bytes: input.0, max_values: n + nulls, dictionary };
    // Each value may repeat the previous one, and add a byte.
    let repeated = if code == 7 { 2 * n * page.bytes.len() } else { 0 };
    let allowed = (1 << 20) + 64 * (page.bytes.len() + n * width(physical)) + repeated;
    let whole = earned(allowed, || page.decode(n, 0xa5));
    assert_eq!(whole.is_ok(), page.decode(n, 0).is_ok(), "by what follows the page");
    let splits = page.in_splits(n, seed, false);
    assert_eq!(whole.is_ok(), splits.is_ok(), "whole {:?}, splits {:?}", whole.err(), splits.err());
    let skipped = page.in_splits(n, seed, true);
    let Ok(values) = page.decode(n, 0) else {
        return;
    };
    assert_eq!(values.len(), n);
    assert!(splits.is_ok_and(|splits| splits == values), "splits give other values");
    skipped.expect("what decodes can be skipped");
    page.skips(&values, seed);
    comes_back(row, physical, &values);
}

struct Page<'a> {
    row: &'static EncodingEntry,
    physical: PhysicalType,
    bytes: &'a [u8],
    max_values: usize,
    dictionary: Option<Arc<Dictionary>>,
}

impl Page<'_> {
    /// Opens a decoder; the slack after the page is filled with `slack`, and nothing follows it.
    fn open(&self, slack: u8) -> Result<Box<dyn Decode>> {
        (self.row.decoder)(&EncodedPage {
            bytes: with_slack(self.bytes, slack),
            max_values: self.max_values,
            physical: self.physical,
            dictionary: self.dictionary.clone(),
            memory: marquetry_base::MemoryBudget::default(),
        })
    }

    fn decode(&self, n: usize, slack: u8) -> Result<Values> {
        let mut out = self.physical.shape().empty();
        self.open(slack)?.decode(n, &mut out)?;
        Ok(out)
    }

    /// Decodes in splits; or skips every other one of them, in which case only an error means anything.
    fn in_splits(&self, n: usize, seed: u64, skip: bool) -> Result<Values> {
        let (mut decoder, mut splits) = (self.open(0x5a)?, Splits(seed));
        let (mut out, mut left, mut skips) = (self.physical.shape().empty(), n, skip);
        while left > 0 {
            let size = splits.next(left);
            match skips {
                true => decoder.skip(size)?,
                false => decoder.decode(size, &mut out)?,
            }
            skips ^= skip;
            left -= size;
        }
        decoder.decode(0, &mut out)?;
        Ok(out)
    }

    /// Skipping must leave the decoder where decoding would.
    fn skips(&self, values: &Values, seed: u64) {
        let n = values.len();
        let before = Splits(seed).next(n);
        let skipped = (n - before) * (seed as usize % 4) / 4;
        let mut decoder = self.open(0x5a).expect("it was opened before");
        let mut out = self.physical.shape().empty();
        let mut run = || {
            decoder.decode(before, &mut out)?;
            decoder.skip(skipped)?;
            decoder.decode(n - before - skipped, &mut out)
        };
        run().expect("it was decoded before");
        let mut expected = part(values, 0..before);
        expected.push_range(values, before + skipped..n).expect("memory for a test");
        assert!(out == expected, "{skipped} skipped after {before} of {n}");
    }
}

/// Decoded values must survive encoding and decoding.
fn comes_back(row: &'static EncodingEntry, physical: PhysicalType, values: &Values) {
    let mut encoder = (row.encoder)(physical).expect("the type is legal");
    encoder.encode(values, 0..values.len()).expect("values that were decoded");
    let (size, mut bytes) = (encoder.size(), Vec::new());
    encoder.finish(&mut bytes).expect("values that were decoded");
    assert!(bytes.len() <= size + size / 2 + 64, "{size} bytes said, {} written", bytes.len());
    let page = Page {
        row,
        physical,
        bytes: &bytes,
        max_values: values.len(),
        dictionary: encoder.dictionary().cloned().map(Arc::new),
    };
    let back = page.decode(values.len(), 0xa5).expect("a page that was encoded");
    assert!(back == *values, "other values come back");
}

/// The bytes of a page, followed by exactly the required slack.
pub(crate) fn with_slack(bytes: &[u8], slack: u8) -> PaddedBytes {
    let mut file = Vec::with_capacity(bytes.len() + PADDING);
    file.extend_from_slice(bytes);
    file.resize(bytes.len() + PADDING, slack);
    PaddedBytes::from_file_range(&Bytes::from(file), 0..bytes.len())
}

/// The values of `range`.
pub(crate) fn part(values: &Values, range: std::ops::Range<usize>) -> Values {
    let mut out = values.shape().empty();
    out.push_range(values, range).expect("memory for a test");
    out
}

/// Bytes of a value in memory.
fn width(physical: PhysicalType) -> usize {
    match physical.shape() {
        Shape::Bit => 1,
        Shape::W32 => 4,
        Shape::W64 => 8,
        Shape::Fixed(width) => width,
        Shape::Bytes => 16,
    }
}

/// The physical types; fixed widths that have kernels of their own, and some that have none.
pub const PHYSICAL: [PhysicalType; 13] = [
    PhysicalType::Boolean,
    PhysicalType::Int32,
    PhysicalType::Int64,
    PhysicalType::Int96,
    PhysicalType::Float,
    PhysicalType::Double,
    PhysicalType::ByteArray,
    PhysicalType::FixedLenByteArray(0),
    PhysicalType::FixedLenByteArray(1),
    PhysicalType::FixedLenByteArray(2),
    PhysicalType::FixedLenByteArray(5),
    PhysicalType::FixedLenByteArray(8),
    PhysicalType::FixedLenByteArray(16),
];
