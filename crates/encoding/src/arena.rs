//! Collects copies of byte strings in a few buffers, each filled up before the next.

use bytes::{Bytes, BytesMut};
use marquetry_base::{Result, try_reserve_exact};
use marquetry_kernels::{view_bytes, view_is_inline, view_len};

/// Appends strings to `StringViews`. Meanwhile the last buffer is open: it is filled up if it is not shared and has
/// room, so that small calls do not leave a buffer each.
///
/// INVARIANT: buffers never move their strings; they grow only within their capacity.
#[derive(Debug)]
pub(crate) struct StringArena<'a> {
    views: &'a mut Vec<u128>,
    sealed: &'a mut Vec<Bytes>,
    /// The open buffer. Its number is the number of sealed buffers.
    last: BytesMut,
    is_last_there: bool,
    /// Bytes of long strings that are still announced.
    expected: usize,
}

impl<'a> StringArena<'a> {
    /// Opens the last buffer. It is put back only by [`close`](Self::close).
    pub(crate) fn open(views: &'a mut Vec<u128>, sealed: &'a mut Vec<Bytes>) -> Self {
        match sealed.pop().map(Bytes::try_into_mut) {
            Some(Ok(last)) => StringArena { views, sealed, last, is_last_there: true, expected: 0 },
            Some(Err(shared)) => {
                sealed.push(shared);
                StringArena { views, sealed, last: BytesMut::new(), is_last_there: false, expected: 0 }
            }
            None => StringArena { views, sealed, last: BytesMut::new(), is_last_there: false, expected: 0 },
        }
    }

    /// Puts the open buffer back.
    pub(crate) fn close(self) {
        if self.is_last_there {
            self.sealed.push(self.last.freeze());
        }
    }

    /// Announces long strings of `bytes` in total, so that the next buffer is large enough for them.
    pub(crate) fn expect(&mut self, bytes: usize) {
        self.expected = bytes;
    }

    /// Appends a copy of `string`, whose view elsewhere is `view`. Fails if there is no memory for it.
    #[inline]
    pub(crate) fn push(&mut self, view: u128, string: &[u8]) -> Result<()> {
        if view_is_inline(view) {
            self.views.push(view);
            return Ok(());
        }
        if self.last.capacity() - self.last.len() < string.len() {
            self.next_buffer(string.len())?;
        }
        self.expected = self.expected.saturating_sub(string.len());
        let (buffer, offset) = (self.sealed.len() as u32, self.last.len() as u32);
        self.last.extend_from_slice(string);
        let place = u64::from(buffer) | u64::from(offset) << 32;
        self.views.push(u128::from(view as u64) | u128::from(place) << 64);
        Ok(())
    }

    /// The view of string `i`, if it exists.
    #[inline]
    pub(crate) fn view(&self, i: u32) -> Option<u128> {
        self.views.get(i as usize).copied()
    }

    /// Whether the string with the view `ours` here equals `string`, whose view elsewhere is `view`.
    #[inline]
    pub(crate) fn is(&self, ours: u128, view: u128, string: &[u8]) -> bool {
        match view_is_inline(view) {
            true => ours == view,
            false => ours as u64 == view as u64 && same_long(self.long(ours), string),
        }
    }

    /// The bytes of a long string, found by its view here.
    fn long(&self, view: u128) -> &[u8] {
        let (buffer, offset) = ((view >> 64) as u32 as usize, (view >> 96) as usize);
        let buffer = self.sealed.get(buffer).map_or(&self.last[..], |buffer| &buffer[..]);
        &buffer[offset..offset + view_len(view) as usize]
    }

    /// Calls `take` with the view and the bytes of each string.
    pub(crate) fn for_each(&self, mut take: impl FnMut(u128, &[u8])) {
        for view in self.views.iter() {
            match view_is_inline(*view) {
                true => take(*view, &view_bytes(view)[4..4 + view_len(*view) as usize]),
                false => take(*view, self.long(*view)),
            }
        }
    }

    #[cold]
    fn next_buffer(&mut self, needed: usize) -> Result<()> {
        // Twice the last capacity, so that many small calls make few buffers.
        let usual = match self.expected {
            0 => (2 * self.last.capacity()).clamp(MIN_BUFFER_BYTES, MAX_GROWN_BUFFER_BYTES),
            known => (2 * self.last.capacity()).min(MAX_GROWN_BUFFER_BYTES).max(known.min(MAX_BUFFER_BYTES)),
        };
        let mut next = Vec::new();
        try_reserve_exact(&mut next, usual.max(needed))?;
        // Neither conversion copies: nothing else refers to the new buffer.
        let next = Bytes::from(next).try_into_mut().unwrap_or_default();
        let full = std::mem::replace(&mut self.last, next);
        if self.is_last_there {
            self.sealed.push(full.freeze());
        }
        self.is_last_there = true;
        Ok(())
    }
}

/// Whether two strings of the same length, over 12 bytes, are equal.
///
/// PERF: most strings are short enough for two comparisons of constant length, which may overlap.
#[inline]
fn same_long(a: &[u8], b: &[u8]) -> bool {
    match a.len() {
        ..16 => a.first_chunk::<8>() == b.first_chunk() && a.last_chunk::<8>() == b.last_chunk(),
        16..=32 => a.first_chunk::<16>() == b.first_chunk() && a.last_chunk::<16>() == b.last_chunk(),
        33..=64 => a.first_chunk::<32>() == b.first_chunk() && a.last_chunk::<32>() == b.last_chunk(),
        _ => a == b,
    }
}

/// Bounds of the size of a buffer whose strings come one by one: small for few strings, and never so large that much of it stays empty.
const MIN_BUFFER_BYTES: usize = 4 << 10;
const MAX_GROWN_BUFFER_BYTES: usize = 1 << 20;
/// Maximum number of bytes in a buffer of several strings: offsets of views have 32 bits, and only 31 for some readers.
const MAX_BUFFER_BYTES: usize = 1 << 30;
