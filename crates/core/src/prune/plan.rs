//! The pruning state of a row group: what the stages have found out about a predicate so far.

use super::ranges::{intersection, union};
use crate::predicate::{BoundPredicate, ColumnComparison, Condition, NestedTest, Node};
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
    root: Part,
    pub(super) conditions: Vec<Asked<'a>>,
    known: Vec<Verdict>,
}

/// A condition on one column, on two columns, or on a list.
#[derive(Clone, Copy)]
pub(super) enum Asked<'a> {
    One(&'a Condition),
    Two(&'a ColumnComparison),
    Nested(&'a NestedTest),
}

/// The predicate's tree, with conditions by their index.
enum Part {
    And(Vec<Part>),
    Or(Vec<Part>),
    Is(usize),
}

impl<'a> Plan<'a> {
    pub(super) fn new(predicate: &'a BoundPredicate) -> Self {
        let mut conditions = Vec::new();
        let root = part(predicate, &mut conditions);
        let known = vec![Verdict::OPEN; conditions.len()];
        Plan { root, conditions, known }
    }

    /// Returns the verdict on the whole predicate.
    pub(super) fn verdict(&self) -> Verdict {
        self.of(&self.root)
    }

    fn of(&self, part: &Part) -> Verdict {
        match part {
            Part::Is(i) => self.known[*i],
            Part::And(parts) => parts.iter().fold(Verdict { may: true, all: true }, |known, part| {
                let next = self.of(part);
                Verdict { may: known.may && next.may, all: known.all && next.all }
            }),
            Part::Or(parts) => parts.iter().fold(Verdict { may: false, all: false }, |known, part| {
                let next = self.of(part);
                Verdict { may: known.may || next.may, all: known.all || next.all }
            }),
        }
    }

    /// Returns the open conditions, except those in parts that are decided.
    pub(super) fn open(&self) -> Vec<usize> {
        let mut out = Vec::new();
        self.collect_open(&self.root, &mut out);
        out
    }

    fn collect_open(&self, part: &Part, out: &mut Vec<usize>) {
        if !self.of(part).is_open() {
            return;
        }
        match part {
            Part::Is(i) => out.push(*i),
            Part::And(parts) | Part::Or(parts) => {
                parts.iter().for_each(|part| self.collect_open(part, out));
            }
        }
    }

    /// Adds a verdict on condition `i`. Returns whether it was new information.
    pub(super) fn learn(&mut self, i: usize, found: Verdict) -> bool {
        let known = &mut self.known[i];
        let before = *known;
        *known = Verdict { may: known.may && found.may, all: known.all || found.all };
        *known != before
    }

    /// Returns the rows for which the predicate may be true. `rows_of` returns those of an open condition, if known.
    pub(super) fn rows(
        &self,
        rows: u64,
        rows_of: &dyn Fn(usize) -> Option<Vec<Range<u64>>>,
    ) -> Vec<Range<u64>> {
        self.rows_of_part(&self.root, rows, rows_of)
    }

    fn rows_of_part(
        &self,
        part: &Part,
        rows: u64,
        rows_of: &dyn Fn(usize) -> Option<Vec<Range<u64>>>,
    ) -> Vec<Range<u64>> {
        let all = std::iter::once(0..rows).collect();
        let verdict = self.of(part);
        if !verdict.is_open() {
            return if verdict.may { all } else { Vec::new() };
        }
        let each = |part: &Part| self.rows_of_part(part, rows, rows_of);
        match part {
            Part::Is(i) => rows_of(*i).unwrap_or(all),
            Part::And(parts) => parts.iter().map(each).fold(all, |a, b| intersection(&a, &b)),
            Part::Or(parts) => parts.iter().map(each).fold(Vec::new(), |a, b| union(&a, &b)),
        }
    }
}

fn part<'a>(bound: &'a BoundPredicate, conditions: &mut Vec<Asked<'a>>) -> Part {
    match bound.node() {
        Node::And(parts) => Part::And(parts.iter().map(|bound| part(bound, conditions)).collect()),
        Node::Or(parts) => Part::Or(parts.iter().map(|bound| part(bound, conditions)).collect()),
        Node::Is(condition) => {
            conditions.push(Asked::One(condition));
            Part::Is(conditions.len() - 1)
        }
        Node::Compares(compared) => {
            conditions.push(Asked::Two(compared));
            Part::Is(conditions.len() - 1)
        }
        Node::Nested(test) => {
            conditions.push(Asked::Nested(test));
            Part::Is(conditions.len() - 1)
        }
    }
}
