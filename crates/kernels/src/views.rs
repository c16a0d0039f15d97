//! Byte string views: 16 bytes that hold a short string, or say where a long one is. The layout is Arrow's.
//!
//! ```text
//! up to 12 bytes   len: u32 | the bytes, then zeros
//! longer           len: u32 | first 4 bytes | buffer: u32 | offset: u32
//! ```
//!
//! PLAIN stores a string as `len: u32 | bytes`: for a short one the first 16 bytes of it, masked, *are* the view.

use crate::table::Kernels;
use crate::words::bytes_of;
use std::hint::select_unpredictable;

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

/// The bytes of many views, as [`view_bytes`] has those of one.
pub fn bytes_of_views(views: &[u128]) -> &[u8] {
    bytes_of(views).as_flattened()
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
/// `buffer`. Returns the position behind the last, and how many bytes of their lengths are not ASCII; or `None` if a string would
/// end outside: then fewer than `n` views may have been appended.
///
/// Each string is shown to `look`, before its length leads to the next one: see [`fetch_on_the_way`](crate::fetch_on_the_way).
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
    // Four bytes each at least: what is reserved was earned by the input.
    out.reserve(n.min(len.saturating_sub(position) / 4));
    for _ in 0..n {
        let word = match page.get(position..position + 16) {
            Some(word) => u128::from_le_bytes(word.try_into().expect("16 bytes")),
            None => short_word(page, position),
        };
        let size = word as u32;
        let end = position + 4 + size as usize;
        if end > len {
            return None;
        }
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
    // Without a branch: which strings are short is hard to predict.
    let base = if view_is_inline(view) { 0 } else { u64::from(base) };
    view + (u128::from(base) << 64)
}

/// What views have in common: see [`survey`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Survey {
    /// All inline views, one over the other.
    pub inline: u128,
    /// The least and the greatest number of a buffer that a long string is in.
    pub buffers: (u32, u32),
    /// Where in its buffer the first of the long strings begins and the last one ends, modulo 2^32.
    pub range: (u32, u32),
}

impl Survey {
    /// The survey of no views: every least number is the greatest there is.
    pub(crate) const NONE: Survey = Survey { inline: 0, buffers: (u32::MAX, 0), range: (u32::MAX, 0) };
}

/// Looks at many views at once: where are the long strings, and are the short ones ASCII?
pub fn survey(views: &[u128]) -> Survey {
    Kernels::current().survey(views)
}

impl Kernels {
    /// [`survey`] at this level.
    pub fn survey(&self, views: &[u128]) -> Survey {
        // SAFETY: this CPU has the level of this table.
        unsafe { (self.survey)(views) }
    }
}

pub(crate) fn survey_scalar(views: &[u128]) -> Survey {
    views.iter().fold(Survey::NONE, |survey, &view| {
        // Without a branch: which strings are short is hard to predict.
        let is_inline = view_is_inline(view);
        let (buffer, from) = ((view >> 64) as u32, (view >> 96) as u32);
        let end = from.wrapping_add(view_len(view));
        let least = |least: u32, new| least.min(select_unpredictable(is_inline, u32::MAX, new));
        let greatest = |greatest: u32, new| greatest.max(select_unpredictable(is_inline, 0, new));
        Survey {
            inline: survey.inline | select_unpredictable(is_inline, view, 0),
            buffers: (least(survey.buffers.0, buffer), greatest(survey.buffers.1, buffer)),
            range: (least(survey.range.0, from), greatest(survey.range.1, end)),
        }
    })
}

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

/// The view of the `len` bytes at `position` of `padded`, which is buffer number `buffer`; the bytes must be inside.
///
/// # Panics
/// If `padded` ends within 16 bytes from `position`.
#[inline(always)]
pub fn view_at(padded: &[u8], position: usize, len: u32, buffer: u32) -> u128 {
    let (word, _) = padded[position..].split_first_chunk().expect("16 bytes of slack");
    view_of(u128::from_le_bytes(*word), len, buffer, position)
}

/// The view of `len` bytes, the first of which are those of `word`, at `position` of buffer number `buffer`.
///
/// PERF: a short string is a load of 16 bytes and a mask, not a copy of a variable length; and which strings are short
/// is hard to predict, so both views are made.
#[inline(always)]
fn view_of(word: u128, len: u32, buffer: u32, position: usize) -> u128 {
    let short = word & INLINE_MASK[len.min(INLINE) as usize];
    let long = u128::from(word as u32) | u128::from(buffer) << 32 | (position as u128) << 64;
    u128::from(len) | select_unpredictable(len <= INLINE, short, long) << 32
}

/// What of 16 bytes belongs to a string of 0 to 12.
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
