//! Counts in words: `1 row`, `2 rows`.

use std::fmt::Display;

/// Formats a count and the name of what is counted, with an `s` in the plural.
///
/// ```
/// use marquetry_base::counted;
/// assert_eq!(counted(1, "row group"), "1 row group");
/// assert_eq!(counted(0, "row group"), "0 row groups");
/// ```
pub fn counted(count: impl Display + PartialEq + From<u8>, one: &str) -> String {
    let plural = if count == 1.into() { "" } else { "s" };
    format!("{count} {one}{plural}")
}
