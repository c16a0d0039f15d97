//! Quoted names and texts, in which a quote is doubled as in SQL.

/// What is between the quotes that `text` begins with, and what stands behind them. `None` if it begins otherwise, or no quote
/// closes the first.
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

/// A name in double quotes: what [`unquote`] reads.
///
/// ```
/// assert_eq!(marquetry_base::quote_name(r#"a "b""#), r#""a ""b""""#);
/// ```
pub fn quote_name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
