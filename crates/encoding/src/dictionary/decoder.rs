//! Decodes the values of a dictionary-encoded data page.

use super::entries::Dictionary;
use super::index_decoder::{INDICES_PER_BLOCK, IndexDecoder};
use crate::rle::RleRun;
use crate::shape::Shape;
use crate::traits::{Decode, EncodedPage};
use crate::values::Values;
use marquetry_base::{Error, PaddedBytes, Result};
use marquetry_kernels as kernels;
use std::sync::Arc;

/// Decodes values: reads indices and looks them up in the dictionary.
#[derive(Debug)]
pub struct Decoder {
    indices: IndexDecoder,
    block: Block,
}

/// Indices that are looked up together.
#[derive(Debug)]
struct Block {
    dictionary: Arc<Dictionary>,
    indices: Vec<u32>,
}

impl Decoder {
    /// Creates a decoder for a page. Fails if the page has no dictionary.
    pub fn new(page: &EncodedPage) -> Result<Self> {
        let dictionary = page
            .dictionary
            .clone()
            .ok_or_else(|| Error::corrupt("dictionary indices without a dictionary page"))?;
        Decoder::with_dictionary(&page.bytes, dictionary)
    }

    pub(super) fn with_dictionary(page: &PaddedBytes, dictionary: Arc<Dictionary>) -> Result<Self> {
        Ok(Decoder { indices: IndexDecoder::new(page)?, block: Block { dictionary, indices: Vec::new() } })
    }
}

impl Block {
    /// Looks up the pending indices if there are at least `least`.
    fn flush_if_at_least(&mut self, least: usize, out: &mut Values) -> Result<()> {
        if self.indices.len() >= least {
            self.dictionary.look_up(&self.indices, out)?;
            self.indices.clear();
        }
        Ok(())
    }
}

impl Decode for Decoder {
    /// PERF: a long run is one value repeated. Short runs and the packed values between them are unpacked together and looked up
    /// together, because starting a lookup costs as much as a few values. A block of indices stays in the first-level cache.
    fn decode(&mut self, n: usize, out: &mut Values) -> Result<()> {
        let Decoder { indices: IndexDecoder(hybrid), block } = self;
        let width = hybrid.width();
        block.indices.clear();
        block.indices.reserve(n.min(2 * INDICES_PER_BLOCK) + kernels::VALUES_PER_RUN);
        let (mut left, mut are_short) = (n, true);
        while left > 0 {
            if are_short {
                left -= hybrid.append_short_runs(left.min(INDICES_PER_BLOCK), &mut block.indices);
                block.flush_if_at_least(INDICES_PER_BLOCK, out)?;
                if left == 0 {
                    break;
                }
            }
            let before = left;
            match hybrid.next(left)? {
                RleRun::Repeated { value, n } if n < MIN_LONG_RUN => {
                    left -= n;
                    push_short_run(value, n, &mut block.indices);
                }
                RleRun::Repeated { value, n } => {
                    left -= n;
                    block.flush_if_at_least(1, out)?;
                    block.dictionary.repeat(value, n, out)?;
                }
                RleRun::Packed { bytes, first, n } => {
                    left -= n;
                    for from in (first..first + n).step_by(INDICES_PER_BLOCK) {
                        block.flush_if_at_least(INDICES_PER_BLOCK, out)?;
                        let take = (first + n - from).min(INDICES_PER_BLOCK);
                        kernels::unpack_u32(bytes, width, from, take, &mut block.indices);
                    }
                }
            }
            block.flush_if_at_least(INDICES_PER_BLOCK, out)?;
            are_short = before - left <= kernels::VALUES_PER_RUN;
        }
        block.flush_if_at_least(1, out)
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.indices.skip(n)
    }

    fn is_exhausted(&self) -> bool {
        self.indices.is_exhausted()
    }
}

/// Turns a decoder of indices into a decoder of values; some indices may already have been consumed.
pub struct IndexLookup {
    indices: Box<dyn Decode>,
    dictionary: Arc<Dictionary>,
    scratch: Values,
}

impl IndexLookup {
    /// Creates a decoder of the values of `dictionary` at the remaining indices of `indices`.
    pub fn new(indices: Box<dyn Decode>, dictionary: Arc<Dictionary>) -> Self {
        IndexLookup { indices, dictionary, scratch: Values::empty(Shape::W32) }
    }
}

impl Decode for IndexLookup {
    fn decode(&mut self, n: usize, out: &mut Values) -> Result<()> {
        self.scratch.clear();
        self.indices.decode(n, &mut self.scratch)?;
        self.dictionary.look_up(self.scratch.as_w32()?, out)
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.indices.skip(n)
    }

    fn is_exhausted(&self) -> bool {
        self.indices.is_exhausted()
    }
}

/// Appends `value` `n < MIN_LONG_RUN` times.
///
/// PERF: copies `value` in steps of constant length and then truncates the excess, without a loop over the last few.
#[inline(always)]
fn push_short_run(value: u32, n: usize, indices: &mut Vec<u32>) {
    const COPIES: usize = 16;
    let end = indices.len() + n;
    for _ in (0..n).step_by(COPIES) {
        indices.extend_from_slice(&[value; COPIES]);
    }
    indices.truncate(end);
}

/// The shortest run whose value is looked up alone.
const MIN_LONG_RUN: usize = 64;
