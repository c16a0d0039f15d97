//! Encodes definition and repetition levels into pages.

use crate::nesting::{DefinitionLevels, ShreddedColumn};
use crate::schema::Leaf;
use crate::statistics::LevelHistogram;
use marquetry_base::{Error, Result};
use marquetry_encoding::Bitmap;
use marquetry_encoding::levels::LevelSlice;
use std::ops::Range;

/// The levels of some entries of one column, borrowed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Levels<'a> {
    pub(super) def: Def<'a>,
    /// Empty in a column that is in no list.
    pub(super) rep: &'a [u8],
    pub(super) max_def: u8,
    pub(super) max_rep: u8,
}

/// Definition levels, borrowed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Def<'a> {
    Max,
    /// The maximum is 1, and no entry is a value.
    Null,
    Bitmap(&'a Bitmap),
    Levels(&'a [u8]),
}

impl<'a> Levels<'a> {
    /// Borrows the levels. Fails if levels and values do not belong together, because the chunk could not be read.
    pub(super) fn of(shredded: &'a ShreddedColumn, leaf: &Leaf) -> Result<Self> {
        let entries = shredded.entries;
        let (def, len) = match &shredded.def {
            DefinitionLevels::Max => (Def::Max, entries),
            DefinitionLevels::Null if leaf.max_def() != 1 => {
                return Err(Error::argument("nulls without levels in a column that needs them"));
            }
            DefinitionLevels::Null => (Def::Null, entries),
            DefinitionLevels::Bitmap(bits) => (Def::Bitmap(bits), bits.len()),
            DefinitionLevels::Levels(levels) => (Def::Levels(levels), levels.len()),
        };
        let levels = Levels { def, rep: &shredded.rep, max_def: leaf.max_def(), max_rep: leaf.max_rep() };
        let begins_a_row = levels.max_rep == 0 || shredded.rep.first().is_none_or(|&level| level == 0);
        let has_rep = levels.max_rep == 0 || shredded.rep.len() == entries;
        if len != entries || !has_rep || !begins_a_row {
            return Err(Error::argument(format!(
                "levels that are not those of whole rows, {entries} entries"
            )));
        }
        let (rows, values) = (levels.rows(0..entries), levels.values(0..entries));
        if (rows, values) != (shredded.rows, shredded.values.len()) {
            return Err(Error::argument(format!(
                "{rows} rows and {values} values by their levels, but {} and {} are given",
                shredded.rows,
                shredded.values.len()
            )));
        }
        Ok(levels)
    }

    /// Returns how many of the entries are values.
    pub(super) fn values(&self, entries: Range<usize>) -> usize {
        match self.def {
            Def::Max => entries.len(),
            Def::Null => 0,
            Def::Bitmap(bits) => bits.count_ones(entries),
            Def::Levels(levels) => {
                let max = self.max_def;
                levels[entries].iter().map(|&level| usize::from(level == max)).sum()
            }
        }
    }

    /// Returns how many of the entries begin a row.
    pub(super) fn rows(&self, entries: Range<usize>) -> usize {
        match self.max_rep {
            0 => entries.len(),
            _ => self.rep[entries].iter().map(|&level| usize::from(level == 0)).sum(),
        }
    }

    /// Returns the first entry from `at` on that begins a row, or `end`.
    pub(super) fn row_from(&self, at: usize, end: usize) -> usize {
        match self.max_rep {
            0 => at.min(end),
            _ => (at..end).find(|&entry| self.rep[entry] == 0).unwrap_or(end),
        }
    }

    /// Returns the definition levels of the entries, for the level encoder.
    pub(super) fn def(&self, entries: Range<usize>) -> LevelSlice<'a> {
        match self.def {
            Def::Max => LevelSlice::Run { level: self.max_def, n: entries.len() },
            Def::Null => LevelSlice::Run { level: 0, n: entries.len() },
            Def::Bitmap(bits) => LevelSlice::Bitmap { bits, range: entries },
            Def::Levels(levels) => LevelSlice::Levels(&levels[entries]),
        }
    }

    /// Counts how often each level occurs in the entries.
    pub(super) fn counts(&self, entries: Range<usize>) -> LevelHistogram {
        let mut counts = LevelHistogram::new(self.max_def, self.max_rep);
        match self.def {
            Def::Max => counts.add_def_max(entries.len()),
            Def::Null => counts.add_def_zero(entries.len()),
            Def::Bitmap(bits) => counts.add_def_bits(bits, entries.clone()),
            Def::Levels(levels) => counts.add_def_levels(&levels[entries.clone()]),
        }
        match self.max_rep {
            0 => counts.add_rep_zero(entries.len()),
            _ => counts.add_rep_levels(&self.rep[entries]),
        }
        counts
    }

    /// Returns the repetition levels of the entries, for the level encoder.
    pub(super) fn rep(&self, entries: Range<usize>) -> LevelSlice<'a> {
        match self.max_rep {
            0 => LevelSlice::Run { level: 0, n: entries.len() },
            _ => LevelSlice::Levels(&self.rep[entries]),
        }
    }
}

/// The levels of entries that are not in pages yet.
#[derive(Debug, Default)]
pub(super) struct HeldLevels {
    /// Definition levels if the maximum is 1; empty while all are equal.
    bits: Bitmap,
    /// Definition levels if the maximum is more than 1.
    def: Vec<u8>,
    rep: Vec<u8>,
    pub(super) entries: usize,
    pub(super) rows: usize,
    /// Number of entries that are values.
    pub(super) values: usize,
}

impl HeldLevels {
    pub(super) fn push(&mut self, levels: Levels<'_>, entries: Range<usize>) {
        let values = levels.values(entries.clone());
        match (levels.max_def, levels.def) {
            (0, _) => {}
            (1, def) => self.push_bits(def, entries.clone(), values),
            (max, Def::Max) => self.def.resize(self.def.len() + entries.len(), max),
            (_, Def::Null) => self.def.resize(self.def.len() + entries.len(), 0),
            (max, Def::Bitmap(bits)) => {
                self.def.extend(entries.clone().map(|entry| max - u8::from(!bits.get(entry))));
            }
            (_, Def::Levels(levels)) => self.def.extend_from_slice(&levels[entries.clone()]),
        }
        if levels.max_rep > 0 {
            self.rep.extend_from_slice(&levels.rep[entries.clone()]);
        }
        self.rows += levels.rows(entries.clone());
        self.values += values;
        self.entries += entries.len();
    }

    /// Appends definition levels of 0 and 1; `values` is the number of 1s.
    fn push_bits(&mut self, def: Def<'_>, entries: Range<usize>, values: usize) {
        if self.bits.is_empty() {
            let (all, n) = (self.values + values, self.entries + entries.len());
            if all == 0 || all == n {
                return;
            }
            self.bits.push_run(self.values > 0, self.entries);
        }
        match def {
            Def::Max => self.bits.push_run(true, entries.len()),
            Def::Null => self.bits.push_run(false, entries.len()),
            Def::Bitmap(bits) => self.bits.push_packed(bits.as_bytes(), entries.start, entries.len()),
            Def::Levels(levels) => self.bits.push_ge(&levels[entries], 1),
        }
    }

    pub(super) fn levels(&self, leaf: &Leaf) -> Levels<'_> {
        let def = match leaf.max_def() {
            0 => Def::Max,
            1 if self.values == 0 => Def::Null,
            1 if self.values == self.entries => Def::Max,
            1 => Def::Bitmap(&self.bits),
            _ => Def::Levels(&self.def),
        };
        Levels { def, rep: &self.rep, max_def: leaf.max_def(), max_rep: leaf.max_rep() }
    }

    /// Returns the bytes that the levels take in memory.
    pub(super) fn memory(&self) -> usize {
        self.bits.as_bytes().len() + self.def.capacity() + self.rep.capacity()
    }

    /// Returns about how many bytes the levels will take in a page.
    pub(super) fn size(&self) -> usize {
        let def = match self.values {
            // Equal levels are a single run.
            0 => 0,
            values if values == self.entries => 0,
            _ => self.bits.len() / 8 + self.def.len() / 4,
        };
        def + self.rep.len() / 4
    }

    pub(super) fn clear(&mut self) {
        self.bits.clear();
        self.def.clear();
        self.rep.clear();
        (self.entries, self.rows, self.values) = (0, 0, 0);
    }
}
