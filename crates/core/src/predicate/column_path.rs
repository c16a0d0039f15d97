//! The path by which a predicate names a column.

use marquetry_base::Error;
use std::fmt;
use std::ops::Deref;

/// The dotted path of a column, as a predicate names it; a name with a dot in it is in double quotes.
///
/// A path that was parsed from text knows its position there, for error messages. Paths are equal whatever their
/// positions.
///
/// ```
/// use marquetry_core::predicate::{ColumnPath, Predicate};
/// let Predicate::IsNull { column } = Predicate::parse("  a.b is null")? else { unreachable!() };
/// assert_eq!((&*column, column.character()), ("a.b", Some(3)));
/// assert_eq!(column, ColumnPath::from("a.b"));
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ColumnPath {
    path: String,
    character: Option<usize>,
}

impl ColumnPath {
    /// Creates a path at a character of a predicate's text, counted from 1.
    pub(super) fn at(path: String, character: usize) -> Self {
        ColumnPath { path, character: Some(character) }
    }

    /// Returns the position in the predicate's text, in characters counted from 1; `None` if the predicate was built.
    pub fn character(&self) -> Option<usize> {
        self.character
    }

    /// Adds the path's position in the text to an error, unless it has one already.
    pub fn locate(&self, error: Error) -> Error {
        match self.character {
            Some(character) => error.in_predicate(character),
            None => error,
        }
    }

    /// Replaces the path, but keeps its position.
    pub(super) fn rename(&mut self, path: String) {
        self.path = path;
    }
}

impl PartialEq for ColumnPath {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for ColumnPath {}

impl Deref for ColumnPath {
    type Target = str;

    fn deref(&self) -> &str {
        &self.path
    }
}

impl From<String> for ColumnPath {
    fn from(path: String) -> Self {
        ColumnPath { path, character: None }
    }
}

impl From<&str> for ColumnPath {
    fn from(path: &str) -> Self {
        path.to_owned().into()
    }
}

impl From<&String> for ColumnPath {
    fn from(path: &String) -> Self {
        path.clone().into()
    }
}

impl From<&ColumnPath> for ColumnPath {
    fn from(path: &ColumnPath) -> Self {
        path.clone()
    }
}

impl fmt::Display for ColumnPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}
