//! Reading by several threads: fields are read ahead of the batch that is wanted.
//!
//! ```text
//! lane   a field of the root: its columns, and the arrays that are ready    a [3 4 5]   b [3]   c [3 4 - - 7 8]   next: 3
//! ```
//!
//! Whoever has time, the caller too while its batch is not complete, takes the lane that is least far ahead and reads a
//! stride of batches of it. Lanes stay within a window of batches; all windows together are [`IN_FLIGHT`] bytes wide, about.
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
use crate::leaf::DictionaryCache;
use arrow_array::ArrayRef;
use marquetry_base::{Held, Result};
use marquetry_core::meta::ParquetMetaData;
use std::collections::VecDeque;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// Fields that are read by several threads.
pub(super) struct Parallel(Crew<Lanes>);

/// How lanes are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    /// How many threads may read a lane side by side.
    readers: usize,
    /// How many batches it is read at a time, and how many it may be ahead.
    stride: usize,
    window: usize,
}

/// What batches there are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Batches {
    /// Rows that are passed over before the first.
    pub(super) skip: usize,
    /// Rows of all batches together, and of each but the last.
    pub(super) rows: usize,
    pub(super) size: usize,
}

struct Lanes {
    batches: Batches,
    lanes: Vec<Lane>,
    /// The batch that is wanted next.
    next: usize,
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
type Made = Result<(ArrayRef, Held)>;

impl Parallel {
    /// Reads `roots` by `threads` threads, of which the caller is one; by fewer, if no more can be started. Strides of a
    /// field that several threads read have `part` bytes, about.
    pub(super) fn new(
        roots: Vec<Root>,
        metadata: &Arc<ParquetMetaData>,
        batches: Batches,
        threads: usize,
        part: u64,
    ) -> Self {
        let steps = steps(&roots, metadata, batches, threads, part);
        let most = threads.min(steps.iter().map(|step| step.readers).sum());
        let lanes = roots.into_iter().zip(steps).map(|(root, step)| Lane::new(root, step));
        let lanes = Lanes { batches, lanes: lanes.collect(), next: 0 };
        let room = || Room::new(metadata.clone());
        Parallel(Crew::new(lanes, room(), (1..most).map(|_| room())))
    }

    /// The arrays of the next batch, of all fields; there must be one.
    pub(super) fn next(&mut self, held: &mut Held) -> Result<Vec<ArrayRef>> {
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
        let is_ready = |lane: &Lane| matches!(lane.ready.front(), Some(Some(_)));
        self.lanes.iter().all(is_ready).then(|| {
            self.next += 1;
            self.lanes.iter_mut().filter_map(|lane| lane.ready.pop_front().flatten()).collect()
        })
    }

    /// The lane that is least far ahead of those that can be read on.
    fn choosable(&self) -> Option<usize> {
        let count = self.batches.count();
        let end = |lane: &Lane| count.min(self.next.saturating_add(lane.step.window));
        let waiting = self.lanes.iter().enumerate();
        let waiting = waiting.filter(|(_, lane)| !lane.idle.is_empty() && lane.begun < end(lane));
        waiting.min_by_key(|(_, lane)| lane.begun).map(|(i, _)| i)
    }
}

impl Work for Lanes {
    type Room = Room;
    type Task = Chosen;
    type Done = Stride;

    fn choose(&mut self, _: &Room) -> Option<Chosen> {
        let (lane, batches) = (self.choosable()?, self.batches);
        let chosen = &mut self.lanes[lane];
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
        self.lanes[stride.lane].put(self.next, stride);
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
        let mut held = Held::default();
        room.swap_dictionaries(&self.root, &mut self.dictionaries);
        let array = self.root.read(skip, batches.rows_of(batch), room, &mut held);
        room.swap_dictionaries(&self.root, &mut self.dictionaries);
        self.at = batch + 1;
        array.map(|array| (array, held))
    }
}

impl Batches {
    fn count(self) -> usize {
        self.rows.div_ceil(self.size.max(1))
    }

    /// Rows of all batches before.
    fn first_of(self, batch: usize) -> usize {
        batch.saturating_mul(self.size).min(self.rows)
    }

    fn rows_of(self, batch: usize) -> usize {
        self.first_of(batch + 1) - self.first_of(batch)
    }
}

/// How each of `roots` is read.
fn steps(
    roots: &[Root],
    metadata: &ParquetMetaData,
    batches: Batches,
    threads: usize,
    part: u64,
) -> Vec<Step> {
    let bytes: Vec<u64> = roots.iter().map(|root| bytes_of_batch(root, metadata, batches.size)).collect();
    let all = bytes.iter().fold(0u64, |all, bytes| all.saturating_add(*bytes)).max(1);
    let most = usize::try_from(IN_FLIGHT / all).unwrap_or(usize::MAX).max(2);
    let stride = (STRIDE_ROWS / batches.size.max(1)).clamp(1, most / 2);
    let of_one = Step { readers: 1, stride, window: most.min(stride * STRIDES) };
    let step = |(root, bytes): (&Root, u64)| {
        let shares = (u128::from(bytes) * threads as u128).div_ceil(u128::from(all)) as usize;
        let stride = usize::try_from(part / bytes.max(1)).unwrap_or(usize::MAX).clamp(1, most / 2);
        let readers = shares.min(batches.count().div_ceil(stride)).min(most / stride);
        // INVARIANT: an index is only known to be right where all pages are read.
        match readers > 1 && batches.skip == 0 && root.columns.iter().all(|column| column.1.is_divisible()) {
            true => Step { readers, stride, window: most.min(stride * (readers + 1)) },
            false => of_one,
        }
    };
    roots.iter().zip(bytes).map(step).collect()
}

/// What a batch of `size` rows takes, about.
fn bytes_of_batch(root: &Root, metadata: &ParquetMetaData, size: usize) -> u64 {
    let (mut bytes, mut rows) = (0u64, 0u64);
    for row_group in metadata.row_groups().take(FEW_ROW_GROUPS) {
        rows = rows.saturating_add(row_group.num_rows());
        for chunk in root.columns.iter().filter_map(|column| row_group.column(column.0).ok()) {
            bytes = bytes.saturating_add(u64::try_from(chunk.uncompressed_size()).unwrap_or(0));
        }
    }
    // What dictionaries and runs make of a byte is not known; a value has eight, or less.
    let values = root.columns.len() as u128 * 8;
    let of_row = u128::from(bytes).div_ceil(u128::from(rows.max(1))).max(values);
    u64::try_from(of_row * size as u128).unwrap_or(u64::MAX)
}

/// How many bytes may be read ahead, about.
const IN_FLIGHT: u64 = 64 << 20;
/// PERF: rows of a lane that are read at a time. Handing lanes over costs as much as some thousand values.
const STRIDE_ROWS: usize = 1 << 16;
/// How many times that a lane may be ahead.
const STRIDES: usize = 4;
/// PERF: bytes of a lane that are read at a time where several threads read it. Pages have up to 1 MiB, and the one in which
/// strides meet is decoded twice.
pub(super) const PART: u64 = 8 << 20;
/// Row groups that tell how large rows are.
const FEW_ROW_GROUPS: usize = 4;
