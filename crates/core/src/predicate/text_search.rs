//! Substring search over many strings at once.
//!
//! ```text
//! page    .... a string .... another .... one more ....        a search goes from where the last one ended: through strings
//!              └──────────── span ───────────────┘             that do not have the text, and what is between them
//! ```
//!
//! PERF: the strings of a page are adjacent. The cost of starting a search is paid where the text is found, instead of
//! for each string.

use super::blocks::{VALUES_PER_BLOCK, of_blocks};
use super::ignoring_case::TextIgnoringCase;
use marquetry_encoding::{Bitmap, StringViews};
use memchr::memmem::Finder;

/// A text to find, and the searcher for it.
#[derive(Debug, Clone)]
pub(super) enum Needle {
    Exact(Box<Finder<'static>>),
    IgnoringCase(TextIgnoringCase),
}

impl Needle {
    pub(super) fn exact(text: &[u8]) -> Self {
        Needle::Exact(Box::new(Finder::new(text).into_owned()))
    }

    fn len(&self) -> usize {
        match self {
            Needle::Exact(finder) => finder.needle().len(),
            Needle::IgnoringCase(text) => text.len(),
        }
    }

    /// Returns the first position of the text.
    fn find(&self, bytes: &[u8]) -> Option<usize> {
        match self {
            Needle::Exact(finder) => finder.find(bytes),
            Needle::IgnoringCase(text) => text.find(bytes),
        }
    }
}

/// A search for texts that a string must contain one after the other.
#[derive(Debug, Clone)]
pub(super) struct TextSearch {
    needles: Vec<Needle>,
    /// Total length of the texts in bytes.
    len: usize,
}

impl TextSearch {
    pub(super) fn new(needles: Vec<Needle>) -> Self {
        let len = needles.iter().map(Needle::len).sum();
        TextSearch { needles, len }
    }

    /// Whether a string contains the texts. Each is matched at its first occurrence, which leaves most for the later
    /// ones.
    pub(super) fn is_match(&self, string: &[u8]) -> bool {
        let mut rest = string;
        self.needles.iter().all(|needle| match needle.find(rest) {
            Some(at) => {
                rest = &rest[at + needle.len()..];
                true
            }
            None => false,
        })
    }

    /// Returns which strings contain the texts.
    pub(super) fn matches_each(&self, strings: &StringViews) -> Bitmap {
        of_blocks(strings.len(), |start, block| {
            let views = &strings.views()[start..start + block.len()];
            let mut first = 0;
            while first < views.len() {
                let run = Run::at(&views[first..], strings);
                let (views, found) = (&views[first..first + run.len], &mut block[first..first + run.len]);
                match run.span {
                    Some(span) => self.search_span(span, run.start, views, strings, found),
                    None => found.iter_mut().zip(views).for_each(|(found, view)| {
                        *found = u8::from(self.is_match(strings.resolve(view)));
                    }),
                }
                first += run.len;
            }
        })
    }

    /// Like [`matches_each`](Self::matches_each), for strings that are stored in their views, or in this order in
    /// `span`, which begins at `start` of their buffer.
    fn search_span(
        &self,
        span: &[u8],
        start: usize,
        views: &[u128],
        strings: &StringViews,
        found: &mut [u8],
    ) {
        let mut cursors: Vec<Cursor<'_>> = self
            .needles
            .iter()
            .map(|needle| Cursor { needle, at: needle.find(span).unwrap_or(span.len()) })
            .collect();
        for (found, view) in found.iter_mut().zip(views) {
            *found = u8::from(match StringViews::place(*view) {
                Some((_, place)) => {
                    let mut from = place.start - start;
                    let end = place.end - start;
                    cursors.iter_mut().all(|cursor| match cursor.behind(from, span) {
                        behind if behind <= end => {
                            from = behind;
                            true
                        }
                        _ => false,
                    })
                }
                None => {
                    let string = strings.resolve(view);
                    self.len <= string.len() && self.is_match(string)
                }
            });
        }
    }
}

/// The occurrence of a text, moving forward through a span.
struct Cursor<'a> {
    needle: &'a Needle,
    /// The first occurrence at or after the position searched last; the end of the span if there is none.
    at: usize,
}

impl Cursor<'_> {
    /// Returns where the first occurrence at or after `from` ends; beyond the span if there is none.
    #[inline]
    fn behind(&mut self, from: usize, span: &[u8]) -> usize {
        if self.at < from {
            self.at = self.needle.find(&span[from..]).map_or(span.len(), |at| from + at);
        }
        self.at + self.needle.len()
    }
}

/// Strings that are stored in their views, or in order in one buffer.
struct Run<'a> {
    /// Number of strings.
    len: usize,
    /// The bytes from the first string to the last, which begin at `start` of the buffer; `None` if searching them at
    /// once does not pay.
    span: Option<&'a [u8]>,
    start: usize,
}

impl<'a> Run<'a> {
    /// Returns the run at the beginning of `views`.
    fn at(views: &[u128], strings: &'a StringViews) -> Run<'a> {
        let mut place: Option<(usize, std::ops::Range<usize>)> = None;
        let (mut len, mut bytes) = (0, 0);
        for view in views {
            match (&mut place, StringViews::place(*view)) {
                (_, None) => {}
                (None, next) => place = next,
                (Some((buffer, span)), Some((next, range))) if *buffer == next && range.start >= span.end => {
                    span.end = range.end;
                }
                _ => break,
            }
            len += 1;
            bytes += *view as u32 as usize;
        }
        let Some((buffer, range)) = place else { return Run { len, span: None, start: 0 } };
        // Bytes between the strings cost as well.
        let is_dense = range.len() <= MOST_SEARCHED * bytes + LEAST_SPAN;
        let span = if is_dense { strings.buffers()[buffer].get(range.clone()) } else { None };
        Run { len, span, start: range.start }
    }
}

/// Maximum bytes of a span per byte of its strings.
const MOST_SEARCHED: usize = 2;
/// Bytes of a span that are always allowed, for runs of few strings.
const LEAST_SPAN: usize = VALUES_PER_BLOCK;

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use proptest::prelude::*;

    /// Returns strings as they are in a page, with other bytes between them, some of which look like the text.
    fn views(strings: &[String], between: &str) -> StringViews {
        let mut page = Vec::new();
        let mut places = Vec::new();
        for string in strings {
            page.extend_from_slice(between.as_bytes());
            places.push(page.len()..page.len() + string.len());
            page.extend_from_slice(string.as_bytes());
        }
        let mut out = StringViews::new();
        let buffer = out.add_buffer(&Bytes::from(page));
        places.into_iter().for_each(|place| out.push_slice(buffer, place));
        out
    }

    proptest! {
        #[test]
        fn all_at_once_is_one_after_the_other(
            strings in prop::collection::vec("[abB]{0,30}", 0..80),
            texts in prop::collection::vec("[ab]{1,4}", 0..3),
            between in "[ab]{0,3}",
            order in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
            ignores_case in any::<bool>(),
        ) {
            let needle = |text: &String| match ignores_case {
                true => Needle::IgnoringCase(TextIgnoringCase::new(text.as_bytes()).unwrap()),
                false => Needle::exact(text.as_bytes()),
            };
            let search = TextSearch::new(texts.iter().map(needle).collect());
            let regex = format!("(?s{}){}", if ignores_case { "i" } else { "" }, texts.join(".*"));
            let regex = regex::Regex::new(&regex).unwrap();
            let mut views = views(&strings, &between);
            // Adds strings once more, in any order and in other buffers.
            if !views.is_empty() {
                for at in order {
                    let again = views.get(at.index(views.len())).to_vec();
                    views.push(&again);
                    let view = views.views()[at.index(views.len())];
                    let buffers = views.buffers().to_vec();
                    views.push_views(&[], |views, _| views.push(view));
                    assert_eq!(views.buffers().len(), buffers.len());
                }
            }
            let expected: Bitmap =
                views.iter().map(|string| regex.is_match(std::str::from_utf8(string).unwrap())).collect();
            prop_assert_eq!(search.matches_each(&views), expected.clone());
            let each: Bitmap = views.iter().map(|string| search.is_match(string)).collect();
            prop_assert_eq!(each, expected);
        }
    }

    #[test]
    fn more_strings_than_a_block() {
        let strings: Vec<String> = (0..3_000).map(|i| format!("https://example.org/page={i}&")).collect();
        let views = views(&strings, "    ");
        let found = TextSearch::new(vec![Needle::exact(b"=17"), Needle::exact(b"7&")]).matches_each(&views);
        let expected: Bitmap = strings
            .iter()
            .map(|s| s.contains("=17") && s[s.find("=17").unwrap() + 3..].contains("7&"))
            .collect();
        assert!(found.count_ones(0..3_000) > 10);
        assert_eq!(found, expected);
    }
}
