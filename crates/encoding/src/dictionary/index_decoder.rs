//! Decodes the indices of a data page.

use crate::rle::{RleBitPackedDecoder, RleRun};
use crate::traits::Decode;
use crate::values::Values;
use marquetry_base::{ByteCursor, Error, PaddedBytes, Result};
use marquetry_kernels as kernels;

/// Decodes the indices of a data page. As a [`Decode`] it returns the indices themselves as 32-bit words, which are the
/// keys of a dictionary array.
#[derive(Debug)]
pub struct IndexDecoder(pub(super) RleBitPackedDecoder);

impl IndexDecoder {
    /// Creates a decoder for a page, whose first byte is the width of the indices. Fails if the width is over 32.
    pub fn new(page: &PaddedBytes) -> Result<Self> {
        if page.is_empty() {
            // QUIRK: a page of nulls only may lack even the width (parquet-cpp, Impala). It has no values.
            return Ok(IndexDecoder(RleBitPackedDecoder::new(page.clone(), 0)?));
        }
        let width = ByteCursor::new(page.as_slice()).u8()?;
        if width > 32 {
            return Err(Error::corrupt(format!("dictionary index width {width} > 32")));
        }
        Ok(IndexDecoder(RleBitPackedDecoder::new(page.slice(1..page.len()), u32::from(width))?))
    }
}

impl IndexDecoder {
    /// Returns the number of dictionary entries that the next `n` indices, or all that are left, refer to: the largest index plus one.
    pub fn entries_needed(mut self, n: usize) -> Result<usize> {
        let hybrid = &mut self.0;
        let width = hybrid.width();
        let (mut needed, mut left, mut scratch) = (0, n, Vec::new());
        while left > 0 && !hybrid.is_exhausted() {
            match hybrid.next(left)? {
                RleRun::Repeated { value, n } => {
                    left -= n;
                    needed = needed.max(value as usize + 1);
                }
                RleRun::Packed { bytes, first, n } => {
                    left -= n;
                    for from in (first..first + n).step_by(INDICES_PER_BLOCK) {
                        scratch.clear();
                        let take = (first + n - from).min(INDICES_PER_BLOCK);
                        kernels::unpack_u32(bytes, width, from, take, &mut scratch);
                        needed = needed.max(kernels::max_u32(&scratch) as usize + 1);
                    }
                }
            }
        }
        Ok(needed)
    }
}

impl Decode for IndexDecoder {
    fn decode(&mut self, n: usize, out: &mut Values) -> Result<()> {
        self.0.decode(n, out.as_w32()?)
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.0.skip(n)
    }

    fn is_exhausted(&self) -> bool {
        self.0.is_exhausted()
    }
}

/// Number of indices unpacked at once: 4 KiB.
pub(super) const INDICES_PER_BLOCK: usize = 1024;
