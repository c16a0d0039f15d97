//! A spinner on the last line of the terminal while something is read that takes long.

use crossterm::cursor::{MoveTo, RestorePosition, SavePosition};
use crossterm::queue;
use crossterm::style::Print;
use crossterm::terminal::{Clear, ClearType, size};
use std::io::{Write, stdout};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Shows that something is being read, once that takes noticeably long.
pub(crate) struct LifeSign(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    begun: Condvar,
}

#[derive(Default)]
struct State {
    since: Option<Instant>,
    is_drawn: bool,
    is_over: bool,
}

impl LifeSign {
    /// Without a thread for it, there is no sign.
    pub(crate) fn new() -> Self {
        let shared = Arc::new(Shared::default());
        let of_thread = shared.clone();
        let _ = thread::Builder::new().name("life sign".to_owned()).spawn(move || of_thread.draw());
        LifeSign(shared)
    }

    /// Does work that may take long. Also returns whether a sign was drawn, so that the screen must be redrawn.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> (T, bool) {
        self.lock().since = Some(Instant::now());
        self.0.begun.notify_one();
        let done = work();
        let mut state = self.lock();
        state.since = None;
        (done, std::mem::take(&mut state.is_drawn))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for LifeSign {
    fn drop(&mut self) {
        self.lock().is_over = true;
        self.0.begun.notify_one();
    }
}

impl Shared {
    fn draw(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.is_over {
            let Some(since) = state.since else {
                state = self.begun.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let elapsed = since.elapsed();
            if elapsed >= PATIENCE {
                // While this holds the lock, nothing else draws.
                state.is_drawn = true;
                sign(elapsed);
            }
            let waited = self.begun.wait_timeout(state, STEP);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn sign(elapsed: Duration) {
    let Ok((_, lines)) = size() else { return };
    let turn = TURNS[(elapsed.as_millis() / STEP.as_millis()) as usize % TURNS.len()];
    let text = format!("{turn} reading, {} s; Ctrl-C ends", elapsed.as_secs());
    let mut out = stdout();
    // There is nowhere left to report that this failed.
    let _ = queue!(
        out,
        SavePosition,
        MoveTo(0, lines.saturating_sub(1)),
        Clear(ClearType::CurrentLine),
        Print(text),
        RestorePosition
    );
    let _ = out.flush();
}

const TURNS: [char; 8] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧'];
const PATIENCE: Duration = Duration::from_millis(300);
const STEP: Duration = Duration::from_millis(100);
