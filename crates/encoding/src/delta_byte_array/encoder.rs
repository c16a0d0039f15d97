//! Encodes DELTA_BYTE_ARRAY: the length of the prefix that each value shares with the one before, and its suffix.

use crate::delta_binary_packed::DeltaWriter;
use crate::delta_length_byte_array as delta_length;
use crate::fixed_len_bytes::FixedLenBytes;
use crate::shape::{PhysicalType, Shape};
use crate::traits::Encode;
use crate::values::{Values, wrong_shape};
use marquetry_base::{Error, Result};
use std::ops::Range;

/// Collects prefix lengths and suffixes.
#[derive(Debug)]
pub struct Encoder {
    shape: Shape,
    prefixes: DeltaWriter<u32>,
    suffixes: delta_length::Encoder,
    last: Vec<u8>,
    /// Scratch: lengths of the prefixes and suffixes of the values being added, and the bytes of the suffixes.
    prefix_lengths: Vec<u32>,
    suffix_lengths: Vec<u32>,
    suffix_bytes: Vec<u8>,
}

impl Encoder {
    /// Creates an encoder with an empty page of BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY.
    pub fn new(physical: PhysicalType) -> Self {
        Self::from_shape(physical.shape())
    }

    pub(super) fn from_shape(shape: Shape) -> Self {
        Encoder {
            shape,
            prefixes: DeltaWriter::new(),
            suffixes: delta_length::Encoder::new(),
            last: Vec::new(),
            prefix_lengths: Vec::new(),
            suffix_lengths: Vec::new(),
            suffix_bytes: Vec::new(),
        }
    }

    /// Adds values.
    fn push<'a>(&mut self, values: impl Iterator<Item = &'a [u8]>) -> Result<()> {
        self.prefix_lengths.clear();
        self.suffix_lengths.clear();
        self.suffix_bytes.clear();
        let mut before = self.last.as_slice();
        let mut longest = 0;
        for value in values {
            let prefix = common_prefix(before, value);
            before = value;
            longest = longest.max(value.len());
            self.prefix_lengths.push(prefix as u32);
            self.suffix_lengths.push((value.len() - prefix) as u32);
            push_tail(value, value.len() - prefix, &mut self.suffix_bytes);
        }
        // SPEC: lengths are INT32.
        if i32::try_from(longest).is_err() {
            return Err(Error::argument("a byte string of over 2 GiB"));
        }
        self.prefixes.push(&self.prefix_lengths);
        self.suffixes.push(&self.suffix_lengths, |bytes| bytes.extend_from_slice(&self.suffix_bytes))?;
        if !self.prefix_lengths.is_empty() {
            let last = before.to_vec();
            self.last = last;
        }
        Ok(())
    }
}

impl Encode for Encoder {
    fn encode(&mut self, values: &Values, range: Range<usize>) -> Result<()> {
        match values {
            Values::Bytes(strings) if self.shape == Shape::Bytes => {
                self.push(strings.views()[range].iter().map(|view| strings.resolve(view)))
            }
            Values::Fixed(fixed) if self.shape == Shape::Fixed(fixed.width()) => {
                self.push(range.map(|i| FixedLenBytes::get(fixed, i)))
            }
            other => Err(wrong_shape(self.shape, other)),
        }
    }

    fn size(&self) -> usize {
        self.prefixes.size() + self.suffixes.size()
    }

    fn finish(&mut self, page: &mut Vec<u8>) -> Result<()> {
        self.prefixes.finish(page);
        self.suffixes.finish(page)?;
        // SPEC: pages are independent, so the first value of the next page has no prefix.
        self.last.clear();
        Ok(())
    }

    fn finish_parts(&mut self, head: &mut Vec<u8>, body: &mut Vec<u8>) -> Result<()> {
        self.prefixes.finish(head);
        self.suffixes.finish_parts(head, body)?;
        self.last.clear();
        Ok(())
    }
}

/// Appends the last `n` bytes of `value`.
///
/// PERF: a suffix of a few bytes is shifted to the front of a word, which is appended whole. That is faster than a copy
/// whose length is known only at run time.
#[inline(always)]
fn push_tail(value: &[u8], n: usize, out: &mut Vec<u8>) {
    match value.last_chunk::<16>() {
        Some(last) if (1..=16).contains(&n) => {
            let end = out.len() + n;
            out.extend_from_slice(&(u128::from_le_bytes(*last) >> (8 * (16 - n))).to_le_bytes());
            out.truncate(end);
        }
        _ => out.extend_from_slice(&value[value.len() - n..]),
    }
}

/// Returns the length of the common prefix.
#[inline]
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let shorter = a.len().min(b.len());
    let (a, b) = (&a[..shorter], &b[..shorter]);
    // PERF: compares words; the last word may overlap the one before.
    let ((a_words, _), (b_words, _)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (i, (a, b)) in a_words.iter().zip(b_words).enumerate() {
        if a != b {
            return 8 * i + equal_bytes(*a, *b);
        }
    }
    match (a.last_chunk(), b.last_chunk()) {
        (Some(a), Some(b)) => shorter - 8 + equal_bytes(*a, *b),
        _ => a.iter().zip(b).take_while(|(a, b)| a == b).count(),
    }
}

/// Returns the length of the common prefix of two words.
#[inline(always)]
fn equal_bytes(a: [u8; 8], b: [u8; 8]) -> usize {
    (u64::from_le_bytes(a) ^ u64::from_le_bytes(b)).trailing_zeros() as usize / 8
}
