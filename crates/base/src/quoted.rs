//! Quoted names and texts, in which a quote is doubled as in SQL.

/// Parses the quoted text at the start of `text`. Returns it without quotes, and what follows it. Returns `None` if
/// `text` does not start with `quote`, or if the closing quote is missing.
///
/// ```
/// use marquetry_base::unquote;
/// assert_eq!(unquote(r#""a ""b""".c"#, '"'), Some((r#"a "b""#.to_owned(), ".c")));
/// assert_eq!(unquote(r#""a"#, '"'), None);
/// ```
pub fn unquote(text: &str, quote: char) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix(quote)?;
    let mut inside = String::new();
    loop {
        let (part, behind) = rest.split_once(quote)?;
        inside.push_str(part);
        match behind.strip_prefix(quote) {
            Some(behind) => {
                inside.push(quote);
                rest = behind;
            }
            None => return Some((inside, behind)),
        }
    }
}

/// Puts a name in double quotes, in the form that [`unquote`] reads.
///
/// ```
/// assert_eq!(marquetry_base::quote_name(r#"a "b""#), r#""a ""b""""#);
/// ```
pub fn quote_name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
