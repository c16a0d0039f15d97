//! One side of a comparison: a file that is being read, with the row hashes of a batch.

use super::diff_file::{DiffFile, FileRows};
use super::key_order::KeyOrder;
use marquetry_base::Result;

pub(crate) struct Side {
    reader: FileRows,
    key: Vec<String>,
    /// Whether keys ascend or descend, if that is watched.
    pub(crate) order: Option<KeyOrder>,
    keys: Vec<u64>,
    rows: Vec<u64>,
    at: usize,
    /// Number of the first row of the batch.
    first: u64,
}

impl Side {
    /// Creates a side that begins at row `first`.
    pub(crate) fn new(reader: FileRows, key: &[String], first: u64) -> Self {
        let (keys, rows) = (Vec::new(), Vec::new());
        Side { reader, key: key.to_vec(), order: None, keys, rows, at: 0, first }
    }

    /// Watches the order of keys, if they have an order. Returns whether they do.
    pub(crate) fn watch_order(&mut self) -> Result<bool> {
        self.order = KeyOrder::new(&self.reader.schema(), &self.key)?;
        Ok(self.order.is_some())
    }

    /// Reads the next batch if no rows are left. Returns whether there are rows.
    pub(crate) fn fill(&mut self) -> Result<bool> {
        while self.left() == 0 {
            self.first += self.rows.len() as u64;
            (self.at, self.rows) = (0, Vec::new());
            let Some(batch) = self.reader.next_batch() else { return Ok(false) };
            let batch = batch?;
            (self.keys, self.rows) = DiffFile::hashes(&batch, &self.key);
            if let Some(order) = &mut self.order {
                order.add(&batch)?;
            }
        }
        Ok(true)
    }

    pub(crate) fn is_in_order(&self) -> bool {
        self.order.as_ref().is_none_or(KeyOrder::holds)
    }

    /// Returns the number of rows left in the batch.
    pub(crate) fn left(&self) -> usize {
        self.rows.len() - self.at
    }

    /// Returns the number of the next row.
    pub(crate) fn next(&self) -> u64 {
        self.first + self.at as u64
    }

    /// Returns the hashes of the rows that are left: of their keys, if there are any, and of all values.
    pub(crate) fn rest(&self) -> (&[u64], &[u64]) {
        (self.keys.get(self.at..).unwrap_or_default(), &self.rows[self.at..])
    }

    /// Returns the hashes of the next `n` rows, and moves past these rows.
    pub(crate) fn take(&mut self, n: usize) -> (&[u64], &[u64]) {
        let taken = self.at..self.at + n;
        self.at += n;
        (self.keys.get(taken.clone()).unwrap_or_default(), &self.rows[taken])
    }
}
