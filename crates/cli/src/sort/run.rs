//! A sorted run in memory.

use super::keys::{Keys, Prefix, prefix};
use super::packed::{Packed, Place};
use crate::failure::Failure;
use arrow_array::RecordBatch;
use arrow_row::Rows;
use std::cmp::Ordering;
use std::sync::Arc;

/// Rows with their comparable bytes.
pub(super) struct Keyed {
    pub(super) packed: Packed,
    pub(super) compared: Rows,
}

impl Keyed {
    pub(super) fn new(batch: &RecordBatch, keys: &Keys) -> Result<Self, Failure> {
        Ok(Keyed { packed: Packed::new(batch)?, compared: keys.rows(batch)? })
    }

    pub(super) fn num_rows(&self) -> usize {
        self.compared.num_rows()
    }

    /// Size in memory, in bytes, including the order.
    pub(super) fn size(&self) -> usize {
        self.packed.size() + self.compared.size() + self.num_rows() * size_of::<Entry>()
    }
}

/// A row in an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) prefix: Prefix,
    /// The number of a batch, and of a row in it.
    pub(super) place: Place,
}

/// Sorted rows.
pub(super) struct Run {
    pub(super) batches: Vec<Arc<Packed>>,
    pub(super) order: Order,
}

/// Rows in order, starting with the next one.
pub(super) struct Order {
    pub(super) entries: Vec<Entry>,
    /// Comparable bytes of the rows of each batch; empty if prefixes suffice.
    compared: Vec<Rows>,
}

impl Order {
    /// The rows of some batches in their current order.
    pub(super) fn unsorted(compared: Vec<Rows>, keys: &Keys) -> Self {
        let mut entries = Vec::with_capacity(compared.iter().map(Rows::num_rows).sum());
        for (batch, rows) in compared.iter().enumerate() {
            let entry = |(row, bytes)| Entry { prefix: prefix(bytes), place: (batch as u32, row as u32) };
            entries.extend(rows.iter().enumerate().map(entry));
        }
        Order { entries, compared: if keys.are_short() { Vec::new() } else { compared } }
    }

    /// Sorts the rows; equal ones by their places, as a stable sort would.
    fn sort(&mut self) {
        let Order { entries, compared } = self;
        match compared.is_empty() {
            true => entries.sort_unstable(),
            false => entries.sort_unstable_by(|a, b| {
                let rest = || row(compared, a).cmp(&row(compared, b)).then(a.place.cmp(&b.place));
                a.prefix.cmp(&b.prefix).then_with(rest)
            }),
        }
    }

    /// Compares the row at `at` with one of another order.
    #[inline]
    pub(super) fn compare(&self, at: usize, other: &Order, other_at: usize) -> Ordering {
        let (a, b) = (&self.entries[at], &other.entries[other_at]);
        a.prefix.cmp(&b.prefix).then_with(|| match self.compared.is_empty() {
            true => Ordering::Equal,
            false => row(&self.compared, a).cmp(&row(&other.compared, b)),
        })
    }

    fn size(&self) -> usize {
        self.entries.len() * size_of::<Entry>() + self.compared.iter().map(Rows::size).sum::<usize>()
    }
}

fn row<'a>(compared: &'a [Rows], entry: &Entry) -> arrow_row::Row<'a> {
    compared[entry.place.0 as usize].row(entry.place.1 as usize)
}

impl Run {
    /// Sorts the rows of some batches.
    pub(super) fn sorted(batches: Vec<Keyed>, keys: &Keys) -> Self {
        let (batches, compared) =
            batches.into_iter().map(|keyed| (Arc::new(keyed.packed), keyed.compared)).unzip();
        let mut order = Order::unsorted(compared, keys);
        order.sort();
        Run { batches, order }
    }

    pub(super) fn num_rows(&self) -> usize {
        self.order.entries.len()
    }

    /// Size in memory, in bytes.
    pub(super) fn size(&self) -> usize {
        self.batches.iter().map(|batch| batch.size()).sum::<usize>() + self.order.size()
    }
}
