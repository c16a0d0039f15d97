//! The levels of a page: counted, and held against the schema.

use super::context::VerifyContext;
use super::findings::Findings;
use super::leaf_shape::LeafShape;
use super::nesting::{BOUNDARY, CONTRADICT, FIRST, NULL_KEY};
use super::rule::Level;
use super::sibling_levels::Siblings;
use crate::schema::Leaf;
use crate::statistics::LevelHistogram;
use marquetry_base::{ErrorLocation, Result};
use marquetry_encoding::levels::Levels;

/// Reads the levels of a chunk, page by page.
pub(super) struct LevelReader<'a> {
    leaf: &'a Leaf,
    shape: &'a LeafShape,
    /// If columns are to be compared.
    pub(super) siblings: Option<Siblings>,
    rep: Vec<u8>,
    def: Vec<u8>,
}

/// What a page must be like at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// It is the first of its chunk.
    First,
    /// It begins a row.
    Row,
    /// It may go on with the last one of the page before.
    Any,
}

impl<'a> LevelReader<'a> {
    pub(super) fn new(file: &'a VerifyContext, column: usize) -> Self {
        let shape = &file.shapes[column];
        LevelReader {
            leaf: file.leaf(column),
            shape,
            siblings: (file.level == Level::Deep).then(|| Siblings::new(shape)),
            rep: Vec::new(),
            def: Vec::new(),
        }
    }

    /// Reads all `n` levels of a page. Fails if they cannot be read.
    pub(super) fn read(
        &mut self,
        rep: &mut Levels,
        def: &mut Levels,
        n: usize,
        start: Start,
        place: &ErrorLocation,
        findings: &mut Findings<'_>,
    ) -> Result<LevelHistogram> {
        let (max_def, max_rep) = (self.leaf.max_def(), self.leaf.max_rep());
        let mut counts = LevelHistogram::new(max_def, max_rep);
        if max_def == 0 {
            counts.add_def_max(n);
            counts.add_rep_zero(n);
            return Ok(counts);
        }
        let mut done = 0;
        let (mut contradiction, mut null_key) = (None, None);
        while done < n {
            let block = (n - done).min(BLOCK);
            self.rep.clear();
            self.def.clear();
            if max_rep > 0 {
                rep.decode(block, &mut self.rep)?;
            }
            def.decode(block, &mut self.def)?;
            if done == 0
                && start != Start::Any
                && let Some(first) = self.rep.first().filter(|rep| **rep != 0)
            {
                let rule = if start == Start::First { &FIRST } else { &BOUNDARY };
                findings.add(rule, place.clone(), || format!("the first repetition level is {first}"));
            }
            counts.add_def_levels(&self.def);
            match max_rep {
                0 => counts.add_rep_zero(block),
                _ => counts.add_rep_levels(&self.rep),
            }
            if contradiction.is_none() {
                contradiction = self.contradiction().map(|(at, rep, def)| (done + at, rep, def));
            }
            if null_key.is_none() {
                null_key = self.null_key().map(|at| done + at);
            }
            if let Some(siblings) = &mut self.siblings {
                siblings.add(&self.rep, &self.def);
            }
            done += block;
        }
        if let Some((at, rep, def)) = contradiction {
            findings.add(&CONTRADICT, place.clone(), || {
                format!("entry {at} has repetition level {rep} and definition level {def}")
            });
        }
        if let Some(at) = null_key {
            findings.add(&NULL_KEY, place.clone(), || format!("the key of entry {at} is null"));
        }
        Ok(counts)
    }

    /// The first entry that goes on with a list that has no elements.
    fn contradiction(&self) -> Option<(usize, u8, u8)> {
        let least = |rep: u8| match rep.checked_sub(1) {
            Some(list) => self.shape.element_def.get(usize::from(list)).copied().unwrap_or(u8::MAX),
            None => 0,
        };
        let mut entries = self.rep.iter().zip(&self.def).enumerate();
        entries.find(|(_, (rep, def))| **def < least(**rep)).map(|(at, (rep, def))| (at, *rep, *def))
    }

    /// The first entry of a map whose key is null.
    fn null_key(&self) -> Option<usize> {
        let entry = self.shape.key_of?;
        let max = self.leaf.max_def();
        self.def.iter().position(|def| *def >= entry && *def < max)
    }

    /// How many of the entries counted are nulls of the leaf itself, or of a struct around it: not empty lists.
    pub(super) fn nulls_in_slots(&self, counts: &LevelHistogram) -> u64 {
        let slot = self.shape.element_def.last().copied().unwrap_or(0);
        let def = counts.def();
        let slots = def.get(usize::from(slot)..def.len() - 1).unwrap_or_default();
        slots.iter().sum::<i64>().unsigned_abs()
    }
}

/// Levels decoded at a time.
const BLOCK: usize = 4096;
