//! RLE as an encoding of BOOLEAN values: hybrid bytes of width 1 after a 4-byte length.

use super::decoder::RleBitPackedDecoder;
use super::encoder::write_bits;
use crate::shape::Shape;
use crate::traits::{Decode, Encode, EncodedPage};
use crate::values::{Values, wrong_shape};
use marquetry_base::{ByteCursor, Error, Result};
use marquetry_kernels::Bitmap;
use std::ops::Range;

/// Decodes BOOLEAN values: hybrid bytes of width 1 after a 4-byte length.
#[derive(Debug)]
pub struct Decoder(RleBitPackedDecoder);

impl Decoder {
    /// Creates a decoder for the page. Fails if the length prefix exceeds the page.
    pub fn new(page: &EncodedPage) -> Result<Self> {
        let bytes = &page.bytes;
        let len = ByteCursor::new(bytes.as_slice()).u32_le()? as usize;
        if len > bytes.len() - 4 {
            return Err(Error::truncated(format!("{len} bytes of RLE, {} left", bytes.len() - 4)).at(0));
        }
        Ok(Decoder(RleBitPackedDecoder::new(bytes.slice(4..4 + len), 1)?))
    }
}

impl Decode for Decoder {
    fn decode(&mut self, n: usize, out: &mut Values) -> Result<()> {
        self.0.decode_bits(n, out.as_bits()?)
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.0.skip(n)
    }

    fn is_exhausted(&self) -> bool {
        self.0.is_exhausted()
    }
}

/// Encodes BOOLEAN values as hybrid bytes of width 1 after a 4-byte length.
#[derive(Debug)]
pub struct Encoder {
    bits: Bitmap,
    /// Estimated number of bytes of the encoded bits.
    estimate: usize,
}

impl Encoder {
    /// Creates an encoder with an empty page.
    #[expect(clippy::new_without_default, reason = "encoders are made by the registry, not by default")]
    pub fn new() -> Self {
        Encoder { bits: Bitmap::new(), estimate: 0 }
    }
}

impl Encode for Encoder {
    fn encode(&mut self, values: &Values, range: Range<usize>) -> Result<()> {
        let Values::Bit(bits) = values else {
            return Err(wrong_shape(Shape::Bit, values));
        };
        let start = self.bits.len();
        self.bits.push_packed(bits.as_bytes(), range.start, range.len());
        let words = (start..self.bits.len()).step_by(64).map(|at| self.bits.word(at));
        // A mixed word is packed: 8 bytes and a header. A uniform word mostly continues a run and takes no bytes.
        self.estimate += words.map(|word| if word == 0 || word == u64::MAX { 0 } else { 9 }).sum::<usize>();
        Ok(())
    }

    /// An estimate: only words of 64 equal bits count as runs.
    fn size(&self) -> usize {
        4 + 3 * usize::from(!self.bits.is_empty()) + self.estimate.min(self.bits.len() / 8)
    }

    fn finish(&mut self, page: &mut Vec<u8>) -> Result<()> {
        let prefix = page.len();
        page.extend_from_slice(&[0; 4]);
        write_bits(&self.bits, 0..self.bits.len(), page);
        let len = u32::try_from(page.len() - prefix - 4)
            .map_err(|_| Error::argument("a page of over 4 GiB of booleans"))?;
        page[prefix..prefix + 4].copy_from_slice(&len.to_le_bytes());
        self.bits.clear();
        self.estimate = 0;
        Ok(())
    }
}
