//! Reading some of a page's rows, those whose bit is 1.
//!
//! Levels are decoded for all rows of a block: they say which values there are. Values are not: where few are wanted, or
//! all of them together, those in between are passed over; where many are, and scattered, all are decoded and those that
//! are wanted picked out. Either way costs less than to decode, to keep and then to filter all.

use super::open_page::{BLOCK, OpenPage, Scratch, push_slots};
use super::{ColumnBatch, ReadTarget};
use crate::row_mask::{compacted, count_runs, runs};
use marquetry_base::Result;
use marquetry_encoding::{Bitmap, Values, compact_levels};
use std::ops::Range;

impl OpenPage {
    /// Appends those of the next rows whose bit in `rows` is 1, of a column that is in no list. Returns how many rows were
    /// passed, wanted or not: fewer than asked for at the end of the page.
    pub(super) fn read_flat_kept(
        &mut self,
        keep: &Bitmap,
        rows: Range<usize>,
        target: &ReadTarget,
        scratch: &mut Scratch,
        out: &mut ColumnBatch,
    ) -> Result<usize> {
        let end = rows.end.min(rows.start + self.left);
        for first in (rows.start..end).step_by(BLOCK) {
            let block = first..end.min(first + BLOCK);
            match keep.count_ones(block.clone()) {
                0 => drop(self.skip_flat(block.len(), scratch)?),
                kept if kept == block.len() => self.read_block(kept, target, scratch, out)?,
                kept => self.read_block_kept(keep, block, kept, target, scratch, out)?,
            }
        }
        Ok(end - rows.start)
    }

    /// One block of [`read_flat_kept`](Self::read_flat_kept), in which `kept` rows are wanted.
    fn read_block_kept(
        &mut self,
        keep: &Bitmap,
        block: Range<usize>,
        kept: usize,
        target: &ReadTarget,
        scratch: &mut Scratch,
        out: &mut ColumnBatch,
    ) -> Result<()> {
        out.check_room(kept, target, scratch.batch_bytes)?;
        let n = block.len();
        self.left -= n;
        out.entries += kept;
        if target.max_def == 0 {
            return self.decode_kept(keep, block, kept, target, scratch, &mut out.values);
        }
        let mut valid = Bitmap::new();
        valid.reserve(n);
        if target.keep_levels {
            let mut levels = Vec::with_capacity(n);
            self.def.decode(n, &mut levels)?;
            valid.push_at_least(&levels, target.max_def);
            compact_levels(&levels, keep.as_bytes(), block.start, &mut out.def);
        } else {
            self.def.decode_is_max(n, &mut scratch.levels, &mut valid)?;
        }
        let mut wanted = Bitmap::new();
        wanted.push_packed(keep.as_bytes(), block.start, n);
        let validity = out.validity.get_or_insert_default();
        let first = validity.len();
        let kept_valid = compacted(&valid, 0..n, &wanted);
        validity.push_packed(kept_valid.as_bytes(), 0, kept_valid.len());
        let of_values = compacted(&wanted, 0..n, &valid);
        self.decode_kept_slots(&of_values, first, target, scratch, out)
    }

    /// Appends the entries of rows as [`read_nested`](Self::read_nested) does, of those rows whose bit is 1. `is_kept` says
    /// whether the row is that begins before the first entry, and after the call the last one. Returns how many rows began.
    pub(super) fn read_nested_kept(
        &mut self,
        keep: &Bitmap,
        rows: Range<usize>,
        is_kept: &mut bool,
        target: &ReadTarget,
        scratch: &mut Scratch,
        out: &mut ColumnBatch,
    ) -> Result<usize> {
        self.walk_rows(rows.len(), |page, take, begun| {
            let mut row = rows.start + begun;
            let mut entries = Bitmap::new();
            entries.reserve(take);
            for &rep in &page.pending_rep[page.consumed..page.consumed + take] {
                if rep == 0 {
                    *is_kept = keep.get(row);
                    row += 1;
                }
                entries.push(*is_kept);
            }
            page.consume_kept(&entries, target, scratch, out)
        })
    }

    /// Appends those of the next pending entries whose bit is 1.
    fn consume_kept(
        &mut self,
        entries: &Bitmap,
        target: &ReadTarget,
        scratch: &mut Scratch,
        out: &mut ColumnBatch,
    ) -> Result<()> {
        let n = entries.len();
        let kept = entries.count_ones(0..n);
        if kept == n {
            return self.consume(n, target, scratch, out);
        }
        out.check_room(kept, target, scratch.batch_bytes)?;
        let range = self.consumed..self.consumed + n;
        self.consumed = range.end;
        let def = &self.pending_def[range.clone()];
        let mut is_value = Bitmap::new();
        is_value.push_at_least(def, target.max_def);
        let of_values = compacted(entries, 0..n, &is_value);
        let first_def = out.def.len();
        compact_levels(&self.pending_rep[range], entries.as_bytes(), 0, &mut out.rep);
        compact_levels(def, entries.as_bytes(), 0, &mut out.def);
        out.entries += kept;
        let validity = out.validity.get_or_insert_default();
        let first = validity.len();
        push_slots(&out.def[first_def..], target, &mut scratch.levels, validity);
        self.decode_kept_slots(&of_values, first, target, scratch, out)
    }

    /// Appends a value or a default for each slot whose validity is in `out` from bit `first` on. `of_values` has a bit for
    /// each of the page's next values: whether it is in one of these slots.
    fn decode_kept_slots(
        &mut self,
        of_values: &Bitmap,
        first: usize,
        target: &ReadTarget,
        scratch: &mut Scratch,
        out: &mut ColumnBatch,
    ) -> Result<()> {
        let empty = Bitmap::new();
        let validity = out.validity.as_ref().unwrap_or(&empty);
        let slots = validity.len() - first;
        let all = 0..of_values.len();
        let kept = of_values.count_ones(all.clone());
        if kept == slots {
            return self.decode_kept(of_values, all, kept, target, scratch, &mut out.values);
        }
        let is_keys = self.is_keys();
        let dense = if is_keys { &mut scratch.keys } else { &mut scratch.dense };
        let mut dense = std::mem::replace(dense, Values::W32(Vec::new()));
        let decoded = out
            .values
            .lend(&mut dense, |dense| self.decode_kept(of_values, all, kept, target, scratch, dense));
        if decoded.is_ok() {
            out.values.push_expanded(&dense, validity, first, slots);
        }
        *(if is_keys { &mut scratch.keys } else { &mut scratch.dense }) = dense;
        decoded
    }

    /// Appends those `kept` of the next values, dense, whose bit in `values` is 1; passes over the others.
    fn decode_kept(
        &mut self,
        keep: &Bitmap,
        values: Range<usize>,
        kept: usize,
        target: &ReadTarget,
        scratch: &mut Scratch,
        out: &mut Values,
    ) -> Result<()> {
        let n = values.len();
        if kept == n {
            return self.decode_values(n, target, out);
        }
        if kept == 0 {
            return self.values.skip(n);
        }
        let whole = if self.is_keys() { &mut scratch.whole_keys } else { &mut scratch.whole };
        if count_runs(keep, values.clone()) * RUN <= n {
            // Few strings of a page are copied: views would keep all of the page in memory.
            if kept * FEW <= n && matches!(out, Values::Bytes(_)) {
                whole.clear();
                self.decode_runs(keep, values, target, whole)?;
                out.push_range(whole, 0..kept);
                return Ok(());
            }
            return self.decode_runs(keep, values, target, out);
        }
        whole.clear();
        self.decode_values(n, target, whole)?;
        out.push_compacted(whole, keep, values.start)
    }

    /// Decodes the runs of ones, and passes over what is between.
    fn decode_runs(
        &mut self,
        keep: &Bitmap,
        values: Range<usize>,
        target: &ReadTarget,
        out: &mut Values,
    ) -> Result<()> {
        let mut at = values.start;
        for run in runs(keep, values.clone()) {
            self.values.skip(run.start - at)?;
            self.decode_values(run.len(), target, out)?;
            at = run.end;
        }
        self.values.skip(values.end - at)
    }
}

/// PERF: to begin and to end a run costs as much as some values that are decoded for nothing.
const RUN: usize = 16;

/// One string of so many is few. INVARIANT: no less than `RUN`, so that few strings are read by runs.
const FEW: usize = 16;
