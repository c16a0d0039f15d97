//! The header of a stream of deltas.

use crate::varint::{uleb128_size, write_uleb128, zigzag};
use marquetry_base::{ByteCursor, Error, Result};

/// Number of values in a written block, and of its miniblocks: the sizes of parquet-java, which all readers were tested with.
pub(super) const VALUES_PER_BLOCK: usize = 128;
pub(super) const MINIBLOCKS_PER_BLOCK: usize = 4;

/// The header of a stream of deltas.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    /// Number of values in a block.
    pub(super) block: usize,
    /// Number of miniblocks in a block.
    pub(super) miniblocks: usize,
    /// Number of values in the stream, including the first one.
    pub(super) count: usize,
    /// The first value; meaningless if `count` is 0.
    pub(super) first: i64,
}

impl Header {
    /// The header of an empty stream.
    pub(super) const EMPTY: Header =
        Header { block: VALUES_PER_BLOCK, miniblocks: MINIBLOCKS_PER_BLOCK, count: 0, first: 0 };

    /// Reads a header. Checks only what the arithmetic needs: miniblocks begin and end at whole bytes.
    pub(super) fn read(cursor: &mut ByteCursor<'_>) -> Result<Self> {
        let mut number = || -> Result<usize> { Ok(usize::try_from(cursor.uleb128()?).unwrap_or(usize::MAX)) };
        let (block, miniblocks, count) = (number()?, number()?, number()?);
        let header = Header { block, miniblocks, count, first: cursor.zigzag()? };
        match block.checked_div(miniblocks) {
            Some(size) if size > 0 && size.is_multiple_of(8) && block.is_multiple_of(miniblocks) => {
                Ok(header)
            }
            _ => Err(header.illegal()),
        }
    }

    /// SPEC: the values of a block are a multiple of 128, those of a miniblock a multiple of 32.
    pub(super) fn check(&self) -> Result<()> {
        match self.block.is_multiple_of(128) && (self.block / self.miniblocks).is_multiple_of(32) {
            true => Ok(()),
            false => Err(self.illegal()),
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        write_uleb128(self.block as u64, out);
        write_uleb128(self.miniblocks as u64, out);
        write_uleb128(self.count as u64, out);
        write_uleb128(zigzag(self.first), out);
    }

    /// The number of bytes that `write` appends.
    pub(super) fn size(&self) -> usize {
        [self.block, self.miniblocks, self.count]
            .iter()
            .map(|&number| uleb128_size(number as u64))
            .sum::<usize>()
            + uleb128_size(zigzag(self.first))
    }

    #[cold]
    fn illegal(&self) -> Error {
        Error::corrupt(format!("delta blocks of {} values in {} miniblocks", self.block, self.miniblocks))
    }
}
