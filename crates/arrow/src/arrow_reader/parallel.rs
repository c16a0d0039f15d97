//! Reading by several threads: fields are read ahead of the batch that is wanted, each by one thread at a time.
//!
//! ```text
//! lane   a field of the root: its columns, and the arrays that are ready    a [3 4 5]   b [3]   c [3 4 5 6]   next: 3
//! ```
//!
//! Whoever has time, the caller too while its batch is not complete, takes the lane that is least far ahead and reads some
//! batches of it. Lanes stay within a window of batches, which is as wide as [`IN_FLIGHT`] bytes allow. Batches are those
//! that one thread would give, and so is the error, if there is one: the first in the order of rows and fields.

use super::root::{Room, Root};
use crate::leaf::DictionaryCache;
use arrow_array::ArrayRef;
use marquetry_base::{Held, Result};
use marquetry_core::meta::ParquetMetaData;
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Fields that are read by several threads.
pub(super) struct Parallel {
    shared: Arc<Shared>,
    others: Vec<JoinHandle<()>>,
    /// The caller's.
    room: Room,
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

struct Shared {
    batches: Batches,
    /// How many batches a lane is read at a time, and how many it may be ahead.
    stride: usize,
    window: usize,
    state: Mutex<State>,
    /// Something is ready, or there is work, or all is over.
    changed: Condvar,
}

struct State {
    lanes: Vec<Lane>,
    /// The batch that is wanted next.
    next: usize,
    is_over: bool,
    /// What a thread panicked with.
    panic: Option<Box<dyn Any + Send>>,
}

struct Lane {
    /// `None` while a thread reads it.
    work: Option<Work>,
    /// How many batches were read, or are being read.
    begun: usize,
    ready: VecDeque<Made>,
}

/// What a thread takes to read on.
struct Work {
    root: Root,
    dictionaries: Vec<DictionaryCache>,
}

/// An array, and what it takes of the read's memory until it is handed over.
type Made = Result<(ArrayRef, Held)>;

impl Parallel {
    /// Reads `roots` by `threads` threads, of which the caller is one; by fewer, if no more can be started.
    pub(super) fn new(
        roots: Vec<Root>,
        metadata: &Arc<ParquetMetaData>,
        batches: Batches,
        threads: usize,
    ) -> Self {
        let (stride, window) = steps(&roots, metadata, batches.size);
        let mut lanes: Vec<Lane> = Vec::with_capacity(roots.len());
        for root in roots {
            let dictionaries = root.columns.iter().map(|_| DictionaryCache::default()).collect();
            lanes.push(Lane { work: Some(Work { root, dictionaries }), begun: 0, ready: VecDeque::new() });
        }
        let most = threads.min(lanes.len());
        let state = State { lanes, next: 0, is_over: false, panic: None };
        let shared =
            Arc::new(Shared { batches, stride, window, state: Mutex::new(state), changed: Condvar::new() });
        let others = (1..most).filter_map(|_| {
            let (shared, mut room) = (shared.clone(), Room::new(metadata.clone()));
            let run = move || shared.run(&mut room);
            std::thread::Builder::new().name("marquetry-read".to_owned()).spawn(run).ok()
        });
        let others = others.collect();
        Parallel { others, shared, room: Room::new(metadata.clone()) }
    }

    /// The arrays of the next batch, of all fields; there must be one.
    pub(super) fn next(&mut self, held: &mut Held) -> Result<Vec<ArrayRef>> {
        let shared = &*self.shared;
        let mut state = shared.state();
        loop {
            if let Some(panic) = state.panic.take() {
                drop(state);
                resume_unwind(panic);
            }
            if state.lanes.iter().all(|lane| !lane.ready.is_empty()) {
                break;
            }
            state = match shared.choose(&mut state) {
                Some(chosen) => {
                    drop(state);
                    shared.read(chosen, &mut self.room)
                }
                None => shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        state.next += 1;
        let made: Vec<Made> = state.lanes.iter_mut().filter_map(|lane| lane.ready.pop_front()).collect();
        // The window has moved.
        let goes_on = shared.choosable(&state).is_some();
        drop(state);
        if goes_on {
            shared.changed.notify_one();
        }
        let mut arrays = Vec::with_capacity(made.len());
        for made in made {
            let (array, of_array) = made?;
            held.join(of_array);
            arrays.push(array);
        }
        Ok(arrays)
    }
}

impl Drop for Parallel {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        self.shared.changed.notify_all();
        for other in self.others.drain(..) {
            // Its panic, if it had one, was caught.
            let _ = other.join();
        }
    }
}

/// A lane that is to be read on, and which batches of it.
struct Chosen {
    lane: usize,
    work: Work,
    first: usize,
    count: usize,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // INVARIANT: what may panic runs outside of the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread does that is not the caller's.
    fn run(&self, room: &mut Room) {
        let mut state = self.state();
        while !state.is_over {
            state = match self.choose(&mut state) {
                Some(chosen) => {
                    drop(state);
                    self.read(chosen, room)
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// The lane that is least far ahead of those that can be read on.
    fn choosable(&self, state: &State) -> Option<usize> {
        let end = self.batches.count().min(state.next.saturating_add(self.window));
        let waiting = state.lanes.iter().enumerate();
        let waiting = waiting.filter(|(_, lane)| lane.work.is_some() && lane.begun < end);
        waiting.min_by_key(|(_, lane)| lane.begun).map(|(i, _)| i)
    }

    fn choose(&self, state: &mut State) -> Option<Chosen> {
        let lane = self.choosable(state)?;
        let chosen = &mut state.lanes[lane];
        let (work, first) = (chosen.work.take()?, chosen.begun);
        let count = self.stride.min(self.batches.count() - first);
        chosen.begun += count;
        Some(Chosen { lane, work, first, count })
    }

    /// Reads batches of a lane; the lock is taken again at the end. After a failure the lane is not read on.
    fn read(&self, chosen: Chosen, room: &mut Room) -> MutexGuard<'_, State> {
        let Chosen { lane, mut work, first, count } = chosen;
        let read = catch_unwind(AssertUnwindSafe(|| {
            room.swap_dictionaries(&work.root, &mut work.dictionaries);
            let mut made = Vec::with_capacity(count);
            for batch in first..first + count {
                let skip = if batch == 0 { self.batches.skip } else { 0 };
                let mut held = Held::default();
                let array = work.root.read(skip, self.batches.rows_of(batch), room, &mut held);
                made.push(array.map(|array| (array, held)));
                if made.last().is_some_and(Result::is_err) {
                    break;
                }
            }
            room.swap_dictionaries(&work.root, &mut work.dictionaries);
            (made, work)
        }));
        let mut state = self.state();
        match read {
            Ok((made, work)) => {
                let failed = made.last().is_some_and(Result::is_err);
                let lane = &mut state.lanes[lane];
                lane.ready.extend(made);
                // The reader ends with the batch that failed: what the lane does not have is not asked for.
                lane.work = (!failed).then_some(work);
            }
            Err(panic) => state.panic = Some(panic),
        }
        self.changed.notify_all();
        state
    }
}

impl Batches {
    fn count(self) -> usize {
        self.rows.div_ceil(self.size.max(1))
    }

    fn rows_of(self, batch: usize) -> usize {
        (self.rows - batch * self.size).min(self.size)
    }
}

/// How many batches of `size` rows a lane is read at a time, and how many it may be ahead.
fn steps(roots: &[Root], metadata: &ParquetMetaData, size: usize) -> (usize, usize) {
    let leaves = || roots.iter().flat_map(|root| root.columns.iter().map(|column| column.0));
    let (mut bytes, mut rows) = (0u64, 0u64);
    for row_group in metadata.row_groups().take(FEW_ROW_GROUPS) {
        rows = rows.saturating_add(row_group.num_rows());
        for chunk in leaves().filter_map(|leaf| row_group.column(leaf).ok()) {
            bytes = bytes.saturating_add(u64::try_from(chunk.uncompressed_size()).unwrap_or(0));
        }
    }
    // What dictionaries and runs make of a byte is not known; a value has eight, or less.
    let values = leaves().count() as u64 * 8;
    let of_batch = (bytes / rows.max(1)).max(values).saturating_mul(size as u64).max(1);
    let window = usize::try_from(IN_FLIGHT / of_batch).unwrap_or(usize::MAX).max(2);
    let stride = (STRIDE_ROWS / size.max(1)).clamp(1, window / 2);
    (stride, window.min(stride * STRIDES))
}

/// How many bytes may be read ahead, about.
const IN_FLIGHT: u64 = 64 << 20;
/// PERF: rows of a lane that are read at a time. Handing lanes over costs as much as some thousand values.
const STRIDE_ROWS: usize = 1 << 16;
/// How many times that a lane may be ahead.
const STRIDES: usize = 4;
/// Row groups that tell how large rows are.
const FEW_ROW_GROUPS: usize = 4;
