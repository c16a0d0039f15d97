//! Text of unknown origin on one line of a terminal.

use std::fmt::{self, Display, Formatter, Write};

/// Displays text with every character escaped that would start a new line or control a terminal: control characters of
/// both sets (C0, C1), line and paragraph separators, and marks that change the direction of writing.
///
/// ```
/// # use marquetry_base::Printable;
/// assert_eq!(Printable("a\u{1b}[31m\nb\u{202e}").to_string(), "a\\u{1b}[31m\\nb\\u{202e}");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Printable<'a>(pub &'a str);

impl Printable<'_> {
    /// Whether nothing needs to be escaped.
    pub fn is_plain(&self) -> bool {
        !self.0.chars().any(steers_terminal)
    }
}

impl Display for Printable<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.is_plain() {
            return f.write_str(self.0);
        }
        self.0.chars().try_for_each(|c| match steers_terminal(c) {
            true => write!(f, "{}", c.escape_default()),
            false => f.write_char(c),
        })
    }
}

/// Whether the character, written as it is, starts a new line or controls a terminal.
pub fn steers_terminal(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
