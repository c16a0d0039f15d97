//! Several threads at one piece of work: the caller's, while it waits for what it wants, and others all the time.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// What there is to do: task after task, of which several can be done side by side.
pub(super) trait Work: Send + 'static {
    /// What each thread has for itself.
    type Room: Send + 'static;
    /// Something to do, and what came of it.
    type Task;
    type Done;

    /// Something that the thread with this room can do now.
    fn choose(&mut self, room: &Self::Room) -> Option<Self::Task>;

    /// Does it; others choose and finish theirs meanwhile.
    fn run(task: Self::Task, room: &mut Self::Room) -> Self::Done;

    /// Takes what came of it.
    fn put(&mut self, done: Self::Done);

    /// Whether other threads may find something to do now.
    fn goes_on(&self) -> bool;
}

/// The threads.
pub(super) struct Crew<W: Work> {
    shared: Arc<Shared<W>>,
    others: Vec<JoinHandle<()>>,
    /// The caller's.
    room: W::Room,
}

struct Shared<W> {
    state: Mutex<State<W>>,
    /// Something is done, or there is something to do, or all is over.
    changed: Condvar,
}

struct State<W> {
    work: W,
    /// How many threads wait.
    waiting: usize,
    is_over: bool,
    /// What a thread panicked with.
    panic: Option<Box<dyn Any + Send>>,
}

impl<W: Work> Crew<W> {
    /// The caller with `room`, and a thread for each of `others`; fewer, if no more can be started.
    pub(super) fn new(work: W, room: W::Room, others: impl IntoIterator<Item = W::Room>) -> Self {
        let state = State { work, waiting: 0, is_over: false, panic: None };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let others = others.into_iter().filter_map(|mut room| {
            let shared = shared.clone();
            let run = move || shared.run(&mut room);
            std::thread::Builder::new().name("marquetry-read".to_owned()).spawn(run).ok()
        });
        let others = others.collect();
        Crew { others, shared, room }
    }

    /// Works until `ready` finds what is wanted.
    ///
    /// # Panics
    /// As a thread did.
    pub(super) fn wait_for<T>(&mut self, mut ready: impl FnMut(&mut W) -> Option<T>) -> T {
        let shared = &*self.shared;
        let mut state = shared.state();
        loop {
            if let Some(panic) = state.panic.take() {
                drop(state);
                resume_unwind(panic);
            }
            let found = ready(&mut state.work);
            // What was taken makes room for more.
            if state.waiting > 0 && state.work.goes_on() {
                shared.changed.notify_all();
            }
            if let Some(found) = found {
                return found;
            }
            state = shared.step(state, &mut self.room);
        }
    }
}

impl<W: Work> Drop for Crew<W> {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        self.shared.changed.notify_all();
        for other in self.others.drain(..) {
            // Its panic, if it had one, was caught.
            let _ = other.join();
        }
    }
}

impl<W: Work> Shared<W> {
    fn state(&self) -> MutexGuard<'_, State<W>> {
        // INVARIANT: what may panic runs outside of the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread does that is not the caller's.
    fn run(&self, room: &mut W::Room) {
        let mut state = self.state();
        while !state.is_over {
            state = self.step(state, room);
        }
    }

    /// Does what there is to do, or waits.
    fn step<'a>(
        &'a self,
        mut state: MutexGuard<'a, State<W>>,
        room: &mut W::Room,
    ) -> MutexGuard<'a, State<W>> {
        let Some(task) = state.work.choose(room) else {
            state.waiting += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
            return state;
        };
        drop(state);
        let done = catch_unwind(AssertUnwindSafe(|| W::run(task, room)));
        let mut state = self.state();
        match done {
            Ok(done) => state.work.put(done),
            Err(panic) => state.panic = Some(panic),
        }
        // PERF: the kernel would be asked even if nobody waits.
        if state.waiting > 0 {
            self.changed.notify_all();
        }
        state
    }
}
