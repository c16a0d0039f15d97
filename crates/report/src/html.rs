//! Escapes text for HTML.

use marquetry_base::Printable;
use std::fmt::{self, Display, Write};

/// Text escaped for HTML, in and out of quotes. Characters that would control a terminal or change the order of letters
/// are shown by their number.
///
/// ```
/// use marquetry_report::Escaped;
/// assert_eq!(Escaped("a < b").to_string(), "a &lt; b");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Escaped<'a>(pub &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printable = Printable(self.0).to_string();
        for char in printable.chars() {
            match char {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                char => f.write_char(char)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_name_is_markup() {
        let text = "<b a=\"x\" c='y'>&\u{202e}\u{1b}";
        let shown = Escaped(text).to_string();
        assert!(shown.starts_with("&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;"), "{shown}");
        assert!(!shown.contains(['<', '>', '"', '\'', '\u{202e}', '\u{1b}']), "{shown}");
    }
}
