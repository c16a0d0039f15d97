//! Merges sorted runs.

use super::keys::Keys;
use super::packed::{Packed, Place};
use super::run::{Keyed, Order, Run};
use crate::failure::Failure;
use crate::inputs::Batches;
use std::sync::Arc;

/// Merges the rows of several sequences; where rows are equal, the earlier sequence comes first.
pub(super) struct Merge {
    keys: Arc<Keys>,
    cursors: Vec<Cursor>,
    /// A loser tree: at 0 the sequence with the next row, at each inner node the sequence that lost there. Leaf `i` is
    /// node `cursors + i`, and the parent of a node has half its number.
    tree: Vec<usize>,
    /// Batches whose rows are still needed: those in memory, followed by those of files.
    held: Vec<Arc<Packed>>,
    in_memory: usize,
    batch_rows: usize,
    has_failed: bool,
}

/// A sorted sequence of rows.
pub(super) enum Sequence {
    Memory(Run),
    /// Sorted batches.
    File(Batches),
}

/// Places of the next rows, which are to be gathered.
pub(super) struct Piece {
    pub(super) batches: Vec<Arc<Packed>>,
    pub(super) places: Vec<Place>,
}

/// The position in a sequence.
struct Cursor {
    /// The batches after the current one.
    batches: Option<Batches>,
    /// The current rows; `None` after the last one.
    order: Option<Order>,
    /// The index of the next row among them.
    at: usize,
    /// The index of their first batch among those that are held.
    slot: usize,
}

impl Merge {
    pub(super) fn new(
        sequences: impl IntoIterator<Item = Sequence>,
        keys: Arc<Keys>,
        batch_rows: usize,
    ) -> Result<Self, Failure> {
        let mut held = Vec::new();
        let cursor = |sequence| match sequence {
            Sequence::Memory(run) => {
                let slot = held.len();
                held.extend(run.batches);
                let order = Some(run.order).filter(|order| !order.entries.is_empty());
                Cursor { batches: None, order, at: 0, slot }
            }
            Sequence::File(batches) => Cursor { batches: Some(batches), order: None, at: 0, slot: 0 },
        };
        let cursors: Vec<Cursor> = sequences.into_iter().map(cursor).collect();
        let tree = vec![NOBODY; cursors.len().max(1)];
        let in_memory = held.len();
        let mut merge = Merge { keys, cursors, tree, held, in_memory, batch_rows, has_failed: false };
        for cursor in 0..merge.cursors.len() {
            if merge.cursors[cursor].batches.is_some() {
                merge.load(cursor)?;
            }
        }
        for cursor in 0..merge.cursors.len() {
            merge.enter(cursor);
        }
        Ok(merge)
    }

    /// Moves to the next batch of a sequence that has rows.
    fn load(&mut self, cursor: usize) -> Result<(), Failure> {
        let cursor = &mut self.cursors[cursor];
        cursor.order = None;
        for batch in cursor.batches.iter_mut().flatten() {
            let batch = batch?;
            if batch.num_rows() > 0 {
                let Keyed { packed, compared } = Keyed::new(&batch, &self.keys)?;
                cursor.order = Some(Order::unsorted(vec![compared], &self.keys));
                (cursor.at, cursor.slot) = (0, self.held.len());
                self.held.push(Arc::new(packed));
                break;
            }
        }
        Ok(())
    }

    /// Whether the next row of `a` comes before that of `b`. A finished sequence comes last.
    #[inline]
    fn is_before(&self, a: usize, b: usize) -> bool {
        let (first, second) = (&self.cursors[a], &self.cursors[b]);
        match (&first.order, &second.order) {
            (Some(order), Some(other)) => order.compare(first.at, other, second.at).then(a.cmp(&b)).is_lt(),
            (Some(_), None) => true,
            (None, _) => false,
        }
    }

    /// Inserts a sequence into the tree: up to a node without a loser yet.
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

    /// Replays the games of the sequence that won, with its next row.
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

    fn piece(&mut self) -> Result<Option<Piece>, Failure> {
        let mut places = Vec::with_capacity(self.batch_rows);
        // Finished batches are held until their rows are gathered: limit their number.
        let most_held = self.in_memory + 3 * self.cursors.len() + 16;
        while places.len() < self.batch_rows && self.held.len() < most_held {
            let winner = self.tree[0];
            let Some(cursor) = self.cursors.get_mut(winner) else { break };
            let Some(order) = &cursor.order else { break };
            let (batch, row) = order.entries[cursor.at].place;
            places.push((cursor.slot as u32 + batch, row));
            cursor.at += 1;
            if cursor.at == order.entries.len() {
                self.load(winner)?;
            }
            self.replay(winner);
        }
        if places.is_empty() {
            return Ok(None);
        }
        let piece = Piece { batches: self.held.clone(), places };
        self.release();
        Ok(Some(piece))
    }

    /// Keeps only the batches that cursors are in.
    fn release(&mut self) {
        let in_memory = self.in_memory;
        let read = self.held.split_off(in_memory);
        let is_file = |cursor: &&mut Cursor| cursor.batches.is_some() && cursor.order.is_some();
        for cursor in self.cursors.iter_mut().filter(is_file) {
            self.held.push(read[cursor.slot - in_memory].clone());
            cursor.slot = self.held.len() - 1;
        }
    }
}

impl Iterator for Merge {
    type Item = Result<Piece, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let piece = self.piece().transpose();
        self.has_failed = matches!(piece, Some(Err(_)));
        piece
    }
}

/// No sequence has lost at this node yet.
const NOBODY: usize = usize::MAX;
