//! Filtered reads by several threads: each thread reads row groups of its own, ahead of the one whose batches are wanted.
//!
//! ```text
//! row group   [2: given on]   [3: whole, 5 batches]   [4: being read, 2 batches]   [5, 6, ..: not begun]
//! ```
//!
//! Batches end with row groups, so that they are what one thread would give; so is the error, the first in the order of
//! row groups. What is ahead waits in memory, [`IN_FLIGHT`] bytes of it, and a batch a thread.

use super::filtered_reader::{FilteredReader, RowGroupTask};
use super::worker_pool::{Scheduler, WorkerPool};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use marquetry_base::{CancelToken, Executor, Result};
use std::collections::VecDeque;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// A read that passes over rows, by several threads.
pub(super) struct RowGroupParallelReader {
    pool: WorkerPool<RowGroupQueue>,
    schema: SchemaRef,
}

struct RowGroupQueue {
    /// Those that no thread has begun.
    waiting: VecDeque<RowGroupTask>,
    /// Those that were begun, from the one on whose batches are wanted; the number of that one, counted from the first.
    begun: VecDeque<RowGroupBatches>,
    first: usize,
    /// Bytes of the batches that are ready, and how many there may be.
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
    /// The number of the row group that it is in.
    at: Option<usize>,
}

/// The next batch of a row group, which is to be begun if it is given.
struct NextBatch {
    group: usize,
    begins: Option<RowGroupTask>,
}

/// The result; `None` after the last batch.
struct BatchResult {
    group: usize,
    batch: Option<Result<RecordBatch>>,
}

impl RowGroupParallelReader {
    /// What `reader` reads, by the caller's thread and those of `executor`, one for each of `others`, which are to read the same. So many bytes may be
    /// ahead, about. `stop` is what they look at.
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

    /// The schema of all batches.
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The next batch; `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>> {
        self.pool.wait_for(RowGroupQueue::take).transpose()
    }
}

impl RowGroupQueue {
    /// The next batch, `Some(None)` after the last; `None` while it is not ready.
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

    /// Whether there is no batch yet of the row group whose batches are wanted.
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
                // The read ends with it: row groups behind it are not asked for.
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

/// PERF: how many bytes may be read ahead, about. A thread that has to wait for the row groups before its own may as well not be
/// there, and these have a hundred megabytes.
pub(super) const IN_FLIGHT: usize = 256 << 20;
