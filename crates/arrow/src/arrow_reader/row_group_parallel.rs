//! Filtered reads by several threads: each thread reads its own row groups, ahead of the one whose batches are wanted.
//!
//! ```text
//! row group   [2: given on]   [3: whole, 5 batches]   [4: being read, 2 batches]   [5, 6, ..: not begun]
//! ```
//!
//! Batches end with row groups, so that they are those that one thread would return. So is the error: the first in the
//! order of row groups. Batches that are ahead wait in memory, up to [`IN_FLIGHT`] bytes and a batch per thread.

use super::filtered_reader::{FilteredReader, RowGroupTask};
use super::worker_pool::{Scheduler, WorkerPool};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use marquetry_base::{CancelToken, Executor, Result};
use std::collections::VecDeque;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// A reader that skips rows, by several threads.
pub(super) struct RowGroupParallelReader {
    pool: WorkerPool<RowGroupQueue>,
    schema: SchemaRef,
}

struct RowGroupQueue {
    /// The row groups that no thread has begun.
    waiting: VecDeque<RowGroupTask>,
    /// The row groups that were begun, from the one whose batches are wanted on, and the number of that one, counted
    /// from the first.
    begun: VecDeque<RowGroupBatches>,
    first: usize,
    /// Bytes of the batches that are ready, and the limit for them.
    ahead: usize,
    in_flight: usize,
}

#[derive(Default)]
struct RowGroupBatches {
    ready: VecDeque<Result<RecordBatch>>,
    is_read: bool,
}

/// The state of one thread.
struct Worker {
    filtered: FilteredReader,
    /// The number of the row group in which it is.
    at: Option<usize>,
}

/// The next batch of a row group. `begins` is set if the row group must be begun.
struct NextBatch {
    group: usize,
    begins: Option<RowGroupTask>,
}

/// The result of a task; `batch` is `None` after the last batch.
struct BatchResult {
    group: usize,
    batch: Option<Result<RecordBatch>>,
}

impl RowGroupParallelReader {
    /// Reads what `reader` reads, on the caller's thread and on one of `executor` for each of `others`, which must be
    /// equal readers. About `in_flight` bytes may be ready ahead. `stop` cancels all of them.
    pub(super) fn new(
        mut reader: FilteredReader,
        mut others: Vec<FilteredReader>,
        in_flight: usize,
        executor: Arc<dyn Executor>,
        stop: CancelToken,
    ) -> Self {
        let (schema, waiting) = (reader.schema().clone(), reader.take_row_groups());
        others.iter_mut().for_each(|other| drop(other.take_row_groups()));
        others.push(reader);
        let groups = RowGroupQueue { waiting, begun: VecDeque::new(), first: 0, ahead: 0, in_flight };
        let worker = |filtered| Worker { filtered, at: None };
        RowGroupParallelReader {
            pool: WorkerPool::new(groups, others.into_iter().map(worker).collect(), executor, stop),
            schema,
        }
    }

    /// Returns the schema of all batches.
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the next batch; `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>> {
        self.pool.wait_for(RowGroupQueue::take).transpose()
    }
}

impl RowGroupQueue {
    /// Returns the next batch, or `Some(None)` after the last; `None` while it is not ready.
    fn take(&mut self) -> Option<Option<Result<RecordBatch>>> {
        while let Some(group) = self.begun.front_mut() {
            if let Some(batch) = group.ready.pop_front() {
                self.ahead -= size(&batch);
                return Some(Some(batch));
            }
            if !group.is_read {
                return None;
            }
            self.begun.pop_front();
            self.first += 1;
        }
        self.waiting.is_empty().then_some(None)
    }

    /// Returns whether there is no batch yet of the row group whose batches are wanted.
    fn is_waited_for(&self) -> bool {
        self.begun.front().is_none_or(|group| group.ready.is_empty())
    }
}

impl Scheduler for RowGroupQueue {
    type Worker = Worker;
    type Task = NextBatch;
    type Done = BatchResult;

    fn choose(&mut self, reader: &Worker) -> Option<NextBatch> {
        let may_read_ahead = self.ahead < self.in_flight;
        match reader.at {
            Some(group) => {
                let is_wanted = group == self.first && self.is_waited_for();
                (is_wanted || may_read_ahead).then_some(NextBatch { group, begins: None })
            }
            None if self.begun.is_empty() || may_read_ahead => {
                let begins = Some(self.waiting.pop_front()?);
                self.begun.push_back(RowGroupBatches::default());
                Some(NextBatch { group: self.first + self.begun.len() - 1, begins })
            }
            None => None,
        }
    }

    fn run(task: NextBatch, reader: &mut Worker) -> BatchResult {
        if let Some(chosen) = task.begins {
            reader.filtered.begin(chosen);
        }
        let batch = reader.filtered.next().transpose();
        reader.at = matches!(batch, Some(Ok(_))).then_some(task.group);
        BatchResult { group: task.group, batch }
    }

    fn put(&mut self, read: BatchResult) {
        let group = &mut self.begun[read.group - self.first];
        group.is_read = !matches!(read.batch, Some(Ok(_)));
        if let Some(batch) = read.batch {
            if batch.is_err() {
                // The read ends with the error: later row groups are not needed.
                self.waiting.clear();
            }
            self.ahead += size(&batch);
            group.ready.push_back(batch);
        }
    }

    fn has_work(&self) -> bool {
        let is_left = !self.waiting.is_empty() || self.begun.iter().any(|group| !group.is_read);
        is_left && (self.ahead < self.in_flight || self.is_waited_for())
    }
}

fn size(batch: &Result<RecordBatch>) -> usize {
    batch.as_ref().map_or(0, RecordBatch::get_array_memory_size)
}

/// PERF: approximate number of bytes that may be read ahead. Row groups have a hundred megabytes, and a thread that has
/// to wait for those before its own is of no use.
pub(super) const IN_FLIGHT: usize = 256 << 20;
