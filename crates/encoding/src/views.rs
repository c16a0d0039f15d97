//! Byte strings as views: what every BYTE_ARRAY encoding decodes to.

use crate::Bits;
use bytes::Bytes;
use marquetry_kernels::{self as kernels, view_is_inline, view_len};
use std::ops::Range;

/// Byte strings: a 16-byte view for each, and the buffers that the long ones are in. The layout is Arrow's.
///
/// Buffers are pages, dictionaries or arenas, shared and never copied. A view's buffer number counts from the first
/// buffer of *this* value.
#[derive(Debug, Clone, Default)]
pub struct Views {
    views: Vec<u128>,
    buffers: Vec<Bytes>,
}

impl Views {
    /// No strings.
    pub fn new() -> Self {
        Views::default()
    }

    /// How many strings.
    pub fn len(&self) -> usize {
        self.views.len()
    }

    /// Whether there are no strings.
    pub fn is_empty(&self) -> bool {
        self.views.is_empty()
    }

    /// The views.
    pub fn views(&self) -> &[u128] {
        &self.views
    }

    /// The buffers that long strings are in.
    pub fn buffers(&self) -> &[Bytes] {
        &self.buffers
    }

    /// Views and buffers, owned.
    pub fn into_parts(self) -> (Vec<u128>, Vec<Bytes>) {
        (self.views, self.buffers)
    }

    /// String `i`.
    pub fn get(&self, i: usize) -> &[u8] {
        self.resolve(&self.views[i])
    }

    /// All strings in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.views.iter().map(|view| self.resolve(view))
    }

    /// Forgets all strings and buffers, keeps the memory of the views.
    pub fn clear(&mut self) {
        self.views.clear();
        self.buffers.clear();
    }

    /// Makes room for `n` more strings.
    pub fn reserve(&mut self, n: usize) {
        self.views.reserve(n);
    }

    /// Appends `n` empty strings.
    pub fn push_defaults(&mut self, n: usize) {
        self.views.resize(self.views.len() + n, 0);
    }

    /// Appends a copy of one string. For building by hand: a long string gets a buffer of its own.
    pub fn push(&mut self, string: &[u8]) {
        let view = if string.len() <= 12 {
            kernels::inline_view(string)
        } else {
            self.buffers.push(Bytes::copy_from_slice(string));
            kernels::long_view(string, self.buffers.len() as u32 - 1, 0)
        };
        self.views.push(view);
    }

    /// The number of `buffer` here: a new one, unless it is the buffer that was last added.
    pub fn add_buffer(&mut self, buffer: &Bytes) -> u32 {
        let is_last = self
            .buffers
            .last()
            .is_some_and(|last| std::ptr::eq(last.as_ptr(), buffer.as_ptr()) && last.len() == buffer.len());
        if !is_last {
            self.buffers.push(buffer.clone());
        }
        self.buffers.len() as u32 - 1
    }

    /// The string at `range` of buffer number `buffer`; the view for it is appended.
    ///
    /// # Panics
    /// If the buffer or the range does not exist.
    #[inline]
    pub fn push_slice(&mut self, buffer: u32, range: Range<usize>) {
        let string = &self.buffers[buffer as usize][range.clone()];
        self.views.push(if string.len() <= 12 {
            kernels::inline_view(string)
        } else {
            kernels::long_view(string, buffer, range.start as u32)
        });
    }

    /// Appends the views that `fill` appends; it gets the number of the first buffer of `buffers`, which are added.
    pub fn push_views<R>(&mut self, buffers: &[Bytes], fill: impl FnOnce(&mut Vec<u128>, u32) -> R) -> R {
        let base = match buffers {
            [] => 0,
            [only] => self.add_buffer(only),
            [first, ..] => self.add_buffers(first, buffers),
        };
        fill(&mut self.views, base)
    }

    pub(crate) fn swap_buffers(&mut self, other: &mut Views) {
        std::mem::swap(&mut self.buffers, &mut other.buffers);
    }

    pub(crate) fn push_expanded(&mut self, dense: &Views, validity: &Bits, first: usize, n: usize) {
        kernels::expand(&dense.views, validity, first, n, &mut self.views);
    }

    /// The first string in `range` that is not UTF-8, if any.
    pub fn first_not_utf8(&self, range: Range<usize>) -> Option<usize> {
        let start = range.start;
        let views = &self.views[range];
        if self.is_ascii(views) {
            return None;
        }
        views.iter().position(|view| str::from_utf8(self.resolve(view)).is_err()).map(|i| start + i)
    }

    /// Whether all strings are ASCII for sure.
    ///
    /// PERF: most text is. Strings that were decoded together stand together in one buffer, so that one look at the
    /// whole stretch does for all of them; what stands between them (PLAIN lengths below 128) is ASCII as well.
    fn is_ascii(&self, views: &[u128]) -> bool {
        const INLINE_HIGH_BITS: u128 = 0x8080_8080_8080_8080_8080_8080 << 32;
        let mut inline = 0;
        let mut long = None;
        for &view in views {
            if view_is_inline(view) {
                inline |= view;
                continue;
            }
            let (buffer, from) = ((view >> 64) as u32, (view >> 96) as u32 as usize);
            let to = from + view_len(view) as usize;
            long = match long {
                None => Some((buffer, from, to)),
                Some((only, low, high)) if only == buffer => Some((only, from.min(low), to.max(high))),
                Some(_) => return false,
            };
        }
        inline & INLINE_HIGH_BITS == 0
            && long.is_none_or(|(buffer, from, to)| self.buffers[buffer as usize][from..to].is_ascii())
    }

    /// Adds several buffers, unless they are the last ones already, and returns the number of the first.
    fn add_buffers(&mut self, first: &Bytes, buffers: &[Bytes]) -> u32 {
        let tail = self.buffers.len().saturating_sub(buffers.len());
        let is_tail = self.buffers[tail..].len() == buffers.len()
            && std::ptr::eq(self.buffers[tail].as_ptr(), first.as_ptr())
            && self.buffers[tail..]
                .iter()
                .zip(buffers)
                .all(|(ours, new)| std::ptr::eq(ours.as_ptr(), new.as_ptr()) && ours.len() == new.len());
        if is_tail {
            return tail as u32;
        }
        self.buffers.extend_from_slice(buffers);
        (self.buffers.len() - buffers.len()) as u32
    }

    #[inline]
    fn resolve<'a>(&'a self, view: &'a u128) -> &'a [u8] {
        let len = view_len(*view) as usize;
        if view_is_inline(*view) {
            return &kernels::view_bytes(view)[4..4 + len];
        }
        let (buffer, offset) = ((view >> 64) as u32 as usize, (view >> 96) as usize);
        &self.buffers[buffer][offset..offset + len]
    }
}

impl PartialEq for Views {
    /// Equal strings, wherever they are.
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: AsRef<[u8]>> FromIterator<T> for Views {
    fn from_iter<I: IntoIterator<Item = T>>(strings: I) -> Self {
        let mut out = Views::new();
        strings.into_iter().for_each(|string| out.push(string.as_ref()));
        out
    }
}
