//! A predicate that is bound to the columns of one schema: its literals have the types of columns, and negation is pushed down to the leaves.

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

/// A predicate that was checked against a schema. Cheap to clone.
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
    /// Sorted, distinct.
    leaves: Arc<[usize]>,
}

/// What a [`BoundPredicate`] is. There is no negation: `not (a and b)` is `not a or not b`, with three truth values as with two.
/// So it is enough to know of each part whether it is *true*.
#[derive(Debug, PartialEq)]
pub(crate) enum Node {
    /// All of them; true if there are none.
    And(Vec<BoundPredicate>),
    /// At least one of them; false if there are none.
    Or(Vec<BoundPredicate>),
    /// One column.
    Is(Condition),
    /// Two columns.
    Compares(Box<ColumnComparison>),
    /// A list, a map or a group.
    Nested(Box<NestedTest>),
}

/// What is asked of one column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Condition {
    /// The number of the column.
    pub(crate) column: usize,
    /// How its values compare with those of the test; floats in total order.
    pub(crate) order: SortOrder,
    /// Which bits of a stored integer are its value, if not all are.
    pub(crate) narrow: Option<NarrowInteger>,
    pub(crate) test: Test,
    /// Whether the values are wanted for which the test fails. NULL neither passes nor fails, but for [`Test::IsNull`].
    pub(crate) is_negated: bool,
    /// As in the predicate.
    pub(super) text: Arc<str>,
}

/// What is asked of a value. Values are PLAIN.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    IsNull,
    /// Whether it is between two places.
    Range(Edge, Edge),
    /// Whether it is one of these.
    In(Box<InList>),
    /// Whether it begins with these bytes.
    Prefix(Vec<u8>),
    /// Whether it matches a pattern.
    Pattern(Box<Matcher>),
    /// Whether a geometry is in a box.
    Box(Box<BoxTest>),
    /// Whether a geometry is the one of a text.
    Geometry(Box<GeometryText>),
}

/// Where a range begins or ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Edge {
    Open,
    Included(Vec<u8>),
    Excluded(Vec<u8>),
}

/// What is asked of a list, a map or a group, of which a row has one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NestedTest {
    /// The levels of the list around the column that is read for it; without any where it is in no list.
    pub(crate) levels: ListLevels,
    pub(crate) is: NestedKind,
    /// Whether it is true of a null list.
    pub(crate) is_true_of_null: bool,
    /// As in the predicate.
    pub(super) text: Arc<str>,
}

/// The kinds of a [`NestedTest`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NestedKind {
    /// Whether some elements, or all, pass a predicate of their column; and whether a null element does.
    Elements { is_all: bool, of: BoundPredicate, of_null: bool },
    /// Whether the value at a key, which is that of the last entry that passes the key's predicate, passes its own.
    AtKey { key: BoundPredicate, value_column: usize, value: BoundPredicate },
    /// Whether the number of elements is in a range, or is not.
    Cardinality { least: u64, most: u64, is_negated: bool },
    /// Whether the definition level of a row's first entry is in a range.
    Presence { least: u8, most: u8 },
}

impl NestedTest {
    /// The columns that it asks for.
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

    /// The numbers of the columns that it asks for, sorted, each once.
    pub fn leaves(&self) -> &[usize] {
        &self.leaves
    }

    /// Whether a column has one value a row and nothing else is asked, so that what it says of a value it says of each row
    /// with that value.
    pub fn is_of_values(&self) -> bool {
        match self.node() {
            Node::And(parts) | Node::Or(parts) => parts.iter().all(BoundPredicate::is_of_values),
            Node::Is(_) => true,
            Node::Compares(_) | Node::Nested(_) => false,
        }
    }

    /// Whether it is true of a null value of its one column.
    pub(super) fn is_true_of_null(&self) -> bool {
        match self.node() {
            Node::And(parts) => parts.iter().all(BoundPredicate::is_true_of_null),
            Node::Or(parts) => parts.iter().any(BoundPredicate::is_true_of_null),
            Node::Is(condition) => condition.test == Test::IsNull && !condition.is_negated,
            Node::Compares(_) | Node::Nested(_) => false,
        }
    }

    /// Its parts, all of which have to be true: itself if it is no `and`, none if it is always true.
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
    /// As a predicate that means the same; of a list of more than 50 values only the first.
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
