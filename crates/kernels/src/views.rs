//! Byte string views in Arrow's layout: 16 bytes that hold a short string, or the position of a long one.
//!
//! ```text
//! up to 12 bytes   len: u32 | the bytes, then zeros
//! longer           len: u32 | first 4 bytes | buffer: u32 | offset: u32
//! ```
//!
//! PLAIN stores a string as `len: u32 | bytes`. For a short string, the first 16 bytes of that, masked, *are* the view.

use crate::le_words::bytes_of;
use crate::signatures::{Kernels, ViewSummary};
use std::hint::select_unpredictable;

/// The longest string that a view holds itself, in bytes.
const MAX_INLINE_BYTES: u32 = 12;

/// The length of the string of `view`.
#[inline(always)]
pub fn view_len(view: u128) -> u32 {
    view as u32
}

/// Whether the string is stored inline, in the view itself.
#[inline(always)]
pub fn view_is_inline(view: u128) -> bool {
    view_len(view) <= MAX_INLINE_BYTES
}

/// The 16 bytes of a view: the length, then the string if it is inline.
#[inline(always)]
pub fn view_bytes(view: &u128) -> &[u8; 16] {
    // SAFETY: both are 16 bytes without padding, any bits are valid for either, and `[u8; 16]` needs no alignment.
    unsafe { &*std::ptr::from_ref(view).cast::<[u8; 16]>() }
}

/// The bytes of many views: see [`view_bytes`].
pub fn bytes_of_views(views: &[u128]) -> &[u8] {
    bytes_of(views).as_flattened()
}

/// Creates the view of a string of at most 12 bytes.
///
/// # Panics
/// If the string is longer.
#[inline]
pub fn inline_view(bytes: &[u8]) -> u128 {
    let mut view = [0u8; 16];
    view[4..4 + bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(view) | bytes.len() as u128
}

/// Creates the view of `bytes`, more than 12, which are in buffer number `buffer` at `offset`.
#[inline]
pub fn long_view(bytes: &[u8], buffer: u32, offset: u32) -> u128 {
    debug_assert!(bytes.len() > MAX_INLINE_BYTES as usize);
    let prefix = u32::from_le_bytes(bytes[..4].try_into().expect("4 bytes"));
    bytes.len() as u128 | u128::from(prefix) << 32 | u128::from(buffer) << 64 | u128::from(offset) << 96
}

/// Appends the views of `n` PLAIN byte strings that begin at `position` of `page[..len]`, which is buffer number
/// `buffer`. Returns the position after the last string, and the number of non-ASCII bytes in the length fields.
/// Returns `None` if a string would end outside of the page; then fewer than `n` views may have been appended.
///
/// Calls `look` with each string before its length leads to the next one: see `prefetch_next_string`.
pub fn plain_views(
    page: &[u8],
    len: usize,
    position: usize,
    n: usize,
    buffer: u32,
    mut look: impl FnMut(&[u8]),
    out: &mut Vec<u128>,
) -> Option<(usize, usize)> {
    let (mut position, mut not_ascii) = (position, 0);
    // Each string takes at least four bytes of the page, so a small page cannot reserve much memory.
    out.reserve(n.min(len.saturating_sub(position) / 4));
    for _ in 0..n {
        let word = match page.get(position..position + 16) {
            Some(word) => u128::from_le_bytes(word.try_into().expect("16 bytes")),
            None => short_word(page, position),
        };
        let size = word as u32;
        // On 32-bit targets, a damaged length may overflow the address.
        let end = (position + 4).checked_add(size as usize).filter(|end| *end <= len)?;
        out.push(view_of(word >> 32, size, buffer, position + 4));
        look(&page[position + 4..end]);
        not_ascii += ((size & 0x8080_8080) >> 7).wrapping_mul(0x0101_0101) as usize >> 24;
        position = end;
    }
    Some((position, not_ascii))
}

/// Adds `base` to the buffer number of each view that is not inline.
pub fn rebase_views(views: &mut [u128], base: u32) {
    for view in views {
        *view = rebased(*view, base);
    }
}

#[inline(always)]
pub(crate) fn rebased(view: u128, base: u32) -> u128 {
    // No branch: short strings are hard to predict.
    let base = if view_is_inline(view) { 0 } else { u64::from(base) };
    view + (u128::from(base) << 64)
}

impl Kernels {
    /// `summarize_views` at this level.
    pub fn summarize_views(&self, views: &[u128]) -> ViewSummary {
        // SAFETY: this CPU has the level of this table.
        unsafe { (self.summarize_views)(views) }
    }
}

pub(crate) fn summarize_views_scalar(views: &[u128]) -> ViewSummary {
    views.iter().fold(ViewSummary::EMPTY, |summary, &view| {
        // No branch: short strings are hard to predict.
        let is_inline = view_is_inline(view);
        let (buffer, from) = ((view >> 64) as u32, (view >> 96) as u32);
        let end = from.wrapping_add(view_len(view));
        let least = |least: u32, new| least.min(select_unpredictable(is_inline, u32::MAX, new));
        let greatest = |greatest: u32, new| greatest.max(select_unpredictable(is_inline, 0, new));
        ViewSummary {
            inline: summary.inline | select_unpredictable(is_inline, view, 0),
            buffers: (least(summary.buffers.0, buffer), greatest(summary.buffers.1, buffer)),
            range: (least(summary.range.0, from), greatest(summary.range.1, end)),
        }
    })
}

/// Loads up to 16 bytes at the end of input without padding. Returns all ones, an impossible length, if the length field is cut off.
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

/// Creates the view of the `len` bytes at `position` of `padded`, which is buffer number `buffer`. The bytes must be inside.
///
/// # Panics
/// If `padded` ends within 16 bytes from `position`.
#[inline(always)]
pub fn view_at(padded: &[u8], position: usize, len: u32, buffer: u32) -> u128 {
    let (word, _) = padded[position..].split_first_chunk().expect("16 bytes of padding");
    view_of(u128::from_le_bytes(*word), len, buffer, position)
}

/// Creates the view of `len` bytes at `position` of buffer number `buffer`. `word` has their first bytes.
///
/// PERF: a short string is a load of 16 bytes and a mask, not a copy of variable length. Both kinds of view are
/// computed, because short strings are hard to predict.
#[inline(always)]
fn view_of(word: u128, len: u32, buffer: u32, position: usize) -> u128 {
    let short = word & INLINE_MASK[len.min(MAX_INLINE_BYTES) as usize];
    let long = u128::from(word as u32) | u128::from(buffer) << 32 | (position as u128) << 64;
    u128::from(len) | select_unpredictable(len <= MAX_INLINE_BYTES, short, long) << 32
}

/// Masks for the bytes of strings of 0 to 12 bytes.
static INLINE_MASK: [u128; 13] = {
    let mut masks = [0; 13];
    let mut len = 1;
    while len < 13 {
        masks[len] = u128::MAX >> (128 - 8 * len);
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
            assert_eq!(plain_views(&page, len, 0, 20, 3, |_| (), &mut views), Some((len, 0)));
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
                assert_eq!(plain_views(&page, cut, 0, 20, 3, |_| (), &mut Vec::new()), None);
            }
        }
        assert_eq!(plain_views(&page[..3], 3, 0, 1, 0, |_| (), &mut Vec::new()), None);
    }
}
