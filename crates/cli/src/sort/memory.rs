//! Rows that are in memory, in order.

use super::{Budget, Keys};
use crate::failure::Failure;
use arrow_array::RecordBatch;
use arrow_row::Rows;
use arrow_select::interleave::interleave_record_batch;
use std::mem::take;

/// Rows that are collected until they fill the budget.
pub(super) struct Memory<'a> {
    keys: &'a Keys,
    budget: Budget,
    batches: Vec<RecordBatch>,
    /// What the rows of each batch are compared by.
    compared: Vec<Rows>,
    rows: usize,
    bytes: usize,
}

impl<'a> Memory<'a> {
    pub(super) fn new(keys: &'a Keys, budget: Budget) -> Self {
        Memory { keys, budget, batches: Vec::new(), compared: Vec::new(), rows: 0, bytes: 0 }
    }

    pub(super) fn add(&mut self, batch: RecordBatch) -> Result<(), Failure> {
        let compared = self.keys.rows(&batch)?;
        let places = batch.num_rows() * size_of::<(u32, u32)>();
        self.bytes += batch.get_array_memory_size() + compared.size() + places;
        self.rows += batch.num_rows();
        self.batches.push(batch);
        self.compared.push(compared);
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Whether the next batch has to wait.
    pub(super) fn is_full(&self) -> bool {
        self.bytes >= self.budget.bytes
    }

    /// So many rows of each of many runs can be in memory together.
    pub(super) fn rows_in_run_batch(&self) -> usize {
        let bytes_per_row = (self.bytes / self.rows.max(1)).max(1);
        // Two batches of each run, with what their rows are compared by, and some air.
        let rows = self.budget.bytes / (4 * self.budget.fan_in) / bytes_per_row;
        rows.clamp(FEWEST_ROWS, self.budget.batch_rows.max(FEWEST_ROWS))
    }

    /// All rows in order, in batches of so many; nothing is left behind.
    pub(super) fn drain(&mut self, batch_rows: usize) -> Sorted {
        let (batches, compared) = (take(&mut self.batches), take(&mut self.compared));
        (self.rows, self.bytes) = (0, 0);
        let mut order: Vec<(u32, u32)> = Vec::with_capacity(batches.iter().map(RecordBatch::num_rows).sum());
        for (i, batch) in batches.iter().enumerate() {
            order.extend((0..batch.num_rows()).map(|row| (i as u32, row as u32)));
        }
        let row = |place: &(u32, u32)| compared[place.0 as usize].row(place.1 as usize);
        // Equal rows by their places: the order is that of a stable sort, but nothing is copied aside.
        order.sort_unstable_by(|a, b| row(a).cmp(&row(b)).then_with(|| a.cmp(b)));
        Sorted { batches, order, at: 0, batch_rows }
    }
}

/// Rows in order.
pub(super) struct Sorted {
    batches: Vec<RecordBatch>,
    order: Vec<(u32, u32)>,
    at: usize,
    batch_rows: usize,
}

impl Iterator for Sorted {
    type Item = Result<RecordBatch, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.order.get(self.at..).filter(|rest| !rest.is_empty())?;
        let places: Vec<(usize, usize)> =
            rest.iter().take(self.batch_rows).map(|(batch, row)| (*batch as usize, *row as usize)).collect();
        self.at += places.len();
        Some(gathered(&self.batches.iter().collect::<Vec<_>>(), &places))
    }
}

/// The rows at `places`, each the number of a batch and of a row in it.
pub(super) fn gathered(batches: &[&RecordBatch], places: &[(usize, usize)]) -> Result<RecordBatch, Failure> {
    Ok(interleave_record_batch(batches, places)?)
}

const FEWEST_ROWS: usize = 16;
