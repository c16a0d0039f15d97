//! The pruning state of a row group: what the stages have found out about a predicate so far.

use super::ranges::{intersection, union};
use crate::predicate::{BoundPredicate, ColumnComparison, Condition, NestedTest, Node as BoundNode};
use std::iter::successors;
use std::ops::Range;

/// The knowledge about a condition, or about a predicate, for some rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Whether it may be true for some row.
    pub(super) may: bool,
    /// Whether it is true for all rows.
    pub(super) all: bool,
}

impl Verdict {
    /// Nothing is known.
    pub(super) const OPEN: Verdict = Verdict { may: true, all: false };

    fn is_open(self) -> bool {
        self.may && !self.all
    }
}

/// A predicate, and the verdicts on its conditions.
pub(super) struct Plan<'a> {
    /// The nodes of the predicate's tree, parents first.
    nodes: Vec<Node>,
    pub(super) conditions: Vec<Asked<'a>>,
    /// The node of each condition, by its index.
    node_of: Vec<usize>,
}

/// A condition on one column, on two columns, or on a list.
#[derive(Clone, Copy)]
pub(super) enum Asked<'a> {
    One(&'a Condition),
    Two(&'a ColumnComparison),
    Nested(&'a NestedTest),
}

/// A node of the predicate's tree.
struct Node {
    parent: Option<usize>,
    known: Verdict,
    kind: NodeKind,
}

enum NodeKind {
    And(Parts),
    Or(Parts),
    /// A condition, by its index.
    Is(usize),
}

/// The parts of an `and` or an `or`.
///
/// PERF: verdicts are counted, so that a new one does not visit all of thousands of conditions.
#[derive(Default)]
struct Parts {
    nodes: Vec<usize>,
    /// Number of parts that may be true for a row.
    may: usize,
    /// Number of parts that are true for all rows.
    all: usize,
}

impl<'a> Plan<'a> {
    pub(super) fn new(predicate: &'a BoundPredicate) -> Self {
        let mut plan = Plan { nodes: Vec::new(), conditions: Vec::new(), node_of: Vec::new() };
        plan.add(predicate, None);
        plan
    }

    /// Adds a node and its children.
    fn add(&mut self, predicate: &'a BoundPredicate, parent: Option<usize>) -> usize {
        let node = self.nodes.len();
        let (asked, parts) = match predicate.node() {
            BoundNode::And(parts) | BoundNode::Or(parts) => (None, parts.as_slice()),
            BoundNode::Is(condition) => (Some(Asked::One(condition)), [].as_slice()),
            BoundNode::Compares(compared) => (Some(Asked::Two(compared)), [].as_slice()),
            BoundNode::Nested(test) => (Some(Asked::Nested(test)), [].as_slice()),
        };
        if let Some(asked) = asked {
            self.nodes.push(Node { parent, known: Verdict::OPEN, kind: NodeKind::Is(self.conditions.len()) });
            self.conditions.push(asked);
            self.node_of.push(node);
            return node;
        }
        let is_and = matches!(predicate.node(), BoundNode::And(_));
        // A placeholder, until its parts are known.
        self.nodes.push(Node { parent, known: Verdict::OPEN, kind: NodeKind::And(Parts::default()) });
        let nodes: Vec<usize> = parts.iter().map(|part| self.add(part, Some(node))).collect();
        let count =
            |is: fn(Verdict) -> bool| nodes.iter().filter(|part| is(self.nodes[**part].known)).count();
        let (may, all) = (count(|known| known.may), count(|known| known.all));
        let parts = Parts { nodes, may, all };
        let kind = if is_and { NodeKind::And(parts) } else { NodeKind::Or(parts) };
        self.nodes[node].known = kind.verdict();
        self.nodes[node].kind = kind;
        node
    }

    /// Returns the verdict on the whole predicate.
    pub(super) fn verdict(&self) -> Verdict {
        self.nodes.first().map_or(Verdict::OPEN, |root| root.known)
    }

    /// Returns the open conditions, except those in parts that are decided.
    pub(super) fn open(&self) -> Vec<usize> {
        let mut out = Vec::new();
        self.collect_open(0, &mut out);
        out
    }

    fn collect_open(&self, node: usize, out: &mut Vec<usize>) {
        if !self.nodes[node].known.is_open() {
            return;
        }
        match &self.nodes[node].kind {
            NodeKind::Is(i) => out.push(*i),
            NodeKind::And(parts) | NodeKind::Or(parts) => {
                parts.nodes.iter().for_each(|part| self.collect_open(*part, out));
            }
        }
    }

    /// Whether condition `i` and all its ancestors are open.
    pub(super) fn is_open(&self, i: usize) -> bool {
        self.upwards(self.node_of[i]).all(|node| self.nodes[node].known.is_open())
    }

    /// Iterates over a node and its ancestors.
    fn upwards(&self, node: usize) -> impl Iterator<Item = usize> {
        successors(Some(node), |node| self.nodes[*node].parent)
    }

    /// Adds a verdict on condition `i`. Returns whether it was new information.
    pub(super) fn learn(&mut self, i: usize, found: Verdict) -> bool {
        let mut node = self.node_of[i];
        let before = self.nodes[node].known;
        let mut next = Verdict { may: before.may && found.may, all: before.all || found.all };
        while self.nodes[node].known != next {
            let before = std::mem::replace(&mut self.nodes[node].known, next);
            let Some(parent) = self.nodes[node].parent else { break };
            if let NodeKind::And(parts) | NodeKind::Or(parts) = &mut self.nodes[parent].kind {
                parts.may -= usize::from(before.may && !next.may);
                parts.all += usize::from(!before.all && next.all);
            }
            next = self.nodes[parent].kind.verdict();
            node = parent;
        }
        self.nodes[self.node_of[i]].known != before
    }

    /// Returns the rows for which the predicate may be true. `rows_of` returns those of an open condition, if known.
    pub(super) fn rows(
        &self,
        rows: u64,
        rows_of: &dyn Fn(usize) -> Option<Vec<Range<u64>>>,
    ) -> Vec<Range<u64>> {
        self.rows_of_node(0, rows, rows_of)
    }

    fn rows_of_node(
        &self,
        node: usize,
        rows: u64,
        rows_of: &dyn Fn(usize) -> Option<Vec<Range<u64>>>,
    ) -> Vec<Range<u64>> {
        let all = std::iter::once(0..rows).collect();
        let Node { known, kind, .. } = &self.nodes[node];
        if !known.is_open() {
            return if known.may { all } else { Vec::new() };
        }
        let each = |part: &usize| self.rows_of_node(*part, rows, rows_of);
        match kind {
            NodeKind::Is(i) => rows_of(*i).unwrap_or(all),
            NodeKind::And(parts) => parts.nodes.iter().map(each).fold(all, |a, b| intersection(&a, &b)),
            NodeKind::Or(parts) => parts.nodes.iter().map(each).fold(Vec::new(), |a, b| union(&a, &b)),
        }
    }
}

impl NodeKind {
    /// Returns the verdict that the parts give.
    fn verdict(&self) -> Verdict {
        match self {
            NodeKind::And(parts) => {
                Verdict { may: parts.may == parts.nodes.len(), all: parts.all == parts.nodes.len() }
            }
            NodeKind::Or(parts) => Verdict { may: parts.may > 0, all: parts.all > 0 },
            NodeKind::Is(_) => Verdict::OPEN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predicate::Predicate;
    use crate::schema::Schema;
    use proptest::prelude::*;

    /// Computes the verdict of a tree from its conditions.
    fn verdict(predicate: &BoundPredicate, known: &mut impl Iterator<Item = Verdict>) -> Verdict {
        match predicate.node() {
            BoundNode::And(parts) => parts.iter().fold(Verdict { may: true, all: true }, |of, part| {
                let next = verdict(part, known);
                Verdict { may: of.may && next.may, all: of.all && next.all }
            }),
            BoundNode::Or(parts) => parts.iter().fold(Verdict { may: false, all: false }, |of, part| {
                let next = verdict(part, known);
                Verdict { may: of.may || next.may, all: of.all || next.all }
            }),
            _ => known.next().unwrap(),
        }
    }

    proptest! {
        #[test]
        fn what_is_counted_is_what_is_known(learnt in prop::collection::vec((0usize..8, any::<bool>()), 0..20)) {
            let schema = Schema::parse("message m { optional int32 a; }").unwrap();
            let text = "a = 0 and (a = 1 or a = 2 or (a = 3 and a = 4)) and (a = 5 and a = 6 or a = 7)";
            let predicate = Predicate::parse(text).unwrap().bind(&schema).unwrap();
            let mut plan = Plan::new(&predicate);
            let mut known = [Verdict::OPEN; 8];
            for (i, is_all) in learnt {
                let found = if is_all { Verdict { may: true, all: true } } else { Verdict { may: false, all: false } };
                let before = known[i];
                // Contradicting verdicts are not added.
                if !before.is_open() {
                    continue;
                }
                known[i] = found;
                prop_assert!(plan.learn(i, found));
                prop_assert!(!plan.learn(i, found));
                prop_assert_eq!(plan.verdict(), verdict(&predicate, &mut known.into_iter()));
                let open = plan.open();
                (0..8).for_each(|i| assert_eq!(plan.is_open(i), open.contains(&i)));
            }
        }
    }
}
