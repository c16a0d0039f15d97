//! Predicates: which rows are wanted.
//!
//! | file | what |
//! |---|---|
//! | `literal`, `literal_text` | values as a user writes them |
//! | `lex`, `parse` | text becomes a [`Predicate`] |
//! | `pattern`, `like` | patterns of text, and how they are matched |
//! | `bind`, `position` | columns are found, literals become values of their types: a [`BoundPredicate`] |
//! | `column_comparison` | two columns compared with each other |
//! | `evaluate`, `condition`, `in_list`, `word_key`, `blocks`, `leaf_values` | a [`BoundPredicate`] tells of values which rows are wanted |
//!
//! The logic is SQL's, with three values: what compares with NULL is neither true nor false, and only rows for which the
//! predicate is *true* are wanted.
//!
//! Floats compare as in IEEE 754, and in Rust: NaN is not equal to anything, not even NaN, and neither less nor greater.
//! So `x < 5` is false for NaN, and `not x < 5` and `x != 5` are true. [`is_nan`](Column::is_nan) finds NaNs. Both zeros
//! are equal.
//!
//! A literal is a value of the column's type, or between two of them. `i < 5.5` on integers, and `d = 1.005` on decimals of
//! two digits, mean what they say. Only literals for floats are rounded, to the nearest value of the type, as they are
//! when such a column is written: `f = 0.1` finds 0.1 in a FLOAT column.
//!
//! INT96 compares by point in time, to the nanosecond: by day, then by the nanoseconds of the day, of which what is more than
//! a day counts as days. Bounds of INT96 in a file presume that no value has more.
//!
//! An integer of 8 or 16 bits compares as it is read: by the low bits of what is stored. A column that is always null
//! (UNKNOWN) compares with any literal, and never as true.

mod bind;
mod blocks;
mod column_comparison;
mod condition;
mod evaluate;
mod in_list;
mod leaf_values;
mod lex;
mod like;
mod literal;
mod literal_text;
mod name;
mod parse;
mod pattern;
mod position;
mod word_key;

pub use bind::BoundPredicate;
pub(crate) use bind::{Condition, Edge, Node, Test};
pub(crate) use column_comparison::{ColumnComparison, PairTest};
pub use leaf_values::LeafValues;
pub use literal::{Literal, Number};
pub use pattern::Pattern;

use like::plain_like;
use name::Name;
use std::fmt;

/// Which rows are wanted, by the names of columns. Made with [`col`], or from text with [`Predicate::parse`].
///
/// ```
/// use marquetry_core::predicate::{Predicate, col};
/// let built = col("country").eq("DE").and(col("amount").gt(100));
/// assert_eq!(built, Predicate::parse("country = 'DE' and amount > 100")?);
/// assert_eq!(built.to_string(), "country = 'DE' and amount > 100");
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// All of them; true if there are none.
    And(Vec<Predicate>),
    /// At least one of them; false if there are none.
    Or(Vec<Predicate>),
    /// The opposite.
    Not(Box<Predicate>),
    /// A column compared with a literal.
    Compare {
        /// The dotted path of the column.
        column: String,
        /// How.
        is: Comparison,
        /// With what.
        literal: Literal,
    },
    /// Whether a column is equal to one of some literals.
    In {
        /// The dotted path of the column.
        column: String,
        /// The literals.
        list: Vec<Literal>,
    },
    /// Whether a column's byte strings begin with some bytes.
    StartsWith {
        /// The dotted path of the column.
        column: String,
        /// Text or bytes.
        prefix: Literal,
    },
    /// Whether a column's byte strings match a pattern.
    Matches {
        /// The dotted path of the column.
        column: String,
        /// The pattern.
        pattern: Pattern,
    },
    /// Whether a column is null.
    IsNull {
        /// The dotted path of the column.
        column: String,
    },
    /// Whether a column is NaN.
    IsNan {
        /// The dotted path of the column.
        column: String,
    },
    /// One column compared with another of the same row.
    CompareColumns {
        /// The dotted path of the column.
        left: String,
        /// How.
        is: Comparison,
        /// The dotted path of the other one.
        right: String,
    },
    /// Whether two columns of a row differ, where null equals null: true or false, never unknown.
    Distinct {
        /// The dotted path of a column.
        left: String,
        /// The dotted path of another one.
        right: String,
    },
}

/// How a column is compared with a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Comparison {
    /// The comparison that says the same with both sides exchanged.
    #[must_use]
    pub fn swapped(self) -> Comparison {
        match self {
            Comparison::Lt => Comparison::Gt,
            Comparison::Le => Comparison::Ge,
            Comparison::Gt => Comparison::Lt,
            Comparison::Ge => Comparison::Le,
            same => same,
        }
    }
}

impl Predicate {
    /// Both.
    #[must_use]
    pub fn and(self, other: Predicate) -> Predicate {
        match self {
            Predicate::And(mut all) => {
                all.push(other);
                Predicate::And(all)
            }
            first => Predicate::And(vec![first, other]),
        }
    }

    /// At least one.
    #[must_use]
    pub fn or(self, other: Predicate) -> Predicate {
        match self {
            Predicate::Or(mut any) => {
                any.push(other);
                Predicate::Or(any)
            }
            first => Predicate::Or(vec![first, other]),
        }
    }
}

impl std::ops::Not for Predicate {
    type Output = Predicate;

    fn not(self) -> Predicate {
        Predicate::Not(Box::new(self))
    }
}

/// A column of this dotted path, to be compared.
pub fn col(path: impl Into<String>) -> Column {
    Column { path: path.into() }
}

/// A column to be compared: see [`col`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    path: String,
}

impl Column {
    /// `=`
    pub fn eq(self, literal: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::Eq, literal)
    }

    /// `!=`
    pub fn ne(self, literal: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::Ne, literal)
    }

    /// `<`
    pub fn lt(self, literal: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::Lt, literal)
    }

    /// `<=`
    pub fn le(self, literal: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::Le, literal)
    }

    /// `>`
    pub fn gt(self, literal: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::Gt, literal)
    }

    /// `>=`
    pub fn ge(self, literal: impl Into<Literal>) -> Predicate {
        self.compare(Comparison::Ge, literal)
    }

    /// Compared as `is` says.
    pub fn compare(self, is: Comparison, literal: impl Into<Literal>) -> Predicate {
        Predicate::Compare { column: self.path, is, literal: literal.into() }
    }

    /// Compared with another column of the same row.
    ///
    /// ```
    /// use marquetry_core::predicate::{Comparison, Predicate, col};
    /// let late = col("commit_date").compare_column(Comparison::Lt, "receipt_date");
    /// assert_eq!(late, Predicate::parse("commit_date < receipt_date")?);
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn compare_column(self, is: Comparison, other: impl Into<String>) -> Predicate {
        Predicate::CompareColumns { left: self.path, is, right: other.into() }
    }

    /// Whether it differs from another column of the same row, where null equals null.
    pub fn is_distinct_from(self, other: impl Into<String>) -> Predicate {
        Predicate::Distinct { left: self.path, right: other.into() }
    }

    /// Whether it differs from a literal, as null does: true or false, never unknown.
    pub fn is_distinct_from_literal(self, literal: impl Into<Literal>) -> Predicate {
        match literal.into() {
            Literal::Null => self.is_not_null(),
            literal => Predicate::Or(vec![self.clone().ne(literal), self.is_null()]),
        }
    }

    /// From `low` to `high`, both included.
    pub fn between(self, low: impl Into<Literal>, high: impl Into<Literal>) -> Predicate {
        self.clone().ge(low).and(self.le(high))
    }

    /// Equal to one of these.
    pub fn is_in<L: Into<Literal>>(self, list: impl IntoIterator<Item = L>) -> Predicate {
        Predicate::In { column: self.path, list: list.into_iter().map(Into::into).collect() }
    }

    /// Whether a string begins with `prefix`.
    pub fn starts_with(self, prefix: impl Into<Literal>) -> Predicate {
        Predicate::StartsWith { column: self.path, prefix: prefix.into() }
    }

    /// Whether text matches a LIKE pattern: `%` is any text, `_` any character, a backslash takes the meaning from the next.
    ///
    /// ```
    /// use marquetry_core::predicate::{Predicate, col};
    /// assert_eq!(col("url").like("%google%"), Predicate::parse("url like '%google%'")?);
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn like(self, pattern: impl Into<String>) -> Predicate {
        let pattern = pattern.into();
        match plain_like(&pattern) {
            Some((plain, true)) => self.starts_with(plain),
            Some((plain, false)) => self.eq(plain),
            None => self.matches(Pattern::Like(pattern)),
        }
    }

    /// Whether text matches a pattern.
    pub fn matches(self, pattern: Pattern) -> Predicate {
        Predicate::Matches { column: self.path, pattern }
    }

    /// Whether a string has `part` anywhere.
    pub fn contains(self, part: impl Into<Literal>) -> Predicate {
        self.matches(Pattern::Contains(part.into()))
    }

    /// Whether a string ends with `end`.
    pub fn ends_with(self, end: impl Into<Literal>) -> Predicate {
        self.matches(Pattern::EndsWith(end.into()))
    }

    /// Whether there is no value.
    pub fn is_null(self) -> Predicate {
        Predicate::IsNull { column: self.path }
    }

    /// Whether there is a value.
    pub fn is_not_null(self) -> Predicate {
        !self.is_null()
    }

    /// Whether the value is NaN.
    pub fn is_nan(self) -> Predicate {
        Predicate::IsNan { column: self.path }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Comparison::Eq => "=",
            Comparison::Ne => "!=",
            Comparison::Lt => "<",
            Comparison::Le => "<=",
            Comparison::Gt => ">",
            Comparison::Ge => ">=",
        })
    }
}

impl fmt::Display for Predicate {
    /// What [`Predicate::parse`] reads as the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Predicate::And(all) => joined(f, all, " and ", "true"),
            Predicate::Or(any) => joined(f, any, " or ", "false"),
            Predicate::Not(inner) => match &**inner {
                Predicate::IsNull { column } => write!(f, "{} is not null", Name(column)),
                inner => write!(f, "not ({inner})"),
            },
            Predicate::Compare { column, is, literal } => write!(f, "{} {is} {literal}", Name(column)),
            Predicate::In { column, list } => {
                write!(f, "{} in (", Name(column))?;
                for (i, literal) in list.iter().enumerate() {
                    write!(f, "{}{literal}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str(")")
            }
            Predicate::StartsWith { column, prefix } => {
                write!(f, "starts_with({}, {prefix})", Name(column))
            }
            Predicate::Matches { column, pattern } => write!(f, "{}", pattern.display(&Name(column))),
            Predicate::IsNull { column } => write!(f, "{} is null", Name(column)),
            Predicate::IsNan { column } => write!(f, "is_nan({})", Name(column)),
            Predicate::CompareColumns { left, is, right } => write!(f, "{} {is} {}", Name(left), Name(right)),
            Predicate::Distinct { left, right } => {
                write!(f, "{} is distinct from {}", Name(left), Name(right))
            }
        }
    }
}

fn joined(f: &mut fmt::Formatter<'_>, parts: &[Predicate], word: &str, none: &str) -> fmt::Result {
    if parts.is_empty() {
        return f.write_str(none);
    }
    for (i, part) in parts.iter().enumerate() {
        f.write_str(if i > 0 { word } else { "" })?;
        match part {
            Predicate::And(inner) | Predicate::Or(inner) if inner.len() > 1 => write!(f, "({part})")?,
            part => write!(f, "{part}")?,
        }
    }
    Ok(())
}
