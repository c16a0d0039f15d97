//! Memory that goes from one row group to the next.
//!
//! PERF: large blocks that are given back to the allocator go back to the system, and each of their pages has to be got
//! from it, and zeroed, again: that was a sixth of the time of writing TPC-H lineitem.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What columns have no more use for. The next ones take it: there is never more than all had at one time.
#[derive(Debug, Default)]
pub(super) struct Spares {
    /// Whether anything is kept: where memory has a limit, it is given back.
    keeps: bool,
    blocks: Mutex<Vec<Vec<u8>>>,
    /// Longer than a block.
    pages: Mutex<Vec<Vec<u8>>>,
    indices: Mutex<Vec<Vec<u32>>>,
}

impl Spares {
    pub(super) fn new(keeps: bool) -> Arc<Self> {
        Arc::new(Spares { keeps, ..Spares::default() })
    }

    /// An empty vector for indices.
    pub(super) fn take_indices(&self) -> Vec<u32> {
        lock(&self.indices).pop().unwrap_or_default()
    }

    /// How many blocks there are.
    #[cfg(test)]
    pub(super) fn blocks(&self) -> usize {
        lock(&self.blocks).len()
    }

    /// Takes a vector back.
    pub(super) fn give_indices(&self, mut indices: Vec<u32>) {
        if self.keeps && indices.capacity() > 0 {
            indices.clear();
            lock(&self.indices).push(indices);
        }
    }
}

fn lock<T>(spares: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    spares.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of finished pages. If it is a full-sized block of [`BLOCK`] bytes, or a page that is longer, its memory goes to the
/// spares when it is dropped.
#[derive(Debug)]
pub(super) struct Block {
    bytes: Vec<u8>,
    spares: Option<Arc<Spares>>,
}

impl Block {
    /// One that has these bytes. It may get few more, and grows with them.
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        Block { bytes, spares: None }
    }

    /// A full-sized one.
    pub(super) fn full(spares: &Arc<Spares>) -> Self {
        let bytes = lock(&spares.blocks).pop().unwrap_or_else(|| Vec::with_capacity(BLOCK));
        Block { bytes, spares: Some(spares.clone()) }
    }

    /// One that is the whole of `page`, longer than a block, for which it gives other memory.
    pub(super) fn page(page: &mut Vec<u8>, spares: &Arc<Spares>) -> Self {
        // Pages of one column are about as long.
        let other =
            lock(&spares.pages).pop().unwrap_or_else(|| Vec::with_capacity(page.len() + page.len() / 8));
        Block { bytes: std::mem::replace(page, other), spares: Some(spares.clone()) }
    }

    /// Takes the first of `bytes`, as many as there is room for, and gives back the others. It has at most [`BLOCK`].
    pub(super) fn fill<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let (taken, rest) = bytes.split_at(bytes.len().min(BLOCK - self.bytes.len()));
        let len = self.bytes.len() + taken.len();
        if len > self.bytes.capacity() {
            // No more than a block gets.
            let capacity = (2 * self.bytes.capacity()).clamp(len, BLOCK);
            self.bytes.reserve_exact(capacity - self.bytes.len());
        }
        self.bytes.extend_from_slice(taken);
        rest
    }
}

impl Deref for Block {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(spares) = self.spares.take_if(|spares| spares.keeps) {
            let mut bytes = std::mem::take(&mut self.bytes);
            bytes.clear();
            let kind = if bytes.capacity() == BLOCK { &spares.blocks } else { &spares.pages };
            lock(kind).push(bytes);
        }
    }
}

/// Bytes of a block: more than a chunk of a table of thousands of columns has.
pub(super) const BLOCK: usize = 256 << 10;
