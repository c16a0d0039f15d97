//! Columns by name, in text.

use super::lex::is_plain_name;
use super::literal::Number;
use std::fmt;

/// A column's path, in quotes if it needs them.
pub(super) struct Name<'a>(pub(super) &'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.split('.').all(is_plain_name) && Number::parse(self.0).is_none() {
            true => f.write_str(self.0),
            false => write!(f, "\"{}\"", self.0.replace('"', "\"\"")),
        }
    }
}
