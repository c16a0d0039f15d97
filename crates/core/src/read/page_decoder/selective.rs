//! Late materialization inside a page: decodes only the selected rows, those whose bit is 1.
//!
//! Levels are decoded for all rows of a block, because they show which rows have values. Values are decoded in one of
//! two ways. If few rows are selected, or they form long runs, the values in between are skipped. If many scattered
//! rows are selected, all values are decoded and then filtered. Both cost less than decoding all rows into a batch and
//! filtering that.

use super::{DecodeScratch, ENTRIES_PER_BLOCK, PageDecoder, push_slots};
use crate::read::column_batch::ColumnBatch;
use crate::read::target::ReadTarget;
use crate::row_mask::{compacted, count_runs, runs};
use marquetry_base::Result;
use marquetry_encoding::{Bitmap, Values, filter_u8};
use std::ops::Range;

impl PageDecoder {
    /// Appends the selected rows of a flat column. Returns how many rows were consumed, selected or not: fewer than
    /// `rows.len()` at the end of the page.
    pub(in crate::read) fn read_flat_selected(
        &mut self,
        keep: &Bitmap,
        rows: Range<usize>,
        target: &ReadTarget,
        scratch: &mut DecodeScratch,
        out: &mut ColumnBatch,
    ) -> Result<usize> {
        let end = rows.end.min(rows.start + self.left);
        for first in (rows.start..end).step_by(ENTRIES_PER_BLOCK) {
            let block = first..end.min(first + ENTRIES_PER_BLOCK);
            match keep.count_ones(block.clone()) {
                0 => drop(self.skip_flat(block.len(), scratch)?),
                kept if kept == block.len() => self.read_block(kept, target, scratch, out)?,
                kept => self.read_block_selected(keep, block, kept, target, scratch, out)?,
            }
        }
        Ok(end - rows.start)
    }

    /// Appends one block of [`read_flat_selected`](Self::read_flat_selected), in which `kept` rows are selected.
    fn read_block_selected(
        &mut self,
        keep: &Bitmap,
        block: Range<usize>,
        kept: usize,
        target: &ReadTarget,
        scratch: &mut DecodeScratch,
        out: &mut ColumnBatch,
    ) -> Result<()> {
        self.cancel.check()?;
        out.check_room(kept, target, scratch.batch_bytes)?;
        let n = block.len();
        self.left -= n;
        if target.max_def == 0 {
            out.entries += kept;
            return self.decode_selected(keep, block, kept, scratch, &mut out.values);
        }
        let mut valid = Bitmap::new();
        valid.reserve(n);
        if target.keep_levels {
            let mut levels = Vec::with_capacity(n);
            self.def.decode(n, &mut levels)?;
            valid.push_ge(&levels, target.max_def);
            filter_u8(&levels, keep.as_bytes(), block.start, out.def_to_extend(target.max_def));
        } else {
            self.def.decode_is_max(n, &mut scratch.levels, &mut valid)?;
        }
        out.entries += kept;
        let mut wanted = Bitmap::new();
        wanted.push_packed(keep.as_bytes(), block.start, n);
        let validity = out.validity.get_or_insert_default();
        let first = validity.len();
        let kept_valid = compacted(&valid, 0..n, &wanted);
        validity.push_packed(kept_valid.as_bytes(), 0, kept_valid.len());
        let of_values = compacted(&wanted, 0..n, &valid);
        self.decode_selected_slots(&of_values, first, scratch, out)
    }

    /// Appends the entries of the selected rows of a nested column, as [`read_nested`](Self::read_nested) does.
    /// `is_kept` is whether the row that continues in the first entry is selected, and after the call whether the last
    /// row is. Returns how many rows began.
    pub(in crate::read) fn read_nested_selected(
        &mut self,
        keep: &Bitmap,
        rows: Range<usize>,
        is_kept: &mut bool,
        target: &ReadTarget,
        scratch: &mut DecodeScratch,
        out: &mut ColumnBatch,
    ) -> Result<usize> {
        self.walk_rows(rows.len(), |page, take, begun| {
            let mut row = rows.start + begun;
            let mut entries = Bitmap::new();
            entries.reserve(take);
            for entry in page.consumed..page.consumed + take {
                if page.pending_rep.as_slice().begins_row(entry) {
                    *is_kept = keep.get(row);
                    row += 1;
                }
                entries.push(*is_kept);
            }
            page.consume_selected(&entries, target, scratch, out)
        })
    }

    /// Appends the pending entries whose bit is 1.
    fn consume_selected(
        &mut self,
        entries: &Bitmap,
        target: &ReadTarget,
        scratch: &mut DecodeScratch,
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
        out.rep.push_filtered(self.pending_rep.as_slice(), range.clone(), entries);
        let first = out.validity.get_or_insert_default().len();
        if self.pending_is_max {
            out.push_max_def(kept, target.max_def);
            out.entries += kept;
            out.validity.get_or_insert_default().push_run(true, kept);
            return self.decode_selected_slots(entries, first, scratch, out);
        }
        let def = &self.pending_def[range];
        let mut is_value = Bitmap::new();
        is_value.push_ge(def, target.max_def);
        let of_values = compacted(entries, 0..n, &is_value);
        filter_u8(def, entries.as_bytes(), 0, out.def_to_extend(target.max_def));
        let first_def = out.entries;
        out.entries += kept;
        push_slots(&out.def[first_def..], target, &mut scratch.levels, out.validity.get_or_insert_default());
        self.decode_selected_slots(&of_values, first, scratch, out)
    }

    /// Appends a value or a default for each slot whose validity is in `out` from bit `first` on. `of_values` has a bit
    /// for each of the page's next values: 1 if it belongs to one of these slots.
    fn decode_selected_slots(
        &mut self,
        of_values: &Bitmap,
        first: usize,
        scratch: &mut DecodeScratch,
        out: &mut ColumnBatch,
    ) -> Result<()> {
        let empty = Bitmap::new();
        let validity = out.validity.as_ref().unwrap_or(&empty);
        let slots = validity.len() - first;
        let all = 0..of_values.len();
        let kept = of_values.count_ones(all.clone());
        if kept == slots {
            return self.decode_selected(of_values, all, kept, scratch, &mut out.values);
        }
        let gives_indices = self.gives_indices();
        let dense = if gives_indices { &mut scratch.dense_indices } else { &mut scratch.dense };
        let mut dense = std::mem::replace(dense, Values::W32(Vec::new()));
        let decoded = out
            .values
            .with_scratch(&mut dense, |dense| self.decode_selected(of_values, all, kept, scratch, dense));
        if decoded.is_ok() {
            out.values.push_spaced(&dense, validity, first, slots);
        }
        *(if gives_indices { &mut scratch.dense_indices } else { &mut scratch.dense }) = dense;
        decoded
    }

    /// Appends the `kept` values among the next `values.len()` whose bit in `keep[values]` is 1, without gaps for
    /// nulls. Skips the others.
    fn decode_selected(
        &mut self,
        keep: &Bitmap,
        values: Range<usize>,
        kept: usize,
        scratch: &mut DecodeScratch,
        out: &mut Values,
    ) -> Result<()> {
        let n = values.len();
        if kept == n {
            return self.decode_values(n, out);
        }
        if kept == 0 {
            return self.values.skip(n);
        }
        let whole = if self.gives_indices() { &mut scratch.whole_indices } else { &mut scratch.whole };
        if count_runs(keep, values.clone()) * MIN_MEAN_RUN <= n {
            // Copies the strings if they are few, because views would keep the whole page in memory.
            if kept * COPY_FRACTION <= n && matches!(out, Values::Bytes(_)) {
                whole.clear();
                self.decode_runs(keep, values, whole)?;
                out.push_range(whole, 0..kept)?;
                return Ok(());
            }
            return self.decode_runs(keep, values, out);
        }
        whole.clear();
        self.decode_values(n, whole)?;
        out.push_filtered(whole, keep, values.start)
    }

    /// Decodes the runs of ones, and skips the values between them.
    fn decode_runs(&mut self, keep: &Bitmap, values: Range<usize>, out: &mut Values) -> Result<()> {
        let mut at = values.start;
        for run in runs(keep, values.clone()) {
            self.values.skip(run.start - at)?;
            self.decode_values(run.len(), out)?;
            at = run.end;
        }
        self.values.skip(values.end - at)
    }
}

/// Mean length of runs from which on they are decoded one by one. PERF: beginning and ending a run costs as much as
/// decoding some values in vain.
const MIN_MEAN_RUN: usize = 16;

/// Strings are copied if at most one in this many is selected. INVARIANT: at least `MIN_MEAN_RUN`, so that they are
/// decoded by runs.
const COPY_FRACTION: usize = 16;
