//! Decides which pruning stages can rule out rows by a predicate, whatever the file contains.

use super::bloom::hashes_differ;
use super::report::Stage;
use crate::predicate::{BoundPredicate, Condition, Edge, NestedKind, NestedTest, Node, Test};

impl Stage {
    /// Whether the stage can rule out rows by this predicate, or by a part of it, if a file has the information for it.
    ///
    /// ```
    /// use marquetry_core::predicate::Predicate;
    /// use marquetry_core::prune::Stage;
    /// use marquetry_core::schema::Schema;
    /// let schema = Schema::parse("message m { required binary name (STRING); }")?;
    /// let ends = Predicate::parse("name like '%end'")?.bind(&schema)?;
    /// assert!(Stage::Dictionaries.can_decide(&ends) && !Stage::Statistics.can_decide(&ends));
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn can_decide(self, predicate: &BoundPredicate) -> bool {
        match predicate.node() {
            Node::And(parts) | Node::Or(parts) => parts.iter().any(|part| self.can_decide(part)),
            Node::Is(condition) => self.can_decide_one(condition),
            // Two columns can be compared by bounds only.
            Node::Compares(_) => self.has_bounds(),
            Node::Nested(test) => self.can_decide_nested(test),
        }
    }

    fn has_bounds(self) -> bool {
        matches!(self, Stage::Statistics | Stage::PageIndex)
    }

    fn can_decide_one(self, condition: &Condition) -> bool {
        match (self, &condition.test) {
            (Stage::Dictionaries, test) => *test != Test::IsNull,
            // Values have several forms, or writers do not agree on their hash.
            (Stage::BloomFilters, _) if hashes_differ(condition.order) => false,
            (Stage::BloomFilters, Test::In(_)) => !condition.is_negated,
            (Stage::BloomFilters, Test::Range(Edge::Included(first), Edge::Included(last))) => {
                first == last && !condition.is_negated
            }
            (Stage::BloomFilters, _) => false,
            // Statistics of geometries exist for chunks only.
            (Stage::PageIndex, Test::Box(_)) => false,
            // Geometries have no bounds in an order.
            (Stage::Statistics | Stage::PageIndex, Test::Geometry(_)) => false,
            // Without a prefix, a pattern has no bounds.
            (Stage::Statistics | Stage::PageIndex, Test::Pattern(matcher)) => !matcher.prefix().is_empty(),
            (Stage::Statistics | Stage::PageIndex, _) => true,
        }
    }

    fn can_decide_nested(self, test: &NestedTest) -> bool {
        match &test.is {
            NestedKind::Elements { of, .. } => self.can_decide(of),
            NestedKind::AtKey { key, value, .. } => self.can_decide(key) || self.can_decide(value),
            NestedKind::Cardinality { .. } | NestedKind::Presence { .. } => self.has_bounds(),
        }
    }
}
