//! Sorting rows that need not fit in memory.
//!
//! ```text
//! columns   what is typed after --sort-by
//! curve     places of geometries on a curve
//! times     INT96 as numbers in the order of its times
//! keys      the columns that are named there, and what makes them comparable
//! packed    batches in little memory, row by row
//! gather    packed rows at any places become a batch again
//! run       rows in memory, in order
//! run_file  a temporary file, from front to back
//! runs      sorted rows in temporary files
//! merge     several sorted sequences become one
//! ```
//!
//! Rows are packed and collected in chunks, each a small part of the budget; several threads sort the chunks. As long
//! as the sorted chunks fit in most of the budget they stay in memory, the others go to temporary files. In the end all
//! are merged, the earlier one first where rows are equal, and several threads gather the rows. If there are too many
//! files to merge within the budget, neighbours are first merged to longer ones.

mod columns;
mod curve;
mod gather;
mod keys;
mod merge;
mod packed;
mod run;
mod run_file;
mod runs;
mod times;

pub(crate) use columns::{SortColumn, SortColumns};
pub(crate) use keys::{Keys, SortKey};

use crate::failure::Failure;
use crate::inputs::Batches;
use crate::ordered_map::OrderedMap;
use arrow_schema::SchemaRef;
use marquetry_core::write::SpillStore;
use merge::{Merge, Piece, Sequence};
use run::{Keyed, Run};
use run_file::RunFile;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The memory budget, and the threads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// Bytes of rows in memory.
    pub(crate) bytes: usize,
    /// Rows in a batch of the result.
    pub(crate) batch_rows: usize,
    /// Maximum number of files that are merged at once.
    pub(crate) fan_in: usize,
    pub(crate) threads: NonZeroUsize,
}

impl Budget {
    /// A budget whose number of files most systems allow to be open.
    pub(crate) fn new(bytes: usize, batch_rows: usize, threads: NonZeroUsize) -> Self {
        Budget { bytes, batch_rows, fan_in: FAN_IN, threads }
    }

    /// Bytes of the rows that are sorted together. While threads sort, rows for the next one are collected: together
    /// with [`Self::resident_bytes`] that is less than the budget.
    fn chunk_bytes(self) -> usize {
        self.bytes / 16
    }

    /// Bytes of sorted rows that stay in memory.
    fn resident_bytes(self) -> usize {
        self.bytes / 8 * 5
    }

    /// Number of threads that sort.
    fn sorters(self) -> NonZeroUsize {
        self.threads.min(MOST_SORTERS)
    }

    /// Rows of each file in memory at a time, so that many files fit together.
    fn rows_in_file_batch(self, bytes_per_row: usize) -> usize {
        // Two batches of each file, with the keys that their rows are compared by, and some slack.
        let rows = self.bytes / (4 * self.fan_in) / bytes_per_row.max(1);
        rows.clamp(FEWEST_ROWS, self.batch_rows.max(FEWEST_ROWS))
    }
}

/// Sorts the rows of `batches`; those that do not fit in memory go to files of `store`. `seen` is called with the
/// number of rows as they arrive.
pub(crate) fn sorted(
    batches: Batches,
    schema: &SchemaRef,
    keys: Keys,
    budget: Budget,
    store: Arc<dyn SpillStore>,
    mut seen: impl FnMut(usize),
) -> Result<Batches, Failure> {
    let keys = Arc::new(keys);
    let keyed = {
        let keys = keys.clone();
        OrderedMap::new(batches, budget.threads, move |batch| Keyed::new(&batch?, &keys))
    };
    let sorter = Sorter {
        keys: keys.clone(),
        schema: schema.clone(),
        budget,
        store: store.clone(),
        resident: AtomicUsize::new(0),
    };
    let chunks = chunks(keyed, budget.chunk_bytes());
    let mut stored = Vec::new();
    for run in OrderedMap::new(chunks, budget.sorters(), move |chunk| sorter.sort(chunk?)) {
        let (rows, run) = run?;
        seen(rows);
        stored.push(run);
    }
    merged(stored, schema.clone(), keys, budget, &*store)
}

/// Groups batches to chunks of about this many bytes.
fn chunks(
    mut keyed: OrderedMap<Result<arrow_array::RecordBatch, Failure>, Result<Keyed, Failure>>,
    chunk_bytes: usize,
) -> impl Iterator<Item = Result<Vec<Keyed>, Failure>> + Send {
    std::iter::from_fn(move || {
        let (mut chunk, mut bytes) = (Vec::new(), 0);
        while bytes == 0 || bytes < chunk_bytes {
            match keyed.next() {
                Some(Ok(batch)) if batch.num_rows() == 0 => {}
                Some(Ok(batch)) => {
                    bytes += batch.size();
                    chunk.push(batch);
                }
                Some(Err(failure)) => return Some(Err(failure)),
                None => break,
            }
        }
        (!chunk.is_empty()).then_some(Ok(chunk))
    })
}

/// Sorts chunks.
struct Sorter {
    keys: Arc<Keys>,
    schema: SchemaRef,
    budget: Budget,
    store: Arc<dyn SpillStore>,
    /// Bytes of sorted rows in memory.
    resident: AtomicUsize,
}

/// Sorted rows.
enum Stored {
    Memory(Run),
    File(RunFile),
}

impl Sorter {
    /// Sorts a chunk, writes it to a file if it does not fit in memory, and returns its number of rows.
    fn sort(&self, chunk: Vec<Keyed>) -> Result<(usize, Stored), Failure> {
        let run = Run::sorted(chunk, &self.keys);
        let (rows, bytes) = (run.num_rows(), run.size());
        if self.resident.fetch_add(bytes, Ordering::Relaxed) + bytes <= self.budget.resident_bytes() {
            return Ok((rows, Stored::Memory(run)));
        }
        let batch_rows = self.budget.rows_in_file_batch(bytes / rows.max(1));
        let file = runs::write_run(&run, &self.schema, batch_rows, &*self.store)?;
        self.resident.fetch_sub(bytes, Ordering::Relaxed);
        Ok((rows, Stored::File(file)))
    }
}

/// Merges all rows in order.
fn merged(
    mut stored: Vec<Stored>,
    schema: SchemaRef,
    keys: Arc<Keys>,
    budget: Budget,
    store: &dyn SpillStore,
) -> Result<Batches, Failure> {
    let is_file = |stored: &Stored| matches!(stored, Stored::File(_));
    let fan_in = budget.fan_in.max(2);
    while stored.iter().filter(|stored| is_file(stored)).count() > fan_in {
        let (mut longer, mut group) = (Vec::new(), Vec::new());
        // Merging neighbours keeps the order of equal rows.
        for sorted in std::mem::take(&mut stored) {
            let is_full = group.iter().filter(|stored| is_file(stored)).count() == fan_in;
            if is_full && is_file(&sorted) {
                longer.push(longer_file(std::mem::take(&mut group), &schema, &keys, budget, store)?);
            }
            group.push(sorted);
        }
        longer.push(longer_file(group, &schema, &keys, budget, store)?);
        stored = longer;
    }
    let merge = Merge::new(sequences(stored)?, keys, budget.batch_rows)?;
    Ok(Box::new(OrderedMap::new(merge, budget.threads, move |piece: Result<Piece, Failure>| {
        let Piece { batches, places } = piece?;
        gather::gathered(&batches, &places, &schema)
    })))
}

fn longer_file(
    group: Vec<Stored>,
    schema: &SchemaRef,
    keys: &Arc<Keys>,
    budget: Budget,
    store: &dyn SpillStore,
) -> Result<Stored, Failure> {
    let rows = budget.rows_in_file_batch(LONG_ROW);
    let merge = Merge::new(sequences(group)?, keys.clone(), rows)?;
    runs::write_merged(merge, schema, store).map(Stored::File)
}

fn sequences(stored: Vec<Stored>) -> Result<Vec<Sequence>, Failure> {
    let sequence = |stored| match stored {
        Stored::Memory(run) => Ok(Sequence::Memory(run)),
        Stored::File(file) => runs::read(file).map(Sequence::File),
    };
    stored.into_iter().map(sequence).collect()
}

const FAN_IN: usize = 128;
/// More threads would need more chunks than fit in memory.
const MOST_SORTERS: NonZeroUsize = NonZeroUsize::new(4).unwrap();
const FEWEST_ROWS: usize = 16;
/// Assumed bytes of rows that are not measured.
const LONG_ROW: usize = 1 << 10;

#[cfg(test)]
mod tests;
