//! Builds the condition of one column: literals become values of the column's type.

use super::bare_time::BareTimes;
use super::bound::{BoundPredicate, Condition, Edge, Node, Test};
use super::box_test::BoxTest;
use super::geometry_text::GeometryText;
use super::in_list::InList;
use super::pattern::Pattern;
use super::position::{Position, as_shown, is_ordered, position};
use super::{Comparison, Literal};
use crate::logical_type::LogicalType;
use crate::narrow_integer::NarrowInteger;
use crate::schema::Leaf;
use crate::sort_order::SortOrder;
use marquetry_base::{Error, Result};
use marquetry_encoding::PhysicalType;
use marquetry_geo::BBox;
use std::sync::Arc;

/// A condition without its test.
pub(super) struct ConditionBuilder<'a> {
    pub(super) column: usize,
    pub(super) order: SortOrder,
    pub(super) narrow: Option<NarrowInteger>,
    pub(super) times: BareTimes<'a>,
    pub(super) is_negated: bool,
    pub(super) text: Arc<str>,
}

impl ConditionBuilder<'_> {
    pub(super) fn test(self, test: Test) -> BoundPredicate {
        let ConditionBuilder { column, order, narrow, is_negated, text, .. } = self;
        BoundPredicate::of(Node::Is(Condition { column, order, narrow, test, is_negated, text }))
    }

    /// Returns the predicate that has this value for all values except NULL.
    fn constant(self, value: bool) -> BoundPredicate {
        match value == self.is_negated {
            true => BoundPredicate::never(),
            false => ConditionBuilder { is_negated: true, ..self }.test(Test::IsNull),
        }
    }

    fn position(&self, leaf: &Leaf, literal: &Literal) -> Result<Position> {
        position(leaf, literal, || (self.times)(self.column))
    }

    pub(super) fn compare(self, leaf: &Leaf, is: Comparison, literal: &Literal) -> Result<BoundPredicate> {
        if is == Comparison::Ne {
            return ConditionBuilder { is_negated: !self.is_negated, ..self }.compare(
                leaf,
                Comparison::Eq,
                literal,
            );
        }
        if is != Comparison::Eq && !is_ordered(leaf) {
            let message = "its values are not ordered; = and != are all that can be asked";
            return Err(Error::argument(message).in_column(leaf.dotted().clone()));
        }
        use Comparison::*;
        if is == Eq
            && let Some(text) = GeometryText::of(leaf, literal)
        {
            return Ok(self.test(Test::Geometry(Box::new(text))));
        }
        let (at, is_exact) = match self.position(leaf, literal)? {
            Position::Nan => return Ok(self.constant(false)),
            Position::Before => return Ok(self.constant(matches!(is, Gt | Ge))),
            Position::At(value) => (value, true),
            Position::After(value) => (value, false),
            Position::Beyond => return Ok(self.constant(matches!(is, Lt | Le))),
        };
        // A zero matches both zeros.
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

    /// Creates a range of values. Ranges of floats end at the infinities, because NaN is outside.
    fn range(self, (lower, upper): (Edge, Edge)) -> BoundPredicate {
        let (lower, upper) = match infinities(self.order) {
            Some((least, greatest)) => (lower.or_included(least), upper.or_included(greatest)),
            None => (lower, upper),
        };
        self.test(Test::Range(lower, upper))
    }

    pub(super) fn one_of(self, leaf: &Leaf, list: &[Literal]) -> Result<BoundPredicate> {
        if list.iter().any(|literal| GeometryText::of(leaf, literal).is_some()) {
            return self.one_of_geometries(leaf, list);
        }
        let mut values = Vec::new();
        for literal in list {
            match literal {
                // Whether a value equals NULL is unknown, so "not in" is never true.
                Literal::Null if self.is_negated => return Ok(BoundPredicate::never()),
                Literal::Null => {}
                literal => {
                    if let Position::At(value) = self.position(leaf, literal)? {
                        if self.order.is_zero(&value) {
                            let (first, last) = zeros(self.order, value);
                            values.extend([first, last]);
                        } else {
                            values.push(value);
                        }
                    }
                }
            }
        }
        let list = InList::new(self.order, values);
        let (first, count) = (list.values().next(), list.values().len());
        Ok(match first {
            None => self.constant(false),
            Some(value) if count == 1 => {
                let value = || Edge::Included(value.to_vec());
                self.test(Test::Range(value(), value()))
            }
            Some(_) => self.test(Test::In(Box::new(list))),
        })
    }

    /// Tests each geometry separately, because equal geometries may have different bytes.
    fn one_of_geometries(self, leaf: &Leaf, list: &[Literal]) -> Result<BoundPredicate> {
        if self.is_negated && list.contains(&Literal::Null) {
            return Ok(BoundPredicate::never());
        }
        let known = list.iter().filter(|literal| **literal != Literal::Null);
        let each = known.map(|literal| {
            let text = self.text.clone();
            ConditionBuilder { text, ..self }.compare(leaf, Comparison::Eq, literal)
        });
        let each = each.collect::<Result<Vec<_>>>()?;
        Ok(if self.is_negated { BoundPredicate::and(each) } else { BoundPredicate::or(each) })
    }

    pub(super) fn starts_with(self, leaf: &Leaf, prefix: &Literal) -> Result<BoundPredicate> {
        let wrong = |message: &'static str| Error::argument(message).in_column(leaf.dotted().clone());
        // The text form of a UUID differs from its bytes.
        let is_uuid = leaf.logical() == Some(&LogicalType::Uuid) && !matches!(prefix, Literal::Bytes(_));
        let is_bytes = matches!(self.order, SortOrder::Bytes | SortOrder::FixedLenBytes) && is_ordered(leaf);
        match as_shown(leaf, prefix).as_ref().unwrap_or(prefix) {
            _ if !is_bytes => Err(wrong("only text and bytes begin with something")),
            Literal::Null => Ok(BoundPredicate::never()),
            _ if is_uuid => Err(wrong("a UUID begins with bytes, such as X'0aff'")),
            Literal::Text(text) => Ok(self.prefix(text.as_bytes())),
            Literal::Bytes(bytes) => Ok(self.prefix(bytes)),
            _ => Err(wrong("text begins with text, bytes with bytes")),
        }
    }

    pub(super) fn matches(self, leaf: &Leaf, pattern: &Pattern) -> Result<BoundPredicate> {
        let wrong = |message: String| Error::argument(message).in_column(leaf.dotted().clone());
        let is_bytes = matches!(self.order, SortOrder::Bytes | SortOrder::FixedLenBytes) && is_ordered(leaf);
        if !is_bytes || leaf.logical() == Some(&LogicalType::Uuid) {
            return Err(wrong("only text and bytes match a pattern".to_owned()));
        }
        let shown = match pattern {
            Pattern::Contains(part) => as_shown(leaf, part).map(Pattern::Contains),
            Pattern::EndsWith(end) => as_shown(leaf, end).map(Pattern::EndsWith),
            _ => None,
        };
        let matcher = shown.as_ref().unwrap_or(pattern).matcher().map_err(wrong)?;
        Ok(self.test(Test::Pattern(Box::new(matcher))))
    }

    fn prefix(self, prefix: &[u8]) -> BoundPredicate {
        match prefix.is_empty() {
            true => self.constant(true),
            false => self.test(Test::Prefix(prefix.to_vec())),
        }
    }

    /// Creates the test of a box, for columns of geometries, and of bytes without a logical type: these stored
    /// geometries before the format had types for them.
    pub(super) fn bbox_intersects(
        self,
        leaf: &Leaf,
        bbox: BBox,
        are_edges_curved: bool,
    ) -> Result<BoundPredicate> {
        let is_geography = match (leaf.logical(), leaf.physical()) {
            (Some(LogicalType::Geometry { .. }), _) => false,
            (Some(LogicalType::Geography { .. }), _) => true,
            (None, PhysicalType::ByteArray) => false,
            _ => {
                let message = "only GEOMETRY, GEOGRAPHY and well-known binary without a type are in a box";
                return Err(Error::argument(message).in_column(leaf.dotted().clone()));
            }
        };
        let are_edges_curved = are_edges_curved || is_geography;
        Ok(self.test(Test::Box(Box::new(BoxTest { bbox, are_edges_curved }))))
    }

    pub(super) fn nan(self, leaf: &Leaf) -> Result<BoundPredicate> {
        match self.order.is_float() {
            true => {
                Ok(ConditionBuilder { is_negated: !self.is_negated, ..self }.range((Edge::Open, Edge::Open)))
            }
            false => {
                let message = "only FLOAT, DOUBLE and FLOAT16 can be NaN";
                Err(Error::argument(message).in_column(leaf.dotted().clone()))
            }
        }
    }
}

impl Edge {
    /// Returns the edge, or `value` if the edge is open.
    fn or_included(self, value: Vec<u8>) -> Edge {
        if self == Edge::Open { Edge::Included(value) } else { self }
    }
}

/// Returns a value twice, or for a zero of floats, the negative zero and the positive zero.
fn zeros(order: SortOrder, value: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
    if !order.is_zero(&value) {
        return (value.clone(), value);
    }
    let (mut negative, mut positive) = (value.clone(), value);
    negative.iter_mut().next_back().into_iter().for_each(|sign| *sign = 0x80);
    positive.iter_mut().next_back().into_iter().for_each(|sign| *sign = 0);
    (negative, positive)
}

/// Returns the least and the greatest float that is not NaN.
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
