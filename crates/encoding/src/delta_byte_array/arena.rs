//! Collects values that share prefixes. Repeated values share their bytes.

use crate::delta_length_byte_array::MAX_INLINE_BYTES;
use crate::string_views::StringViews;
use bytes::Bytes;
use marquetry_base::{MemoryBudget, MemoryReservation, Result, try_reserve};
use marquetry_kernels as kernels;

/// The total length of several values, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Size {
    /// Total length of the values that are more than a prefix of the previous value.
    pub(super) new: u64,
    /// Total length of all values.
    pub(super) all: u64,
}

/// A decoded value.
pub(super) struct Value<'a> {
    /// The bytes of the value, followed by at least [`PADDING_BYTES`] arbitrary bytes.
    pub(super) padded: &'a [u8],
    pub(super) len: u32,
    /// Whether the value is a prefix of the previous one.
    pub(super) is_start: bool,
}

impl Value<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.padded[..self.len as usize]
    }
}

/// Collects strings. Short ones are stored in their views, long ones in buffers of at most [`MAX_ARENA_BYTES`] bytes or of a single string.
pub(super) struct ValueArena<'a> {
    out: &'a mut StringViews,
    views: Vec<u128>,
    bytes: Vec<u8>,
    /// Where the previous string begins in `bytes`, if it is there.
    last: Option<usize>,
    /// Reservation of the memory of all buffers until they are handed over.
    held: MemoryReservation,
}

impl<'a> ValueArena<'a> {
    pub(super) fn new(out: &'a mut StringViews, memory: &MemoryBudget) -> Self {
        ValueArena { out, views: Vec::new(), bytes: Vec::new(), last: None, held: memory.empty() }
    }

    pub(super) fn reserve(&mut self, size: Size) -> Result<()> {
        let room = MAX_ARENA_BYTES - self.bytes.len().min(MAX_ARENA_BYTES);
        self.held.grow(size.new as usize)?;
        // The copy of the last string may temporarily write that much more.
        try_reserve(&mut self.bytes, (size.new as usize).min(room) + SHORT_VALUE_BYTES)
    }

    #[inline]
    pub(super) fn push(&mut self, value: Value<'_>) {
        if value.len <= MAX_INLINE_BYTES {
            // The previous long string stays in the arena, but its bytes can no longer be shared.
            self.last = None;
            self.views.push(kernels::view_at(value.padded, 0, value.len, 0));
            return;
        }
        let string = value.bytes();
        // PERF: repeated strings, as in any sorted column, share their bytes. This also keeps a page of nothing but
        // repetitions, which take no bits at all, from growing without bounds.
        let start = match self.last {
            Some(last) if value.is_start => last,
            _ => {
                if self.bytes.len() + string.len() > MAX_ARENA_BYTES && !self.bytes.is_empty() {
                    self.seal();
                }
                kernels::push_padded(value.padded, string.len(), &mut self.bytes);
                self.bytes.len() - string.len()
            }
        };
        self.last = Some(start);
        // Sealing the arena adds the number of the buffer. A start is at most `MAX_ARENA_BYTES`.
        self.views.push(kernels::long_view(string, 0, start as u32));
    }

    /// Hands over the views and their buffer.
    pub(super) fn seal(&mut self) {
        let bytes = Bytes::from(std::mem::take(&mut self.bytes));
        let buffer = std::slice::from_ref(&bytes);
        let buffers = if bytes.is_empty() { &[] } else { buffer };
        self.out.push_views(buffers, |views, base| {
            let start = views.len();
            views.append(&mut self.views);
            kernels::rebase_views(&mut views[start..], base);
        });
        self.last = None;
    }
}

/// Maximum length of values that are assembled with fixed-size copies.
pub(super) const SHORT_VALUE_BYTES: usize = 64;
/// Maximum number of bytes in an arena of several strings: the offset of a view has 32 bits, and only 31 for some readers.
const MAX_ARENA_BYTES: usize = 1 << 30;
