//! Sources of bytes: a length, and positioned reads.

mod coalesce;
mod metered;

pub use coalesce::CoalesceOptions;
pub use metered::MeteredSource;

use bytes::{Bytes, BytesMut};
use marquetry_base::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// A file, or anything else of known length that can be read at any position, by several threads at the same time.
pub trait Source: Send + Sync {
    /// Returns the number of bytes.
    fn len(&self) -> u64;

    /// Returns the `len` bytes from `offset` on. Fails if they are not all there.
    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes>;

    /// Like [`read_at`](Self::read_at), but may reuse `memory`, which the caller no longer needs, whatever it contains.
    fn read_at_reusing(&self, offset: u64, len: usize, memory: BytesMut) -> Result<Bytes> {
        drop(memory);
        self.read_at(offset, len)
    }

    /// Returns the bytes of each of `ranges`, in their order. They may overlap, and be empty. Fails if any are not all
    /// there.
    ///
    /// By default the ranges are read one after the other. Sources can do better that have several reads under way at
    /// once, such as `io_uring` and object stores, or that advise a mapped file.
    ///
    /// ```
    /// use bytes::Bytes;
    /// use marquetry_core::source::Source;
    /// let parts = Bytes::from_static(b"PAR1....PAR1").read_ranges(&[8..12, 0..4])?;
    /// assert_eq!(parts, [&b"PAR1"[..], b"PAR1"]);
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let len =
            |range: &Range<u64>| usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        ranges.iter().map(|range| self.read_at(range.start, len(range))).collect()
    }

    /// Whether there are no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many of the `len` bytes from `offset` on to read for now, for a caller that can work with fewer: at
    /// least 1; more than `len` counts as `len`. A source that has some of the bytes already, and would have to fetch
    /// the others, returns the number that it has.
    fn available(&self, offset: u64, len: usize) -> usize {
        let _ = offset;
        len
    }

    /// Returns the cost of a request, if it is so high that planning reads, and [prefetching](Self::prefetch) them,
    /// pays: such a source is remote.
    fn request_cost(&self) -> Option<CoalesceOptions> {
        None
    }

    /// Announces which bytes will be read soon, replacing earlier announcements. A remote source fetches those that it
    /// does not have together, as far as they are in the file, and drops others; other sources do nothing. Fails only
    /// if fetching does.
    fn prefetch(&self, ranges: &[Range<u64>]) -> Result<()> {
        let _ = ranges;
        Ok(())
    }
}

/// A pointer to a source is the same source.
macro_rules! delegate {
    ($($pointer:ty),*) => {$(
        impl<T: Source + ?Sized> Source for $pointer {
            fn len(&self) -> u64 {
                (**self).len()
            }

            fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
                (**self).read_at(offset, len)
            }

            fn read_at_reusing(&self, offset: u64, len: usize, memory: BytesMut) -> Result<Bytes> {
                (**self).read_at_reusing(offset, len, memory)
            }

            fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
                (**self).read_ranges(ranges)
            }

            fn available(&self, offset: u64, len: usize) -> usize {
                (**self).available(offset, len)
            }

            fn request_cost(&self) -> Option<CoalesceOptions> {
                (**self).request_cost()
            }

            fn prefetch(&self, ranges: &[Range<u64>]) -> Result<()> {
                (**self).prefetch(ranges)
            }
        }
    )*};
}

delegate!(&T, Box<T>, Arc<T>);

/// Bytes in memory, or that look as if they were: nothing is copied. So a file may be memory-mapped, if it is
/// guaranteed that nobody truncates or changes it in the meantime.
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

/// Returns the error of a [`Source`] for a read of `len` bytes past its end.
#[cold]
pub fn outside(offset: u64, len: usize, file_len: u64) -> Error {
    Error::truncated(format!("{len} bytes wanted from byte {offset} on, the file has {file_len}")).at(offset)
}
