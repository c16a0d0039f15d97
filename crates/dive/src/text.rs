//! Text for a terminal: names and bytes, cut and wrapped by their display width.

use marquetry_base::{Printable, to_hex};
use unicode_width::UnicodeWidthChar;

/// Text of the file on one line: made harmless for the terminal, and limited in length.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", Printable(&text[..end])),
        None => Printable(text).to_string(),
    }
}

/// The first `most` bytes as two digits each, with spaces between.
pub(crate) fn hex(bytes: &[u8], most: usize) -> String {
    let mut out: Vec<String> = bytes.iter().take(most).map(|byte| to_hex(&[*byte])).collect();
    if bytes.len() > most {
        out.push("…".to_owned());
    }
    out.join(" ")
}

/// The text cut to `width` terminal columns, ending in `…` if something is left out.
pub(crate) fn cut(text: &str, width: usize) -> String {
    let wide = |c: char| c.width().unwrap_or(0);
    if text.chars().map(wide).sum::<usize>() <= width {
        return text.to_owned();
    }
    let (mut out, mut used) = (String::new(), 0);
    for c in text.chars() {
        if used + wide(c) + 1 > width {
            break;
        }
        used += wide(c);
        out.push(c);
    }
    if used < width {
        out.push('…');
    }
    out
}

/// The width of a text in terminal columns.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Wraps a text to lines of at most `width` columns, at spaces.
pub(crate) fn lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && self::width(&line) + 1 + self::width(word) > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// Maximum number of characters that are shown.
const LONGEST: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_by_the_columns_that_they_take() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("abc", 0), "");
        assert_eq!(lines("a bc def", 4), ["a bc", "def"]);
        assert_eq!(shown("a\u{1b}[2J\u{202e}"), "a\\u{1b}[2J\\u{202e}");
    }
}
