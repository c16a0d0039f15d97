//! A predicate for the columns of one schema: literals have become values, and negations stand at the leaves.

use super::column_comparison::ColumnComparison;
use super::in_list::InList;
use super::like::plain_like;
use super::pattern::{Matcher, Pattern};
use super::position::{Position, is_ordered, order, position};
use super::{Comparison, Literal, Predicate, col};
use crate::logical_type::LogicalType;
use crate::narrow_integer::NarrowInteger;
use crate::schema::{Leaf, Schema, unknown_column};
use crate::sort_order::SortOrder;
use marquetry_base::{Error, Result};
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
    text: Arc<str>,
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
}

/// Where a range begins or ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Edge {
    Open,
    Included(Vec<u8>),
    Excluded(Vec<u8>),
}

impl Predicate {
    /// Finds the columns in `schema`, and makes literals values of their types.
    ///
    /// Fails if a column does not exist (the error names similar ones), is a group, or is inside a list or map, and if
    /// a literal is not comparable with its column.
    pub fn bind(&self, schema: &Schema) -> Result<BoundPredicate> {
        bind(self, schema, false)
    }
}

fn bind(predicate: &Predicate, schema: &Schema, is_negated: bool) -> Result<BoundPredicate> {
    let all = |parts: &[Predicate]| {
        parts.iter().map(|part| bind(part, schema, is_negated)).collect::<Result<Vec<_>>>()
    };
    let condition = |column: &str, make: &dyn Fn(&Leaf, Made) -> Result<BoundPredicate>| {
        let number = find(schema, column)?;
        let leaf = schema.column(number);
        // SPEC: "UNKNOWN: always null". Nothing else is known of such a column, not even what it could be compared with.
        if leaf.logical() == Some(&LogicalType::Null) {
            let is_wanted = matches!(predicate, Predicate::IsNull { .. }) && !is_negated;
            return Ok(if is_wanted { BoundPredicate::always() } else { BoundPredicate::never() });
        }
        let not = if is_negated { "not " } else { "" };
        let text = format!("{not}{predicate}").into();
        let narrow = NarrowInteger::of(leaf);
        make(leaf, Made { column: number, order: order(leaf), narrow, is_negated, text })
    };
    let columns = |left: &str, is: Option<Comparison>, right: &str| {
        let (left, right) = (find(schema, left)?, find(schema, right)?);
        let (left_leaf, right_leaf) = (schema.column(left), schema.column(right));
        let is_null = |leaf: &Leaf| leaf.logical() == Some(&LogicalType::Null);
        // Only what is not null differs from a column that is always null.
        match (is_null(left_leaf), is_null(right_leaf)) {
            (false, false) => {}
            _ if is.is_some() => return Ok(BoundPredicate::never()),
            (true, _) => return bind(&col(&**right_leaf.dotted()).is_null(), schema, !is_negated),
            (_, true) => return bind(&col(&**left_leaf.dotted()).is_null(), schema, !is_negated),
        }
        let not = if is_negated { "not " } else { "" };
        let text = format!("{not}{predicate}").into();
        let compared = ColumnComparison::new((left, left_leaf), is, (right, right_leaf), is_negated, text)?;
        Ok(BoundPredicate::of(Node::Compares(Box::new(compared))))
    };
    match predicate {
        Predicate::And(parts) if !is_negated => all(parts).map(BoundPredicate::and),
        Predicate::Or(parts) if is_negated => all(parts).map(BoundPredicate::and),
        Predicate::And(parts) | Predicate::Or(parts) => all(parts).map(BoundPredicate::or),
        Predicate::Not(inner) => bind(inner, schema, !is_negated),
        Predicate::Compare { literal: Literal::Null, column, .. } => {
            find(schema, column).map(|_| BoundPredicate::never())
        }
        Predicate::Compare { column, is, literal } => {
            condition(column, &|leaf, made| made.compare(leaf, *is, literal))
        }
        Predicate::In { column, list } => condition(column, &|leaf, made| made.one_of(leaf, list)),
        Predicate::StartsWith { column, prefix } => {
            condition(column, &|leaf, made| made.starts_with(leaf, prefix))
        }
        // It prunes better as what it is.
        Predicate::Matches { column, pattern: Pattern::Like(like) } if plain_like(like).is_some() => {
            bind(&col(column.as_str()).like(like.as_str()), schema, is_negated)
        }
        Predicate::Matches { column, pattern } => {
            condition(column, &|leaf, made| made.matches(leaf, pattern))
        }
        Predicate::IsNull { column } => condition(column, &|_, made| Ok(made.test(Test::IsNull))),
        Predicate::IsNan { column } => condition(column, &|leaf, made| made.nan(leaf)),
        Predicate::CompareColumns { left, is, right } => columns(left, Some(*is), right),
        Predicate::Distinct { left, right } => columns(left, None, right),
    }
}

/// The number of the leaf of this path.
fn find(schema: &Schema, path: &str) -> Result<usize> {
    let is_path = |leaf: &Leaf| &**leaf.dotted() == path;
    let Some(column) = schema.columns().iter().position(is_path) else {
        let below = |leaf: &&Leaf| leaf.dotted().strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
        return Err(match schema.columns().iter().find(below) {
            Some(leaf) => Error::argument(format!(
                "{path} is a group; a predicate asks for one of its leaves, such as {}",
                leaf.dotted()
            )),
            None => unknown_column(schema, path),
        });
    };
    let leaf = schema.column(column);
    if schema.columns()[column + 1..].iter().any(is_path) {
        return Err(Error::argument("several columns have this name").in_column(leaf.dotted().clone()));
    }
    if leaf.max_rep() > 0 {
        let message = "it is inside a list or a map, so that a row has any number of values of it; \
                       predicates ask for columns with one value a row";
        return Err(Error::argument(message).in_column(leaf.dotted().clone()));
    }
    Ok(column)
}

/// A condition without its test.
struct Made {
    column: usize,
    order: SortOrder,
    narrow: Option<NarrowInteger>,
    is_negated: bool,
    text: Arc<str>,
}

impl Made {
    fn test(self, test: Test) -> BoundPredicate {
        let Made { column, order, narrow, is_negated, text } = self;
        BoundPredicate::of(Node::Is(Condition { column, order, narrow, test, is_negated, text }))
    }

    /// What is the same for all values, but not for NULL.
    fn constant(self, value: bool) -> BoundPredicate {
        match value == self.is_negated {
            true => BoundPredicate::never(),
            false => Made { is_negated: true, ..self }.test(Test::IsNull),
        }
    }

    fn compare(self, leaf: &Leaf, is: Comparison, literal: &Literal) -> Result<BoundPredicate> {
        if is == Comparison::Ne {
            return Made { is_negated: !self.is_negated, ..self }.compare(leaf, Comparison::Eq, literal);
        }
        if is != Comparison::Eq && !is_ordered(leaf) {
            let message = "its values are not ordered; = and != are all that can be asked";
            return Err(Error::argument(message).in_column(leaf.dotted().clone()));
        }
        use Comparison::*;
        let (at, is_exact) = match position(leaf, literal)? {
            Position::Nan => return Ok(self.constant(false)),
            Position::Before => return Ok(self.constant(matches!(is, Gt | Ge))),
            Position::At(value) => (value, true),
            Position::After(value) => (value, false),
            Position::Beyond => return Ok(self.constant(matches!(is, Lt | Le))),
        };
        // A zero stands for both.
        let (first, last) = zeros(self.order, at);
        let range = match (is, is_exact) {
            (Eq | Ne, false) => return Ok(self.constant(false)),
            (Eq | Ne, true) => (Edge::Included(first), Edge::Included(last)),
            (Lt, true) => (Edge::Open, Edge::Excluded(first)),
            (Lt | Le, _) => (Edge::Open, Edge::Included(last)),
            (Ge, true) => (Edge::Included(first), Edge::Open),
            (Gt | Ge, _) => (Edge::Excluded(last), Edge::Open),
        };
        Ok(self.range(range))
    }

    /// A range of values. Those of floats end at the infinities: NaN is beyond.
    fn range(self, (lower, upper): (Edge, Edge)) -> BoundPredicate {
        let (lower, upper) = match infinities(self.order) {
            Some((least, greatest)) => (lower.or_included(least), upper.or_included(greatest)),
            None => (lower, upper),
        };
        self.test(Test::Range(lower, upper))
    }

    fn one_of(self, leaf: &Leaf, list: &[Literal]) -> Result<BoundPredicate> {
        let mut values = Vec::new();
        for literal in list {
            match literal {
                // Whether NULL is the value that was looked for is not known: "not in" is never true.
                Literal::Null if self.is_negated => return Ok(BoundPredicate::never()),
                Literal::Null => {}
                literal => {
                    if let Position::At(value) = position(leaf, literal)? {
                        let (first, last) = zeros(self.order, value);
                        values.extend((first != last).then_some(last));
                        values.push(first);
                    }
                }
            }
        }
        let list = InList::new(self.order, values);
        Ok(match list.values() {
            [] => self.constant(false),
            [value] => {
                let value = || Edge::Included(value.clone());
                self.test(Test::Range(value(), value()))
            }
            _ => self.test(Test::In(Box::new(list))),
        })
    }

    fn starts_with(self, leaf: &Leaf, prefix: &Literal) -> Result<BoundPredicate> {
        let wrong = |message: &'static str| Error::argument(message).in_column(leaf.dotted().clone());
        // A UUID is written as text of another form than its bytes.
        let is_uuid = leaf.logical() == Some(&LogicalType::Uuid) && !matches!(prefix, Literal::Bytes(_));
        let is_bytes = matches!(self.order, SortOrder::Bytes | SortOrder::FixedLenBytes) && is_ordered(leaf);
        match prefix {
            _ if !is_bytes => Err(wrong("only text and bytes begin with something")),
            Literal::Null => Ok(BoundPredicate::never()),
            _ if is_uuid => Err(wrong("a UUID begins with bytes, such as X'0aff'")),
            Literal::Text(text) => Ok(self.prefix(text.as_bytes())),
            Literal::Bytes(bytes) => Ok(self.prefix(bytes)),
            _ => Err(wrong("text begins with text, bytes with bytes")),
        }
    }

    fn matches(self, leaf: &Leaf, pattern: &Pattern) -> Result<BoundPredicate> {
        let wrong = |message: String| Error::argument(message).in_column(leaf.dotted().clone());
        let is_bytes = matches!(self.order, SortOrder::Bytes | SortOrder::FixedLenBytes) && is_ordered(leaf);
        if !is_bytes || leaf.logical() == Some(&LogicalType::Uuid) {
            return Err(wrong("only text and bytes match a pattern".to_owned()));
        }
        let matcher = pattern.matcher().map_err(wrong)?;
        Ok(self.test(Test::Pattern(Box::new(matcher))))
    }

    fn prefix(self, prefix: &[u8]) -> BoundPredicate {
        match prefix.is_empty() {
            true => self.constant(true),
            false => self.test(Test::Prefix(prefix.to_vec())),
        }
    }

    fn nan(self, leaf: &Leaf) -> Result<BoundPredicate> {
        match self.order.is_float() {
            true => Ok(Made { is_negated: !self.is_negated, ..self }.range((Edge::Open, Edge::Open))),
            false => {
                let message = "only FLOAT, DOUBLE and FLOAT16 can be NaN";
                Err(Error::argument(message).in_column(leaf.dotted().clone()))
            }
        }
    }
}

impl Edge {
    /// Itself, but if it is open, `value`.
    fn or_included(self, value: Vec<u8>) -> Edge {
        if self == Edge::Open { Edge::Included(value) } else { self }
    }
}

/// A value twice, or if it is a zero of floats, the negative one and the positive one.
fn zeros(order: SortOrder, value: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
    if !order.is_zero(&value) {
        return (value.clone(), value);
    }
    let (mut negative, mut positive) = (value.clone(), value);
    negative.iter_mut().next_back().into_iter().for_each(|sign| *sign = 0x80);
    positive.iter_mut().next_back().into_iter().for_each(|sign| *sign = 0);
    (negative, positive)
}

/// The least and the greatest float that is not NaN.
fn infinities(order: SortOrder) -> Option<(Vec<u8>, Vec<u8>)> {
    match order {
        SortOrder::TotalFloat16 => Some((vec![0, 0xfc], vec![0, 0x7c])),
        SortOrder::TotalFloat => {
            Some((f32::NEG_INFINITY.to_le_bytes().to_vec(), f32::INFINITY.to_le_bytes().to_vec()))
        }
        SortOrder::TotalDouble => {
            Some((f64::NEG_INFINITY.to_le_bytes().to_vec(), f64::INFINITY.to_le_bytes().to_vec()))
        }
        _ => None,
    }
}

impl BoundPredicate {
    fn of(node: Node) -> Self {
        let mut leaves: Vec<usize> = match &node {
            Node::And(parts) | Node::Or(parts) => {
                parts.iter().flat_map(|part| part.leaves.iter().copied()).collect()
            }
            Node::Is(condition) => vec![condition.column],
            Node::Compares(compared) => vec![compared.left.column, compared.right.column],
        };
        leaves.sort_unstable();
        leaves.dedup();
        BoundPredicate { node: Arc::new(node), leaves: leaves.into() }
    }

    fn always() -> Self {
        BoundPredicate::of(Node::And(Vec::new()))
    }

    fn never() -> Self {
        BoundPredicate::of(Node::Or(Vec::new()))
    }

    fn and(parts: Vec<BoundPredicate>) -> Self {
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

    fn or(parts: Vec<BoundPredicate>) -> Self {
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
    /// As a predicate that means the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parts, word) = match self.node() {
            Node::Is(condition) => return f.write_str(&condition.text),
            Node::Compares(compared) => return f.write_str(&compared.text),
            Node::And(all) if all.is_empty() => return f.write_str("true"),
            Node::Or(any) if any.is_empty() => return f.write_str("false"),
            Node::And(all) => (all, " and "),
            Node::Or(any) => (any, " or "),
        };
        for (i, part) in parts.iter().enumerate() {
            f.write_str(if i > 0 { word } else { "" })?;
            match part.node() {
                Node::Is(_) | Node::Compares(_) => write!(f, "{part}")?,
                _ => write!(f, "({part})")?,
            }
        }
        Ok(())
    }
}
