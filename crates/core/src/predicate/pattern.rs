//! Patterns of text: LIKE, ILIKE, regular expressions, and text that is contained or at the end.

use super::blocks::of_blocks;
use super::ignoring_case::TextIgnoringCase;
use super::like::LikeMatcher;
use super::literal::Literal;
use super::text_search::{Needle, TextSearch};
use marquetry_encoding::{Bitmap, StringViews};
use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::literal::Extractor;
use std::fmt;

/// A pattern in one of several languages. The [`Predicate::parse`](super::Predicate::parse) table has their syntax.
///
/// Patterns are matched with the bytes of a value. A character is a code point of UTF-8. A byte that is not UTF-8 is a
/// character for `_` of LIKE, but not for ILIKE and regular expressions.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Pattern {
    /// `%` matches any text, `_` any character, and a backslash makes the next character literal. Matches the whole
    /// value.
    Like(String),
    /// Like `Like`, ignoring case by the simple case folding of Unicode: `ß` is not `ss`.
    ILike(String),
    /// A regular expression in the syntax of the `regex` crate, which may match anywhere in the value.
    Regex(String),
    /// Like `Regex`, ignoring case by the simple case folding of Unicode.
    RegexIgnoringCase(String),
    /// Text or bytes anywhere in the value.
    Contains(Literal),
    /// Text or bytes at the end of the value.
    EndsWith(Literal),
}

/// Maximum memory of a compiled regular expression, and of its lazily built automaton: 4 MiB each.
const REGEX_BYTES: usize = 4 << 20;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(crate) struct Matcher {
    pattern: Pattern,
    how: How,
    prefix: Vec<u8>,
    /// Text that every match contains.
    required: Option<TextSearch>,
}

#[derive(Debug, Clone)]
enum How {
    Like(LikeMatcher),
    Regex(Regex),
    Search(TextSearch),
    EndsWith(Vec<u8>),
}

impl Pattern {
    /// Compiles the pattern. The error is a sentence about what is wrong with it.
    pub(super) fn matcher(&self) -> Result<Matcher, String> {
        let search = |text: &[u8]| TextSearch::new(vec![Needle::exact(text)]);
        let (how, prefix, required) = match self {
            Pattern::Like(pattern) => {
                let like = LikeMatcher::new(pattern)?;
                let prefix = like.prefix().to_vec();
                // PERF: most patterns have this form, and a substring search is all that they need.
                match like.texts() {
                    Some(texts) => {
                        let needles = texts.into_iter().map(Needle::exact).collect();
                        (How::Search(TextSearch::new(needles)), prefix, None)
                    }
                    None => {
                        let required = like.longest_text().map(search);
                        (How::Like(like), prefix, required)
                    }
                }
            }
            Pattern::ILike(pattern) => {
                let like = LikeMatcher::new(pattern)?;
                let needle = |text| TextIgnoringCase::new(text).map(Needle::IgnoringCase);
                let needles = like.texts().and_then(|texts| texts.into_iter().map(needle).collect());
                let how = match needles {
                    Some(needles) => How::Search(TextSearch::new(needles)),
                    None => How::Regex(regex(&like.to_regex(), true)?),
                };
                (how, Vec::new(), None)
            }
            Pattern::Regex(pattern) => {
                let required = text_of_regex(pattern).as_deref().map(search);
                (How::Regex(regex(pattern, false)?), prefix_of_regex(pattern), required)
            }
            Pattern::RegexIgnoringCase(pattern) => (How::Regex(regex(pattern, true)?), Vec::new(), None),
            Pattern::Contains(part) => {
                let part = bytes(part)?;
                let needles = if part.is_empty() { Vec::new() } else { vec![Needle::exact(part)] };
                (How::Search(TextSearch::new(needles)), Vec::new(), None)
            }
            Pattern::EndsWith(end) => (How::EndsWith(bytes(end)?.to_vec()), Vec::new(), None),
        };
        Ok(Matcher { pattern: self.clone(), how, prefix, required })
    }

    /// Prints the condition that a column matches the pattern.
    pub(super) fn display<'a>(&'a self, column: &'a dyn fmt::Display) -> impl fmt::Display + 'a {
        fmt::from_fn(move |f| {
            let quoted = |pattern: &str| Literal::Text(pattern.to_owned());
            match self {
                Pattern::Like(pattern) => write!(f, "{column} like {}", quoted(pattern)),
                Pattern::ILike(pattern) => write!(f, "{column} ilike {}", quoted(pattern)),
                Pattern::Regex(pattern) => write!(f, "{column} ~ {}", quoted(pattern)),
                Pattern::RegexIgnoringCase(pattern) => write!(f, "{column} ~* {}", quoted(pattern)),
                Pattern::Contains(part) => write!(f, "contains({column}, {part})"),
                Pattern::EndsWith(end) => write!(f, "ends_with({column}, {end})"),
            }
        })
    }
}

fn bytes(literal: &Literal) -> Result<&[u8], String> {
    match literal {
        Literal::Text(text) => Ok(text.as_bytes()),
        Literal::Bytes(bytes) => Ok(bytes),
        other => Err(format!("{other} is neither text nor bytes")),
    }
}

fn regex(pattern: &str, ignores_case: bool) -> Result<Regex, String> {
    let mut builder = RegexBuilder::new(pattern);
    builder.case_insensitive(ignores_case).size_limit(REGEX_BYTES).dfa_size_limit(REGEX_BYTES);
    builder.build().map_err(|error| match error {
        regex::Error::CompiledTooBig(limit) => {
            format!("the regular expression needs more than {limit} bytes")
        }
        // The message shows the expression with a mark below it, and the reason in its last line.
        error => {
            let message = error.to_string();
            let reason = message.lines().last().unwrap_or_default().trim_start_matches("error: ");
            format!("the regular expression is not understood: {reason}")
        }
    })
}

/// Returns the bytes that every match of an expression begins with: its plain characters after `^`.
fn prefix_of_regex(pattern: &str) -> Vec<u8> {
    let Some(rest) = pattern.strip_prefix('^') else { return Vec::new() };
    // Alternatives may begin differently.
    if rest.contains('|') {
        return Vec::new();
    }
    let is_plain = |c: char| c.is_alphanumeric() || " /:-_,;=&%@<>!~\"'".contains(c);
    let len = rest.find(|c| !is_plain(c)).unwrap_or(rest.len());
    let mut prefix = rest[..len].to_owned();
    // The character before one of these may be absent or repeated.
    if rest[len..].starts_with(['*', '?', '{', '+']) {
        prefix.pop();
    }
    prefix.into_bytes()
}

/// Returns text that every match of an expression begins with, if it has at least [`LEAST_TEXT`] bytes.
fn text_of_regex(pattern: &str) -> Option<Vec<u8>> {
    let syntax = ParserBuilder::new().utf8(false).build().parse(pattern).ok()?;
    let first = Extractor::new().extract(&syntax);
    match first.literals()? {
        [only] if only.len() >= LEAST_TEXT => Some(only.as_bytes().to_vec()),
        _ => None,
    }
}

/// Minimum length of text to search for: shorter text is in most strings.
const LEAST_TEXT: usize = 3;

impl Matcher {
    /// Whether a value matches.
    pub(crate) fn is_match(&self, value: &[u8]) -> bool {
        match &self.how {
            How::Like(like) => like.is_match(value),
            How::Regex(regex) => regex.is_match(value),
            How::Search(search) => search.is_match(value),
            How::EndsWith(end) => value.ends_with(end),
        }
    }

    /// Returns which values match.
    pub(super) fn matches_each(&self, values: &StringViews) -> Bitmap {
        if let How::Search(search) = &self.how {
            return search.matches_each(values);
        }
        let may_match = self.required.as_ref().map(|required| required.matches_each(values));
        of_blocks(values.len(), |start, block| {
            for (i, found) in (start..).zip(block) {
                let may_match = may_match.as_ref().is_none_or(|bits| bits.get(i));
                *found = u8::from(may_match && self.is_match(values.get(i)));
            }
        })
    }

    /// Returns the bytes that every match begins with; empty if none are known.
    pub(crate) fn prefix(&self) -> &[u8] {
        &self.prefix
    }
}

impl PartialEq for Matcher {
    fn eq(&self, other: &Self) -> bool {
        self.pattern == other.pattern
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(pattern: Pattern) -> String {
        String::from_utf8(pattern.matcher().unwrap().prefix().to_vec()).unwrap()
    }

    #[test]
    fn what_all_matches_begin_with() {
        for (pattern, expected) in [
            ("^abc", "abc"),
            ("^abc*", "ab"),
            ("^ab{0,2}c", "a"),
            ("^https://x\\.de", "https://x"),
            ("^a|b", ""),
            ("abc", ""),
            ("^(abc)", ""),
            ("^", ""),
            ("^a+b", ""),
        ] {
            assert_eq!(prefix(Pattern::Regex(pattern.to_owned())), expected, "{pattern}");
        }
        assert_eq!(prefix(Pattern::Like("ab\\%c_d%".to_owned())), "ab%c");
        assert_eq!(prefix(Pattern::ILike("ab%".to_owned())), "");
    }

    #[test]
    fn errors_are_one_sentence() {
        let error = |pattern: Pattern| pattern.matcher().unwrap_err();
        assert_eq!(
            error(Pattern::Regex("a(".to_owned())),
            "the regular expression is not understood: unclosed group"
        );
        assert_eq!(
            error(Pattern::Regex("((a{1000}){1000}){1000}".to_owned())),
            "the regular expression needs more than 4194304 bytes"
        );
        assert_eq!(error(Pattern::Like("a\\".to_owned())), "nothing follows the backslash");
        assert_eq!(error(Pattern::Contains(Literal::Null)), "null is neither text nor bytes");
    }

    #[test]
    fn case_is_folded() {
        let matches = |pattern: Pattern, value: &str| pattern.matcher().unwrap().is_match(value.as_bytes());
        assert!(matches(Pattern::ILike("%GÖTTINGEN_".to_owned()), "in Göttingen!"));
        assert!(!matches(Pattern::ILike("straße".to_owned()), "STRASSE"));
        assert!(matches(Pattern::ILike("a.c%".to_owned()), "A.Cx\n"));
        assert!(!matches(Pattern::ILike("a.c".to_owned()), "abc"));
        assert!(matches(Pattern::RegexIgnoringCase("PAGE=[0-9]+&".to_owned()), "?page=17&x"));
    }
}
