//! Values of one width: INT96 and FIXED_LEN_BYTE_ARRAY.

use marquetry_base::{PaddedBytes, Result, reserve_if_available, try_reserve};
use marquetry_kernels::{self as kernels, Bitmap};
use std::borrow::Cow;
use std::ops::Range;

/// Values of the same width, end to end. The number of values is stored separately, because the width may be 0.
#[derive(Debug, Clone, Default)]
pub struct FixedLenBytes {
    width: usize,
    len: usize,
    /// The leading values, owned.
    bytes: Vec<u8>,
    /// The values after them, still in the page. PERF: most are converted next and need no copy until then.
    stored: Option<PaddedBytes>,
    /// Capacity of `bytes` to reserve at the next copy.
    room: usize,
}

impl FixedLenBytes {
    /// Number of values in a [block](FixedLenBytes::blocks): a 64-bit word has a bit for each.
    pub const BLOCK: usize = 64;

    /// Creates an empty buffer for values of `width` bytes.
    pub fn new(width: usize) -> Self {
        FixedLenBytes { width, ..FixedLenBytes::default() }
    }

    /// Creates a buffer of the values in `bytes`, end to end.
    ///
    /// # Panics
    /// If `bytes` is not a whole number of values, or `width` is 0.
    pub fn from_bytes(width: usize, bytes: Vec<u8>) -> Self {
        assert!(bytes.len().is_multiple_of(width));
        FixedLenBytes { width, len: bytes.len() / width, bytes, ..FixedLenBytes::default() }
    }

    /// The width of a value in bytes.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Value `i`.
    pub fn get(&self, i: usize) -> &[u8] {
        let at = i * self.width;
        match (at.checked_sub(self.bytes.len()), &self.stored) {
            (Some(at), Some(stored)) => &stored.as_slice()[at..][..self.width],
            _ => &self.bytes[at..][..self.width],
        }
    }

    /// Returns all values, end to end. They are copied if they are in two places.
    pub fn as_bytes(&self) -> Cow<'_, [u8]> {
        match self.parts() {
            [bytes, []] | [[], bytes] => Cow::Borrowed(bytes),
            parts => Cow::Owned(parts.concat()),
        }
    }

    fn parts(&self) -> [&[u8]; 2] {
        [&self.bytes, self.stored.as_ref().map_or(&[], PaddedBytes::as_slice)]
    }

    /// Returns the values in blocks of up to [`FixedLenBytes::BLOCK`]; `None` if they are not `N` bytes wide.
    ///
    /// PERF: prefetches the next values, because a CPU that is busy converting values does not read far ahead.
    pub fn blocks<const N: usize>(&self) -> Option<impl Iterator<Item = &[[u8; N]]>> {
        let blocks = self.parts().into_iter().flat_map(|part| {
            let (values, _) = part.as_chunks();
            values.chunks(Self::BLOCK).enumerate().map(move |(i, block)| {
                let ahead = i * Self::BLOCK + PREFETCH_DISTANCE_BYTES / N;
                let ahead = values.get(ahead..).unwrap_or_default();
                kernels::prefetch(ahead[..ahead.len().min(Self::BLOCK)].as_flattened());
                block
            })
        });
        (self.width == N).then_some(blocks)
    }

    /// Returns all values, end to end, owned.
    pub fn into_bytes(mut self) -> Vec<u8> {
        std::mem::take(self.owned())
    }

    /// Removes all values and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.stored = None;
        self.room = 0;
        self.len = 0;
    }

    /// Requests memory for `n` more values, which is reserved at the next copy.
    pub(crate) fn reserve(&mut self, n: usize) {
        self.room = self.bytes.len().saturating_add(n.saturating_mul(self.width));
    }

    /// Makes room for `n` more values. Fails if there is no memory for them.
    pub(crate) fn try_make_room(&mut self, n: usize) -> Result<()> {
        let more = n.saturating_mul(self.width);
        try_reserve(self.owned(), more)
    }

    /// The bytes of all values, to append to.
    #[inline]
    fn owned(&mut self) -> &mut Vec<u8> {
        if self.stored.is_some() || self.room > 0 {
            self.settle();
        }
        &mut self.bytes
    }

    /// Copies the values that are still in a page, and reserves the requested memory.
    fn settle(&mut self) {
        let stored = self.stored.take();
        let more = std::mem::take(&mut self.room).saturating_sub(self.bytes.len());
        reserve_if_available(&mut self.bytes, more);
        self.bytes.extend_from_slice(stored.as_ref().map_or(&[], PaddedBytes::as_slice));
    }

    /// Appends `n` values, whose bytes `fill` appends.
    ///
    /// # Panics
    /// If `fill` appends a wrong number of bytes.
    #[inline]
    pub fn push_with(&mut self, n: usize, fill: impl FnOnce(&mut Vec<u8>)) {
        let (width, bytes) = (self.width, self.owned());
        let end = bytes.len() + n * width;
        fill(bytes);
        assert_eq!(bytes.len(), end, "{n} values of {width} bytes");
        self.len += n;
    }

    /// Appends one value.
    ///
    /// # Panics
    /// If its width is wrong.
    #[inline]
    pub fn push(&mut self, value: &[u8]) {
        self.push_with(1, |bytes| bytes.extend_from_slice(value));
    }

    /// Appends the `n` values in bytes `range` of `page`.
    ///
    /// They stay in the page until something else is appended. The last values of a page are copied right away, so that
    /// its memory is free for the next page.
    ///
    /// # Panics
    /// If the range is not as long as `n` values.
    pub(crate) fn push_stored(&mut self, n: usize, page: &PaddedBytes, range: Range<usize>) {
        assert_eq!(range.len(), n * self.width, "{n} values of {} bytes", self.width);
        let is_last = range.end == page.len();
        let next = page.slice(range);
        let stored = match &self.stored {
            _ if is_last || next.len() < MIN_SHARED_BYTES => None,
            Some(stored) => stored.try_join(&next),
            None => Some(next.clone()),
        };
        match (stored, &self.stored) {
            (Some(stored), _) => self.stored = Some(stored),
            (None, Some(_)) => self.owned().extend_from_slice(next.as_slice()),
            // Appends without `owned`, which would reserve room for values that may stay in the next page.
            (None, None) => self.bytes.extend_from_slice(next.as_slice()),
        }
        self.len += n;
    }

    pub(crate) fn push_nulls(&mut self, n: usize) {
        let zeros = n * self.width;
        self.push_with(n, |bytes| bytes.resize(bytes.len() + zeros, 0));
    }

    pub(crate) fn push_range(&mut self, other: &FixedLenBytes, range: Range<usize>) {
        let width = other.width;
        let bytes = other.as_bytes();
        let bytes = &bytes[range.start * width..range.end * width];
        self.push_with(range.len(), |out| out.extend_from_slice(bytes));
    }

    /// Appends one slot for each of the `n` bits of `validity` from bit `first` on: the next value of `dense` for a 1, zeros for a 0.
    pub(crate) fn push_spaced(&mut self, dense: &[u8], validity: &Bitmap, first: usize, n: usize) {
        let width = self.width;
        self.push_with(n, |out| kernels::expand_fixed(dense, width, validity, first, n, out));
    }

    /// Appends those of `values` whose bit in `keep` is 1; bit `first` belongs to the first value.
    pub(crate) fn push_filtered(&mut self, values: &FixedLenBytes, keep: &Bitmap, first: usize) {
        let kept = keep.count_ones(first..first + values.len);
        self.push_with(kept, |out| {
            kernels::filter_fixed(&values.as_bytes(), values.width, keep.as_bytes(), first, out);
        });
    }
}

/// Values are compared wherever they are stored.
impl PartialEq for FixedLenBytes {
    fn eq(&self, other: &Self) -> bool {
        (self.width, self.len) == (other.width, other.len) && self.as_bytes() == other.as_bytes()
    }
}

impl Eq for FixedLenBytes {}

/// Distance in bytes at which values are prefetched.
const PREFETCH_DISTANCE_BYTES: usize = 4 << 10;
/// Size in bytes from which a copy costs more than sharing the page.
const MIN_SHARED_BYTES: usize = 1 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_page_are_copied_when_they_have_to_be() {
        let bytes: Vec<u8> = (0..4 * MIN_SHARED_BYTES).map(|i| (i / 7) as u8).collect();
        let page = PaddedBytes::copy_of(&bytes);
        let mut values = FixedLenBytes::new(4);
        let push = |values: &mut FixedLenBytes, range: Range<usize>| {
            values.push_stored(range.len() / 4, &page, range.clone());
            assert_eq!(values.as_bytes().len(), 4 * values.len());
        };
        push(&mut values, 0..MIN_SHARED_BYTES);
        assert_eq!(values.as_bytes().as_ptr(), page.as_slice().as_ptr());
        push(&mut values, MIN_SHARED_BYTES..2 * MIN_SHARED_BYTES);
        assert_eq!(values.as_bytes().as_ptr(), page.as_slice().as_ptr());
        assert_eq!(values.as_bytes(), &bytes[..2 * MIN_SHARED_BYTES]);
        // Values in two places: the last of one page were copied, the first of the next one are still in their page.
        let mut apart = FixedLenBytes::new(4);
        push(&mut apart, 3 * MIN_SHARED_BYTES..4 * MIN_SHARED_BYTES);
        push(&mut apart, MIN_SHARED_BYTES..2 * MIN_SHARED_BYTES);
        assert_eq!(apart.parts().map(<[u8]>::len), [MIN_SHARED_BYTES, MIN_SHARED_BYTES]);
        let both = [&bytes[3 * MIN_SHARED_BYTES..], &bytes[MIN_SHARED_BYTES..2 * MIN_SHARED_BYTES]].concat();
        assert_eq!(apart, FixedLenBytes::from_bytes(4, both.clone()));
        assert!((0..apart.len()).all(|i| *apart.get(i) == both[4 * i..4 * i + 4]));
        assert_eq!(apart.blocks::<4>().unwrap().collect::<Vec<_>>().concat().as_flattened(), both);
        assert!(apart.blocks::<3>().is_none());
        assert_eq!(apart.into_bytes(), both);
        // Values that do not follow those in the page are copied.
        let mut apart = values.clone();
        push(&mut apart, 0..MIN_SHARED_BYTES);
        assert_eq!(apart.as_bytes(), [&bytes[..2 * MIN_SHARED_BYTES], &bytes[..MIN_SHARED_BYTES]].concat());
        assert_eq!((apart.len(), apart == values), (3 * MIN_SHARED_BYTES / 4, false));
        // The last values of the page are copied.
        push(&mut values, 2 * MIN_SHARED_BYTES..4 * MIN_SHARED_BYTES);
        assert_eq!(values, FixedLenBytes::from_bytes(4, bytes.clone()));
        assert_eq!(values.into_bytes(), bytes);
        // Appending anything else copies the values that are in a page.
        let mut values = FixedLenBytes::new(4);
        push(&mut values, MIN_SHARED_BYTES..2 * MIN_SHARED_BYTES);
        values.push_nulls(1);
        values.push(&[1, 2, 3, 4]);
        assert_eq!(
            values.as_bytes(),
            [&bytes[MIN_SHARED_BYTES..2 * MIN_SHARED_BYTES], &[0, 0, 0, 0, 1, 2, 3, 4]].concat()
        );
        assert_eq!(values.get(values.len() - 1), [1, 2, 3, 4]);
        values.clear();
        assert!(values.is_empty() && values.as_bytes().is_empty());
    }
}
