//! Column selectors: the columns that a setting is for.

use crate::logical_type::{LogicalType, TimeUnit};
use crate::schema::{Leaf, physical_type};
use marquetry_base::{Error, Result};
use marquetry_format::Type;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::mem::{Discriminant, discriminant};
use std::str::FromStr;

/// The path of a column or of a group of columns: the names from the root's field downward.
///
/// Two paths are equal if their dotted forms are equal. So a column whose name contains dots is found by its dotted
/// path. [`exact`](Self::exact) creates a path that distinguishes them.
///
/// ```
/// use marquetry_core::write::ColumnPath;
/// let path = ColumnPath::from("tags.list.element");
/// assert_eq!(path.parts(), ["tags", "list", "element"]);
/// assert_eq!(path, ColumnPath::new(vec!["tags".into(), "list".into(), "element".into()]));
/// ```
#[derive(Debug, Clone)]
pub struct ColumnPath {
    parts: Vec<String>,
    dotted: String,
    /// Whether a name with dots differs from several names.
    is_exact: bool,
}

impl ColumnPath {
    /// Creates a path from names, the root's field first.
    pub fn new(parts: Vec<String>) -> Self {
        ColumnPath { dotted: parts.join("."), parts, is_exact: false }
    }

    /// Creates a path from names that differs from others with the same dotted form, such as `s."x.y"` and `s.x.y`.
    ///
    /// ```
    /// use marquetry_core::write::ColumnPath;
    /// let [two, three] = [&["s", "x.y"][..], &["s", "x", "y"]].map(|names| names.iter().map(|name| name.to_string()).collect());
    /// assert_ne!(ColumnPath::exact(two), ColumnPath::exact(three));
    /// ```
    pub fn exact(parts: Vec<String>) -> Self {
        ColumnPath { is_exact: true, ..ColumnPath::new(parts) }
    }

    /// Returns the dotted path.
    pub fn string(&self) -> String {
        self.dotted.clone()
    }

    /// Appends names.
    pub fn append(&mut self, tail: Vec<String>) {
        self.parts.extend(tail);
        self.dotted = self.parts.join(".");
    }

    /// The names.
    pub fn parts(&self) -> &[String] {
        &self.parts
    }

    /// Returns the dotted path.
    pub(super) fn dotted(&self) -> &str {
        &self.dotted
    }

    /// Whether the column or group with these names, and this dotted path, is this one or inside it.
    pub(super) fn is_at_or_above<S: AsRef<str>>(&self, names: &[S], dotted: &str) -> bool {
        let are_same = || {
            names.len() >= self.parts.len() && self.parts.iter().zip(names).all(|(a, b)| *a == *b.as_ref())
        };
        let rest = dotted.strip_prefix(&*self.dotted);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) && (!self.is_exact || are_same())
    }
}

impl PartialEq for ColumnPath {
    fn eq(&self, other: &Self) -> bool {
        self.dotted == other.dotted
            && self.is_exact == other.is_exact
            && (!self.is_exact || self.parts == other.parts)
    }
}

impl Eq for ColumnPath {}

impl Hash for ColumnPath {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.dotted.hash(state);
    }
}

impl fmt::Display for ColumnPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.dotted)
    }
}

impl From<Vec<String>> for ColumnPath {
    fn from(parts: Vec<String>) -> Self {
        ColumnPath::new(parts)
    }
}

impl From<&str> for ColumnPath {
    /// Splits at dots.
    fn from(dotted: &str) -> Self {
        ColumnPath::from(dotted.to_owned())
    }
}

impl From<String> for ColumnPath {
    /// Splits at dots.
    fn from(dotted: String) -> Self {
        ColumnPath { parts: dotted.split('.').map(str::to_owned).collect(), dotted, is_exact: false }
    }
}

impl AsRef<[String]> for ColumnPath {
    fn as_ref(&self) -> &[String] {
        &self.parts
    }
}

/// A selector of columns by a physical type, or by a logical type whatever its parameters.
///
/// ```
/// use marquetry_core::logical_type::LogicalType;
/// use marquetry_core::write::TypeSelector;
/// use marquetry_format::Type;
/// assert_eq!("double".parse::<TypeSelector>()?, Type::DOUBLE.into());
/// assert_eq!("decimal".parse::<TypeSelector>()?, LogicalType::Decimal { precision: 9, scale: 2 }.into());
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeSelector(Selected);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Selected {
    PhysicalType(Type),
    LogicalType(Discriminant<LogicalType>),
}

impl TypeSelector {
    fn selects(self, leaf: &Leaf) -> bool {
        match self.0 {
            Selected::PhysicalType(wanted) => physical_type(leaf.physical()) == wanted,
            Selected::LogicalType(wanted) => leaf.logical().map(discriminant) == Some(wanted),
        }
    }
}

impl From<Type> for TypeSelector {
    fn from(physical: Type) -> Self {
        TypeSelector(Selected::PhysicalType(physical))
    }
}

impl From<LogicalType> for TypeSelector {
    /// Ignores the parameters: one timestamp stands for all.
    fn from(logical: LogicalType) -> Self {
        TypeSelector(Selected::LogicalType(discriminant(&logical)))
    }
}

impl FromStr for TypeSelector {
    type Err = Error;

    /// Parses a name of `Type` or `LogicalType` in `parquet.thrift`, in any case, such as `double` or `timestamp`.
    fn from_str(text: &str) -> Result<Self> {
        let physical = PHYSICAL.into_iter().find(|known| known.to_string().eq_ignore_ascii_case(text));
        let logical = || logical(&text.to_ascii_uppercase()).map(TypeSelector::from);
        physical.map(TypeSelector::from).or_else(logical).ok_or_else(|| {
            Error::argument(format!(
                "{text} is neither a physical type, as DOUBLE, nor a logical one, as STRING"
            ))
        })
    }
}

const PHYSICAL: [Type; 8] = [
    Type::BOOLEAN,
    Type::INT32,
    Type::INT64,
    Type::INT96,
    Type::FLOAT,
    Type::DOUBLE,
    Type::BYTE_ARRAY,
    Type::FIXED_LEN_BYTE_ARRAY,
];

/// Returns a logical type with this name, and with arbitrary parameters.
fn logical(name: &str) -> Option<LogicalType> {
    Some(match name {
        "STRING" => LogicalType::String,
        "ENUM" => LogicalType::Enum,
        "JSON" => LogicalType::Json,
        "BSON" => LogicalType::Bson,
        "UUID" => LogicalType::Uuid,
        "DECIMAL" => LogicalType::Decimal { precision: 1, scale: 0 },
        "DATE" => LogicalType::Date,
        "TIME" => LogicalType::Time { utc: true, unit: TimeUnit::Millis },
        "TIMESTAMP" => LogicalType::Timestamp { utc: true, unit: TimeUnit::Millis },
        "INTEGER" => LogicalType::Integer { bits: 8, signed: true },
        "INTERVAL" => LogicalType::Interval,
        "FLOAT16" => LogicalType::Float16,
        "UNKNOWN" => LogicalType::Null,
        "GEOMETRY" => LogicalType::Geometry { crs: None },
        "GEOGRAPHY" => LogicalType::Geography { crs: None, algorithm: None },
        _ => return None,
    })
}

/// A pattern of paths, see [`WriterPropertiesBuilder`](super::WriterPropertiesBuilder).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Glob(Vec<Vec<char>>);

impl Glob {
    pub(super) fn new(pattern: &str) -> Self {
        Glob(pattern.split('.').map(|part| part.chars().collect()).collect())
    }

    pub(super) fn matches(&self, path: &[String]) -> bool {
        matches(
            &self.0,
            path,
            |part| part.as_slice() == ['*', '*'],
            |part, name| {
                let name: Vec<char> = name.chars().collect();
                matches(part, &name, |c| *c == '*', |c, of_name| *c == '?' || c == of_name)
            },
        )
    }
}

/// Whether `pattern` matches all of `items`, where an element for which `any` is true matches any number of them.
///
/// After a mismatch, the last such element takes one item more. Backtracking to earlier ones cannot help, so the search
/// is not exponential.
fn matches<P, I>(pattern: &[P], items: &[I], any: impl Fn(&P) -> bool, one: impl Fn(&P, &I) -> bool) -> bool {
    let (mut p, mut i) = (0, 0);
    let mut last_any = None;
    while let Some(item) = items.get(i) {
        match pattern.get(p) {
            Some(element) if any(element) => {
                last_any = Some((p, i));
                p += 1;
            }
            Some(element) if one(element, item) => (p, i) = (p + 1, i + 1),
            _ => {
                let Some((at, from)) = last_any else { return false };
                last_any = Some((at, from + 1));
                (p, i) = (at + 1, from + 1);
            }
        }
    }
    pattern[p..].iter().all(any)
}

/// The columns that a setting is for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Selector {
    All,
    Type(TypeSelector),
    Glob(Glob),
    Column(ColumnPath),
}

/// How specifically a selector matches a column; a more specific one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    All,
    Type,
    Glob,
    Group,
    Column,
}

/// A column whose settings are looked up.
pub(super) struct Subject<'a> {
    pub(super) parts: &'a [String],
    pub(super) dotted: &'a str,
    /// The leaf, for its types; `None` if only the path is known.
    pub(super) leaf: Option<&'a Leaf>,
}

impl Selector {
    /// Returns how specifically the selector matches the column, if it does.
    pub(super) fn fit(&self, subject: &Subject<'_>) -> Option<Fit> {
        match self {
            Selector::All => Some(Fit::All),
            Selector::Type(types) => subject.leaf.filter(|leaf| types.selects(leaf)).map(|_| Fit::Type),
            Selector::Glob(glob) => glob.matches(subject.parts).then_some(Fit::Glob),
            Selector::Column(path) if !path.is_at_or_above(subject.parts, subject.dotted) => None,
            Selector::Column(path) if path.dotted() == subject.dotted => Some(Fit::Column),
            Selector::Column(_) => Some(Fit::Group),
        }
    }
}
