//! Reads the levels of pages, counts them and checks them against the schema.

use crate::context::VerifyContext;
use crate::findings::Findings;
use crate::nesting::{BOUNDARY, CONTRADICT, FIRST, NULL_KEY};
use crate::rule::Level;
use marquetry_base::{CancelToken, ErrorLocation, Result};
use marquetry_core::nesting::{LeafShape, SiblingHasher};
use marquetry_core::schema::Leaf;
use marquetry_core::statistics::LevelHistogram;
use marquetry_encoding::levels::Levels;

/// A reader of the levels of a chunk, page by page.
pub(crate) struct LevelReader<'a> {
    leaf: &'a Leaf,
    shape: &'a LeafShape,
    /// `None` unless the columns of a group are compared.
    pub(crate) siblings: Option<SiblingHasher>,
    rep: Vec<u8>,
    def: Vec<u8>,
    cancel: &'a CancelToken,
}

/// How a page must begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// The page is the first of its chunk.
    First,
    /// The page begins a row.
    Row,
    /// The page may continue the last row of the page before.
    Any,
}

impl<'a> LevelReader<'a> {
    pub(crate) fn new(file: &'a VerifyContext, column: usize) -> Self {
        let shape = &file.shapes[column];
        LevelReader {
            leaf: file.leaf(column),
            shape,
            siblings: (file.level == Level::Deep).then(|| SiblingHasher::new(shape)),
            rep: Vec::new(),
            def: Vec::new(),
            cancel: &file.limits.cancel,
        }
    }

    /// Reads all `n` levels of a page. Fails if they cannot be read.
    pub(crate) fn read(
        &mut self,
        rep: &mut Levels,
        def: &mut Levels,
        n: usize,
        start: Start,
        place: &ErrorLocation,
        findings: &mut Findings,
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
            self.cancel.check()?;
            let block = (n - done).min(LEVELS_PER_BLOCK);
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
                contradiction = self
                    .shape
                    .contradiction(&self.rep, &self.def)
                    .map(|(at, rep, def)| (done + at, rep, def));
            }
            if null_key.is_none() {
                null_key = self.shape.null_key(&self.def, max_def).map(|at| done + at);
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

    /// Returns the number of counted entries that are nulls of the leaf or of a struct around it, but not empty lists.
    pub(crate) fn nulls_in_slots(&self, counts: &LevelHistogram) -> u64 {
        let slot = self.shape.element_def.last().copied().unwrap_or(0);
        let def = counts.def();
        let slots = def.get(usize::from(slot)..def.len() - 1).unwrap_or_default();
        slots.iter().sum::<i64>().unsigned_abs()
    }
}

/// Number of levels decoded at a time.
const LEVELS_PER_BLOCK: usize = 4096;
