//! Sorting rows that need not fit in memory.
//!
//! ```text
//! keys    what is typed after --sort-by, and the columns that it names
//! memory  rows that are in memory, in order
//! runs    sorted rows in temporary files, and merging those
//! merge   several sorted sequences become one
//! ```
//!
//! Rows are collected until they fill the budget, sorted, and written to a temporary file: a run. In the end the runs
//! are merged, the earlier one first where rows are equal. Are there too many of them to be merged within the budget,
//! neighbouring runs are merged to longer ones before.

mod keys;
mod memory;
mod merge;
mod runs;

pub(crate) use keys::{Keys, SortKey};

use crate::failure::Failure;
use crate::inputs::Batches;
use arrow_schema::SchemaRef;
use memory::Memory;
use runs::Runs;

/// How much is kept where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// Bytes of rows in memory.
    pub(crate) bytes: usize,
    /// Rows in a batch of the result.
    pub(crate) batch_rows: usize,
    /// Most runs that are merged at once.
    pub(crate) fan_in: usize,
}

impl Budget {
    /// A budget with a number of runs that keeps the files open within what systems allow.
    pub(crate) fn new(bytes: usize, batch_rows: usize) -> Self {
        Budget { bytes, batch_rows, fan_in: FAN_IN }
    }
}

/// The rows of `batches`, sorted. `seen` is told the number of rows as they are taken in.
pub(crate) fn sorted(
    batches: Batches,
    schema: &SchemaRef,
    keys: Keys,
    budget: Budget,
    mut seen: impl FnMut(usize),
) -> Result<Batches, Failure> {
    let mut memory = Memory::new(&keys, budget);
    let mut runs = Runs::new(schema.clone(), budget);
    for batch in batches {
        let batch = crate::convert::compact(&batch?)?;
        let rows = batch.num_rows();
        if rows == 0 {
            continue;
        }
        memory.add(batch)?;
        seen(rows);
        if memory.is_full() {
            let rows = memory.rows_in_run_batch();
            runs.push(memory.drain(rows), rows)?;
        }
    }
    if runs.is_empty() {
        return Ok(Box::new(memory.drain(budget.batch_rows)));
    }
    if !memory.is_empty() {
        let rows = memory.rows_in_run_batch();
        runs.push(memory.drain(rows), rows)?;
    }
    runs.merged(keys)
}

const FAN_IN: usize = 64;

#[cfg(test)]
mod tests;
