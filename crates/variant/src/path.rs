//! Paths into values: `a.b[2]."odd name"[*]`.

use marquetry_base::{Error, Result, quote_name, unquote};
use std::fmt;
use std::str::FromStr;

/// A path from a value to a value inside it.
///
/// Names are separated by points. A name that contains other characters than letters, digits, `_`, `-` and `$` is put in double quotes, in
/// which a double quote is doubled. `[2]` is an element, counted from 0, `[*]` all elements. The empty path is the value itself. As in
/// JSONPath, a path may begin with `$`, the value itself; a field of this name needs quotes there.
///
/// ```
/// use marquetry_variant::{Path, Step};
/// assert_eq!("$.a[2]".parse::<Path>()?, "a[2]".parse::<Path>()?);
/// assert_eq!("$".parse::<Path>()?, Path::default());
/// let path: Path = r#"a[2]."odd name"[*]"#.parse()?;
/// assert_eq!(
///     path.steps(),
///     [Step::Field("a".into()), Step::Element(2), Step::Field("odd name".into()), Step::AllElements]
/// );
/// assert_eq!(path.to_string(), r#"a[2]."odd name"[*]"#);
/// # Ok::<(), marquetry_variant::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Path {
    steps: Vec<Step>,
}

/// One step of a [`Path`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// Leads to the field of an object.
    Field(String),
    /// Leads to an element of an array, counted from 0.
    Element(usize),
    /// Leads to all elements of an array.
    AllElements,
}

impl Path {
    /// Creates a path of these steps.
    pub fn new(steps: Vec<Step>) -> Self {
        Path { steps }
    }

    /// The steps in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

impl FromStr for Path {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut steps = Vec::new();
        let is_root = |behind: &&str| behind.is_empty() || behind.starts_with(['.', '[']);
        let root = text.strip_prefix('$').filter(is_root);
        let mut rest = root.unwrap_or(text);
        while !rest.is_empty() {
            let at = text.len() - rest.len();
            let wrong =
                |message: &str| Error::argument(format!("{message}, at character {} of {text}", at + 1));
            if let Some(behind) = rest.strip_prefix('[') {
                let (inside, behind) = behind.split_once(']').ok_or_else(|| wrong("[ without ]"))?;
                steps.push(match inside {
                    "*" => Step::AllElements,
                    digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                        Step::Element(digits.parse().map_err(|_| wrong("no position of an element"))?)
                    }
                    _ => return Err(wrong("a position or * is wanted in [ ]")),
                });
                rest = behind;
                continue;
            }
            // No point precedes the first name, unless it follows `$`.
            rest = match (steps.is_empty() && root.is_none(), rest.strip_prefix('.')) {
                (true, None) => rest,
                (false, Some(behind)) => behind,
                (true, Some(_)) => return Err(wrong("a name is wanted before .")),
                (false, None) => return Err(wrong(". or [ is wanted")),
            };
            let (name, behind) = name(rest).ok_or_else(|| wrong("a name is wanted"))?;
            steps.push(Step::Field(name));
            rest = behind;
        }
        Ok(Path { steps })
    }
}

/// Splits off the name at the start of `text`. Returns the name and the text after it.
fn name(text: &str) -> Option<(String, &str)> {
    if text.starts_with('"') {
        return unquote(text, '"');
    }
    let end = text.find(|c: char| !is_bare(c)).unwrap_or(text.len());
    (end > 0).then(|| (text[..end].to_owned(), &text[end..]))
}

/// Whether names that contain this character need no quotes.
pub(crate) fn is_bare(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '$')
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.steps.iter().enumerate() {
            match step {
                Step::Field(name) => {
                    let point = if i == 0 { "" } else { "." };
                    if !name.is_empty() && name.chars().all(is_bare) && name != "$" {
                        write!(f, "{point}{name}")?;
                    } else {
                        write!(f, "{point}{}", quote_name(name))?;
                    }
                }
                Step::Element(at) => write!(f, "[{at}]")?,
                Step::AllElements => f.write_str("[*]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_that_are_none() {
        for (text, message) in [
            ("a..b", "a name is wanted, at character 2 of a..b"),
            (".a", "a name is wanted before ., at character 1 of .a"),
            ("a[", "[ without ], at character 2 of a["),
            ("a[x]", "a position or * is wanted in [ ], at character 2 of a[x]"),
            ("a[]", "no position of an element, at character 2 of a[]"),
            ("a[0]b", ". or [ is wanted, at character 5 of a[0]b"),
            ("a.\"b", "a name is wanted, at character 2 of a.\"b"),
            ("a b", ". or [ is wanted, at character 2 of a b"),
        ] {
            assert_eq!(text.parse::<Path>().unwrap_err().message(), message);
        }
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            "\\PC{0,6}".prop_map(Step::Field),
            (0usize..100).prop_map(Step::Element),
            Just(Step::AllElements)
        ]
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read(steps in prop::collection::vec(step(), 0..5)) {
            let path = Path::new(steps);
            prop_assert_eq!(path.to_string().parse::<Path>().unwrap(), path);
        }

        #[test]
        fn no_text_panics(text in "[a.\"\\[\\]*0-9 é]{0,12}") {
            let _ = text.parse::<Path>();
        }
    }
}
