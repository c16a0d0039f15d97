//! Turns: of futures that run side by side, one at a time does a certain part of its work.

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

/// Whose turn it is, by number.
///
/// Nobody is woken: futures must be polled in the order of their turns, by one task, as [`OrderedFutures`] does. So whoever
/// waits is polled again after each poll of those before it.
///
/// [`OrderedFutures`]: super::OrderedFutures
#[derive(Debug, Default)]
pub(super) struct Turns {
    next: AtomicUsize,
}

impl Turns {
    /// Waits for a turn.
    pub(super) async fn wait(&self, turn: usize) {
        poll_fn(|_| match self.next.load(Ordering::Acquire) >= turn {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }

    /// Ends the turn of one that has waited for it: the next one begins.
    pub(super) fn end(&self, turn: usize) {
        self.next.store(turn + 1, Ordering::Release);
    }
}
