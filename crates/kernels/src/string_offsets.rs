//! Byte strings in the layout of Arrow's `Utf8`, bytes and offsets: from PLAIN, from views, from a dictionary.

use crate::copy::{LONG_COPY_BYTES, SHORT_COPY_BYTES, put};
use crate::le_words::bytes_of;
use crate::signatures::Kernels;
use crate::uninit::put_chunk;
use crate::views::{view_is_inline, view_len};
use std::hint::select_unpredictable;
use std::iter::once;
use std::mem::MaybeUninit;

/// Number of strings whose lengths are read before their bytes: their offsets stay in the first-level cache.
const STRINGS_PER_BLOCK: usize = 1024;
/// Number of strings in the first block. It is short because their average length decides how the next block is copied.
const STRINGS_IN_FIRST_BLOCK: usize = 8;
/// Average length in bytes from which strings are copied one by one.
const MIN_LONG_STRING_BYTES: usize = 64;

/// Appends the `n` PLAIN byte strings from `position` of `page[..len]` on: their bytes to `bytes`, and the end of each in `bytes`,
/// modulo 2^32, to `offsets`. Returns the position after the last string, or `None` if a string would end outside of the page;
/// then some strings may have been appended.
pub fn append_plain_strings(
    page: &[u8],
    len: usize,
    position: usize,
    n: usize,
    offsets: &mut Vec<u32>,
    bytes: &mut Vec<u8>,
) -> Option<usize> {
    let (padded, page) = (page, &page[..len]);
    let (mut position, mut left) = (position, n);
    // Each string takes at least four bytes of the page, so a small page cannot reserve much memory.
    offsets.reserve(n.min(len.saturating_sub(position) / 4));
    let (mut block_len, mut average) = (STRINGS_IN_FIRST_BLOCK, 0);
    while left > 0 {
        let block = left.min(block_len);
        left -= block;
        block_len = STRINGS_PER_BLOCK;
        if average >= MIN_LONG_STRING_BYTES {
            let before = bytes.len();
            position = append_long_plain_strings(padded, len, position, block, offsets, bytes)?;
            average = (bytes.len() - before) / block;
            continue;
        }
        // PERF: the position of a string depends on the length of the previous one. Reading the lengths first means
        // that no copy waits for another.
        let (first, mut end) = (offsets.len(), bytes.len());
        let start = position;
        for _ in 0..block {
            let size = u32::from_le_bytes(*page.get(position..)?.first_chunk()?) as usize;
            position = (position + 4).checked_add(size).filter(|&end| end <= len)?;
            end += size;
            offsets.push(end as u32);
        }
        let (mut from, mut before) = (start, bytes.len() as u32);
        let total = end - bytes.len();
        bytes.reserve(total + LONG_COPY_BYTES);
        let to = bytes.spare_capacity_mut();
        let mut at = 0;
        for &end in &offsets[first..] {
            let size = end.wrapping_sub(before) as usize;
            before = end;
            put(&padded[from + 4..], size, &mut to[at..]);
            at += size;
            from += 4 + size;
        }
        assert_eq!(at, total);
        // SAFETY: `total` bytes were written, string by string without a gap.
        unsafe { bytes.set_len(bytes.len() + total) };
        average = total / block;
    }
    Some(position)
}

/// [`append_plain_strings`], one string after the other.
///
/// PERF: reading only the lengths, if they are many cache lines apart, would wait for memory each time. Copying the
/// bytes in order lets the CPU prefetch them.
fn append_long_plain_strings(
    padded: &[u8],
    len: usize,
    position: usize,
    n: usize,
    offsets: &mut Vec<u32>,
    bytes: &mut Vec<u8>,
) -> Option<usize> {
    (0..n).try_fold(position, |position, _| {
        let start = position + 4;
        let size = u32::from_le_bytes(*padded[..len].get(position..)?.first_chunk()?) as usize;
        let end = start.checked_add(size).filter(|&end| end <= len)?;
        match padded[start..].first_chunk::<LONG_COPY_BYTES>() {
            Some(chunk) if size <= LONG_COPY_BYTES => {
                let string_end = bytes.len() + size;
                bytes.extend_from_slice(chunk);
                bytes.truncate(string_end);
            }
            _ => bytes.extend_from_slice(&padded[start..end]),
        }
        offsets.push(bytes.len() as u32);
        Some(end)
    })
}

/// The position of a dictionary entry in the bytes of the dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Offset of its first byte.
    pub start: u32,
    /// Length in bytes.
    pub len: u32,
}

/// The positions of all entries of a dictionary.
#[derive(Debug, Clone)]
pub struct Entries {
    entries: Vec<Entry>,
    /// The greatest length.
    longest: u32,
    /// The greatest offset.
    last_start: u32,
}

impl FromIterator<Entry> for Entries {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        let entries = Vec::from_iter(entries);
        let longest = entries.iter().map(|entry| entry.len).max().unwrap_or(0);
        let last_start = entries.iter().map(|entry| entry.start).max().unwrap_or(0);
        Entries { entries, longest, last_start }
    }
}

impl Entries {
    /// The greatest length in bytes.
    pub fn longest(&self) -> usize {
        self.longest as usize
    }
}

impl Kernels {
    /// `bytes_of_entries` at this level.
    pub fn bytes_of_entries(&self, entries: &Entries, indices: &[u32]) -> Result<u64, u32> {
        let entries = &entries.entries;
        self.check_indices(indices, entries.len())?;
        Ok(indices.iter().map(|&index| u64::from(entries[index as usize].len)).sum())
    }
}

/// Appends the dictionary strings at `indices`: their bytes to `bytes`, and the end of each in `bytes`, modulo 2^32, to `offsets`.
/// `entries` are their positions in `padded`. Reserves memory for `room` bytes, which is the result of `bytes_of_entries` or more.
///
/// # Panics
/// If an index or a string is out of range, or the strings have more than `room` bytes.
pub fn gather_strings(
    entries: &Entries,
    padded: &[u8],
    indices: &[u32],
    room: usize,
    offsets: &mut Vec<u32>,
    bytes: &mut Vec<u8>,
) {
    bytes.reserve(room + LONG_COPY_BYTES);
    let start = bytes.len();
    let to = bytes.spare_capacity_mut();
    let behind = padded.len().saturating_sub(entries.last_start as usize);
    let end = match entries.longest() {
        0..=8 if behind >= 8 => gather_chunks::<8>(&entries.entries, padded, indices, start, offsets, to),
        9..=16 if behind >= 16 => gather_chunks::<16>(&entries.entries, padded, indices, start, offsets, to),
        _ => {
            let mut end = 0;
            offsets.extend(indices.iter().map(|&index| {
                let entry = entries.entries[index as usize];
                let len = entry.len as usize;
                put(&padded[entry.start as usize..], len, &mut to[end..]);
                end += len;
                (start + end) as u32
            }));
            end
        }
    };
    assert!(end <= room, "{end} bytes, not {room}");
    // SAFETY: `end` bytes were written, string by string without a gap, into memory that was reserved.
    unsafe { bytes.set_len(start + end) };
}

/// Writes the strings at `indices`, all of at most `N` bytes, to the front of `to`, and their ends to `offsets`.
/// Returns their total length in bytes.
///
/// PERF: there is only this way to copy, so that all variables stay in registers. A short chunk seldom crosses a cache line.
#[inline(never)]
fn gather_chunks<const N: usize>(
    entries: &[Entry],
    padded: &[u8],
    indices: &[u32],
    start: usize,
    offsets: &mut Vec<u32>,
    to: &mut [MaybeUninit<u8>],
) -> usize {
    let mut end = 0;
    offsets.extend(indices.iter().map(|&index| {
        let entry = entries[index as usize];
        let chunk = padded[entry.start as usize..].first_chunk::<N>().expect("N bytes from each start on");
        put_chunk(chunk, to[end..].first_chunk_mut().expect("room behind the last string"));
        end += (entry.len as usize).min(N);
        (start + end) as u32
    }));
    end
}

/// Appends the strings of `views`: their bytes to `bytes`, and the end of each in `bytes`, converted by `offset`, to `offsets`.
/// `buffers` are the buffers of the long views.
///
/// # Panics
/// If the range of a view is outside of its buffer.
pub fn views_to_offsets<'a, O>(
    views: &'a [u128],
    buffers: impl Iterator<Item = &'a [u8]>,
    offset: impl Fn(usize) -> O,
    offsets: &mut Vec<O>,
    bytes: &mut Vec<u8>,
) {
    put_strings::<false, O>(views, buffers, offset, offsets, bytes);
}

/// Appends the strings of `views` to `bytes`. `buffers` are the buffers of the long views.
///
/// # Panics
/// If the range of a view is outside of its buffer.
pub fn concat_views<'a>(views: &'a [u128], buffers: impl Iterator<Item = &'a [u8]>, bytes: &mut Vec<u8>) {
    put_strings::<false, ()>(views, buffers, |_| (), &mut Vec::new(), bytes);
}

/// Appends the strings of `views` in PLAIN encoding: like [`concat_views`], with the length of each string before it, 4
/// bytes little-endian.
///
/// # Panics
/// If the range of a view is outside of its buffer.
pub fn views_to_plain<'a>(views: &'a [u128], buffers: impl Iterator<Item = &'a [u8]>, bytes: &mut Vec<u8>) {
    put_strings::<true, ()>(views, buffers, |_| (), &mut Vec::new(), bytes);
}

/// Appends strings, each after its length if `PLAIN`, and the ends of the strings to `offsets`.
#[inline(always)]
fn put_strings<'a, const PLAIN: bool, O>(
    views: &'a [u128],
    buffers: impl Iterator<Item = &'a [u8]>,
    offset: impl Fn(usize) -> O,
    offsets: &mut Vec<O>,
    bytes: &mut Vec<u8>,
) {
    // PERF: treats the views as one more buffer, which holds the inline strings. So there is no branch on short
    // strings, which are hard to predict.
    let buffers: Vec<&[u8]> = buffers.collect();
    // PERF: a small buffer is that of a dictionary. Many of its strings are close to its end, where a chunk would not fit, so it is padded.
    let padded: Vec<Vec<u8>> = buffers
        .iter()
        .map(|buffer| {
            if buffer.len() < views.len() {
                [buffer, &[0; SHORT_COPY_BYTES][..]].concat()
            } else {
                Vec::new()
            }
        })
        .collect();
    if padded.iter().any(|padded| !padded.is_empty()) {
        let is_inside = |&view: &u128| {
            let buffer = buffers.get((view >> 64) as u32 as usize).map_or(0, |buffer| buffer.len());
            view_is_inline(view) || (view >> 96) as usize + view_len(view) as usize <= buffer
        };
        // The padding could be copied, although it is not part of the buffer.
        assert!(views.iter().all(is_inside), "a view of bytes outside of its buffer");
    }
    let buffers = buffers.iter().zip(&padded).map(|(buffer, padded)| match padded.is_empty() {
        true => *buffer,
        false => padded.as_slice(),
    });
    let sources: Vec<&[u8]> = once(bytes_of(views).as_flattened()).chain(buffers).collect();
    let lengths = if PLAIN { 4 * views.len() } else { 0 };
    let total = lengths + views.iter().map(|&view| view_len(view) as usize).sum::<usize>();
    bytes.reserve(total + LONG_COPY_BYTES);
    let start = bytes.len();
    let to = bytes.spare_capacity_mut();
    let mut end = 0;
    offsets.extend(views.iter().enumerate().map(|(i, &view)| {
        let len = view_len(view) as usize;
        let source = select_unpredictable(view_is_inline(view), 0, 1 + ((view >> 64) as u32 as usize));
        let from = select_unpredictable(view_is_inline(view), i * 16 + 4, (view >> 96) as usize);
        if PLAIN {
            to[end..][..4].write_copy_of_slice(&view_len(view).to_le_bytes());
            end += 4;
        }
        put(&sources[source][from..], len, &mut to[end..]);
        end += len;
        offset(start + end)
    }));
    assert_eq!(end, total);
    // SAFETY: `total` bytes were written, string by string without a gap.
    unsafe { bytes.set_len(start + total) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::long_view;
    use std::panic::catch_unwind;

    /// This holds for small buffers, too, which are copied with padding.
    #[test]
    fn a_view_beyond_its_buffer_is_no_string() {
        let buffer: Vec<u8> = (0..20).collect();
        for views in [1, 30] {
            for offset in [0, 1, 7] {
                let mut views = vec![long_view(&buffer[..13], 0, 7); views];
                views.push(long_view(&[0; 14], 0, offset + if offset == 0 { 0 } else { 6 }));
                let joined = catch_unwind(|| {
                    let mut bytes = Vec::new();
                    concat_views(&views, std::iter::once(&buffer[..]), &mut bytes);
                    bytes
                });
                assert_eq!(joined.is_ok(), offset == 0, "{} views, offset {offset}", views.len());
            }
        }
    }

    #[test]
    fn entries_are_copied_in_the_order_of_their_indices() {
        for longest in [0, 1, 8, 9, 16, 17, 32, 33, 199] {
            gather_strings_of(longest);
        }
    }

    fn gather_strings_of(longest: u8) {
        let strings = (0..200u8).map(|i| i.min(longest));
        let strings: Vec<Vec<u8>> = strings.map(|len| (0..len).map(|i| i ^ len).collect()).collect();
        let mut end = 0;
        let entries = strings.iter().map(|string| {
            let entry = Entry { start: end, len: string.len() as u32 };
            end += entry.len;
            entry
        });
        let entries: Entries = entries.collect();
        let indices: Vec<u32> = (0..1000).map(|i| i * 37 % 200).collect();
        let expected = indices.iter().flat_map(|&i| strings[i as usize].clone());
        for slack in [0, 7, 8, 15, 16, 31, 127, 128] {
            let page = [strings.concat(), vec![0xee; slack]].concat();
            let (mut offsets, mut bytes) = (vec![1], vec![7]);
            let total = Kernels::current().bytes_of_entries(&entries, &indices).unwrap() as usize;
            gather_strings(&entries, &page, &indices, total, &mut offsets, &mut bytes);
            assert!(bytes[1..].iter().copied().eq(expected.clone()));
            let lengths = offsets.windows(2).map(|pair| pair[1] - pair[0]);
            assert!(lengths.eq(indices.iter().map(|&i| strings[i as usize].len() as u32)));
        }
        let few: Entries = entries.entries[..10].iter().copied().collect();
        assert_eq!(Kernels::current().bytes_of_entries(&few, &[9, 10, 3]), Err(10));
        let none = Entries::from_iter([]);
        assert_eq!(Kernels::current().bytes_of_entries(&none, &[]), Ok(0));
        assert_eq!(Kernels::current().bytes_of_entries(&none, &[0]), Err(0));
    }
}
