//! Futures that run side by side and whose results come in order.

use futures_core::future::BoxFuture;
use std::collections::VecDeque;
use std::task::{Context, Poll};

/// Futures that run side by side. Their results are taken in order.
pub(crate) struct OrderedFutures<T> {
    parts: VecDeque<FutureSlot<T>>,
}

enum FutureSlot<T> {
    Running(BoxFuture<'static, T>),
    Done(T),
}

impl<T> OrderedFutures<T> {
    /// Appends a future. It does nothing before the next poll.
    pub(crate) fn push(&mut self, future: BoxFuture<'static, T>) {
        self.parts.push_back(FutureSlot::Running(future));
    }

    /// Returns how many results were not taken yet.
    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Polls all running futures.
    pub(crate) fn poll_all(&mut self, cx: &mut Context<'_>) {
        for part in &mut self.parts {
            if let FutureSlot::Running(future) = part
                && let Poll::Ready(done) = future.as_mut().poll(cx)
            {
                *part = FutureSlot::Done(done);
            }
        }
    }

    /// Takes the result of the first future, if it is ready.
    pub(crate) fn take_done(&mut self) -> Option<T> {
        match self.parts.pop_front_if(|first| matches!(first, FutureSlot::Done(_)))? {
            FutureSlot::Done(done) => Some(done),
            FutureSlot::Running(_) => None,
        }
    }

    /// Polls all futures, and takes the result of the first. Returns `None` if there are no futures.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.poll_all(cx);
        match self.take_done() {
            Some(done) => Poll::Ready(Some(done)),
            None if self.parts.is_empty() => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    /// Drops all futures.
    pub(crate) fn clear(&mut self) {
        self.parts.clear();
    }
}

impl<T> Default for OrderedFutures<T> {
    fn default() -> Self {
        OrderedFutures { parts: VecDeque::new() }
    }
}
