//! Reading by several threads: fields are read ahead of the batch that is wanted.
//!
//! ```text
//! lane   a field of the root: its columns, and the arrays that are ready    a [3 4 5]   b [3]   c [3 4 - - 7 8]   next: 3
//! ```
//!
//! Whoever has time, the caller too while its batch is not complete, takes the lane that is least far ahead and reads a
//! stride of batches of it. Lanes stay within a window of batches: see [`steps`].
//!
//! A field that is more than one thread's share of the work, as the only one of a file is, has several readers, and threads
//! read strides of it side by side: each reader passes over the pages (and row groups) of the strides that others read. The
//! page in which a stride ends and the next one begins is decoded by both, so that such strides are many pages long.
//!
//! Batches are those that one thread would give, and so is the error, if there is one: the first in the order of rows and
//! fields. Where a reader that passes over pages fails, headers or index may tell other rows than pages have: that stride and
//! all that follow are read by one reader then, which passes over nothing.

use super::crew::{Crew, Work};
use super::root::{Room, Root};
use super::steps::{Batches, Step, steps};
use crate::leaf::DictionaryCache;
use arrow_array::ArrayRef;
use marquetry_base::{MemoryReservation, Result};
use marquetry_core::metadata::ParquetMetaData;
use std::collections::VecDeque;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// Fields that are read by several threads.
pub(super) struct Parallel(Crew<Lanes>);

struct Lanes {
    batches: Batches,
    lanes: Vec<Lane>,
    /// The batch that is wanted next, and how many lanes do not have it yet.
    next: usize,
    missing: usize,
    /// The lane that was chosen last, and how far it had been read. Those behind it may be less far.
    last: usize,
    least: usize,
}

struct Lane {
    /// The readers that no thread reads with.
    idle: Vec<Reader>,
    /// How many batches were read, or are being read.
    begun: usize,
    /// The batches from the next one on; `None` while they are being read.
    ready: VecDeque<Option<Made>>,
    step: Step,
    /// Since which batch one reader reads all, after how many such changes.
    alone_from: usize,
    changes: usize,
}

/// What a thread takes to read on.
struct Reader {
    root: Root,
    dictionaries: Vec<DictionaryCache>,
    /// The batch that it is before.
    at: usize,
    /// What reads the field from its first row and passes over nothing, where this one is one of several.
    alone: Option<Box<Root>>,
}

/// An array, and what it takes of the read's memory until it is handed over.
type Made = Result<(ArrayRef, MemoryReservation)>;

impl Parallel {
    /// Reads `roots` by `threads` threads, of which the caller is one; by fewer, if no more can be started. Strides of a
    /// field that several threads read have so many pages, about.
    pub(super) fn new(
        roots: Vec<Root>,
        metadata: &Arc<ParquetMetaData>,
        batches: Batches,
        threads: usize,
        pages: u64,
    ) -> Self {
        let steps = steps(&roots, metadata, batches, threads, pages);
        let most = threads.min(steps.iter().map(|step| step.readers).sum());
        let room = |_| Room::of(metadata.clone(), &roots);
        let (own, others): (Room, Vec<Room>) = (room(0), (1..most).map(room).collect());
        let lanes = roots.into_iter().zip(steps).map(|(root, step)| Lane::new(root, step));
        let lanes: Vec<Lane> = lanes.collect();
        let lanes = Lanes { batches, missing: lanes.len(), lanes, next: 0, last: 0, least: 0 };
        Parallel(Crew::new(lanes, own, others))
    }

    /// The arrays of the next batch, of all fields; there must be one.
    pub(super) fn next(&mut self, held: &mut MemoryReservation) -> Result<Vec<ArrayRef>> {
        let made = self.0.wait_for(Lanes::take);
        let mut arrays = Vec::with_capacity(made.len());
        for made in made {
            let (array, of_array) = made?;
            held.join(of_array);
            arrays.push(array);
        }
        Ok(arrays)
    }
}

/// A lane that is to be read on, and which batches of it.
struct Chosen {
    lane: usize,
    reader: Reader,
    first: usize,
    count: usize,
    changes: usize,
    batches: Batches,
}

/// What came of it.
struct Stride {
    lane: usize,
    /// Up to the first failure.
    made: Vec<Made>,
    reader: Reader,
    first: usize,
    changes: usize,
    /// Whether the reader was one of several, and is so no more.
    is_change: bool,
}

impl Lanes {
    /// The next batch of each lane, once there is one of all.
    fn take(&mut self) -> Option<Vec<Made>> {
        (self.missing == 0).then(|| {
            self.next += 1;
            let made = self.lanes.iter_mut().filter_map(|lane| lane.ready.pop_front().flatten()).collect();
            self.missing = self.lanes.iter().filter(|lane| !lane.is_ready()).count();
            made
        })
    }

    /// The lane that is least far ahead of those that can be read on.
    fn choosable(&self) -> Option<usize> {
        let count = self.batches.count();
        let mut found: Option<usize> = None;
        // PERF: of a thousand lanes most are as far as the last one was: the next of them does.
        for i in (self.last..self.lanes.len()).chain(0..self.last) {
            let lane = &self.lanes[i];
            let end = count.min(self.next.saturating_add(lane.step.window));
            if lane.idle.is_empty() || lane.begun >= end {
                continue;
            }
            if lane.begun <= self.least {
                return Some(i);
            }
            if found.is_none_or(|found| lane.begun < self.lanes[found].begun) {
                found = Some(i);
            }
        }
        found
    }
}

impl Work for Lanes {
    type Room = Room;
    type Task = Chosen;
    type Done = Stride;

    fn choose(&mut self, _: &Room) -> Option<Chosen> {
        let (lane, batches) = (self.choosable()?, self.batches);
        let chosen = &mut self.lanes[lane];
        (self.last, self.least) = (lane, chosen.begun);
        // The one that has to pass over the least.
        let nearest = (0..chosen.idle.len()).max_by_key(|&i| chosen.idle[i].at)?;
        let (reader, first) = (chosen.idle.swap_remove(nearest), chosen.begun);
        let count = chosen.step.stride.min(batches.count() - first);
        chosen.begun += count;
        Some(Chosen { lane, reader, first, count, changes: chosen.changes, batches })
    }

    fn run(task: Chosen, room: &mut Room) -> Stride {
        let Chosen { lane, mut reader, first, count, changes, batches } = task;
        let (mut made, was_alone) = (Vec::with_capacity(count), reader.alone.is_none());
        for batch in first..first + count {
            made.push(reader.read(batch, batches, room));
            if made.last().is_some_and(Result::is_err) {
                break;
            }
        }
        let is_change = reader.alone.is_none() && !was_alone;
        Stride { lane, made, reader, first, changes, is_change }
    }

    fn put(&mut self, stride: Stride) {
        let lane = &mut self.lanes[stride.lane];
        let was_ready = lane.is_ready();
        lane.put(self.next, stride);
        self.missing -= usize::from(!was_ready && lane.is_ready());
    }

    fn goes_on(&self) -> bool {
        self.choosable().is_some()
    }
}

impl Lane {
    fn new(root: Root, step: Step) -> Self {
        let part = || Reader::new(root.another().part(), Some(Box::new(root.another())));
        let idle = match step.readers {
            1 => vec![Reader::new(root, None)],
            readers => (0..readers).map(|_| part()).collect(),
        };
        Lane { idle, begun: 0, ready: VecDeque::new(), step, alone_from: usize::MAX, changes: 0 }
    }

    /// Whether the batch that is wanted next is there.
    fn is_ready(&self) -> bool {
        matches!(self.ready.front(), Some(Some(_)))
    }

    /// Takes a stride, and the reader back; `next` is the first batch of those that are ready.
    fn put(&mut self, next: usize, stride: Stride) {
        let is_current = stride.changes == self.changes;
        if !is_current && stride.first > self.alone_from {
            return;
        }
        let failed = stride.made.last().is_some_and(Result::is_err);
        // INVARIANT: batches are handed over only once they are ready: `next` is not behind the first of a stride.
        let (place, end) = (stride.first - next, stride.first + stride.made.len());
        self.ready.resize_with(self.ready.len().max(end - next), || None);
        for (slot, made) in self.ready.range_mut(place..).zip(stride.made) {
            *slot = Some(made);
        }
        if stride.is_change {
            self.ready.truncate(end - next);
            self.idle.clear();
            (self.alone_from, self.begun) = (stride.first, end);
            self.changes += 1;
        }
        if failed {
            // The read ends with that batch: those behind it are not asked for.
            self.begun = usize::MAX;
        } else if is_current || stride.is_change {
            self.idle.push(stride.reader);
        }
    }
}

impl Reader {
    fn new(root: Root, alone: Option<Box<Root>>) -> Self {
        let dictionaries = root.columns.iter().map(|_| DictionaryCache::default()).collect();
        Reader { root, dictionaries, at: 0, alone }
    }

    /// The array of a batch that is not behind this reader.
    fn read(&mut self, batch: usize, batches: Batches, room: &mut Room) -> Made {
        let made = self.read_at(batch, batches, room);
        if made.is_err()
            && let Some(alone) = self.alone.take()
        {
            *self = Reader::new(*alone, None);
            return self.read_at(batch, batches, room);
        }
        made
    }

    fn read_at(&mut self, batch: usize, batches: Batches, room: &mut Room) -> Made {
        let skip = batches.first_of(batch) - batches.first_of(self.at);
        let skip = if self.at == 0 { batches.skip.saturating_add(skip) } else { skip };
        let mut held = MemoryReservation::default();
        room.swap_dictionaries(&self.root, &mut self.dictionaries);
        let array = self.root.read(skip, batches.rows_of(batch), room, &mut held);
        room.swap_dictionaries(&self.root, &mut self.dictionaries);
        self.at = batch + 1;
        array.map(|array| (array, held))
    }
}
