//! Byte strings in the offset layout: all bytes end to end, and the offsets of the strings.
//!
//! ```text
//! offsets  0 | 4 | 4 | 9
//! bytes    axis|     |axles
//! ```
//!
//! It is the layout of Arrow's `Utf8` and `Binary`. Decoding to it costs one copy of the bytes; through `StringViews` it would
//! cost the views, too.

use crate::entry_offsets::EntryOffsets;
use marquetry_base::{Error, MemoryBudget, MemoryReservation, Result, reserve_if_available, try_reserve};
use marquetry_kernels::{self as kernels, Bitmap};
use std::ops::Range;

/// Byte strings stored end to end, of at most 2^32 - 1 bytes in total.
#[derive(Debug, Clone)]
pub struct OffsetStrings {
    /// Where each string begins, and where the last one ends. Ascending from 0.
    offsets: Vec<u32>,
    bytes: Vec<u8>,
    /// Maximum number of bytes of all strings.
    most: usize,
    /// Reservation of the memory of `bytes`.
    held: MemoryReservation,
}

impl Default for OffsetStrings {
    fn default() -> Self {
        let (most, held) = (u32::MAX as usize, MemoryReservation::default());
        OffsetStrings { offsets: vec![0], bytes: Vec::new(), most, held }
    }
}

impl PartialEq for OffsetStrings {
    fn eq(&self, other: &Self) -> bool {
        (&self.offsets, &self.bytes) == (&other.offsets, &other.bytes)
    }
}

impl Eq for OffsetStrings {}

impl OffsetStrings {
    /// Creates an empty list of strings.
    pub fn new() -> Self {
        OffsetStrings::default()
    }

    /// Creates an empty list of strings of at most `most` bytes in total. Their memory is reserved from `budget` before it is allocated.
    pub fn with_limits(most: usize, budget: &MemoryBudget) -> Self {
        let most = most.min(u32::MAX as usize);
        OffsetStrings { most, held: budget.empty(), ..OffsetStrings::default() }
    }

    /// Takes the reservation of the strings' memory. Strings appended afterwards are not counted.
    pub fn take_held(&mut self) -> MemoryReservation {
        std::mem::take(&mut self.held)
    }

    /// Extends the reservation to all allocated memory. A clone starts without a reservation and must call this.
    pub fn hold(&mut self) -> Result<()> {
        self.held.grow_to(self.bytes.capacity())
    }

    /// The number of strings.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no strings.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// String `i`.
    ///
    /// # Panics
    /// If there is no such string.
    pub fn get(&self, i: usize) -> &[u8] {
        &self.bytes[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// All strings in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|i| self.get(i))
    }

    /// Returns the offsets, one more than there are strings, and the bytes.
    pub fn into_parts(self) -> (Vec<u32>, Vec<u8>) {
        (self.offsets, self.bytes)
    }

    /// Removes all strings and keeps the memory.
    pub fn clear(&mut self) {
        self.offsets.truncate(1);
        self.bytes.clear();
    }

    /// Reserves memory for `n` more strings, but not for their bytes.
    pub fn reserve(&mut self, n: usize) {
        reserve_if_available(&mut self.offsets, n);
    }

    /// Reserves memory for `n` more bytes, if there is enough.
    pub fn reserve_bytes(&mut self, n: usize) {
        reserve_if_available(&mut self.bytes, n);
    }

    /// Appends `n` empty strings.
    pub fn push_nulls(&mut self, n: usize) {
        self.offsets.resize(self.offsets.len() + n, self.end());
    }

    /// The total length of the strings in `range`, in bytes.
    pub fn data_bytes(&self, range: Range<usize>) -> usize {
        (self.offsets[range.end] - self.offsets[range.start]) as usize
    }

    /// Appends strings that are stored end to end in `bytes`, which ends with the last of them.
    pub(crate) fn push_strings(&mut self, bytes: &[u8], lengths: &[u32]) -> Result<()> {
        self.make_room(bytes.len())?;
        self.bytes.extend_from_slice(bytes);
        let (first, end) = (self.offsets.len(), self.end());
        self.offsets.extend_from_slice(lengths);
        kernels::prefix_sum_u32(&mut self.offsets[first..], end, 0);
        debug_assert_eq!(self.end() as usize, self.bytes.len());
        Ok(())
    }

    /// Appends one string, the first `len` bytes of `padded`. There must be room for it.
    #[inline]
    pub(crate) fn push_padded(&mut self, padded: &[u8], len: usize) {
        kernels::push_padded(padded, len, &mut self.bytes);
        self.offsets.push(self.bytes.len() as u32);
    }

    /// Appends the next `n` PLAIN strings of `page[..len]` from `position` on. Returns the position after them, or
    /// `None` if one of them would end outside of the page.
    pub(crate) fn push_plain(
        &mut self,
        page: &[u8],
        len: usize,
        position: usize,
        n: usize,
    ) -> Result<Option<usize>> {
        // The appended bytes are all in the page, so the allocation is backed by input.
        let end = kernels::append_plain_strings(page, len, position, n, &mut self.offsets, &mut self.bytes);
        self.make_room(0)?;
        Ok(end)
    }

    /// Appends `n` copies of `string`.
    pub(crate) fn push_repeated(&mut self, string: &[u8], n: usize) -> Result<()> {
        let (start, len, total) = (self.bytes.len(), string.len(), string.len().saturating_mul(n));
        self.make_room(total)?;
        while self.bytes.len() < start + total {
            match self.bytes.len() - start {
                0 => self.bytes.extend_from_slice(string),
                // Doubles the copies made so far.
                copied => self.bytes.extend_from_within(start..start + copied.min(total - copied)),
            }
        }
        self.offsets.extend((1..=n).map(|i| (start + i * len) as u32));
        Ok(())
    }

    /// Whether `more` bytes fit without allocating.
    pub(crate) fn has_room(&self, more: usize) -> bool {
        self.bytes.len() + more + kernels::LONG_COPY_BYTES <= self.bytes.capacity().min(self.most)
    }

    /// Appends copies of the strings at `indices` of a dictionary, at most `room` bytes in total.
    pub(crate) fn push_entries(&mut self, of: &EntryOffsets, indices: &[u32], room: usize) -> Result<()> {
        if room == 0 {
            // PERF: the strings of many columns are mostly empty.
            self.push_nulls(indices.len());
            return Ok(());
        }
        self.make_room(room)?;
        let (page, offsets) = (of.page.padded(), &mut self.offsets);
        kernels::gather_strings(&of.entries, page, indices, room, offsets, &mut self.bytes);
        Ok(())
    }

    /// Appends copies of the strings in `range` of `other`.
    pub(crate) fn push_range(&mut self, other: &OffsetStrings, range: Range<usize>) {
        let end = self.end();
        let (first, last) = (other.offsets[range.start], other.offsets[range.end]);
        self.bytes.extend_from_slice(&other.bytes[first as usize..last as usize]);
        self.offsets.extend(other.offsets[range.start + 1..=range.end].iter().map(|&at| at - first + end));
    }

    /// Appends copies of those of `other`'s strings whose bit in `keep` is 1; bit `first` belongs to the first string.
    pub(crate) fn push_filtered(&mut self, other: &OffsetStrings, keep: &[u8], first: usize) -> Result<()> {
        let mut ends = Vec::new();
        kernels::filter_u32(&other.offsets[1..], keep, first, &mut ends);
        let mut begins = Vec::with_capacity(ends.len());
        kernels::filter_u32(&other.offsets[..other.len()], keep, first, &mut begins);
        self.make_room(begins.iter().zip(&ends).map(|(begin, end)| (end - begin) as usize).sum())?;
        self.offsets.reserve(ends.len());
        // PERF: runs of selected strings are not copied as a whole, because they have been decoded as runs already, see `core::read`.
        for (begin, end) in begins.into_iter().zip(ends) {
            self.push_padded(&other.bytes[begin as usize..], (end - begin) as usize);
        }
        Ok(())
    }

    /// Lends the bytes to the empty `dense`, so that strings are decoded behind them; or takes them back.
    pub(crate) fn swap_bytes(&mut self, dense: &mut OffsetStrings) {
        std::mem::swap(&mut self.bytes, &mut dense.bytes);
        std::mem::swap(&mut self.held, &mut dense.held);
        std::mem::swap(&mut self.most, &mut dense.most);
        dense.offsets[0] = self.end();
    }

    /// Appends one slot for each of the `n` bits of `validity` from bit `first` on: the next string of `dense` for a 1,
    /// an empty string for a 0. The bytes of `dense` are here already, see [`swap_bytes`](Self::swap_bytes).
    pub(crate) fn push_spaced(&mut self, dense: &OffsetStrings, validity: &Bitmap, first: usize, n: usize) {
        kernels::expand_ends(&dense.offsets, validity, first, n, &mut self.offsets);
    }

    /// Returns the index of the first string in `range` that is not UTF-8, if any.
    ///
    /// PERF: validates all strings at once, then checks that no boundary between them is inside of a character.
    pub fn first_not_utf8(&self, range: Range<usize>) -> Option<usize> {
        let cuts = &self.offsets[range.start..=range.end];
        let text = &self.bytes[cuts[0] as usize..cuts[range.len()] as usize];
        let begins = |&at: &u32| self.bytes.get(at as usize).is_none_or(|byte| byte & 0xc0 != 0x80);
        if text.is_ascii() || simdutf8::basic::from_utf8(text).is_ok() && cuts.iter().all(begins) {
            return None;
        }
        range.into_iter().find(|&i| simdutf8::basic::from_utf8(self.get(i)).is_err())
    }

    /// Makes room for `more` bytes. Fails if they exceed the maximum of this value, the memory budget or the available memory.
    pub(crate) fn make_room(&mut self, more: usize) -> Result<()> {
        let total = self.bytes.len().saturating_add(more);
        if total > self.most {
            return Err(too_many(total, self.most));
        }
        if total + kernels::LONG_COPY_BYTES > self.bytes.capacity() {
            self.held.grow_to(total)?;
            // A long string that a dictionary repeats can exceed any memory: an error, not an abort.
            try_reserve(&mut self.bytes, more + kernels::LONG_COPY_BYTES)?;
        }
        self.hold()
    }

    fn end(&self) -> u32 {
        *self.offsets.last().expect("the first offset is always there")
    }
}

#[cold]
fn too_many(total: usize, most: usize) -> Error {
    let raise = if most < u32::MAX as usize { "raise Limits::batch_bytes" } else { "as views" };
    Error::limit(format!(
        "{total} bytes of strings in one array, over {most}; read smaller batches, or {raise}"
    ))
}

impl<T: AsRef<[u8]>> FromIterator<T> for OffsetStrings {
    fn from_iter<I: IntoIterator<Item = T>>(strings: I) -> Self {
        let mut out = OffsetStrings::new();
        for string in strings {
            out.bytes.extend_from_slice(string.as_ref());
            out.offsets.push(out.bytes.len() as u32);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_are_empty_strings() {
        let mut out = OffsetStrings::from_iter(["first"]);
        let mut dense = OffsetStrings::new();
        out.swap_bytes(&mut dense);
        dense.push_strings(b"axisaxles", &[4, 5]).unwrap();
        out.swap_bytes(&mut dense);
        let validity: Bitmap = [true, false, true, false, true].into_iter().collect();
        out.push_spaced(&dense, &validity, 1, 4);
        out.push_nulls(1);
        assert_eq!(out, OffsetStrings::from_iter(["first", "", "axis", "", "axles", ""]));
    }

    #[test]
    fn what_is_kept_is_copied() {
        let words = ["one", "", "three", "four", "", "six", "seven"];
        let all = OffsetStrings::from_iter(words);
        for keep in 0u8..=127 {
            let mut out = OffsetStrings::from_iter(["before"]);
            out.push_filtered(&all, &[keep << 1], 1).unwrap();
            let kept = (0..7).filter(|i| keep >> i & 1 == 1).map(|i| words[i]);
            assert_eq!(out, ["before"].into_iter().chain(kept).collect());
        }
    }

    #[test]
    fn text_is_looked_at_as_a_whole_and_at_its_seams() {
        let text = "größer als zwölf";
        let within = text.find('ö').unwrap() + 1;
        assert_eq!(OffsetStrings::from_iter([text, "", text]).first_not_utf8(0..3), None);
        let cut = OffsetStrings::from_iter([
            text.as_bytes(),
            &text.as_bytes()[..within],
            &text.as_bytes()[within..],
        ]);
        assert_eq!(cut.first_not_utf8(0..1), None);
        assert_eq!(cut.first_not_utf8(0..3), Some(1));
        assert_eq!(cut.first_not_utf8(2..3), Some(2));
        assert_eq!(OffsetStrings::from_iter([b"a".as_slice(), b"\xff", b"b"]).first_not_utf8(0..3), Some(1));
    }
}
