//! Byte string views: 16 bytes that hold a short string, or say where a long one is. The layout is Arrow's.
//!
//! ```text
//! up to 12 bytes   len: u32 | the bytes, then zeros
//! longer           len: u32 | first 4 bytes | buffer: u32 | offset: u32
//! ```
//!
//! PLAIN stores a string as `len: u32 | bytes`: for a short one the first 16 bytes of it, masked, *are* the view.

use std::mem::MaybeUninit;

/// Longest string that a view holds itself.
const INLINE: u32 = 12;

/// The length of the string of `view`.
#[inline(always)]
pub fn view_len(view: u128) -> u32 {
    view as u32
}

/// Whether the string is in the view itself.
#[inline(always)]
pub fn view_is_inline(view: u128) -> bool {
    view_len(view) <= INLINE
}

/// The 16 bytes of a view: the length, then the string if it is inline.
#[inline(always)]
pub fn view_bytes(view: &u128) -> &[u8; 16] {
    // SAFETY: both are 16 bytes without padding, any bits are valid for either, and `[u8; 16]` needs no alignment.
    unsafe { &*std::ptr::from_ref(view).cast::<[u8; 16]>() }
}

/// The view of a string of at most 12 bytes.
///
/// # Panics
/// If it is longer.
#[inline]
pub fn inline_view(bytes: &[u8]) -> u128 {
    let mut view = [0u8; 16];
    view[4..4 + bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(view) | bytes.len() as u128
}

/// The view of `bytes`, more than 12, which are in buffer number `buffer` at `offset`.
#[inline]
pub fn long_view(bytes: &[u8], buffer: u32, offset: u32) -> u128 {
    debug_assert!(bytes.len() > INLINE as usize);
    let prefix = u32::from_le_bytes(bytes[..4].try_into().expect("4 bytes"));
    bytes.len() as u128 | u128::from(prefix) << 32 | u128::from(buffer) << 64 | u128::from(offset) << 96
}

/// Appends the views of `n` PLAIN byte strings that begin at `position` of `page[..len]`, which is buffer number
/// `buffer`. Returns the position behind the last, or `None` if a string would end outside; then fewer than `n` views
/// may have been appended.
pub fn plain_views(
    page: &[u8],
    len: usize,
    position: usize,
    n: usize,
    buffer: u32,
    out: &mut Vec<u128>,
) -> Option<usize> {
    let mut position = position;
    // Four bytes each at least: what is reserved was earned by the input.
    out.reserve(n.min(len.saturating_sub(position) / 4));
    for _ in 0..n {
        let word = match page.get(position..position + 16) {
            Some(word) => u128::from_le_bytes(word.try_into().expect("16 bytes")),
            None => short_word(page, position),
        };
        let size = word as u32 as usize;
        let end = position + 4 + size;
        if end > len {
            return None;
        }
        out.push(if size <= INLINE as usize {
            word & INLINE_MASK[size]
        } else {
            word & u128::from(u64::MAX) | u128::from(buffer) << 64 | (position as u128 + 4) << 96
        });
        position = end;
    }
    Some(position)
}

/// Adds `base` to the buffer number of each view that is not inline.
pub fn rebase_views(views: &mut [u128], base: u32) {
    for view in views {
        *view = rebased(*view, base);
    }
}

#[inline(always)]
pub(crate) fn rebased(view: u128, base: u32) -> u128 {
    // Without a branch: which strings are short is hard to predict.
    let base = if view_is_inline(view) { 0 } else { u64::from(base) };
    view + (u128::from(base) << 64)
}

/// Appends the strings of `views`, end to end, to `bytes`, and where each of them ends to `offsets`, as `offset` makes
/// it of a number. `buffers` are what the long views refer to. Counting starts at the length of `bytes`.
///
/// # Panics
/// If a view is of no range of its buffer.
pub fn join_views<O>(
    views: &[u128],
    buffers: &[&[u8]],
    offset: impl Fn(usize) -> O,
    offsets: &mut Vec<O>,
    bytes: &mut Vec<u8>,
) {
    let total: usize = views.iter().map(|&view| view_len(view) as usize).sum();
    bytes.reserve(total + CHUNK);
    let start = bytes.len();
    let to = bytes.spare_capacity_mut();
    let mut end = 0;
    offsets.extend(views.iter().map(|&view| {
        let len = view_len(view) as usize;
        if view_is_inline(view) {
            // What is too much is overwritten by the next string.
            to[end..][..CHUNK].write_copy_of_slice(&(view >> 32).to_le_bytes());
        } else {
            let (buffer, from) = ((view >> 64) as u32 as usize, (view >> 96) as usize);
            let source = &buffers[buffer][from..];
            assert!(len <= source.len(), "a view of {len} bytes, {} there", source.len());
            copy(source, len, &mut to[end..]);
        }
        end += len;
        offset(start + end)
    }));
    assert_eq!(end, total);
    // SAFETY: `total` bytes were written, string by string without a gap.
    unsafe { bytes.set_len(start + total) };
}

/// Copies the first `len` bytes of `source`, and what follows them up to a whole number of chunks if `source` has it.
///
/// PERF: strings are short; a few loads and stores of a known length are faster than a call that finds out how many.
#[inline(always)]
fn copy(source: &[u8], len: usize, to: &mut [MaybeUninit<u8>]) {
    let chunked = len.next_multiple_of(CHUNK);
    if len > 4 * CHUNK || chunked > source.len() {
        to[..len].write_copy_of_slice(&source[..len]);
        return;
    }
    let (from, _) = source[..chunked].as_chunks::<CHUNK>();
    let (to, _) = to[..chunked].as_chunks_mut::<CHUNK>();
    for (from, to) in from.iter().zip(to) {
        to.write_copy_of_slice(from);
    }
}

/// Bytes that are copied at once.
const CHUNK: usize = 16;

/// Up to 16 bytes at the end of input that has no slack; all ones, an impossible length, if the length is cut.
#[cold]
fn short_word(page: &[u8], position: usize) -> u128 {
    let rest = page.get(position..).unwrap_or_default();
    if rest.len() < 4 {
        return u128::MAX;
    }
    let mut word = [0u8; 16];
    word[..rest.len()].copy_from_slice(rest);
    u128::from_le_bytes(word)
}

/// What of 16 PLAIN bytes belongs to a view of 0 to 12 bytes: the length and as many bytes.
static INLINE_MASK: [u128; 13] = {
    let mut masks = [0; 13];
    let mut len = 0;
    while len < 13 {
        masks[len] = u128::MAX >> (96 - 8 * len);
        len += 1;
    }
    masks
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_strings_become_views() {
        let strings: Vec<Vec<u8>> = (0..20u8).map(|len| (0..len).map(|i| i + 65).collect()).collect();
        let mut page = Vec::new();
        for string in &strings {
            page.extend((string.len() as u32).to_le_bytes());
            page.extend(string);
        }
        let len = page.len();
        for slack in [0, 64] {
            page.resize(len + slack, 0xee);
            let mut views = Vec::new();
            assert_eq!(plain_views(&page, len, 0, 20, 3, &mut views), Some(len));
            let mut offset = 0;
            for (string, view) in strings.iter().zip(&views) {
                offset += 4;
                let expected = if string.len() <= 12 {
                    inline_view(string)
                } else {
                    long_view(string, 3, offset as u32)
                };
                assert_eq!(*view, expected);
                offset += string.len();
            }
            for cut in 0..len {
                assert_eq!(plain_views(&page, cut, 0, 20, 3, &mut Vec::new()), None);
            }
        }
        assert_eq!(plain_views(&page[..3], 3, 0, 1, 0, &mut Vec::new()), None);
    }
}
