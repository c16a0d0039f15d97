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
    /// The maximum number of values in the page. Exact if the page header has the number of values; otherwise nulls are counted too.
    pub max_values: usize,
    /// The column's physical type.
    pub physical: PhysicalType,
    /// The chunk's dictionary, if a dictionary page was read.
    pub dictionary: Option<Arc<Dictionary>>,
    /// The budget from which decoders that assemble values reserve memory before they allocate it.
    pub memory: MemoryBudget,
}

impl EncodedPage {
    /// Creates a page of `bytes` with at most `max_values` values and without a dictionary.
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
/// Any split of the reads gives the same values, and `skip(n)` leaves the decoder where decoding `n` values would.
/// After an error the decoder must not be used again, and what it has appended is unspecified.
pub trait Decode: Send {
    /// Appends exactly the next `n` values to `out`, which must be of the page's [`Shape`].
    fn decode(&mut self, n: usize, out: &mut Values) -> Result<()>;

    /// Like [`decode`](Self::decode), for strings. Returns true if the values were validated as UTF-8 while they were
    /// decoded; otherwise the caller must validate them.
    fn decode_utf8(&mut self, n: usize, out: &mut Values) -> Result<bool> {
        self.decode(n, out).map(|()| false)
    }

    /// Appends one slot for each of the `n` bits of `validity` from bit `first` on: the next value for a 1, the value 0 for a 0. `ones` is
    /// the number of ones among them. Returns false, and consumes nothing, if this is not faster than decoding followed by expansion.
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

    /// Whether the page has no bytes for more values; only padding of the last byte or group may be left. This detects
    /// a wrong value count in the page header, which no checksum covers.
    fn is_exhausted(&self) -> bool;
}

/// Collects non-null values and writes them as the values section of a page; then collects the values of the next page.
pub trait Encode: Send {
    /// Adds the values in `range` to the page.
    fn encode(&mut self, values: &Values, range: Range<usize>) -> Result<()>;

    /// Returns the number of bytes that [`finish`](Encode::finish) would append now; an estimate where the exact number
    /// would cost as much as the encoding itself.
    fn size(&self) -> usize;

    /// Appends the bytes of the page and starts a new page. If `page` is empty, its memory may be kept for the new page.
    fn finish(&mut self, page: &mut Vec<u8>) -> Result<()>;

    /// Like [`finish`](Encode::finish), for a page that is stored in two parts. The beginning of the page may be
    /// appended to `head`, so that the rest, in the empty `body`, need not be copied.
    fn finish_parts(&mut self, head: &mut Vec<u8>, body: &mut Vec<u8>) -> Result<()> {
        let _ = head;
        self.finish(body)
    }

    /// The values collected for the chunk's dictionary page; `None` for all encodings but the dictionary encoding.
    fn dictionary(&self) -> Option<&Dictionary> {
        None
    }
}

/// Decodes the first `n` values of a page. Shared by the `decode` functions of the encodings.
pub(crate) fn decode_all(mut decoder: impl Decode, shape: Shape, n: usize) -> Result<Values> {
    let mut out = Values::empty(shape);
    decoder.decode(n, &mut out)?;
    Ok(out)
}

/// Encodes `values` as one page. Shared by the `encode` functions of the encodings.
pub(crate) fn encode_all(mut encoder: impl Encode, values: &Values) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    encoder.encode(values, 0..values.len())?;
    encoder.finish(&mut out)?;
    Ok(out)
}
