//! Turns: futures that run side by side take turns for a certain part of their work.

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

/// Gives turns to futures by their numbers.
///
/// Nobody is woken: one task must poll the futures in the order of their turns, as [`OrderedFutures`] does. So a future
/// that waits is polled again after each poll of those before it.
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

    /// Ends this turn, for which the caller waited, so that the next one begins.
    pub(super) fn end(&self, turn: usize) {
        self.next.store(turn + 1, Ordering::Release);
    }
}
