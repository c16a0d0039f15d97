//! Predicates, which select rows.
//!
//! | file | what |
//! |---|---|
//! | `literal`, `literal_text`, `interval_text` | values as a user writes them |
//! | `builder`, `column_path` | a [`Predicate`] is built of columns and literals |
//! | `lex`, `parser`, `parse`, `display`, `name` | text becomes a [`Predicate`], and a [`Predicate`] text |
//! | `pattern`, `like`, `text_search`, `ignoring_case` | patterns of text, and how they are matched |
//! | `bind`, `path`, `bound`, `condition_builder`, `position`, `bare_time` | columns are found, literals become values of their types: a [`BoundPredicate`] |
//! | `covering` | what a file's GeoParquet metadata adds |
//! | `column_comparison`, `wide_integer` | two columns compared with each other |
//! | `nested`, `list_levels` | lists, maps and structs, by their levels |
//! | `evaluate`, `condition`, `in_list`, `box_test`, `geometry_text`, `word_set`, `word_key`, `blocks`, `leaf_values` | a [`BoundPredicate`] is evaluated on values |
//!
//! The logic is SQL's, with three values: what compares with NULL is neither true nor false, and only rows for which the
//! predicate is *true* are selected.
//!
//! Floats compare as in IEEE 754, and in Rust: NaN is not equal to anything, not even NaN, and neither less nor greater.
//! So `x < 5` is false for NaN, and `not x < 5` and `x != 5` are true. [`is_nan`](Column::is_nan) finds NaNs. Both zeros
//! are equal.
//!
//! A literal is a value of the column's type, or between two of them. `i < 5.5` on integers, and `d = 1.005` on decimals of
//! two digits, are compared exactly. Only literals for floats are rounded, to the nearest value of the type, as they are
//! when such a column is written: `f = 0.1` finds 0.1 in a FLOAT column.
//!
//! INT96 compares as a point in time, to the nanosecond: by day, then by the nanoseconds of the day, where more than a
//! day's nanoseconds count as further days. Bounds of INT96 in a file assume that no value has more. The comparison
//! stays exact even if a value that is far away makes the reader return all values in a coarser unit, so values that
//! are returned as equal may differ.
//!
//! An integer of 8 or 16 bits compares as it is read: by the low bits of the stored value. A column that is always null
//! (UNKNOWN) compares with any literal, and the result is never true.
//!
//! A path into a VARIANT stands for a column: `payload:user.id::bigint > 5`. Only a reader can resolve it for each row;
//! a schema alone cannot, so [`bind`](Predicate::bind) knows no such columns.
//!
//! Geometries are tested with `bbox_intersects(geom, xmin, ymin, xmax, ymax)`: six numbers with z, eight with z and m,
//! the minima first. The edges of the box belong to it. If `xmin` is greater than `xmax`, the box crosses the
//! antimeridian. The result for NULL is unknown, and an empty geometry is in no box. For GEOGRAPHY only points are
//! tested exactly: its edges are curves, so a value with edges is in every box. A value that is not a geometry is an
//! error.
//!
//! Lists are tested with `any(tags) = 'x'` and `all(prices) > 0`, maps with `attributes['colour'] = 'red'`, where the
//! last of several entries with one key counts. Paths are those of Arrow: `points.x` is field `x` of the elements of
//! the list `points`. The elements of a list of lists are those of all inner lists; an inner list that is null counts
//! as a null element.

mod bare_time;
mod bind;
mod blocks;
mod bound;
mod box_test;
mod builder;
mod column_comparison;
mod column_path;
mod condition;
mod condition_builder;
mod covering;
mod display;
mod evaluate;
mod geometry_text;
mod ignoring_case;
mod in_list;
mod interval_text;
mod leaf_values;
mod lex;
mod like;
mod list_levels;
mod literal;
mod literal_text;
mod name;
mod nested;
mod parse;
mod parser;
mod path;
mod pattern;
mod position;
mod text_search;
mod wide_integer;
mod word_key;
mod word_set;

pub use bare_time::BareTime;
pub use bound::BoundPredicate;
pub(crate) use bound::{Condition, Edge, NestedKind, NestedTest, Node, Test};
pub(crate) use box_test::BoxTest;
pub use builder::{Column, col};
pub(crate) use column_comparison::{ColumnComparison, PairTest};
pub use column_path::ColumnPath;
pub use leaf_values::LeafValues;
pub(crate) use list_levels::{Entry, ListLevels};
pub use literal::{Digits, Literal, Number};
pub use marquetry_geo::BBox;
pub use name::{column_and_path, meanings_of, names_of};
pub use path::names_column;
pub use pattern::Pattern;
pub use position::bytes_as_shown;

/// A predicate on columns, by their names: it selects the rows for which it is true. Built with [`col`], or parsed from
/// text with [`Predicate::parse`].
///
/// ```
/// use marquetry_core::predicate::{Predicate, col};
/// let built = col("country").eq("DE").and(col("amount").gt(100));
/// assert_eq!(built, Predicate::parse("country = 'DE' and amount > 100")?);
/// assert_eq!(built.to_string(), "country = 'DE' and amount > 100");
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Predicate {
    /// Whether all parts are true; true if there are none.
    And(Vec<Predicate>),
    /// Whether at least one part is true; false if there are none.
    Or(Vec<Predicate>),
    /// The negation.
    Not(Box<Predicate>),
    /// A column compared with a literal.
    Compare {
        /// The dotted path of the column.
        column: ColumnPath,
        /// The comparison.
        is: Comparison,
        /// The literal.
        literal: Literal,
    },
    /// Whether a column equals one of some literals.
    In {
        /// The dotted path of the column.
        column: ColumnPath,
        /// The literals.
        list: Vec<Literal>,
    },
    /// Whether a column's byte strings begin with a prefix.
    StartsWith {
        /// The dotted path of the column.
        column: ColumnPath,
        /// The prefix: text or bytes.
        prefix: Literal,
    },
    /// Whether a column's byte strings match a pattern.
    Matches {
        /// The dotted path of the column.
        column: ColumnPath,
        /// The pattern.
        pattern: Pattern,
    },
    /// Whether a column is null.
    IsNull {
        /// The dotted path of the column.
        column: ColumnPath,
    },
    /// Whether a row has a variant without a value at the path. Never unknown.
    IsMissing {
        /// The path into the VARIANT.
        column: ColumnPath,
    },
    /// Whether the value at a path is a variant null, which is not the NULL of SQL. Never unknown.
    IsVariantNull {
        /// The path into the VARIANT.
        column: ColumnPath,
    },
    /// Whether a column is NaN.
    IsNan {
        /// The dotted path of the column.
        column: ColumnPath,
    },
    /// Whether a geometry intersects a box: see [`Column::bbox_intersects`].
    BboxIntersects {
        /// The dotted path of the column.
        column: ColumnPath,
        /// The box.
        bbox: BBox,
        /// Whether edges are curves although the column's type does not state it, as GeoParquet's metadata may.
        are_edges_curved: bool,
    },
    /// One column compared with another of the same row.
    CompareColumns {
        /// The dotted path of the column.
        left: ColumnPath,
        /// The comparison.
        is: Comparison,
        /// The dotted path of the other column.
        right: ColumnPath,
    },
    /// Whether two columns of a row differ, where null equals null: true or false, never unknown.
    Distinct {
        /// The dotted path of a column.
        left: ColumnPath,
        /// The dotted path of the other column.
        right: ColumnPath,
    },
    /// Whether a predicate is true for some or all elements of a list. For an empty list, `any` is false and `all`
    /// true. For a null list both are unknown, as they are if only null elements prevent an answer.
    Elements {
        /// Whether some or all elements must pass.
        quantifier: Quantifier,
        /// The predicate for one element. It names one column only: the path of the list, followed by that of a field
        /// of its elements.
        of: Box<Predicate>,
    },
    /// A predicate on the value of a map at a key; the value is null if there is no such key.
    AtKey {
        /// The key.
        key: Literal,
        /// The predicate for the value. It names only the path of the map.
        of: Box<Predicate>,
    },
    /// Compares the number of elements of a list, or of entries of a map. Unknown for a null list.
    Cardinality {
        /// The dotted path of the list.
        column: ColumnPath,
        /// The comparison.
        is: Comparison,
        /// The number to compare with.
        count: u64,
    },
    /// Whether a list or map has no elements. Unknown for a null list.
    IsEmpty {
        /// The dotted path of the list.
        column: ColumnPath,
    },
}

/// How many elements of a list must pass a predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    /// At least one.
    Any,
    /// Every one.
    All,
}

/// A comparison operator.
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
    /// Returns the comparison that means the same with both sides exchanged.
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
    /// Returns the paths of the named columns, in the order of the text and with repetitions: names with dots between
    /// them, and a name with a dot in it in double quotes ([`names_of`]).
    pub fn columns(&self) -> Vec<&str> {
        self.column_paths().into_iter().map(|path| &**path).collect()
    }

    /// Like [`columns`](Self::columns), with the positions in the text.
    pub fn column_paths(&self) -> Vec<&ColumnPath> {
        match self {
            Predicate::And(parts) | Predicate::Or(parts) => {
                parts.iter().flat_map(Predicate::column_paths).collect()
            }
            Predicate::Not(of) | Predicate::Elements { of, .. } | Predicate::AtKey { of, .. } => {
                of.column_paths()
            }
            Predicate::CompareColumns { left, right, .. } | Predicate::Distinct { left, right } => {
                vec![left, right]
            }
            Predicate::Compare { column, .. }
            | Predicate::In { column, .. }
            | Predicate::StartsWith { column, .. }
            | Predicate::Matches { column, .. }
            | Predicate::IsNull { column }
            | Predicate::IsNan { column }
            | Predicate::BboxIntersects { column, .. }
            | Predicate::IsMissing { column }
            | Predicate::IsVariantNull { column }
            | Predicate::Cardinality { column, .. }
            | Predicate::IsEmpty { column } => vec![column],
        }
    }

    /// Replaces each column's path by the one that `rename` returns for it.
    ///
    /// ```
    /// use marquetry_core::predicate::{Predicate, col};
    /// let renamed = Predicate::parse("a < b and a = 1")?.rename_columns(|path| format!("t.{path}"));
    /// assert_eq!(renamed.to_string(), "t.a < t.b and t.a = 1");
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    #[must_use]
    pub fn rename_columns(mut self, rename: impl Fn(&str) -> String) -> Predicate {
        self.columns_mut().into_iter().for_each(|path| path.rename(rename(path)));
        self
    }

    fn columns_mut(&mut self) -> Vec<&mut ColumnPath> {
        match self {
            Predicate::And(parts) | Predicate::Or(parts) => {
                parts.iter_mut().flat_map(Predicate::columns_mut).collect()
            }
            Predicate::Not(of) | Predicate::Elements { of, .. } | Predicate::AtKey { of, .. } => {
                of.columns_mut()
            }
            Predicate::CompareColumns { left, right, .. } | Predicate::Distinct { left, right } => {
                vec![left, right]
            }
            Predicate::Compare { column, .. }
            | Predicate::In { column, .. }
            | Predicate::StartsWith { column, .. }
            | Predicate::Matches { column, .. }
            | Predicate::IsNull { column }
            | Predicate::IsNan { column }
            | Predicate::BboxIntersects { column, .. }
            | Predicate::IsMissing { column }
            | Predicate::IsVariantNull { column }
            | Predicate::Cardinality { column, .. }
            | Predicate::IsEmpty { column } => vec![column],
        }
    }
}
