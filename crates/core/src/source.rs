//! Where bytes come from: a length, and positioned reads.

mod cost;

pub use cost::CoalesceOptions;

use bytes::{Bytes, BytesMut};
use marquetry_base::{Error, Result};
use std::ops::Range;

/// A file, or anything else of known length that can be read at any position, by several threads at a time.
pub trait Source: Send + Sync {
    /// How many bytes there are.
    fn len(&self) -> u64;

    /// The `len` bytes from `offset` on. Fails if they are not all there.
    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes>;

    /// [`read_at`](Self::read_at) into memory that the caller has no more use for, by a source that needs any. What is in
    /// it does not matter.
    fn read_again(&self, offset: u64, len: usize, memory: BytesMut) -> Result<Bytes> {
        drop(memory);
        self.read_at(offset, len)
    }

    /// Whether there are no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many of the `len` bytes from `offset` on to read for now, by who can go on with fewer: at least 1. A source
    /// that has some of them already, and would have to fetch the others, says how many it has.
    fn at_hand(&self, offset: u64, len: usize) -> usize {
        let _ = offset;
        len
    }

    /// What a request costs, if that is so much that it pays to find out what will be read, and to
    /// [say so](Self::will_read) before it is read: such a source is far.
    fn request_cost(&self) -> Option<CoalesceOptions> {
        None
    }

    /// Says which bytes will be read soon, instead of what was said before. A source that is far fetches those that it does
    /// not have together, as far as they are in the file, and forgets others; other sources do nothing. Fails only if
    /// fetching does.
    fn will_read(&self, ranges: &[Range<u64>]) -> Result<()> {
        let _ = ranges;
        Ok(())
    }
}

/// Bytes that are in memory, or look as if they were: nothing is copied. So a file may be mapped, by who can promise that
/// nobody cuts it off or changes it in the meantime.
///
/// ```
/// use bytes::Bytes;
/// use marquetry_core::io::read_metadata;
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// let file = std::fs::File::open(path)?;
/// // SAFETY: nobody changes the file while it is mapped.
/// let mapped = Bytes::from_owner(unsafe { memmap2::Mmap::map(&file)? });
/// assert!(read_metadata(&mapped, &Default::default())?.metadata.num_rows() > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Source for Bytes {
    fn len(&self) -> u64 {
        self.as_ref().len() as u64
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        match start.checked_add(len) {
            Some(end) if end <= self.as_ref().len() => Ok(self.slice(start..end)),
            _ => Err(outside(offset, len, self.as_ref().len() as u64)),
        }
    }
}

/// The error for a read past the end.
#[cold]
pub(crate) fn outside(offset: u64, len: usize, file_len: u64) -> Error {
    Error::truncated(format!("{len} bytes wanted from byte {offset} on, the file has {file_len}")).at(offset)
}
