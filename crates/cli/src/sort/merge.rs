//! Several sorted sequences of rows become one.

use super::Keys;
use super::memory::gathered;
use crate::failure::Failure;
use crate::inputs::Batches;
use arrow_array::RecordBatch;
use arrow_row::{Row, Rows};
use std::sync::Arc;

/// The rows of several sequences in order; where rows are equal, the earlier sequence comes first.
pub(super) struct Merge {
    keys: Arc<Keys>,
    cursors: Vec<Cursor>,
    /// A tree of losers: at 0 the sequence whose row is next, at each inner node the one that lost there. Leaf `i` is
    /// node `cursors + i`, the parent of a node has half its number.
    tree: Vec<usize>,
    /// Batches that rows are still needed of.
    held: Vec<RecordBatch>,
    batch_rows: usize,
    has_failed: bool,
}

/// The next row of a sequence.
struct Cursor {
    batches: Batches,
    /// What the rows of the current batch are compared by; `None` after the last row.
    rows: Option<Rows>,
    /// The row in the current batch.
    at: usize,
    /// The current batch among those that are held.
    slot: usize,
}

impl Cursor {
    fn row(&self) -> Option<Row<'_>> {
        self.rows.as_ref().map(|rows| rows.row(self.at))
    }
}

impl Merge {
    pub(super) fn new(sequences: Vec<Batches>, keys: Arc<Keys>, batch_rows: usize) -> Result<Self, Failure> {
        let cursors = sequences.into_iter().map(|batches| Cursor { batches, rows: None, at: 0, slot: 0 });
        let cursors: Vec<Cursor> = cursors.collect();
        let tree = vec![NOBODY; cursors.len().max(1)];
        let mut merge = Merge { keys, cursors, tree, held: Vec::new(), batch_rows, has_failed: false };
        for cursor in 0..merge.cursors.len() {
            merge.load(cursor)?;
        }
        for cursor in 0..merge.cursors.len() {
            merge.enter(cursor);
        }
        Ok(merge)
    }

    /// Goes to the next batch of a sequence that has rows.
    fn load(&mut self, cursor: usize) -> Result<(), Failure> {
        let cursor = &mut self.cursors[cursor];
        cursor.rows = None;
        for batch in cursor.batches.by_ref() {
            let batch = batch?;
            if batch.num_rows() > 0 {
                cursor.rows = Some(self.keys.rows(&batch)?);
                (cursor.at, cursor.slot) = (0, self.held.len());
                self.held.push(batch);
                break;
            }
        }
        Ok(())
    }

    /// Whether the next row of `a` comes before that of `b`. What is at its end comes last.
    fn is_before(&self, a: usize, b: usize) -> bool {
        match (self.cursors[a].row(), self.cursors[b].row()) {
            (Some(row), Some(other)) => row.cmp(&other).then(a.cmp(&b)).is_lt(),
            (Some(_), None) => true,
            (None, _) => false,
        }
    }

    /// Lets a sequence play for the first time: up to a node where nobody waits yet.
    fn enter(&mut self, cursor: usize) {
        let mut winner = cursor;
        let mut node = (cursor + self.cursors.len()) / 2;
        while node > 0 {
            if self.tree[node] == NOBODY {
                self.tree[node] = winner;
                return;
            }
            winner = self.play(node, winner);
            node /= 2;
        }
        self.tree[0] = winner;
    }

    /// Lets the sequence that won play again with its next row.
    fn replay(&mut self, cursor: usize) {
        let mut winner = cursor;
        let mut node = (cursor + self.cursors.len()) / 2;
        while node > 0 {
            winner = self.play(node, winner);
            node /= 2;
        }
        self.tree[0] = winner;
    }

    /// The winner at a node; the loser stays there.
    fn play(&mut self, node: usize, challenger: usize) -> usize {
        let waiting = self.tree[node];
        match self.is_before(waiting, challenger) {
            true => std::mem::replace(&mut self.tree[node], challenger),
            false => challenger,
        }
    }

    fn batch(&mut self) -> Result<Option<RecordBatch>, Failure> {
        let mut places = Vec::with_capacity(self.batch_rows);
        // Batches that are used up wait for the rows to be gathered: not too many of them.
        let most_held = 3 * self.cursors.len() + 16;
        while places.len() < self.batch_rows && self.held.len() < most_held {
            let winner = self.tree[0];
            let Some(cursor) = self.cursors.get_mut(winner) else { break };
            let Some(rows) = &cursor.rows else { break };
            places.push((cursor.slot, cursor.at));
            cursor.at += 1;
            if cursor.at == rows.num_rows() {
                self.load(winner)?;
            }
            self.replay(winner);
        }
        if places.is_empty() {
            return Ok(None);
        }
        let batch = gathered(&self.held.iter().collect::<Vec<_>>(), &places)?;
        self.release();
        Ok(Some(batch))
    }

    /// Keeps only the batches that cursors are in.
    fn release(&mut self) {
        let mut held = Vec::with_capacity(self.cursors.len());
        for cursor in self.cursors.iter_mut().filter(|cursor| cursor.rows.is_some()) {
            held.push(self.held[cursor.slot].clone());
            cursor.slot = held.len() - 1;
        }
        self.held = held;
    }
}

impl Iterator for Merge {
    type Item = Result<RecordBatch, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let batch = self.batch().transpose();
        self.has_failed = matches!(batch, Some(Err(_)));
        batch
    }
}

/// No sequence has played at this node yet.
const NOBODY: usize = usize::MAX;
