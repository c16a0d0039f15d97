//! Byte strings end to end, with offsets: from PLAIN, from views, from a dictionary.
//!
//! A string has to be copied, and most are short. A copy of a length that only the data knows is a call with a branch in it
//! that nobody can predict, for a few bytes; so [`CHUNK`] bytes are copied instead wherever there are as many, and the next
//! string is written over what was too much.

use crate::gather::max_u32;
use crate::views::{view_is_inline, view_len};
use crate::words::{bytes_of, put_chunk};
use std::hint::select_unpredictable;
use std::iter::once;
use std::mem::MaybeUninit;

/// Bytes that are copied at once: most strings.
const CHUNK: usize = 32;
/// Bytes that are copied at once of longer strings, such as addresses of pages.
pub(crate) const LONG: usize = 128;
/// Strings whose lengths are read before their bytes are: their offsets stay in the first-level cache.
const BLOCK: usize = 1024;
/// Strings that tell how long the others are, and bytes of such that are copied one by one.
const FEW: usize = 8;
const FAR: usize = 64;

/// Appends `n` PLAIN byte strings that begin at `position` of `page[..len]`, end to end, to `bytes`, and where each of
/// them ends to `offsets`, modulo 2^32; counting starts at the length of `bytes`. Returns the position behind the last,
/// or `None` if a string would end outside; then some may have been appended.
pub fn plain_joined(
    page: &[u8],
    len: usize,
    position: usize,
    n: usize,
    offsets: &mut Vec<u32>,
    bytes: &mut Vec<u8>,
) -> Option<usize> {
    let (padded, page) = (page, &page[..len]);
    let (mut position, mut left) = (position, n);
    // Four bytes each at least: what is reserved was earned by the input.
    offsets.reserve(n.min(len.saturating_sub(position) / 4));
    // A few tell how long they are.
    let (mut most, mut average) = (FEW, 0);
    while left > 0 {
        let block = left.min(most);
        left -= block;
        most = BLOCK;
        if average >= FAR {
            let before = bytes.len();
            position = plain_joined_far(page, position, block, offsets, bytes)?;
            average = (bytes.len() - before) / block;
            continue;
        }
        // PERF: where a string is depends on the length of the one before it, but no copy waits for another.
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
        bytes.reserve(total + LONG);
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

/// The same one by one.
///
/// PERF: a walk over lengths that are far apart would wait for each of them; what is copied in order is fetched ahead.
fn plain_joined_far(
    page: &[u8],
    position: usize,
    n: usize,
    offsets: &mut Vec<u32>,
    bytes: &mut Vec<u8>,
) -> Option<usize> {
    (0..n).try_fold(position, |position, _| {
        let (size, strings) = page.get(position..)?.split_first_chunk()?;
        let string = strings.get(..u32::from_le_bytes(*size) as usize)?;
        bytes.extend_from_slice(string);
        offsets.push(bytes.len() as u32);
        Some(position + 4 + string.len())
    })
}

/// Where a string of a dictionary is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its first byte.
    pub start: u32,
    /// How many bytes.
    pub len: u32,
}

/// How many bytes the strings at `indices` have together; the largest index as the error if that one is outside.
pub fn bytes_of_entries(entries: &[Entry], indices: &[u32]) -> Result<u64, u32> {
    let max = max_u32(indices);
    if max as usize >= entries.len() && !indices.is_empty() {
        return Err(max);
    }
    Ok(indices.iter().map(|&index| u64::from(entries[index as usize].len)).sum())
}

/// Appends the strings of `padded` that `entries` has at `indices`, end to end, to `bytes`, and where each of them ends to
/// `offsets`, modulo 2^32; counting starts at the length of `bytes`. `total` is what [`bytes_of_entries`] says.
///
/// # Panics
/// If an index or a string is outside, or `total` is wrong.
pub fn gather_joined(
    entries: &[Entry],
    padded: &[u8],
    indices: &[u32],
    total: usize,
    offsets: &mut Vec<u32>,
    bytes: &mut Vec<u8>,
) {
    bytes.reserve(total + LONG);
    let start = bytes.len();
    let to = bytes.spare_capacity_mut();
    let mut end = 0;
    offsets.extend(indices.iter().map(|&index| {
        let entry = entries[index as usize];
        let len = entry.len as usize;
        put(&padded[entry.start as usize..], len, &mut to[end..]);
        end += len;
        (start + end) as u32
    }));
    assert_eq!(end, total);
    // SAFETY: `total` bytes were written, string by string without a gap.
    unsafe { bytes.set_len(start + total) };
}

/// Appends the strings of `views`, end to end, to `bytes`, and where each of them ends to `offsets`, as `offset` makes
/// it of a number. `buffers` are what the long views refer to. Counting starts at the length of `bytes`.
///
/// # Panics
/// If a view is of no range of its buffer.
pub fn join_views<'a, O>(
    views: &'a [u128],
    buffers: impl Iterator<Item = &'a [u8]>,
    offset: impl Fn(usize) -> O,
    offsets: &mut Vec<O>,
    bytes: &mut Vec<u8>,
) {
    put_strings::<false, O>(views, buffers, offset, offsets, bytes);
}

/// Appends the strings of `views`, end to end, to `bytes`. `buffers` are what the long views refer to.
///
/// # Panics
/// If a view is of no range of its buffer.
pub fn concat_views<'a>(views: &'a [u128], buffers: impl Iterator<Item = &'a [u8]>, bytes: &mut Vec<u8>) {
    put_strings::<false, ()>(views, buffers, |_| (), &mut Vec::new(), bytes);
}

/// [`concat_views`] with the length of each string before it, 4 bytes little-endian: PLAIN.
///
/// # Panics
/// If a view is of no range of its buffer.
pub fn plain_strings<'a>(views: &'a [u128], buffers: impl Iterator<Item = &'a [u8]>, bytes: &mut Vec<u8>) {
    put_strings::<true, ()>(views, buffers, |_| (), &mut Vec::new(), bytes);
}

/// Appends strings, with their lengths before them if `PLAIN`, and where each of them ends.
#[inline(always)]
fn put_strings<'a, const PLAIN: bool, O>(
    views: &'a [u128],
    buffers: impl Iterator<Item = &'a [u8]>,
    offset: impl Fn(usize) -> O,
    offsets: &mut Vec<O>,
    bytes: &mut Vec<u8>,
) {
    // PERF: short strings are taken from the views as if those were a buffer: which strings are short is hard to
    // predict, and so there is no branch.
    let buffers: Vec<&[u8]> = buffers.collect();
    // PERF: a small buffer is a dictionary's, with many strings at its end, where no chunk could be taken.
    let padded: Vec<Vec<u8>> = buffers
        .iter()
        .map(
            |buffer| if buffer.len() < views.len() { [buffer, &[0; CHUNK][..]].concat() } else { Vec::new() },
        )
        .collect();
    let buffers = buffers.iter().zip(&padded).map(|(buffer, padded)| match padded.is_empty() {
        true => *buffer,
        false => padded.as_slice(),
    });
    let sources: Vec<&[u8]> = once(bytes_of(views).as_flattened()).chain(buffers).collect();
    let lengths = if PLAIN { 4 * views.len() } else { 0 };
    let total = lengths + views.iter().map(|&view| view_len(view) as usize).sum::<usize>();
    bytes.reserve(total + LONG);
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

/// Copies the first `len` bytes of `source` to the beginning of `to`, and some more if both have as many.
#[inline(always)]
pub(crate) fn put(source: &[u8], len: usize, to: &mut [MaybeUninit<u8>]) {
    if len <= CHUNK
        && let (Some(chunk), Some(to)) = (source.first_chunk::<CHUNK>(), to.first_chunk_mut())
    {
        put_chunk(chunk, to);
    } else if len <= LONG
        && let (Some(chunk), Some(to)) = (source.first_chunk::<LONG>(), to.first_chunk_mut())
    {
        put_chunk(chunk, to);
    } else {
        copy_exact(&source[..len], &mut to[..len]);
    }
}

/// Copies all of `from` to `to`, which is as long.
///
/// PERF: what ends a buffer of one page is rare, but small dictionaries consist of little else. Two copies of a known
/// length that overlap are faster than a call that finds out how many bytes there are.
#[inline(never)]
fn copy_exact(from: &[u8], to: &mut [MaybeUninit<u8>]) {
    match from.len() {
        16..=32 => copy_ends::<16>(from, to),
        33..=64 => copy_ends::<32>(from, to),
        _ => _ = to.write_copy_of_slice(from),
    }
}

/// Copies the first and the last `N` bytes of `from`, which may overlap.
#[inline(always)]
fn copy_ends<const N: usize>(from: &[u8], to: &mut [MaybeUninit<u8>]) {
    for at in [0, from.len() - N] {
        let (chunk, to) = (from[at..].first_chunk(), to[at..].first_chunk_mut::<N>());
        put_chunk(chunk.expect("longer than N"), to.expect("as long"));
    }
}

/// Appends the first `len` bytes of `padded`.
///
/// PERF: strings are short; where there is more behind a string, a copy of a known length takes some of that too.
///
/// # Panics
/// If there are fewer.
#[inline]
pub fn push_padded(padded: &[u8], len: usize, out: &mut Vec<u8>) {
    match padded.first_chunk::<PADDED>() {
        Some(chunk) if len <= PADDED => {
            let end = out.len() + len;
            out.extend_from_slice(chunk);
            out.truncate(end);
        }
        _ => out.extend_from_slice(&padded[..len]),
    }
}

/// Bytes that [`push_padded`] copies at once.
const PADDED: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_copied_in_the_order_of_their_indices() {
        let strings: Vec<Vec<u8>> = (0..200u8).map(|len| (0..len).map(|i| i ^ len).collect()).collect();
        let mut end = 0;
        let entries = strings.iter().map(|string| {
            let entry = Entry { start: end, len: string.len() as u32 };
            end += entry.len;
            entry
        });
        let entries: Vec<Entry> = entries.collect();
        let indices: Vec<u32> = (0..1000).map(|i| i * 37 % 200).collect();
        let expected = indices.iter().flat_map(|&i| strings[i as usize].clone());
        for slack in [0, 31, 127, 128] {
            let page = [strings.concat(), vec![0xee; slack]].concat();
            let (mut offsets, mut bytes) = (vec![1], vec![7]);
            let total = bytes_of_entries(&entries, &indices).unwrap() as usize;
            gather_joined(&entries, &page, &indices, total, &mut offsets, &mut bytes);
            assert!(bytes[1..].iter().copied().eq(expected.clone()));
            let lengths = offsets.windows(2).map(|pair| pair[1] - pair[0]);
            assert!(lengths.eq(indices.iter().map(|&i| strings[i as usize].len() as u32)));
        }
        assert_eq!(bytes_of_entries(&entries[..10], &[9, 10, 3]), Err(10));
        assert_eq!(bytes_of_entries(&[], &[]), Ok(0));
        assert_eq!(bytes_of_entries(&[], &[0]), Err(0));
    }
}
