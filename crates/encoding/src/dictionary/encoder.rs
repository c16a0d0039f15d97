//! Encodes values as a dictionary and the indices into it.

use super::builder::DictionaryBuilder;
use super::entries::Dictionary;
use crate::rle;
use crate::shape::Shape;
use crate::traits::Encode;
use crate::values::Values;
use marquetry_base::Result;
use std::ops::Range;

/// Returns the width in bits of indices into a dictionary of `len` values: the bits that its last index needs.
pub fn index_width(len: usize) -> u32 {
    match len {
        0 => 0,
        len => usize::BITS - (len - 1).leading_zeros(),
    }
}

/// Appends a data page of `indices`, each of which must fit in `width` bits.
///
/// # Panics
/// If the width is over 32.
pub fn encode_indices(indices: &[u32], width: u32, page: &mut Vec<u8>) {
    assert!(width <= 32, "width {width}");
    page.push(width as u8);
    rle::write_words(indices, width, page);
}

/// Collects a dictionary and writes indices into it.
#[derive(Debug)]
pub struct Encoder {
    pub(super) builder: DictionaryBuilder,
    indices: Vec<u32>,
}

impl Encoder {
    /// Creates an encoder for a column chunk of values of `shape`.
    pub fn new(shape: Shape) -> Self {
        Encoder { builder: DictionaryBuilder::new(shape), indices: Vec::new() }
    }

    fn width(&self) -> u32 {
        index_width(self.builder.len())
    }
}

impl Encode for Encoder {
    fn encode(&mut self, values: &Values, range: Range<usize>) -> Result<()> {
        self.builder.intern(values, range, &mut self.indices)
    }

    /// An upper estimate that ignores runs.
    fn size(&self) -> usize {
        1 + 5 + (self.indices.len() * self.width() as usize).div_ceil(8)
    }

    fn finish(&mut self, page: &mut Vec<u8>) -> Result<()> {
        encode_indices(&self.indices, self.width(), page);
        self.indices.clear();
        Ok(())
    }

    fn dictionary(&self) -> Option<&Dictionary> {
        Some(self.builder.dictionary())
    }
}
