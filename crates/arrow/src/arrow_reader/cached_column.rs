//! A column of a filtered read, which caches the values that a filter stage has decoded.
//!
//! ```text
//! block      rows 8,192 .. 16,384 of a row group
//! kept       those of them that all stages so far want
//! cached     the values of a column for the kept rows: thinned out with them
//! out        the values of a column for the batch that is being filled
//! ```

use super::skip_strategy::{SkipStrategy, StrategyTuner};
use marquetry_base::{Error, Result, Stopwatch};
use marquetry_core::read::{ColumnBatch, ColumnReader, ReadTarget};
use marquetry_core::row_mask::{MaskChunk, and_then_bits, runs};
use marquetry_encoding::Bitmap;
use std::ops::Range;

/// A column of the file that is read.
pub(super) struct CachedColumn {
    pub(super) reader: ColumnReader,
    pub(super) target: ReadTarget,
    /// Whether batches contain it.
    pub(super) is_projected: bool,
    /// Maximum number of rows of the row group that can be selected, if that is at most half of them.
    pub(super) most_rows: Option<usize>,
    /// The row group in which the reader is, and its position there.
    at: Option<(usize, u64)>,
    /// Measures the cost of selective reads in this row group.
    tuner: StrategyTuner,
    /// The values of the block's kept rows, once a stage needed them.
    cached: Option<ColumnBatch>,
    /// The values for the batch that is being filled.
    pub(super) out: ColumnBatch,
}

/// The rows of a block, or of a part of it.
#[derive(Debug, Clone)]
pub(super) struct BlockRows {
    pub(super) row_group: usize,
    /// The position of the first row in the row group, and the number of rows.
    pub(super) start: u64,
    pub(super) len: usize,
    /// Which rows are kept; `None` if all are.
    pub(super) keep: Option<Bitmap>,
}

impl BlockRows {
    pub(super) fn of(row_group: usize, block: MaskChunk) -> BlockRows {
        BlockRows { row_group, start: block.start, len: block.rows, keep: block.keep }
    }

    /// Returns how many rows are kept.
    pub(super) fn kept(&self) -> usize {
        self.keep.as_ref().map_or(self.len, |keep| keep.count_ones(0..keep.len()))
    }

    /// Keeps only those of the kept rows whose bit is 1.
    pub(super) fn refine(&mut self, of_kept: Bitmap) {
        self.keep = Some(match &self.keep {
            None => of_kept,
            Some(keep) => and_then_bits(keep, &of_kept),
        });
    }

    /// Splits off rows from the front until `n` kept ones are among them, or all rows if there are fewer.
    pub(super) fn split_off(&mut self, n: usize) -> BlockRows {
        let len = match &self.keep {
            None => n.min(self.len),
            Some(keep) => end_of(keep, n),
        };
        let (first, rest) = match &mut self.keep {
            None => (None, None),
            Some(keep) if len == self.len => (Some(std::mem::take(keep)), Some(Bitmap::new())),
            Some(keep) => (Some(part(keep, 0..len)), Some(part(keep, len..self.len))),
        };
        let taken = BlockRows { keep: first, len, ..*self };
        *self = BlockRows { start: self.start + len as u64, len: self.len - len, keep: rest, ..*self };
        taken
    }

    /// Calls `run` with each run of kept rows, numbered in the row group.
    pub(super) fn each_run(&self, mut run: impl FnMut(Range<u64>)) {
        match &self.keep {
            None => run(self.start..self.start + self.len as u64),
            Some(keep) => runs(keep, 0..keep.len())
                .for_each(|range| run(self.start + range.start as u64..self.start + range.end as u64)),
        }
    }
}

fn part(bits: &Bitmap, range: Range<usize>) -> Bitmap {
    let mut out = Bitmap::new();
    out.push_packed(bits.as_bytes(), range.start, range.len());
    out
}

/// Returns the number of bits up to and including the `n`th 1, or of all bits if there are fewer.
fn end_of(keep: &Bitmap, n: usize) -> usize {
    let mut left = n;
    for start in (0..keep.len()).step_by(64) {
        let ones = keep.count_ones(start..keep.len().min(start + 64));
        if ones >= left {
            // Clears the lowest ones, one by one.
            let mut word = keep.word(start);
            for _ in 1..left {
                word &= word - 1;
            }
            return if left == 0 { start } else { start + word.trailing_zeros() as usize + 1 };
        }
        left -= ones;
    }
    keep.len()
}

impl CachedColumn {
    pub(super) fn new(reader: ColumnReader, target: ReadTarget) -> Self {
        let out = reader.empty_batch();
        CachedColumn {
            reader,
            target,
            is_projected: false,
            most_rows: None,
            at: None,
            tuner: StrategyTuner::default(),
            cached: None,
            out,
        }
    }

    /// Appends the kept rows of `rows` to `out`.
    fn read(&mut self, rows: &BlockRows, out: &mut ColumnBatch) -> Result<()> {
        let passed = match self.at {
            Some((row_group, passed)) if row_group == rows.row_group => passed,
            _ => {
                self.reader.seek_row_group(rows.row_group, self.most_rows);
                self.tuner = StrategyTuner::default();
                0
            }
        };
        let Some(skip) = rows.start.checked_sub(passed) else {
            return Err(Error::argument(format!("row {} after row {passed} was read", rows.start)));
        };
        self.reader.skip(usize::try_from(skip).unwrap_or(usize::MAX))?;
        match &rows.keep {
            None => self.reader.read_into(rows.len, out)?,
            Some(keep) => self.read_some(keep, rows.len, out)?,
        }
        self.at = Some((rows.row_group, rows.start + rows.len as u64));
        Ok(())
    }

    /// Appends those of the next `rows` rows whose bit is 1 to `out`.
    fn read_some(&mut self, keep: &Bitmap, rows: usize, out: &mut ColumnBatch) -> Result<()> {
        let strategy = match self.reader.leaves_out_pages(keep, rows)? {
            true => SkipStrategy::Selective,
            false => self.tuner.choose(keep.count_ones(0..rows), rows),
        };
        let start = Stopwatch::start();
        match strategy {
            SkipStrategy::Selective => self.reader.read_selected(keep, 0..rows, out)?,
            SkipStrategy::DecodeThenFilter => {
                let mut whole = self.reader.empty_batch();
                self.reader.read_into(rows, &mut whole)?;
                out.push_filtered(&whole, keep, &self.target)?;
            }
        }
        self.tuner.measure(strategy, rows, start.elapsed());
        Ok(())
    }

    /// Reads the values of the kept rows of a block, unless they are cached. They stay cached until the block is done.
    pub(super) fn decode(&mut self, rows: &BlockRows) -> Result<()> {
        if self.cached.is_none() {
            let mut batch = self.reader.empty_batch();
            self.read(rows, &mut batch)?;
            self.cached = Some(batch);
        }
        Ok(())
    }

    /// Returns the cached values, if there are any.
    pub(super) fn cached(&self) -> Option<&ColumnBatch> {
        self.cached.as_ref()
    }

    /// Keeps only the cached rows whose bit is 1.
    pub(super) fn refilter(&mut self, of_kept: &Bitmap) -> Result<()> {
        if let Some(batch) = &self.cached {
            let mut rest = self.reader.empty_batch();
            rest.push_filtered(batch, of_kept, &self.target)?;
            self.cached = Some(rest);
        }
        Ok(())
    }

    /// Drops the cached values.
    pub(super) fn clear(&mut self) {
        self.cached = None;
    }

    /// Resets the position, so that the row group can be read once more.
    pub(super) fn rewind(&mut self) {
        (self.at, self.cached) = (None, None);
    }

    /// Appends the kept values of `rows`, the next ones of the block, to the output batch. `taken` is their range among
    /// the `kept` rows of the block.
    pub(super) fn emit(&mut self, rows: &BlockRows, taken: Range<usize>, kept: usize) -> Result<()> {
        let mut out = std::mem::replace(&mut self.out, self.reader.empty_batch());
        match self.cached.take() {
            None => self.read(rows, &mut out)?,
            Some(batch) if out.entries == 0 && taken.len() == kept => out = batch,
            Some(batch) => {
                let mut wanted = Bitmap::new();
                wanted.push_run(false, taken.start);
                wanted.push_run(true, taken.len());
                wanted.push_run(false, kept - taken.end);
                out.push_filtered(&batch, &wanted, &self.target)?;
                self.cached = (taken.end < kept).then_some(batch);
            }
        }
        self.out = out;
        Ok(())
    }
}
