//! Validates strings as UTF-8, many of them together.

use super::StringViews;
use bytes::Bytes;
use marquetry_base::{Error, Result};
use marquetry_kernels::{self as kernels, view_is_inline, view_len};
use std::borrow::Cow;
use std::hint::select_unpredictable;
use std::ops::Range;

impl StringViews {
    /// Returns the index of the first string in `range` that is not UTF-8, if any.
    pub fn first_not_utf8(&self, range: Range<usize>) -> Option<usize> {
        let start = range.start;
        let views = &self.views[range];
        if self.is_utf8_for_sure(views) {
            return None;
        }
        let is_text = |view| {
            let string = self.resolve(view);
            string.is_ascii() || simdutf8::basic::from_utf8(string).is_ok()
        };
        views.iter().position(|view| !is_text(view)).map(|i| start + i)
    }

    /// Replaces the strings in `range` that are not UTF-8, as [`String::from_utf8_lossy`] does. Returns the total
    /// length of the new strings. Fails if one of them is longer than 2 GiB.
    pub fn replace_invalid_utf8(&mut self, range: Range<usize>) -> Result<usize> {
        let Some(first) = self.first_not_utf8(range.clone()) else { return Ok(0) };
        let (mut bytes, mut arena) = (0, Vec::new());
        for i in first..range.end {
            let text = match String::from_utf8_lossy(self.get(i)) {
                Cow::Borrowed(_) => continue,
                Cow::Owned(text) => text,
            };
            if i32::try_from(text.len()).is_err() {
                return Err(Error::limit(format!("a string of {} bytes once it is UTF-8", text.len())));
            }
            bytes += text.len();
            self.views[i] = if text.len() <= 12 {
                kernels::inline_view(text.as_bytes())
            } else {
                if arena.len() + text.len() > i32::MAX as usize {
                    self.buffers.push(Bytes::from(std::mem::take(&mut arena)));
                }
                let start = arena.len();
                arena.extend_from_slice(text.as_bytes());
                kernels::long_view(&arena[start..], self.buffers.len() as u32, start as u32)
            };
        }
        if !arena.is_empty() {
            self.buffers.push(Bytes::from(arena));
        }
        Ok(bytes)
    }

    /// Whether all strings are certainly UTF-8; false if they must be validated one by one.
    ///
    /// PERF: strings that were decoded together are neighbours in one buffer, so the whole range is validated at once.
    /// Most text is ASCII, and so are the bytes between the strings (PLAIN lengths below 128). Otherwise the range may
    /// still be valid UTF-8 in which no string begins or ends inside of a character; lengths from 128 on are left out.
    fn is_utf8_for_sure(&self, views: &[u128]) -> bool {
        let survey = kernels::summarize_views(views);
        let (first, end) = (survey.range.0 as usize, survey.range.1 as usize);
        let text = match survey.buffers {
            (least, greatest) if least > greatest => &[],
            (only, other) if only == other => {
                let buffer = &self.buffers[only as usize];
                // In a buffer of over 4 GiB, offset and length may add up to more than 32 bits, so the range may be wrong.
                match buffer.get(first..end) {
                    Some(text) if u32::try_from(buffer.len()).is_ok() => text,
                    _ => return false,
                }
            }
            _ => return self.are_utf8_by_buffer(views),
        };
        if survey.inline & INLINE_HIGH_BITS != 0 && !inline_are_utf8(views) {
            return false;
        }
        if text.len() > 64 * views.len() && text.len() > 4 * long_bytes(views) {
            // Validates strings one by one if there are large gaps between them.
            return false;
        }
        if text.is_ascii() {
            return true;
        }
        if simdutf8::basic::from_utf8(text).is_err() {
            return is_utf8_between_lengths(text, first, views);
        }
        let begins_or_ends = |at: usize| text.get(at).is_none_or(|byte| byte & 0xc0 != 0x80);
        views.iter().all(|view| {
            // PERF: a branch on inline strings would be mispredicted. They check offset 0, which is a boundary in any valid text.
            let is_inline = view_is_inline(*view);
            let from = select_unpredictable(is_inline, 0, ((view >> 96) as usize).wrapping_sub(first));
            let len = select_unpredictable(is_inline, 0, view_len(*view) as usize);
            begins_or_ends(from) & begins_or_ends(from + len)
        })
    }

    /// Like [`is_utf8_for_sure`](Self::is_utf8_for_sure), for strings in several buffers, as those of several pages
    /// are. The strings of each buffer are validated together.
    fn are_utf8_by_buffer(&self, mut views: &[u128]) -> bool {
        while !views.is_empty() {
            let (one, rest) = views.split_at(len_in_one_buffer(views));
            if one.len() < LEAST_AT_ONCE && !rest.is_empty() || !self.is_utf8_for_sure(one) {
                return false;
            }
            views = rest;
        }
        true
    }
}

/// The high bits of the string's bytes in an inline view. They are set only in bytes that are not ASCII.
const INLINE_HIGH_BITS: u128 = 0x8080_8080_8080_8080_8080_8080 << 32;

/// The total length of the strings that are not inline, in bytes.
fn long_bytes(views: &[u128]) -> usize {
    let len = |view: &u128| if view_is_inline(*view) { 0 } else { view_len(*view) as usize };
    views.iter().map(len).sum()
}

/// The number of views at the front that are inline or refer to the same buffer.
fn len_in_one_buffer(views: &[u128]) -> usize {
    let buffer = |view: &u128| (*view >> 64) as u32;
    let Some(first) = views.iter().position(|view| !view_is_inline(*view)) else { return views.len() };
    let other = |view: &u128| !view_is_inline(*view) && buffer(view) != buffer(&views[first]);
    views.iter().position(other).unwrap_or(views.len())
}

/// Minimum number of consecutive strings in one buffer that are worth validating together.
const LEAST_AT_ONCE: usize = 32;

/// Whether the inline strings are UTF-8.
///
/// PERF: validates many at once. The other bytes of an inline view are ASCII: the length, at most 12, and zeros.
fn inline_are_utf8(views: &[u128]) -> bool {
    views.chunks(INLINE_AT_ONCE).all(|views| {
        let mut inline = [0; INLINE_AT_ONCE];
        for (inline, view) in inline.iter_mut().zip(views) {
            *inline = if view_is_inline(*view) { *view } else { 0 };
        }
        simdutf8::basic::from_utf8(kernels::bytes_of_views(&inline[..views.len()])).is_ok()
    })
}

/// Number of views whose inline strings are validated together.
const INLINE_AT_ONCE: usize = 256;

/// Whether the strings of `views` are certainly UTF-8. `text` is the part of their buffer that begins at `first`. The
/// lengths of strings of 128 bytes and more may not be ASCII, so the stretches between these lengths are validated, and
/// no string may begin or end inside of a character.
fn is_utf8_between_lengths(text: &[u8], first: usize, views: &[u128]) -> bool {
    let is_text = |bytes: &[u8]| simdutf8::basic::from_utf8(bytes).is_ok();
    let is_boundary = |at: usize| text.get(at).is_none_or(|byte| byte & 0xc0 != 0x80);
    let (mut start, mut end) = (0, 0);
    for view in views.iter().filter(|view| !view_is_inline(**view)) {
        let (from, len) = (((view >> 96) as usize).wrapping_sub(first), view_len(*view) as usize);
        // Otherwise the strings are not in order, and some may be in no stretch.
        let mut is_fine = from >= end;
        if len > MAX_ASCII_LEN {
            is_fine &= text.get(start..end).is_some_and(is_text);
            start = from;
        } else {
            is_fine &= is_boundary(end) & is_boundary(from);
        }
        if !is_fine {
            return false;
        }
        end = from + len;
    }
    text.get(start..).is_some_and(is_text)
}

/// The greatest length whose bytes are certainly ASCII.
const MAX_ASCII_LEN: usize = 127;

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates views of the parts of `text` between the positions in `cuts`.
    fn parts(text: &[u8], cuts: &[usize]) -> StringViews {
        let mut views = StringViews::new();
        let buffer = views.add_buffer(&Bytes::copy_from_slice(text));
        cuts.windows(2).for_each(|cut| views.push_slice(buffer, cut[0]..cut[1]));
        views
    }

    #[test]
    fn text_is_looked_at_as_a_whole_and_at_its_seams() {
        let text =
            "a string that is long; größer als zwölf; and short; and one more that is longer".as_bytes();
        let within = text.iter().position(|byte| byte & 0xc0 == 0x80).unwrap();
        for cuts in [&[0, 22, 43, 53, 80][..], &[0, text.len()], &[]] {
            let cuts: Vec<usize> = cuts.iter().map(|cut| (*cut).min(text.len())).collect();
            assert_eq!(parts(text, &cuts).first_not_utf8(0..cuts.len().saturating_sub(1)), None);
        }
        assert_eq!(parts(text, &[0, 15, within, text.len()]).first_not_utf8(0..3), Some(1));
        assert_eq!(parts(text, &[within, text.len()]).first_not_utf8(0..1), Some(0));
        // Inline strings: one ends inside of a character, one after it.
        assert_eq!(parts(text, &[within - 5, within, text.len()]).first_not_utf8(0..2), Some(0));
        assert_eq!(parts(text, &[within - 5, within + 1]).first_not_utf8(0..1), None);
        let mut wrong = text.to_vec();
        wrong[60] = 0xff;
        assert_eq!(parts(&wrong, &[0, 20, 40, wrong.len()]).first_not_utf8(0..3), Some(2));
        assert_eq!(parts(&wrong, &[0, 20, 40, wrong.len()]).first_not_utf8(0..2), None);
    }

    proptest::proptest! {
        /// Strings after their length fields, as in a PLAIN page. Some begin or end inside of a character.
        #[test]
        fn text_is_what_is_text_string_by_string(
            cuts in proptest::collection::vec((0usize..170, 0usize..300), 0..12),
            letters in "[a-zа-я]{500}",
        ) {
            // Most strings are short.
            let len = |cut: usize| if cut < 200 { cut / 10 } else { cut - 100 };
            let strings = cuts.iter().map(|&(from, cut)| &letters.as_bytes()[from..from + len(cut)]);
            let (mut page, mut places) = (vec![0; 7], Vec::new());
            for string in strings {
                page.extend((string.len() as u32).to_le_bytes());
                places.push(page.len()..page.len() + string.len());
                page.extend(string);
            }
            let expected = places.iter().position(|place| std::str::from_utf8(&page[place.clone()]).is_err());
            let mut views = StringViews::new();
            let buffer = views.add_buffer(&Bytes::from(page));
            places.iter().for_each(|place| views.push_slice(buffer, place.clone()));
            proptest::prop_assert_eq!(views.first_not_utf8(0..places.len()), expected);
            let bytes: usize = places.iter().map(|place| place.len() + 4).sum();
            if expected.is_none() && bytes <= 64 * places.len() {
                proptest::prop_assert!(views.is_utf8_for_sure(views.views()));
            }
        }
    }

    proptest::proptest! {
        /// A batch may have strings of several pages, some of which are far apart.
        #[test]
        fn text_of_several_buffers_is_what_is_text_string_by_string(
            pages in proptest::collection::vec((1usize..90, 1usize..120, 0usize..400), 1..5),
            wrong in proptest::option::of((0usize..5, 0usize..20_000)),
            letters in "[a-zа-я]{60}",
        ) {
            let mut views = StringViews::new();
            for (number, &(count, len, gap)) in pages.iter().enumerate() {
                let (mut page, mut places) = (Vec::new(), Vec::new());
                for _ in 0..count {
                    let cut = (0..=len.min(letters.len())).rev().find(|cut| letters.is_char_boundary(*cut)).unwrap();
                    places.push(page.len()..page.len() + cut);
                    page.extend(&letters.as_bytes()[..cut]);
                    page.extend(std::iter::repeat_n(b'-', gap));
                }
                if let Some((_, at)) = wrong.filter(|(page, _)| *page == number)
                    && let Some(byte) = page.get_mut(at)
                {
                    *byte = 0xff;
                }
                let buffer = views.add_buffer(&Bytes::from(page));
                places.into_iter().for_each(|place| views.push_slice(buffer, place));
            }
            let expected = views.iter().position(|string| std::str::from_utf8(string).is_err());
            proptest::prop_assert_eq!(views.first_not_utf8(0..views.len()), expected);
            if wrong.is_none() && pages.iter().all(|&(count, len, gap)| count >= LEAST_AT_ONCE && len > 12 && gap < len) {
                proptest::prop_assert!(views.is_utf8_for_sure(views.views()));
            }
        }
    }

    /// Strings that are in another order or overlap must not be validated like those of a PLAIN page.
    #[test]
    fn strings_that_are_not_next_to_each_other() {
        let mut text = vec![b'x'; 4000];
        text[1500] = 0x80;
        let mut views = StringViews::new();
        let buffer = views.add_buffer(&Bytes::from(text));
        for range in [2000..3000, 0..1499, 1502..1999, 1503..2900] {
            views.push_slice(buffer, range);
        }
        assert_eq!(views.first_not_utf8(0..4), None);
        views.push_slice(buffer, 1000..1501);
        assert_eq!(views.first_not_utf8(0..5), Some(4));
        assert_eq!(views.first_not_utf8(1..5), Some(4));
    }
}
