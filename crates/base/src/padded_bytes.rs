//! Page bytes with readable padding after them, so that kernels may load whole words at the end.

use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// Number of bytes that can be read past the logical end of [`PaddedBytes`].
pub const PADDING: usize = 64;

/// The bytes of a page (or a part of one), followed by at least [`PADDING`] readable bytes of unknown content.
///
/// Kernels load whole words without a bounds check per value; the padding keeps these loads in bounds. Clones and slices share the memory.
///
/// INVARIANT: `padded.len() >= len + PADDING`.
///
/// ```
/// use marquetry_base::{PaddedBytes, PADDING};
/// let page = PaddedBytes::from(vec![1, 2, 3]);
/// assert_eq!(page.as_slice(), [1, 2, 3]);
/// assert!(page.padded().len() >= 3 + PADDING);
/// assert_eq!(page.slice(1..3).as_slice(), [2, 3]);
/// ```
#[derive(Clone)]
pub struct PaddedBytes {
    padded: Bytes,
    len: usize,
    /// The vector that `padded` refers to, if it was created from one.
    vector: Option<Arc<Vec<u8>>>,
}

/// A vector that [`Bytes`] refers to.
struct Shared(Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl PaddedBytes {
    /// Returns the bytes `range` of `file`. They are shared if `file` has enough bytes after the range, and copied otherwise.
    ///
    /// # Panics
    /// If the range is not inside `file`.
    pub fn from_file_range(file: &Bytes, range: Range<usize>) -> Self {
        let len = range.len();
        let padded_end = range.end + PADDING;
        if padded_end <= file.len() {
            return PaddedBytes { padded: file.slice(range.start..padded_end), len, vector: None };
        }
        PaddedBytes::copy_of(&file[range])
    }

    /// Copies `bytes` and adds padding.
    pub fn copy_of(bytes: &[u8]) -> Self {
        let mut padded = Vec::with_capacity(bytes.len() + PADDING);
        padded.extend_from_slice(bytes);
        PaddedBytes::from(padded)
    }

    /// Wraps the first `len` bytes of a vector. The bytes after them serve as padding, which is appended if they are too few.
    ///
    /// # Panics
    /// If the vector is shorter than `len`.
    pub fn from_start(mut bytes: Vec<u8>, len: usize) -> Self {
        assert!(len <= bytes.len(), "{len} of {} page bytes", bytes.len());
        if bytes.len() < len + PADDING {
            bytes.resize(len + PADDING, 0);
        }
        let vector = Arc::new(bytes);
        PaddedBytes { padded: Bytes::from_owner(Shared(vector.clone())), len, vector: Some(vector) }
    }

    /// The bytes, without the padding.
    pub fn as_slice(&self) -> &[u8] {
        &self.padded[..self.len]
    }

    /// The bytes and the padding after them: at least [`PADDING`] bytes longer than [`as_slice`](Self::as_slice). The
    /// content of the padding is unspecified.
    pub fn padded(&self) -> &[u8] {
        &self.padded
    }

    /// The number of bytes, without the padding.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns a part that shares this memory. The bytes after it serve as its padding.
    ///
    /// # Panics
    /// If the range is not inside the bytes.
    pub fn slice(&self, range: Range<usize>) -> Self {
        assert!(range.end <= self.len, "slice {range:?} of {} page bytes", self.len);
        PaddedBytes {
            len: range.len(),
            padded: self.padded.slice(range.start..),
            vector: self.vector.clone(),
        }
    }

    /// Joins these bytes and those of `next`, if `next` directly follows in memory.
    pub fn try_join(&self, next: &PaddedBytes) -> Option<PaddedBytes> {
        let len = self.len + next.len;
        let follows = std::ptr::eq(self.padded[self.len..].as_ptr(), next.padded.as_ptr());
        (follows && self.padded.len() >= len + PADDING).then(|| PaddedBytes { len, ..self.clone() })
    }

    /// The bytes as a shared buffer, without the padding.
    pub fn to_bytes(&self) -> Bytes {
        self.padded.slice(..self.len)
    }

    /// Returns the vector that this was created from, with its padding, if nothing else refers to it.
    ///
    /// PERF: `Bytes` would copy the content to return it as a vector.
    pub fn try_into_vec(self) -> Option<Vec<u8>> {
        let PaddedBytes { padded, vector, .. } = self;
        drop(padded);
        Arc::try_unwrap(vector?).ok()
    }
}

impl From<Vec<u8>> for PaddedBytes {
    /// Takes the vector and appends the padding, in place if its capacity allows.
    fn from(bytes: Vec<u8>) -> Self {
        let len = bytes.len();
        PaddedBytes::from_start(bytes, len)
    }
}

impl From<&[u8]> for PaddedBytes {
    fn from(bytes: &[u8]) -> Self {
        PaddedBytes::copy_of(bytes)
    }
}

impl std::fmt::Debug for PaddedBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PaddedBytes({} bytes)", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_with_enough_bytes_after_it_is_shared() {
        let file = Bytes::from(vec![7u8; 200]);
        let shared = PaddedBytes::from_file_range(&file, 10..20);
        assert_eq!(shared.as_slice().as_ptr(), file[10..].as_ptr());
        let copied = PaddedBytes::from_file_range(&file, 190..200);
        assert_eq!(copied.as_slice(), &file[190..200]);
        assert!(copied.padded().len() >= 10 + PADDING);
    }

    #[test]
    fn the_rest_of_a_vector_is_padding() {
        let page = PaddedBytes::from_start((0..100).collect(), 20);
        assert_eq!(page.as_slice(), (0..20).collect::<Vec<u8>>());
        assert_eq!(page.try_into_vec().unwrap(), (0..100).collect::<Vec<u8>>());
        let page = PaddedBytes::from_start((0..100).collect(), 99);
        assert_eq!((page.len(), page.padded().len()), (99, 99 + PADDING));
    }

    #[test]
    fn slices_keep_the_padding() {
        let page = PaddedBytes::from((0..100).collect::<Vec<u8>>());
        let part = page.slice(40..100);
        assert_eq!(part.len(), 60);
        assert!(part.padded().len() >= 60 + PADDING);
        assert_eq!(part.slice(0..0).len(), 0);
    }

    #[test]
    fn parts_that_follow_each_other_are_one() {
        let page = PaddedBytes::from((0..100).collect::<Vec<u8>>());
        let [a, b, c] = [0..40, 40..60, 60..100].map(|range| page.slice(range));
        let ab = a.try_join(&b).unwrap();
        assert_eq!(ab.as_slice(), page.slice(0..60).as_slice());
        assert_eq!(ab.try_join(&c).unwrap().as_slice(), page.as_slice());
        assert!(a.try_join(&c).is_none());
        assert!(b.try_join(&a).is_none());
        assert!(a.try_join(&PaddedBytes::copy_of(b.as_slice())).is_none());
    }
}
