//! A predicate that is bound to the columns of one schema: its literals have the types of the columns, and negation is
//! pushed down to the leaves.

use super::box_test::BoxTest;
use super::column_comparison::ColumnComparison;
use super::geometry_text::GeometryText;
use super::in_list::InList;
use super::list_levels::ListLevels;
use super::pattern::Matcher;
use crate::narrow_integer::NarrowInteger;
use crate::sort_order::SortOrder;
use std::fmt;
use std::sync::Arc;

/// A predicate that was bound to a schema. Cheap to clone.
///
/// ```
/// use marquetry_base::Limits;
/// use marquetry_core::predicate::Predicate;
/// use marquetry_core::schema::Schema;
/// let schema = Schema::parse("message m { required int32 a; optional binary b (STRING); }")?;
/// let bound = Predicate::parse("a > 5 and (b = 'x' or a < 10)")?.bind(&schema)?;
/// assert_eq!(bound.leaves(), [0, 1]);
/// assert_eq!(bound.conjuncts().len(), 2);
/// assert!(Predicate::parse("c = 1")?.bind(&schema).is_err());
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Clone)]
pub struct BoundPredicate {
    node: Arc<Node>,
    /// Sorted and distinct.
    leaves: Arc<[usize]>,
}

/// The kind of a [`BoundPredicate`]. There is no negation: `not (a and b)` is `not a or not b`, with three truth values
/// as with two. So it is enough to know whether each part is *true*.
#[derive(Debug, PartialEq)]
pub(crate) enum Node {
    /// Whether all parts are true; true if there are none.
    And(Vec<BoundPredicate>),
    /// Whether at least one part is true; false if there are none.
    Or(Vec<BoundPredicate>),
    /// A condition on one column.
    Is(Condition),
    /// A comparison of two columns.
    Compares(Box<ColumnComparison>),
    /// A test of a list, a map or a group.
    Nested(Box<NestedTest>),
}

/// A test of the values of one column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Condition {
    /// The number of the column.
    pub(crate) column: usize,
    /// The order in which its values compare with those of the test; floats in total order.
    pub(crate) order: SortOrder,
    /// The bits of a stored integer that are its value, if not all are.
    pub(crate) narrow: Option<NarrowInteger>,
    pub(crate) test: Test,
    /// Whether values must fail the test. NULL neither passes nor fails, except for [`Test::IsNull`].
    pub(crate) is_negated: bool,
    /// The text of the predicate.
    pub(super) text: Arc<str>,
}

/// A test of a value. Values are PLAIN.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    IsNull,
    /// Whether the value is between two edges.
    Range(Edge, Edge),
    /// Whether the value is in a list.
    In(Box<InList>),
    /// Whether the value begins with these bytes.
    Prefix(Vec<u8>),
    /// Whether the value matches a pattern.
    Pattern(Box<Matcher>),
    /// Whether a geometry intersects a box.
    Box(Box<BoxTest>),
    /// Whether a geometry equals one in text form.
    Geometry(Box<GeometryText>),
}

/// The beginning or end of a range.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Edge {
    Open,
    Included(Vec<u8>),
    Excluded(Vec<u8>),
}

/// A test of a list, a map or a group, of which each row has one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NestedTest {
    /// The levels of the list around the column that is read for the test; without lists if the column is in none.
    pub(crate) levels: ListLevels,
    pub(crate) is: NestedKind,
    /// Whether the test is true for a null list.
    pub(crate) is_true_of_null: bool,
    /// The text of the predicate.
    pub(super) text: Arc<str>,
}

/// The kinds of a [`NestedTest`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NestedKind {
    /// Whether some or all elements pass a predicate on their column, and whether a null element does.
    Elements { is_all: bool, of: BoundPredicate, of_null: bool },
    /// Whether the value at a key passes a predicate. It is the value of the last entry whose key passes the key's
    /// predicate.
    AtKey { key: BoundPredicate, value_column: usize, value: BoundPredicate },
    /// Whether the number of elements is in a range, or is not if negated.
    Cardinality { least: u64, most: u64, is_negated: bool },
    /// Whether the definition level of a row's first entry is in a range.
    Presence { least: u8, most: u8 },
}

impl NestedTest {
    /// Returns the columns that the test reads.
    pub(crate) fn columns(&self) -> Vec<usize> {
        match &self.is {
            NestedKind::AtKey { value_column, .. } => vec![self.levels.column(), *value_column],
            _ => vec![self.levels.column()],
        }
    }
}

impl BoundPredicate {
    pub(super) fn of(node: Node) -> Self {
        let mut leaves: Vec<usize> = match &node {
            Node::And(parts) | Node::Or(parts) => {
                parts.iter().flat_map(|part| part.leaves.iter().copied()).collect()
            }
            Node::Is(condition) => vec![condition.column],
            Node::Compares(compared) => vec![compared.left.column, compared.right.column],
            Node::Nested(test) => test.columns(),
        };
        leaves.sort_unstable();
        leaves.dedup();
        BoundPredicate { node: Arc::new(node), leaves: leaves.into() }
    }

    pub(super) fn always() -> Self {
        BoundPredicate::of(Node::And(Vec::new()))
    }

    pub(super) fn never() -> Self {
        BoundPredicate::of(Node::Or(Vec::new()))
    }

    pub(super) fn and(parts: Vec<BoundPredicate>) -> Self {
        let mut all: Vec<BoundPredicate> = Vec::new();
        for part in parts {
            match part.node() {
                Node::And(inner) => all.extend(inner.iter().cloned()),
                Node::Or(inner) if inner.is_empty() => return part,
                _ => all.push(part),
            }
        }
        if all.len() == 1 { all.swap_remove(0) } else { BoundPredicate::of(Node::And(all)) }
    }

    pub(super) fn or(parts: Vec<BoundPredicate>) -> Self {
        let mut any: Vec<BoundPredicate> = Vec::new();
        for part in parts {
            match part.node() {
                Node::Or(inner) => any.extend(inner.iter().cloned()),
                Node::And(inner) if inner.is_empty() => return part,
                _ => any.push(part),
            }
        }
        if any.len() == 1 { any.swap_remove(0) } else { BoundPredicate::of(Node::Or(any)) }
    }

    pub(crate) fn node(&self) -> &Node {
        &self.node
    }

    /// Returns the numbers of the columns that the predicate reads, sorted and distinct.
    pub fn leaves(&self) -> &[usize] {
        &self.leaves
    }

    /// Whether the predicate only tests columns with one value per row, so that its result for a value is its result for
    /// each row with that value.
    pub fn is_of_values(&self) -> bool {
        match self.node() {
            Node::And(parts) | Node::Or(parts) => parts.iter().all(BoundPredicate::is_of_values),
            Node::Is(_) => true,
            Node::Compares(_) | Node::Nested(_) => false,
        }
    }

    /// Whether the predicate is true for a null value of its one column.
    pub(super) fn is_true_of_null(&self) -> bool {
        match self.node() {
            Node::And(parts) => parts.iter().all(BoundPredicate::is_true_of_null),
            Node::Or(parts) => parts.iter().any(BoundPredicate::is_true_of_null),
            Node::Is(condition) => condition.test == Test::IsNull && !condition.is_negated,
            Node::Compares(_) | Node::Nested(_) => false,
        }
    }

    /// Returns the parts, all of which must be true: the predicate itself if it is not an `and`, and none if it is
    /// always true.
    pub fn conjuncts(&self) -> Vec<BoundPredicate> {
        match self.node() {
            Node::And(all) => all.clone(),
            _ => vec![self.clone()],
        }
    }
}

impl PartialEq for BoundPredicate {
    fn eq(&self, other: &Self) -> bool {
        self.node == other.node
    }
}

impl fmt::Debug for BoundPredicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.node, f)
    }
}

impl fmt::Display for BoundPredicate {
    /// Writes an equivalent predicate; of a list with more than 50 values only the first ones.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parts, word) = match self.node() {
            Node::Is(condition) => return f.write_str(&condition.text),
            Node::Compares(compared) => return f.write_str(&compared.text),
            Node::Nested(test) => return f.write_str(&test.text),
            Node::And(all) if all.is_empty() => return f.write_str("true"),
            Node::Or(any) if any.is_empty() => return f.write_str("false"),
            Node::And(all) => (all, " and "),
            Node::Or(any) => (any, " or "),
        };
        for (i, part) in parts.iter().enumerate() {
            f.write_str(if i > 0 { word } else { "" })?;
            match part.node() {
                Node::Is(_) | Node::Compares(_) | Node::Nested(_) => write!(f, "{part}")?,
                _ => write!(f, "({part})")?,
            }
        }
        Ok(())
    }
}
