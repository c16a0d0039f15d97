//! Column names in predicates: paths with dots between their parts.
//!
//! A name with a dot in it is in double quotes: `"a.b"` is a column with this name, and `a.b` is field `b` of `a`. If
//! there is no such field, `a.b` means a column with this name as well.

use super::lex::{is_plain_name, path_len};
use super::literal::Number;
use marquetry_base::{quote_name, unquote};
use std::fmt;

/// Returns the names that a path consists of.
///
/// ```
/// use marquetry_core::predicate::names_of;
/// assert_eq!(names_of("a.b"), ["a", "b"]);
/// assert_eq!(names_of(r#""a.b".c"#), ["a.b", "c"]);
/// ```
pub fn names_of(path: &str) -> Vec<String> {
    names(path).map(|(name, _)| name).collect()
}

/// Whether a name of the path is in quotes, so that no unquoted name contains a dot.
pub(super) fn is_quoted(path: &str) -> bool {
    names(path).any(|(_, is_quoted)| is_quoted)
}

/// Returns the path of these names, with quotes where they are needed to parse it.
pub(super) fn path_of<S: AsRef<str>>(names: &[S]) -> String {
    let each = names.iter().map(|name| match name.as_ref() {
        name if name.contains(['.', ':']) || name.starts_with('"') => quote_name(name),
        name => name.to_owned(),
    });
    each.collect::<Vec<_>>().join(".")
}

/// Returns the possible meanings of a path, most likely first: a path whose names have no dots; a column whose name has
/// these dots; and finally a path of which some names have dots.
///
/// ```
/// use marquetry_core::predicate::meanings_of;
/// assert_eq!(meanings_of("a.b"), [r#""a"."b""#, r#""a.b""#, "a.b"]);
/// assert_eq!(meanings_of("a"), ["a"]);
/// assert_eq!(meanings_of(r#""a.b""#), [r#""a.b""#]);
/// ```
pub fn meanings_of(path: &str) -> Vec<String> {
    if !path.contains('.') || is_quoted(path) {
        return vec![path.to_owned()];
    }
    let names = path.split('.').map(quote_name).collect::<Vec<_>>().join(".");
    vec![names, quote_name(path), path.to_owned()]
}

/// Splits a path into a VARIANT into its column, and the rest from the `:` on, which may end with `::` and a type;
/// `None` for other paths. A name with a `:` in it is in double quotes where it would look like such a path.
///
/// ```
/// use marquetry_core::predicate::column_and_path;
/// assert_eq!(column_and_path("a.payload:user.id::bigint"), Some(("a.payload", ":user.id::bigint")));
/// assert_eq!(column_and_path("payload::bigint"), Some(("payload", "::bigint")));
/// assert_eq!(column_and_path(r#""a:b".c"#), None);
/// ```
pub fn column_and_path(path: &str) -> Option<(&str, &str)> {
    let mut in_quotes = false;
    let colon = path.find(|c: char| {
        in_quotes ^= c == '"';
        c == ':' && !in_quotes
    })?;
    let (column, rest) = path.split_at(colon);
    (!column.is_empty() && path_len(rest) == rest.len()).then_some((column, rest))
}

/// Iterates over the names of a path, and whether each is in quotes.
fn names(path: &str) -> impl Iterator<Item = (String, bool)> {
    let mut rest = Some(path);
    std::iter::from_fn(move || {
        let text = rest?;
        if let Some((name, behind)) = name_in_quotes(text) {
            rest = behind.strip_prefix('.');
            return Some((name, true));
        }
        let (name, behind) = text.split_once('.').map_or((text, None), |(name, rest)| (name, Some(rest)));
        rest = behind;
        Some((name.to_owned(), false))
    })
}

/// Returns the quoted name at the beginning of a path, and the rest: empty or from a dot on.
fn name_in_quotes(path: &str) -> Option<(String, &str)> {
    unquote(path, '"').filter(|(_, behind)| behind.is_empty() || behind.starts_with('.'))
}

/// A column's path, printed with quotes around names that need them.
pub(super) struct Name<'a>(pub(super) &'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (column, into_variant) = column_and_path(self.0).unwrap_or((self.0, ""));
        for (i, name) in names_of(column).iter().enumerate() {
            f.write_str(if i > 0 { "." } else { "" })?;
            match is_plain_name(name) && (i > 0 || Number::parse(name).is_none()) {
                true => f.write_str(name)?,
                false => f.write_str(&quote_name(name))?,
            }
        }
        f.write_str(into_variant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn names_come_back(names in prop::collection::vec("[a.\" ]{0,4}", 1..4)) {
            let path = path_of(&names);
            prop_assert_eq!(names_of(&path), names.clone());
            let quoted: Vec<String> = names.iter().map(|name| quote_name(name)).collect();
            prop_assert_eq!(names_of(&quoted.join(".")), names);
        }
    }

    #[test]
    fn quotes_that_close_nothing_are_part_of_a_name() {
        assert_eq!(names_of("\"a.b"), ["\"a", "b"]);
        assert_eq!(names_of("\"a\"b"), ["\"a\"b"]);
        assert_eq!(names_of("a\"b.c\""), ["a\"b", "c\""]);
        assert_eq!(names_of(""), [""]);
        assert!(is_quoted("\"a\".b") && !is_quoted("a\"b"));
    }
}
