//! A column's values with nulls in place of the rows that are lost.

use marquetry_base::Result;
use marquetry_core::predicate::LeafValues;
use marquetry_core::read::{ColumnBatch, ReadTarget};
use marquetry_encoding::{Bitmap, Values};
use std::borrow::Cow;
use std::ops::Range;

/// A column's values with a null for each lost row. For a column in lists, levels mark the lost rows.
pub(super) struct NullPadded {
    pub(super) values: Values,
    pub(super) validity: Bitmap,
    pub(super) def: Vec<u8>,
    pub(super) rep: Vec<u8>,
}

impl NullPadded {
    /// Pads `batch`, which has the rows of the `pieces` in order, decoded for `target`. The result has all rows of the `runs`.
    pub(super) fn new(
        batch: &ColumnBatch,
        runs: &[Range<u64>],
        pieces: &[Range<u64>],
        target: &ReadTarget,
    ) -> Result<Self> {
        let mut out = NullPadded {
            values: batch.values.shape().empty(),
            validity: Bitmap::new(),
            def: Vec::new(),
            rep: Vec::new(),
        };
        let levels = batch.levels_as_bytes();
        let mut next = Next { levels: &levels, target, entry: 0, slot: 0 };
        for run in runs {
            let mut row = run.start;
            let inside = pieces.iter().filter(|piece| run.start <= piece.start && piece.end <= run.end);
            for piece in inside {
                out.push_lost(target, (piece.start - row) as usize);
                let (entries, slots) = next.rows((piece.end - piece.start) as usize);
                out.push(batch, slots)?;
                out.def.extend(levels.0.get(entries.clone()).unwrap_or_default());
                out.rep.extend(levels.1.get(entries).unwrap_or_default());
                row = piece.end;
            }
            out.push_lost(target, (run.end - row) as usize);
        }
        Ok(out)
    }

    fn push(&mut self, batch: &ColumnBatch, slots: Range<usize>) -> Result<()> {
        self.values.push_range(&batch.values, slots.clone())?;
        match &batch.validity {
            None => self.validity.push_run(true, slots.len()),
            Some(validity) => slots.for_each(|slot| self.validity.push_run(validity.get(slot), 1)),
        }
        Ok(())
    }

    fn push_lost(&mut self, target: &ReadTarget, rows: usize) {
        // In a list, a lost row has no slot.
        if target.max_rep == 0 {
            self.values.push_nulls(rows);
            self.validity.push_run(false, rows);
        } else {
            self.rep.resize(self.rep.len() + rows, 0);
        }
        if target.keep_levels {
            self.def.resize(self.def.len() + rows, LeafValues::LOST);
        }
    }
}

/// The position in a batch up to which values were taken.
struct Next<'a> {
    /// Definition and repetition levels.
    levels: &'a (Cow<'a, [u8]>, Cow<'a, [u8]>),
    target: &'a ReadTarget,
    entry: usize,
    slot: usize,
}

impl Next<'_> {
    /// Returns the entries and the slots of the next rows, and advances.
    fn rows(&mut self, rows: usize) -> (Range<usize>, Range<usize>) {
        let (entry, slot) = (self.entry, self.slot);
        if self.target.max_rep == 0 {
            (self.entry, self.slot) = (entry + rows, slot + rows);
        } else {
            let (def, rep) = self.levels;
            let starts = rep[entry..].iter().enumerate().filter(|(_, rep)| **rep == 0);
            let end = starts.map(|(at, _)| entry + at).nth(rows);
            self.entry = end.unwrap_or(rep.len());
            let has_slot = |def: &&u8| **def >= self.target.repeated_ancestor_def_level;
            self.slot = slot + def[entry..self.entry].iter().filter(has_slot).count();
        }
        (entry..self.entry, slot..self.slot)
    }
}
