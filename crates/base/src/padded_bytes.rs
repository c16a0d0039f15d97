//! Page bytes with readable slack behind them, so that kernels may load whole words at the end.

use bytes::Bytes;
use std::ops::Range;

/// How many bytes can be read past the logical end of [`PaddedBytes`].
pub const PADDING: usize = 64;

/// The bytes of a page (or a part of one), followed by at least [`PADDING`] readable bytes of unknown content.
///
/// Kernels load whole words and never ask per value whether the page ends; this type is why that is in bounds. Cloning
/// and slicing share the memory.
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
}

impl PaddedBytes {
    /// The bytes `range` of `file`: shared where `file` itself has enough bytes behind the range, copied where not.
    ///
    /// # Panics
    /// If the range is not inside `file`.
    pub fn within(file: &Bytes, range: Range<usize>) -> Self {
        let len = range.len();
        let padded_end = range.end + PADDING;
        if padded_end <= file.len() {
            return PaddedBytes { padded: file.slice(range.start..padded_end), len };
        }
        PaddedBytes::copy_of(&file[range])
    }

    /// A copy of `bytes` with slack behind it.
    pub fn copy_of(bytes: &[u8]) -> Self {
        let mut padded = Vec::with_capacity(bytes.len() + PADDING);
        padded.extend_from_slice(bytes);
        PaddedBytes::from(padded)
    }

    /// The bytes, without the slack.
    pub fn as_slice(&self) -> &[u8] {
        &self.padded[..self.len]
    }

    /// The bytes and the slack behind them: at least [`PADDING`] bytes longer than [`as_slice`](Self::as_slice). What
    /// the slack holds is unspecified.
    pub fn padded(&self) -> &[u8] {
        &self.padded
    }

    /// How many bytes, without the slack.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A part that shares this memory; what follows it serves as its slack.
    ///
    /// # Panics
    /// If the range is not inside the bytes.
    pub fn slice(&self, range: Range<usize>) -> Self {
        assert!(range.end <= self.len, "slice {range:?} of {} page bytes", self.len);
        PaddedBytes { len: range.len(), padded: self.padded.slice(range.start..) }
    }

    /// These bytes and those of `next`, if that is the memory right behind them.
    pub fn followed_by(&self, next: &PaddedBytes) -> Option<PaddedBytes> {
        let len = self.len + next.len;
        let follows = std::ptr::eq(self.padded[self.len..].as_ptr(), next.padded.as_ptr());
        (follows && self.padded.len() >= len + PADDING)
            .then(|| PaddedBytes { padded: self.padded.clone(), len })
    }

    /// The bytes as a shared buffer, without the slack.
    pub fn to_bytes(&self) -> Bytes {
        self.padded.slice(..self.len)
    }

    /// The memory itself, with what is in it, if nothing else refers to it and it is this value's own.
    pub fn into_unshared(self) -> Option<Vec<u8>> {
        Some(Vec::from(self.padded.try_into_mut().ok()?))
    }
}

impl From<Vec<u8>> for PaddedBytes {
    /// Takes the vector; appends the slack, in place where its capacity allows.
    fn from(mut bytes: Vec<u8>) -> Self {
        let len = bytes.len();
        bytes.resize(len + PADDING, 0);
        PaddedBytes { padded: Bytes::from(bytes), len }
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
    fn a_range_with_enough_behind_it_is_shared() {
        let file = Bytes::from(vec![7u8; 200]);
        let shared = PaddedBytes::within(&file, 10..20);
        assert_eq!(shared.as_slice().as_ptr(), file[10..].as_ptr());
        let copied = PaddedBytes::within(&file, 190..200);
        assert_eq!(copied.as_slice(), &file[190..200]);
        assert!(copied.padded().len() >= 10 + PADDING);
    }

    #[test]
    fn slices_keep_the_slack() {
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
        let ab = a.followed_by(&b).unwrap();
        assert_eq!(ab.as_slice(), page.slice(0..60).as_slice());
        assert_eq!(ab.followed_by(&c).unwrap().as_slice(), page.as_slice());
        assert!(a.followed_by(&c).is_none());
        assert!(b.followed_by(&a).is_none());
        assert!(a.followed_by(&PaddedBytes::copy_of(b.as_slice())).is_none());
    }
}
