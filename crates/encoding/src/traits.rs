//! The contract of all encodings: [`Decode`] and [`Encode`], and the page that a decoder is made from.

use crate::dictionary::Dictionary;
use crate::shape::{PhysicalType, Shape};
use crate::values::Values;
use marquetry_base::{MemoryBudget, PaddedBytes, Result};
use marquetry_kernels::Bitmap;
use std::ops::Range;
use std::sync::Arc;

/// The values section of one data page: the input of a decoder.
#[derive(Debug, Clone)]
pub struct EncodedPage {
    /// The bytes after the levels, decompressed.
    pub bytes: PaddedBytes,
    /// The maximum number of values in the page. Exact if the page has their number; otherwise it includes nulls.
    pub max_values: usize,
    /// The column's physical type.
    pub physical: PhysicalType,
    /// The chunk's dictionary, if a dictionary page was read.
    pub dictionary: Option<Arc<Dictionary>>,
    /// What decoders that put values together take memory from, before they allocate it.
    pub memory: MemoryBudget,
}

impl EncodedPage {
    /// A page of `bytes` with at most `max_values` values, without a dictionary.
    pub fn new(bytes: &[u8], physical: PhysicalType, max_values: usize) -> Self {
        EncodedPage {
            bytes: PaddedBytes::copy_of(bytes),
            max_values,
            physical,
            dictionary: None,
            memory: MemoryBudget::default(),
        }
    }
}

/// Reads the non-null values of one page, front to back.
///
/// Any split of reads gives the same values, and `skip(n)` leaves the decoder where decoding `n` values would. After an
/// error the decoder is of no further use, and what it appended is unspecified.
pub trait Decode: Send {
    /// Appends exactly the next `n` values to `out`, which must be of the page's [`Shape`].
    fn decode(&mut self, n: usize, out: &mut Values) -> Result<()>;

    /// Like [`decode`](Self::decode), for strings. Returns true if the values were validated as UTF-8 on the way; otherwise the caller
    /// must validate them.
    fn decode_utf8(&mut self, n: usize, out: &mut Values) -> Result<bool> {
        self.decode(n, out).map(|()| false)
    }

    /// Appends a slot for each of the `n` bits of `validity` from bit `first` on, `ones` of which are 1: the next value for a
    /// 1, 0 for a 0. Returns false, and consumes nothing, if that is not faster than decoding followed by expansion.
    fn decode_spaced(
        &mut self,
        _validity: &Bitmap,
        _first: usize,
        _n: usize,
        _ones: usize,
        _out: &mut Values,
    ) -> Result<bool> {
        Ok(false)
    }

    /// Skips the next `n` values.
    fn skip(&mut self, n: usize) -> Result<()>;

    /// Whether the page has no bytes for more values; only padding of the last byte or group may be left. This detects a wrong value
    /// count in the page header, which no checksum covers.
    fn is_exhausted(&self) -> bool;
}

/// Collects non-null values and writes them as the values section of a page, then of the next page, and so on.
pub trait Encode: Send {
    /// Takes the values in `range`.
    fn encode(&mut self, values: &Values, range: Range<usize>) -> Result<()>;

    /// The number of bytes that [`finish`](Encode::finish) would append now; an estimate where the exact number costs as much as
    /// the encoding itself.
    fn size(&self) -> usize;

    /// Appends the page's bytes and starts a new page, perhaps in the memory of `page` if that is empty.
    fn finish(&mut self, page: &mut Vec<u8>) -> Result<()>;

    /// As [`finish`](Encode::finish), where a page is stored in parts: what comes first may be appended to `head`, so that
    /// the rest, in `body`, which is empty, need not be copied.
    fn finish_parts(&mut self, head: &mut Vec<u8>, body: &mut Vec<u8>) -> Result<()> {
        let _ = head;
        self.finish(body)
    }

    /// The values that were collected for the chunk's dictionary page; `None` for all but the dictionary encoding.
    fn dictionary(&self) -> Option<&Dictionary> {
        None
    }
}

/// Decodes the first `n` values of a page, for the `decode` functions of the encodings.
pub(crate) fn decode_all(mut decoder: impl Decode, shape: Shape, n: usize) -> Result<Values> {
    let mut out = Values::empty(shape);
    decoder.decode(n, &mut out)?;
    Ok(out)
}

/// Encodes `values` as one page, for the `encode` functions of the encodings.
pub(crate) fn encode_all(mut encoder: impl Encode, values: &Values) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    encoder.encode(values, 0..values.len())?;
    encoder.finish(&mut out)?;
    Ok(out)
}
