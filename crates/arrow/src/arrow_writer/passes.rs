//! Writer passes: rows are buffered until there are enough of them, then every column encodes them.

use super::ArrowWriter;
use super::slice_size::batch_bytes;
use arrow_array::RecordBatch;
use marquetry_base::{ErrorKind, Result, Span};
use marquetry_core::write::CheckpointEvery;
use std::io::Write;

impl<W: Write + Send> ArrowWriter<W> {
    pub(super) fn write_rows(&mut self, batch: &RecordBatch) -> Result<()> {
        let most = self.properties.max_row_group_row_count().unwrap_or(usize::MAX);
        let bytes_per_row = batch_bytes(batch) / batch.num_rows().max(1);
        let mut from = 0;
        while from < batch.num_rows() {
            let room = most - self.in_progress_rows();
            let n = (batch.num_rows() - from).min(room).min(self.pass_rows(bytes_per_row));
            self.pending.batches.push((batch.clone(), from..from + n));
            self.pending.rows += n;
            self.pending.bytes += n * bytes_per_row;
            from += n;
            if self.pending.rows >= PASS_ROWS || self.pending.bytes >= self.pass_bytes() {
                self.pass()?;
            }
            let is_full = self
                .properties
                .max_row_group_bytes()
                .is_some_and(|most| self.open.estimated_size() >= most as u64);
            if self.must_end_for_checkpoint() {
                self.end_row_group()?;
                // The row group may turn out smaller than estimated.
                self.file.checkpoint()?;
            } else if is_full || self.in_progress_rows() >= most {
                self.end_row_group()?;
                self.checkpoint_if_due()?;
            }
        }
        Ok(())
    }

    /// Has all columns take the buffered rows.
    fn pass(&mut self) -> Result<()> {
        let pending = std::mem::take(&mut self.pending);
        if pending.rows == 0 {
            return Ok(());
        }
        let encode = || self.open.write(pending.batches, pending.rows, &mut self.workspaces);
        Span::encode(pending.rows).in_scope(encode)?;
        if let Some(limit) = self.properties.memory_limit().filter(|limit| self.open.memory_size() > *limit) {
            self.spill(limit / 2)?;
        }
        match self.note_memory() {
            Ok(()) if !self.memory.is_greedy() => Ok(()),
            Err(error) if error.kind() != ErrorKind::Memory => Err(error),
            _ => {
                self.spill(self.memory.granted() / 2)?;
                self.note_memory()
            }
        }
    }

    fn spill(&mut self, target: usize) -> Result<()> {
        self.open.spill(target, &*self.spill_store, &mut self.workspaces[0])
    }

    /// Updates the budget to the memory held now.
    pub(crate) fn note_memory(&mut self) -> Result<()> {
        self.memory.set(self.memory_size())
    }

    pub(super) fn end_row_group(&mut self) -> Result<()> {
        self.pass()?;
        match self.open.rows {
            0 => Ok(()),
            rows => {
                let index = self.file.flushed_row_groups().len();
                Span::write_row_group(index, rows as u64).in_scope(|| self.write_row_group())
            }
        }
    }

    fn write_row_group(&mut self) -> Result<()> {
        let (rows, chunks) = self
            .open
            .finish(&mut self.workspaces)
            .map_err(|error| error.in_row_group(self.file.flushed_row_groups().len()))?;
        let mut encoded = Vec::with_capacity(chunks.len());
        for (finished, kept) in chunks.into_iter().zip(&mut self.choices) {
            let (chunk, choice) = *finished;
            *kept = choice;
            encoded.push(chunk);
        }
        self.file.write_row_group(rows as u64, encoded, self.properties.sorting_columns().cloned())?;
        match self.note_memory() {
            // What is in the queue will leave memory soon.
            Err(error) if error.kind() == ErrorKind::Memory && self.file.sink_memory() > 0 => Ok(()),
            noted => noted,
        }
    }

    /// Returns whether a checkpoint is due that must not wait until the row group is full.
    fn must_end_for_checkpoint(&self) -> bool {
        self.in_progress_rows() > 0
            && self.file.ends_row_groups_for_checkpoints()
            && self.file.is_checkpoint_due(self.open.estimated_size())
    }

    pub(super) fn checkpoint_if_due(&mut self) -> Result<()> {
        if self.file.is_checkpoint_due(0) { self.file.checkpoint() } else { Ok(()) }
    }

    /// Returns the maximum number of rows of this size in a pass.
    pub(super) fn pass_rows(&self, bytes_per_row: usize) -> usize {
        (self.pass_bytes() / bytes_per_row.max(1)).clamp(1, PASS_ROWS)
    }

    /// Returns how many bytes may be buffered.
    fn pass_bytes(&self) -> usize {
        let of_checkpoint = match self.properties.checkpoint_every() {
            Some(CheckpointEvery::Bytes(bytes)) => usize::try_from(bytes).ok(),
            _ => None,
        };
        let of_memory = [self.properties.memory_limit(), self.properties.memory().tight_limit()];
        // Each pass over a limit ends the current pages, which must not be pages of one row each.
        let of_memory = of_memory.into_iter().flatten().map(|limit| limit.max(4 * LEAST_PASS_BYTES));
        let limits = [self.properties.max_row_group_bytes(), of_checkpoint].into_iter().flatten();
        limits.chain(of_memory).map(|limit| limit / 4).fold(PASS_BYTES, usize::min).max(1)
    }
}

/// Number of rows that are buffered for a pass.
const PASS_ROWS: usize = 64 << 10;
/// Minimum number of bytes that are buffered for a pass, however little memory there is.
const LEAST_PASS_BYTES: usize = 256 << 10;
/// Number of bytes that are buffered for a pass.
const PASS_BYTES: usize = 64 << 20;
