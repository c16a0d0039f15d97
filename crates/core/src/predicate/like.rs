//! LIKE patterns: the parts between wildcards are searched for one after the other.

use memchr::memmem;

/// A LIKE pattern, split at its `%`.
#[derive(Debug, Clone)]
pub(super) struct LikeMatcher {
    /// INVARIANT: there is at least one part. The first one matches the beginning of the value, the last one its end.
    parts: Vec<Part>,
}

/// The part of a pattern between two `%`.
#[derive(Debug, Clone)]
enum Part {
    /// Bytes without a wildcard, and the searcher for them.
    Plain(Box<memmem::Finder<'static>>),
    /// Bytes with `_` among them.
    Wild(Vec<Element>),
}

#[derive(Debug, Clone, PartialEq)]
enum Element {
    Plain(Vec<u8>),
    /// `_`
    AnyCharacter,
}

/// Minimum length of a text to search for: shorter text is in most strings.
const LEAST_TEXT: usize = 3;

impl Element {
    fn text(&self) -> Option<&[u8]> {
        match self {
            Element::Plain(text) => Some(text),
            Element::AnyCharacter => None,
        }
    }
}

impl LikeMatcher {
    /// Parses a pattern. Fails if a backslash is the last character.
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        let mut parts = vec![Vec::new()];
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            let c = match c {
                '%' => {
                    parts.push(Vec::new());
                    continue;
                }
                '_' => {
                    parts.last_mut().into_iter().for_each(|part| part.push(Element::AnyCharacter));
                    continue;
                }
                '\\' => chars.next().ok_or("nothing follows the backslash")?,
                c => c,
            };
            let Some(part) = parts.last_mut() else { continue };
            if let Some(Element::Plain(bytes)) = part.last_mut() {
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            } else {
                part.push(Element::Plain(c.to_string().into_bytes()));
            }
        }
        Ok(LikeMatcher { parts: parts.into_iter().map(Part::new).collect() })
    }

    /// Returns the texts between `%`, in order, if the pattern has nothing else: `%text%`, `%one%two%`.
    pub(super) fn texts(&self) -> Option<Vec<&[u8]>> {
        let plain = self.parts.iter().map(|part| match part {
            Part::Plain(finder) => Some(finder.needle()),
            Part::Wild(_) => None,
        });
        let texts = plain.collect::<Option<Vec<&[u8]>>>()?;
        let is_anywhere = texts.len() > 1 && texts.first()?.is_empty() && texts.last()?.is_empty();
        is_anywhere.then(|| texts.into_iter().filter(|text| !text.is_empty()).collect())
    }

    /// Returns a text between two `%` that every match contains: the longest one, if it is worth searching for.
    pub(super) fn longest_text(&self) -> Option<&[u8]> {
        let [_, middle @ .., _] = self.parts.as_slice() else { return None };
        let texts = middle.iter().filter_map(|part| match part {
            Part::Plain(finder) => Some(finder.needle()),
            Part::Wild(elements) => elements.iter().filter_map(Element::text).max_by_key(|text| text.len()),
        });
        texts.max_by_key(|text| text.len()).filter(|text| text.len() >= LEAST_TEXT)
    }

    /// Returns the bytes that every match begins with.
    pub(super) fn prefix(&self) -> &[u8] {
        match &self.parts[0] {
            Part::Plain(finder) => finder.needle(),
            Part::Wild(elements) => match elements.first() {
                Some(Element::Plain(bytes)) => bytes,
                _ => &[],
            },
        }
    }

    /// Whether the whole value matches.
    ///
    /// Parts between the first and the last are matched at their first occurrence, which leaves most for the later
    /// ones.
    pub(super) fn is_match(&self, value: &[u8]) -> bool {
        let Some(start) = self.parts[0].end_at(value) else { return false };
        let [_, middle @ .., last] = self.parts.as_slice() else { return start == value.len() };
        let rest = &value[start..];
        let Some(end) = last.start_of_end(rest) else { return false };
        let mut rest = &rest[..end];
        for part in middle {
            match part.find(rest) {
                Some(end) => rest = &rest[end..],
                None => return false,
            }
        }
        true
    }

    /// Returns an equivalent regular expression.
    pub(super) fn to_regex(&self) -> String {
        let mut out = "\\A".to_owned();
        for (i, part) in self.parts.iter().enumerate() {
            if i > 0 {
                out.push_str("(?s-u:.)*");
            }
            match part {
                Part::Plain(finder) => out.push_str(&escaped(finder.needle())),
                Part::Wild(elements) => elements.iter().for_each(|element| match element {
                    Element::Plain(bytes) => out.push_str(&escaped(bytes)),
                    Element::AnyCharacter => out.push_str("(?s:.)"),
                }),
            }
        }
        out + "\\z"
    }
}

/// Returns the text of a LIKE pattern without a wildcard, or with only a `%` at its end, and whether it has that.
/// `None` for text with a backslash, which as a literal might be the printed form of bytes.
pub(super) fn plain_like(pattern: &str) -> Option<(String, bool)> {
    let mut plain = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '%' if chars.as_str().is_empty() => return Some((plain, true)),
            '%' | '_' => return None,
            '\\' => match chars.next()? {
                '\\' => return None,
                c => plain.push(c),
            },
            c => plain.push(c),
        }
    }
    Some((plain, false))
}

/// Escapes a part of a pattern, which is text.
fn escaped(bytes: &[u8]) -> String {
    regex::escape(&String::from_utf8_lossy(bytes))
}

impl Part {
    fn new(mut elements: Vec<Element>) -> Part {
        match elements.as_mut_slice() {
            [] => Part::Plain(Box::new(memmem::Finder::new(b"").into_owned())),
            [Element::Plain(bytes)] => Part::Plain(Box::new(memmem::Finder::new(bytes).into_owned())),
            _ => Part::Wild(elements),
        }
    }

    /// Returns where the part ends if the value begins with it.
    fn end_at(&self, value: &[u8]) -> Option<usize> {
        match self {
            Part::Plain(finder) => value.starts_with(finder.needle()).then(|| finder.needle().len()),
            Part::Wild(elements) => elements.iter().try_fold(0, |at, element| match element {
                Element::Plain(bytes) => value[at..].starts_with(bytes).then(|| at + bytes.len()),
                Element::AnyCharacter => (at < value.len()).then(|| at + first_character(&value[at..])),
            }),
        }
    }

    /// Returns where the part starts if the value ends with it.
    fn start_of_end(&self, value: &[u8]) -> Option<usize> {
        match self {
            Part::Plain(finder) => {
                value.ends_with(finder.needle()).then(|| value.len() - finder.needle().len())
            }
            Part::Wild(elements) => {
                elements.iter().rev().try_fold(value.len(), |at, element| match element {
                    Element::Plain(bytes) => value[..at].ends_with(bytes).then(|| at - bytes.len()),
                    Element::AnyCharacter => (at > 0).then(|| at - last_character(&value[..at])),
                })
            }
        }
    }

    /// Returns the end of the part's first occurrence.
    fn find(&self, value: &[u8]) -> Option<usize> {
        match self {
            Part::Plain(finder) => finder.find(value).map(|at| at + finder.needle().len()),
            Part::Wild(_) => {
                let mut at = 0;
                loop {
                    if let Some(len) = self.end_at(&value[at..]) {
                        return Some(at + len);
                    }
                    if at == value.len() {
                        return None;
                    }
                    at += first_character(&value[at..]);
                }
            }
        }
    }
}

/// Returns the length of the first character in bytes; 1 if it is not UTF-8.
fn first_character(value: &[u8]) -> usize {
    let len = match value.first() {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => 1,
    };
    match value.get(..len).is_some_and(|bytes| std::str::from_utf8(bytes).is_ok()) {
        true => len,
        false => 1,
    }
}

/// Returns the length of the last character in bytes; 1 if it is not UTF-8.
fn last_character(value: &[u8]) -> usize {
    let is_character =
        |len: &usize| value.len() >= *len && *len == first_character(&value[value.len() - len..]);
    (2..=4).find(is_character).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether a value matches, by trying all possibilities.
    fn by_trying(pattern: &[char], value: &[char]) -> bool {
        match (pattern, value) {
            ([], value) => value.is_empty(),
            (['%', rest @ ..], value) => (0..=value.len()).any(|from| by_trying(rest, &value[from..])),
            (['_', rest @ ..], [_, tail @ ..]) => by_trying(rest, tail),
            ([c, rest @ ..], [v, tail @ ..]) => c == v && by_trying(rest, tail),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn matches_what_trying_everything_finds(pattern in "[ab%_ö]{0,7}", value in "[abö]{0,9}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            let expected = by_trying(&chars(&pattern), &chars(&value));
            let like = LikeMatcher::new(&pattern).unwrap();
            prop_assert_eq!(like.is_match(value.as_bytes()), expected);
            let regex = regex::bytes::Regex::new(&like.to_regex()).unwrap();
            prop_assert_eq!(regex.is_match(value.as_bytes()), expected);
        }
    }

    #[test]
    fn escapes_and_bytes_that_are_no_text() {
        let is = |pattern: &str, value: &[u8]| LikeMatcher::new(pattern).unwrap().is_match(value);
        assert!(is("100\\%", b"100%") && !is("100\\%", b"1000"));
        assert!(is("\\_%\\\\", b"_x\\"));
        assert!(is("a_b", b"a\xffb") && is("a__b", b"a\xc3\xffb") && is("%_", b"\xff"));
        assert!(!is("_", b"\xc3\xc3"));
    }
}
