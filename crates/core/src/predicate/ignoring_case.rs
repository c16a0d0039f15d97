//! Case-insensitive search for text (ILIKE), for ASCII letters.

use memchr::memchr2_iter;

/// A search for ASCII text in any case. PERF: searches for the byte that is rarest in most texts, in both of its cases,
/// and compares where it is found.
#[derive(Debug, Clone)]
pub(super) struct TextIgnoringCase {
    /// The text in lower case.
    text: Vec<u8>,
    /// Index of its rarest byte.
    rarest: usize,
}

/// Letters and other characters, the most frequent first.
const FREQUENT: &[u8] = b" etaoinsrhldcumfpgwybv.,-/_:01234256789xkjqz";

impl TextIgnoringCase {
    /// Creates the search. `None` if Unicode's case folding has further forms of a character: U+212A is a `K`, and
    /// U+017F an `s`.
    pub(super) fn new(text: &[u8]) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        if !text.is_ascii() || text.iter().any(|byte| matches!(byte, b'k' | b's')) {
            return None;
        }
        let rank = |byte: u8| FREQUENT.iter().position(|known| *known == byte).unwrap_or(FREQUENT.len());
        let rarest = (0..text.len()).max_by_key(|at| rank(text[*at]))?;
        Some(TextIgnoringCase { text, rarest })
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns the first position of the text in `bytes`.
    pub(super) fn find(&self, bytes: &[u8]) -> Option<usize> {
        let byte = self.text[self.rarest];
        memchr2_iter(byte, byte.to_ascii_uppercase(), bytes).find_map(|at| {
            let start = at.checked_sub(self.rarest)?;
            let found = bytes.get(start..start + self.text.len())?;
            found.eq_ignore_ascii_case(&self.text).then_some(start)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::bytes::RegexBuilder;

    #[test]
    fn it_finds_what_a_regular_expression_finds() {
        let words = [
            "google", "GooGle", "gogle", "", "l", "Größe", "é", "page=17", "Z", "\u{212a}", "\u{17f}", "aAaB",
        ];
        for needle in ["google", "a", "aab", "z", "17", "ab", "page=1", "ele", "oo"] {
            let regex = RegexBuilder::new(needle).case_insensitive(true).build().unwrap();
            let text = TextIgnoringCase::new(needle.as_bytes()).unwrap();
            for a in words {
                for b in words {
                    let value = format!("{a}{b}{a}");
                    let expected = regex.find(value.as_bytes()).map(|found| found.start());
                    assert_eq!(text.find(value.as_bytes()), expected, "{needle} {value}");
                }
            }
        }
        for other in ["", "ask", "S", "ä"] {
            assert!(TextIgnoringCase::new(other.as_bytes()).is_none(), "{other}");
        }
    }
}
