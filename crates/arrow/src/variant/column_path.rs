//! A path into a column of VARIANT as text: `payload:user.id::bigint`.

use super::path_plan::PathPlan;
use marquetry_base::{Error, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::predicate::column_and_path;
use marquetry_variant::{Path, PrimitiveType, Shredding, Step};
use std::fmt;
use std::str::FromStr;

/// A VARIANT column, a path into its values, and the type to cast the values to.
///
/// As text, it has the form used in predicates: the dotted path of the column, `:`, the [path](Path), and optionally
/// `::` and a type. `payload:$` is the value itself, `payload::bigint` the value as a type. Types are those of a [`Shredding`] (`bigint`, `double`, `decimal(10, 2)`, `text`, `timestamp(us,
/// UTC)`, ..), `json`, which returns JSON as text, and `variant`, the default.
///
/// A cast keeps the value, or returns NULL: 5.0 is an integer, 5.5 and `'5'` are not. Only floats are rounded, to the
/// nearest. `text` returns a string itself, and the JSON of any other value. Missing values and null variants become
/// NULL.
/// ```
/// use marquetry_arrow::variant::VariantPath;
/// let path: VariantPath = r#"event.payload:user."odd name"[2]::bigint"#.parse()?;
/// assert_eq!((path.column(), path.path().to_string()), ("event.payload", r#"user."odd name"[2]"#.to_owned()));
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariantPath {
    column: String,
    path: Path,
    cast: VariantCast,
}

/// The target of a [`VariantPath`]'s cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VariantCast {
    /// The value stays a variant.
    Variant,
    /// JSON text.
    Json,
    /// A value of this type, or NULL.
    Type(PrimitiveType),
}

impl VariantPath {
    /// Creates a path into the column at a dotted path. Its names are in double quotes where necessary.
    pub fn new(column: impl Into<String>, path: Path, cast: VariantCast) -> Self {
        VariantPath { column: column.into(), path, cast }
    }

    /// Returns the dotted path of the column.
    pub fn column(&self) -> &str {
        &self.column
    }

    /// Returns the path into its values.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the type that values are cast to.
    pub fn cast(&self) -> VariantCast {
        self.cast
    }

    /// Returns the columns of a file that are read for it. If the path is shredded, these are the typed columns, and
    /// those that may have the value of a row instead.
    ///
    /// # Errors
    ///
    /// If the file has no such column, if it is not a VARIANT, or if it is in a list.
    pub fn leaves(&self, metadata: &ParquetMetaData) -> Result<Vec<usize>> {
        Ok(PathPlan::new(metadata, &self.column, self.path.steps())?.leaves)
    }

    /// Returns whether each row has a list of values.
    pub fn is_list(&self) -> bool {
        self.path.steps().contains(&Step::AllElements)
    }
}

impl FromStr for VariantPath {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let Some((column, rest)) = column_and_path(text) else {
            let message = format!("{text} is not a path into a VARIANT, such as payload:user.id::bigint");
            return Err(Error::argument(message));
        };
        if let Some(cast) = rest.strip_prefix("::") {
            return Ok(VariantPath { column: column.to_owned(), path: Path::default(), cast: cast.parse()? });
        }
        let rest = &rest[1..];
        // After any quotes, as a quoted name may have colons.
        let (path, cast) = match rest.rfind("::").filter(|at| !rest[*at..].contains('"')) {
            Some(at) => (&rest[..at], rest[at + 2..].parse()?),
            None => (rest, VariantCast::Variant),
        };
        Ok(VariantPath { column: column.to_owned(), path: path.parse()?, cast })
    }
}

impl FromStr for VariantCast {
    type Err = Error;

    /// Parses a type as it follows `::` in the text of a [`VariantPath`].
    fn from_str(text: &str) -> Result<VariantCast> {
        if text.eq_ignore_ascii_case("json") {
            return Ok(VariantCast::Json);
        }
        match text.parse()? {
            Shredding::Variant => Ok(VariantCast::Variant),
            Shredding::Primitive(kind) => Ok(VariantCast::Type(kind)),
            _ => Err(Error::argument(format!("{text}: a variant is cast to types that hold no others"))),
        }
    }
}

impl fmt::Display for VariantCast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VariantCast::Variant => f.write_str("variant"),
            VariantCast::Json => f.write_str("json"),
            VariantCast::Type(kind) => write!(f, "{}", Shredding::Primitive(*kind)),
        }
    }
}

impl fmt::Display for VariantPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.column)?;
        match (self.path.steps().is_empty(), self.cast) {
            (true, VariantCast::Variant) => return f.write_str(":$"),
            (true, _) => {}
            (false, _) => write!(f, ":{}", self.path)?,
        }
        match self.cast {
            VariantCast::Variant => Ok(()),
            cast => write!(f, "::{cast}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_read() {
        for text in [
            "a:b",
            "a.b:c[0].d[*]::int64",
            "a:\"x::y\"",
            "a:b::decimal(9, 2)",
            "a:b::json",
            "a:[1]::string",
            "a:$",
            "a::int64",
            "a:\"$\".b",
        ] {
            let path: VariantPath = text.parse().unwrap();
            assert_eq!(path.to_string(), text);
        }
        for text in ["a", "a:", ":b", "a:b::uint8", "a:b..c", "a:b::[int64]", "a:b::", "a:b c"] {
            assert!(text.parse::<VariantPath>().is_err(), "{text}");
        }
    }
}
