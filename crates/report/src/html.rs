//! Text that is safe in HTML.

use marquetry_base::Printable;
use std::fmt::{self, Display, Write};

/// Text as HTML shows it, in and out of quotes. What would steer a terminal or turn the order of letters is shown by its number.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

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

/// A number of bytes for people, in units of 1,024.
pub(crate) struct Bytes(pub(crate) u64);

impl Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let mut size = self.0 as f64;
        if size < 1024.0 {
            return write!(f, "{} B", self.0);
        }
        let mut unit = "";
        for name in UNITS {
            if size < 1024.0 {
                break;
            }
            size /= 1024.0;
            unit = name;
        }
        let digits = if size < 10.0 { 1 } else { 0 };
        write!(f, "{size:.digits$} {unit}")
    }
}

/// A number with commas between thousands.
pub(crate) struct Count(pub(crate) u64);

impl Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                f.write_char(',')?;
            }
            f.write_char(digit)?;
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

    #[test]
    fn numbers_for_people() {
        assert_eq!(Count(0).to_string() + &Count(1234567).to_string(), "01,234,567");
        let sizes = [0, 1023, 1024, 10 << 20, 1_500_000].map(|size| Bytes(size).to_string());
        assert_eq!(sizes, ["0 B", "1023 B", "1.0 KiB", "10 MiB", "1.4 MiB"]);
    }
}
