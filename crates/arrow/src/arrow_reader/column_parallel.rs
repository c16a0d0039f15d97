//! Unfiltered reads by several threads: columns are decoded ahead of the batch that is wanted.
//!
//! ```text
//! queue  a field of the root: its columns, and the arrays that are ready    a [3 4 5]   b [3]   c [3 4 - - 7 8]   next: 3
//! ```
//!
//! A free thread, or the caller while its batch is incomplete, takes the queue with the fewest batches ahead and decodes a
//! stride of batches of it. Queues stay within a window of batches: see [`plan_columns`].
//!
//! A field that is more than one thread's share of the work, such as the only one of a file, has several readers, and
//! threads read strides of it side by side. Each reader skips the pages (and row groups) of the strides that others
//! read. Both threads decode the page in which a stride ends and the next one begins, so such strides are many pages
//! long.
//!
//! Batches are those that one thread would return, and so is the error, if there is one: the first in the order of rows
//! and fields. A reader that skips pages may fail because headers or the index give other row counts than the pages
//! have. Then one reader, which skips nothing, reads that stride and all that follow.

use super::column_schedule::{BatchGrid, ColumnPlan, ColumnSchedule, plan_columns};
use super::root_reader::{BatchBuffers, RootReader};
use super::worker_pool::{Scheduler, WorkerPool};
use crate::convert::DictionaryCache;
use arrow_array::ArrayRef;
use marquetry_base::{CancelToken, Executor, MemoryReservation, Result, Stopwatch};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::metrics::ReadCounters;
use std::collections::VecDeque;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// Reads fields by several threads.
pub(super) struct ColumnParallelReader(WorkerPool<ColumnQueues>);

struct ColumnQueues {
    batches: BatchGrid,
    counters: Arc<ReadCounters>,
    queues: Vec<ColumnQueue>,
    /// The batch that is wanted next, and how many queues do not have it yet.
    next: usize,
    missing: usize,
    /// The queue that was chosen last, and how many of its batches were begun. Queues after it may be less far.
    last: usize,
    least: usize,
}

struct ColumnQueue {
    /// The readers that no thread uses.
    idle: Vec<QueueReader>,
    /// How many batches were read, or are being read.
    begun: usize,
    /// The batches from the next one on; `None` for those that are being read.
    ready: VecDeque<Option<DecodedArray>>,
    schedule: ColumnSchedule,
    /// The batch from which one reader reads everything, and how many times the readers were replaced that way.
    fallback_from: usize,
    changes: usize,
}

/// The state with which a thread reads a field.
struct QueueReader {
    root: RootReader,
    dictionaries: Vec<DictionaryCache>,
    /// The batch that it reads next, if it skips none.
    at: usize,
    /// A reader of the same field from its first row that skips nothing, if this one is one of several.
    fallback: Option<Box<RootReader>>,
}

/// An array, and the memory that is reserved for it until it is handed over.
type DecodedArray = Result<(ArrayRef, MemoryReservation)>;

impl ColumnParallelReader {
    /// Reads `roots` as planned, on the caller's thread and those of `executor`, or on fewer if it has no more. `stop`
    /// cancels the readers of `roots`.
    pub(super) fn new(
        roots: Vec<RootReader>,
        metadata: &Arc<ParquetMetaData>,
        plan: ColumnPlan,
        executor: Arc<dyn Executor>,
        stop: CancelToken,
        counters: Arc<ReadCounters>,
    ) -> Self {
        let schedules = plan_columns(&roots, metadata, plan);
        let (batches, most) =
            (plan.batches, plan.threads.min(schedules.iter().map(|schedule| schedule.readers).sum()));
        let buffers = |_| BatchBuffers::of(metadata.clone(), &roots);
        let workers: Vec<BatchBuffers> = (0..most.max(1)).map(buffers).collect();
        let queues =
            roots.into_iter().zip(schedules).map(|(root, schedule)| ColumnQueue::new(root, schedule));
        let queues: Vec<ColumnQueue> = queues.collect();
        let queues =
            ColumnQueues { batches, counters, missing: queues.len(), queues, next: 0, last: 0, least: 0 };
        ColumnParallelReader(WorkerPool::new(queues, workers, executor, stop))
    }

    /// Returns the arrays of the next batch, of all fields. There must be one.
    pub(super) fn next(&mut self, held: &mut MemoryReservation) -> Result<Vec<ArrayRef>> {
        let made = self.0.wait_for(ColumnQueues::take);
        let mut arrays = Vec::with_capacity(made.len());
        for made in made {
            let (array, of_array) = made?;
            held.merge(of_array);
            arrays.push(array);
        }
        Ok(arrays)
    }
}

/// A queue to continue, and which of its batches to read.
struct StrideTask {
    queue: usize,
    reader: QueueReader,
    first: usize,
    count: usize,
    changes: usize,
    batches: BatchGrid,
    counters: Arc<ReadCounters>,
}

/// The result of a [`StrideTask`].
struct Stride {
    queue: usize,
    /// The arrays up to the first failure.
    made: Vec<DecodedArray>,
    reader: QueueReader,
    first: usize,
    changes: usize,
    /// Whether the reader was one of several and fell back to reading everything.
    is_change: bool,
}

impl ColumnQueues {
    /// Returns the next batch of each queue, once all queues have it.
    fn take(&mut self) -> Option<Vec<DecodedArray>> {
        (self.missing == 0).then(|| {
            self.next += 1;
            let made = self.queues.iter_mut().filter_map(|queue| queue.ready.pop_front().flatten()).collect();
            self.missing = self.queues.iter().filter(|queue| !queue.is_ready()).count();
            made
        })
    }

    /// Returns the queue that is least far ahead, of those that can be continued.
    fn choosable(&self) -> Option<usize> {
        let count = self.batches.count();
        let mut found: Option<usize> = None;
        // PERF: of a thousand queues, most are as far as the last one was, so the first such queue after it will do.
        for i in (self.last..self.queues.len()).chain(0..self.last) {
            let queue = &self.queues[i];
            let end = count.min(self.next.saturating_add(queue.schedule.window));
            if queue.idle.is_empty() || queue.begun >= end {
                continue;
            }
            if queue.begun <= self.least {
                return Some(i);
            }
            if found.is_none_or(|found| queue.begun < self.queues[found].begun) {
                found = Some(i);
            }
        }
        found
    }
}

impl Scheduler for ColumnQueues {
    type Worker = BatchBuffers;
    type Task = StrideTask;
    type Done = Stride;

    fn choose(&mut self, _: &BatchBuffers) -> Option<StrideTask> {
        let (queue, batches) = (self.choosable()?, self.batches);
        let chosen = &mut self.queues[queue];
        (self.last, self.least) = (queue, chosen.begun);
        // The reader that has to skip the least.
        let nearest = (0..chosen.idle.len()).max_by_key(|&i| chosen.idle[i].at)?;
        let (reader, first) = (chosen.idle.swap_remove(nearest), chosen.begun);
        let count = chosen.schedule.stride.min(batches.count() - first);
        chosen.begun += count;
        let (changes, counters) = (chosen.changes, self.counters.clone());
        Some(StrideTask { queue, reader, first, count, changes, batches, counters })
    }

    fn run(task: StrideTask, buffers: &mut BatchBuffers) -> Stride {
        let StrideTask { queue, mut reader, first, count, changes, batches, counters } = task;
        let start = Stopwatch::start();
        let (mut made, was_fallback) = (Vec::with_capacity(count), reader.fallback.is_none());
        for batch in first..first + count {
            made.push(reader.read(batch, batches, buffers));
            if made.last().is_some_and(Result::is_err) {
                break;
            }
        }
        counters.decoded(start);
        let is_change = reader.fallback.is_none() && !was_fallback;
        Stride { queue, made, reader, first, changes, is_change }
    }

    fn put(&mut self, stride: Stride) {
        let queue = &mut self.queues[stride.queue];
        let was_ready = queue.is_ready();
        queue.put(self.next, stride);
        self.missing -= usize::from(!was_ready && queue.is_ready());
    }

    fn has_work(&self) -> bool {
        self.choosable().is_some()
    }
}

impl ColumnQueue {
    fn new(root: RootReader, schedule: ColumnSchedule) -> Self {
        let part = || QueueReader::new(root.new_like().into_split(), Some(Box::new(root.new_like())));
        let idle = match schedule.readers {
            1 => vec![QueueReader::new(root, None)],
            readers => (0..readers).map(|_| part()).collect(),
        };
        ColumnQueue {
            idle,
            begun: 0,
            ready: VecDeque::new(),
            schedule,
            fallback_from: usize::MAX,
            changes: 0,
        }
    }

    /// Returns whether the batch that is wanted next is ready.
    fn is_ready(&self) -> bool {
        matches!(self.ready.front(), Some(Some(_)))
    }

    /// Takes back a stride and its reader. `next` is the first batch in `ready`.
    fn put(&mut self, next: usize, stride: Stride) {
        let is_current = stride.changes == self.changes;
        if !is_current && stride.first > self.fallback_from {
            return;
        }
        let failed = stride.made.last().is_some_and(Result::is_err);
        // INVARIANT: batches are handed over only once they are ready, so `next` is not behind the first batch of a stride.
        let (place, end) = (stride.first - next, stride.first + stride.made.len());
        self.ready.resize_with(self.ready.len().max(end - next), || None);
        for (slot, made) in self.ready.range_mut(place..).zip(stride.made) {
            *slot = Some(made);
        }
        if stride.is_change {
            self.ready.truncate(end - next);
            self.idle.clear();
            (self.fallback_from, self.begun) = (stride.first, end);
            self.changes += 1;
        }
        if failed {
            // The read ends with that batch: later ones are not needed.
            self.begun = usize::MAX;
        } else if is_current || stride.is_change {
            self.idle.push(stride.reader);
        }
    }
}

impl QueueReader {
    fn new(root: RootReader, fallback: Option<Box<RootReader>>) -> Self {
        let dictionaries = root.columns.iter().map(|_| DictionaryCache::default()).collect();
        QueueReader { root, dictionaries, at: 0, fallback }
    }

    /// Reads the array of a batch at or after this reader's position.
    fn read(&mut self, batch: usize, batches: BatchGrid, buffers: &mut BatchBuffers) -> DecodedArray {
        let made = self.read_at(batch, batches, buffers);
        if made.is_err()
            && let Some(fallback) = self.fallback.take()
        {
            *self = QueueReader::new(*fallback, None);
            return self.read_at(batch, batches, buffers);
        }
        made
    }

    fn read_at(&mut self, batch: usize, batches: BatchGrid, buffers: &mut BatchBuffers) -> DecodedArray {
        let skip = batches.first_of(batch) - batches.first_of(self.at);
        let skip = if self.at == 0 { batches.skip.saturating_add(skip) } else { skip };
        let mut held = MemoryReservation::default();
        buffers.swap_dictionaries(&self.root, &mut self.dictionaries);
        let array = self.root.read(skip, batches.rows_of(batch), buffers, &mut held);
        buffers.swap_dictionaries(&self.root, &mut self.dictionaries);
        self.at = batch + 1;
        array.map(|array| (array, held))
    }
}
