//! The argument of `--sort-by`: columns with commas between, each with words about its order after colons.
//! `hilbert(geom)` sorts by the geometries of a column along a Hilbert curve.

use marquetry_base::{quote_name, unquote};
use std::str::FromStr;

/// A column, as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SortColumn {
    /// The path with quoted names, without the quotes, with dots between its names.
    quoted: Option<String>,
    /// Its names; unknown for a path without quotes.
    pub(super) names: Vec<String>,
    /// The text, or the part after the quotes.
    rest: String,
    /// Whether the column is sorted by places on a curve: its name was in the parentheses of `hilbert()`.
    pub(super) is_on_curve: bool,
}

/// Several columns, in order of precedence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SortColumns(pub(crate) Vec<SortColumn>);

impl FromStr for SortColumns {
    type Err = String;

    /// Names with commas, colons or dots must be in double quotes, with quotes in them doubled: `s."x.y":desc`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut columns = Vec::new();
        let mut left = Some(text);
        while let Some(text) = left {
            let text = text.trim_start();
            let (names, behind) = match text.strip_prefix(CURVE) {
                Some(inside) => in_parentheses(inside)?,
                None => quoted_path(text)?,
            };
            let quoted = (!names.is_empty()).then(|| names.join("."));
            let (rest, more) = match behind.split_once(',') {
                Some((rest, more)) => (rest, Some(more)),
                None => (behind, None),
            };
            let rest = rest.trim_end().to_owned();
            if quoted.is_some() && !rest.is_empty() && !rest.starts_with(':') {
                return Err(format!("{rest:?} follows a name: a colon or a comma is missing"));
            }
            columns.push(SortColumn { quoted, names, rest, is_on_curve: text.starts_with(CURVE) });
            left = more;
        }
        Ok(SortColumns(columns))
    }
}

impl SortColumn {
    /// The name, and the words after it. `is_column` resolves names that end in such words.
    pub(super) fn parts(&self, is_column: impl Fn(&str) -> bool) -> (&str, Vec<&str>) {
        if let Some(name) = &self.quoted {
            return (name, self.rest.split(':').skip(1).collect());
        }
        let (mut name, mut words) = (self.rest.as_str(), Vec::new());
        while let Some((rest, word)) = name.rsplit_once(':')
            && !is_column(name)
        {
            words.insert(0, word);
            name = rest;
        }
        (name, words)
    }

    /// The name, if the columns are not known.
    pub(crate) fn name(&self) -> &str {
        let known = |name: &str| name.rsplit_once(':').is_none_or(|(_, word)| !WORDS.contains(&word));
        self.parts(known).0
    }

    /// The text for errors.
    pub(super) fn text(&self) -> String {
        match &self.quoted {
            Some(name) if self.is_on_curve => format!("{CURVE}{name}){}", self.rest),
            Some(_) => format!("{}{}", self.path(), self.rest),
            None => self.rest.clone(),
        }
    }

    /// The path for options that choose columns.
    pub(crate) fn path(&self) -> String {
        match self.names.is_empty() {
            true => self.name().to_owned(),
            false => self.names.iter().map(|name| quote_name(name)).collect::<Vec<_>>().join("."),
        }
    }
}

/// The names of the path at the beginning of the text, and the rest; no names if none is quoted.
fn quoted_path(text: &str) -> Result<(Vec<String>, &str), String> {
    let (mut names, mut has_quotes, mut rest) = (Vec::new(), false, text);
    loop {
        let (name, behind) = match (rest.starts_with('"'), unquote(rest, '"')) {
            (true, Some(found)) => {
                has_quotes = true;
                found
            }
            (true, None) if names.is_empty() => return Err("a quote is never closed".to_owned()),
            _ => {
                let end = rest.find(['.', ':', ',']).unwrap_or(rest.len());
                (rest[..end].to_owned(), &rest[end..])
            }
        };
        names.push(name);
        match behind.strip_prefix('.') {
            Some(more) => rest = more,
            None if has_quotes => return Ok((names, behind)),
            None => return Ok((Vec::new(), text)),
        }
    }
}

/// The names of a path in parentheses, some of which may be quoted, and the rest; the opening parenthesis was removed
/// before.
fn in_parentheses(text: &str) -> Result<(Vec<String>, &str), String> {
    let text = text.trim_start();
    let (names, behind) = match quoted_path(text)? {
        (names, _) if names.is_empty() => {
            let end = text.find(')').unwrap_or(text.len());
            (vec![text[..end].trim_end().to_owned()], &text[end..])
        }
        found => found,
    };
    let behind =
        behind.trim_start().strip_prefix(')').ok_or("the parenthesis of hilbert( is never closed")?;
    match names.iter().all(String::is_empty) {
        true => Err("hilbert() takes the name of a column".to_owned()),
        false => Ok((names, behind)),
    }
}

const CURVE: &str = "hilbert(";
const WORDS: [&str; 4] = ["asc", "desc", "nulls-first", "nulls-last"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_commas_and_colons_stand_in_quotes() {
        let SortColumns(columns) = r#"a:desc, "b,c":desc:nulls-first,"d:asc","e""f",g:h"#.parse().unwrap();
        let parts: Vec<_> = columns.iter().map(|column| column.parts(|name| name == "g:h")).collect();
        let expected = [
            ("a", vec!["desc"]),
            ("b,c", vec!["desc", "nulls-first"]),
            ("d:asc", vec![]),
            ("e\"f", vec![]),
            ("g:h", vec![]),
        ];
        assert_eq!(parts, expected);
        assert_eq!(
            columns.iter().map(SortColumn::name).collect::<Vec<_>>(),
            ["a", "b,c", "d:asc", "e\"f", "g:h"]
        );
        assert_eq!(columns[1].text(), r#""b,c":desc:nulls-first"#);
        let SortColumns(columns) = r#"hilbert( geom ):desc, hilbert("a)b,c"),a"#.parse().unwrap();
        assert_eq!(columns.iter().map(SortColumn::name).collect::<Vec<_>>(), ["geom", "a)b,c", "a"]);
        assert_eq!(columns[0].parts(|_| false), ("geom", vec!["desc"]));
        assert_eq!(columns.iter().map(|column| column.is_on_curve).collect::<Vec<_>>(), [true, true, false]);
        let SortColumns(columns) = r#"s."x.y":desc,"s"."x".y,a."b"#.parse().unwrap();
        let names: Vec<&[String]> = columns.iter().map(|column| &*column.names).collect();
        assert_eq!(names[..2], [&["s", "x.y"][..], &["s", "x", "y"]]);
        assert_eq!(columns.iter().map(SortColumn::name).collect::<Vec<_>>(), ["s.x.y", "s.x.y", "a.\"b"]);
        assert_eq!(
            (columns[0].path(), columns[0].text()),
            (r#""s"."x.y""#.into(), r#""s"."x.y":desc"#.into())
        );
        for wrong in ["hilbert(a", "hilbert()", "hilbert(a)desc", r#"hilbert("a)"#] {
            assert!(wrong.parse::<SortColumns>().is_err(), "{wrong}");
        }
        assert!(r#""a"#.parse::<SortColumns>().is_err());
        assert!(r#""a"desc"#.parse::<SortColumns>().is_err());
    }
}
