//! Futures that run side by side and whose results come in order.

use futures_core::future::BoxFuture;
use std::collections::VecDeque;
use std::task::{Context, Poll};

/// Futures that run side by side; what they give is taken in order.
pub(crate) struct OrderedFutures<T> {
    parts: VecDeque<FutureSlot<T>>,
}

enum FutureSlot<T> {
    Running(BoxFuture<'static, T>),
    Done(T),
}

impl<T> OrderedFutures<T> {
    /// One more, behind the others. It does nothing before the next poll.
    pub(crate) fn push(&mut self, future: BoxFuture<'static, T>) {
        self.parts.push_back(FutureSlot::Running(future));
    }

    /// How many were not taken.
    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Polls those that run.
    pub(crate) fn poll_all(&mut self, cx: &mut Context<'_>) {
        for part in &mut self.parts {
            if let FutureSlot::Running(future) = part
                && let Poll::Ready(done) = future.as_mut().poll(cx)
            {
                *part = FutureSlot::Done(done);
            }
        }
    }

    /// Takes what the first one gave, if that is there.
    pub(crate) fn take_done(&mut self) -> Option<T> {
        match self.parts.pop_front_if(|first| matches!(first, FutureSlot::Done(_)))? {
            FutureSlot::Done(done) => Some(done),
            FutureSlot::Running(_) => None,
        }
    }

    /// Polls all, and takes what the first one gave; `None` if there is none.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.poll_all(cx);
        match self.take_done() {
            Some(done) => Poll::Ready(Some(done)),
            None if self.parts.is_empty() => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    /// Gives all up.
    pub(crate) fn clear(&mut self) {
        self.parts.clear();
    }
}

impl<T> Default for OrderedFutures<T> {
    fn default() -> Self {
        OrderedFutures { parts: VecDeque::new() }
    }
}
