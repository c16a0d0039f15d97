//! Byte strings as views: the layout that every BYTE_ARRAY encoding decodes to.

mod utf8;

use crate::arena::StringArena;
use bytes::Bytes;
use marquetry_base::{Result, reserve_if_available, try_reserve};
use marquetry_kernels::{self as kernels, Bitmap, view_is_inline, view_len};
use std::ops::Range;

/// Byte strings in Arrow's view layout: a 16-byte view for each string, and the buffers that hold the long ones.
///
/// Buffers are pages, dictionaries or arenas, shared and never copied. The buffer number in a view counts from the
/// first buffer of *this* value.
#[derive(Debug, Clone, Default)]
pub struct StringViews {
    views: Vec<u128>,
    buffers: Vec<Bytes>,
}

impl StringViews {
    /// Creates an empty list of strings.
    pub fn new() -> Self {
        StringViews::default()
    }

    /// The number of strings.
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

    /// The buffers that hold the long strings.
    pub fn buffers(&self) -> &[Bytes] {
        &self.buffers
    }

    /// Returns the views and the buffers, owned.
    pub fn into_parts(self) -> (Vec<u128>, Vec<Bytes>) {
        (self.views, self.buffers)
    }

    /// String `i`.
    #[inline]
    pub fn get(&self, i: usize) -> &[u8] {
        self.resolve(&self.views[i])
    }

    /// All strings in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.views.iter().map(|view| self.resolve(view))
    }

    /// Removes all strings and buffers, and keeps the memory of the views.
    pub fn clear(&mut self) {
        self.views.clear();
        self.buffers.clear();
    }

    /// Reserves memory for `n` more strings.
    pub fn reserve(&mut self, n: usize) {
        reserve_if_available(&mut self.views, n);
    }

    /// Appends `n` empty strings.
    pub fn push_nulls(&mut self, n: usize) {
        self.views.resize(self.views.len() + n, 0);
    }

    /// Appends a copy of one string. Meant for building small lists by hand: each long string gets a buffer of its own.
    pub fn push(&mut self, string: &[u8]) {
        let view = if string.len() <= 12 {
            kernels::inline_view(string)
        } else {
            self.buffers.push(Bytes::copy_from_slice(string));
            kernels::long_view(string, self.buffers.len() as u32 - 1, 0)
        };
        self.views.push(view);
    }

    /// Appends copies of the strings in `range` of `other`. Long strings are copied to a shared buffer. Fails if there
    /// is no memory for them.
    ///
    /// # Panics
    /// If the range is not inside `other`.
    pub fn push_copied(&mut self, other: &StringViews, range: Range<usize>) -> Result<()> {
        let views = &other.views[range];
        let long = |view: &u128| if view_is_inline(*view) { 0 } else { view_len(*view) as usize };
        let total = views.iter().map(long).sum();
        self.views.reserve(views.len());
        if total == 0 {
            self.views.extend_from_slice(views);
            return Ok(());
        }
        let mut arena = self.arena();
        arena.expect(total);
        let pushed = views.iter().try_for_each(|view| arena.push(*view, other.resolve(view)));
        arena.close();
        pushed
    }

    /// Appends those of `other`'s strings whose bit in `keep` is 1; bit `first` belongs to the first string.
    pub(crate) fn push_filtered(&mut self, other: &StringViews, keep: &[u8], first: usize) {
        self.push_views(&other.buffers, |views, base| {
            let start = views.len();
            kernels::filter_u128(&other.views, keep, first, views);
            if base > 0 {
                kernels::rebase_views(&mut views[start..], base);
            }
        });
    }

    /// The total length of the strings in `range`, in bytes.
    ///
    /// # Panics
    /// If the range is not inside.
    pub fn data_bytes(&self, range: Range<usize>) -> usize {
        self.views[range].iter().map(|view| view_len(*view) as usize).sum()
    }

    /// Opens an arena that appends copies of strings. It must be closed.
    pub(crate) fn arena(&mut self) -> StringArena<'_> {
        StringArena::open(&mut self.views, &mut self.buffers)
    }

    /// Adds `buffer`, unless it is the buffer that was added last, and returns its number.
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

    /// Appends a view of the string at `range` of buffer number `buffer`.
    ///
    /// # Panics
    /// If the buffer or the range does not exist, or a string of more than 12 bytes begins beyond 4 GiB.
    #[inline]
    pub fn push_slice(&mut self, buffer: u32, range: Range<usize>) {
        let string = &self.buffers[buffer as usize][range.clone()];
        self.views.push(if string.len() <= 12 {
            kernels::inline_view(string)
        } else {
            kernels::long_view(string, buffer, u32::try_from(range.start).expect("within 4 GiB"))
        });
    }

    /// [`push_slice`](StringViews::push_slice) for each of `ranges`.
    ///
    /// # Panics
    /// If the buffer or one of the ranges does not exist, or a range begins beyond 4 GiB.
    pub fn push_slices(&mut self, buffer: u32, ranges: impl Iterator<Item = Range<usize>>) {
        let bytes = &self.buffers[buffer as usize];
        let padded = bytes.len().saturating_sub(16);
        self.views.extend(ranges.map(|range| {
            let (start, string) = (range.start, &bytes[range]);
            if start < padded {
                // PERF: with 16 readable bytes, both kinds of view are built without a branch.
                return kernels::view_at(bytes, start, string.len() as u32, buffer);
            }
            match string.len() <= 12 {
                true => kernels::inline_view(string),
                false => kernels::long_view(string, buffer, u32::try_from(start).expect("within 4 GiB")),
            }
        }));
    }

    /// Adds `buffers` and calls `fill`, which appends views. `fill` gets the number of the first of `buffers`.
    pub fn push_views<R>(&mut self, buffers: &[Bytes], fill: impl FnOnce(&mut Vec<u128>, u32) -> R) -> R {
        let base = match buffers {
            [] => 0,
            [only] => self.add_buffer(only),
            [first, ..] => self.add_buffers(first, buffers),
        };
        fill(&mut self.views, base)
    }

    /// Appends all strings, end to end, to `bytes`, and the position where each of them ends in `bytes` to `offsets`,
    /// converted by `offset`. Fails if there is no memory for the bytes.
    pub fn join<O>(
        &self,
        offset: impl Fn(usize) -> O,
        offsets: &mut Vec<O>,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        try_reserve(bytes, self.data_bytes(0..self.len()) + kernels::LONG_COPY_BYTES)?;
        kernels::views_to_offsets(
            &self.views,
            self.buffers.iter().map(AsRef::as_ref),
            offset,
            offsets,
            bytes,
        );
        Ok(())
    }

    /// Appends the strings in `range`, end to end, to `bytes`.
    pub(crate) fn concat(&self, range: Range<usize>, bytes: &mut Vec<u8>) {
        kernels::concat_views(&self.views[range], self.buffers.iter().map(AsRef::as_ref), bytes);
    }

    /// Appends the strings in `range` to `bytes` in PLAIN encoding: each after its length.
    pub(crate) fn write_plain(&self, range: Range<usize>, bytes: &mut Vec<u8>) {
        kernels::views_to_plain(&self.views[range], self.buffers.iter().map(AsRef::as_ref), bytes);
    }

    pub(crate) fn swap_buffers(&mut self, other: &mut StringViews) {
        std::mem::swap(&mut self.buffers, &mut other.buffers);
    }

    pub(crate) fn push_spaced(&mut self, dense: &StringViews, validity: &Bitmap, first: usize, n: usize) {
        kernels::expand_u128(&dense.views, validity, first, n, &mut self.views);
    }

    /// Adds several buffers, unless they are already the last ones, and returns the number of the first.
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

    /// Returns the string of a view of this value.
    ///
    /// # Panics
    /// May panic for a view into other buffers. If it does not, the string is wrong.
    #[inline]
    pub fn resolve<'a>(&'a self, view: &'a u128) -> &'a [u8] {
        let len = view_len(*view) as usize;
        if view_is_inline(*view) {
            return &kernels::view_bytes(view)[4..4 + len];
        }
        let (buffer, offset) = ((view >> 64) as u32 as usize, (view >> 96) as usize);
        &self.buffers[buffer][offset..offset + len]
    }

    /// Returns the buffer number and the range of a string; `None` if the string is inline in its view.
    #[inline]
    pub fn place(view: u128) -> Option<(usize, Range<usize>)> {
        let (buffer, offset) = ((view >> 64) as u32 as usize, (view >> 96) as usize);
        (!view_is_inline(view)).then(|| (buffer, offset..offset + view_len(view) as usize))
    }
}

impl PartialEq for StringViews {
    /// Compares the strings, wherever they are stored.
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: AsRef<[u8]>> FromIterator<T> for StringViews {
    fn from_iter<I: IntoIterator<Item = T>>(strings: I) -> Self {
        let mut out = StringViews::new();
        strings.into_iter().for_each(|string| out.push(string.as_ref()));
        out
    }
}
