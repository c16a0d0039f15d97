//! A buffer pool: memory is handed from one row group to the next.
//!
//! PERF: large blocks that are given back to the allocator go back to the system, and each of their pages has to be got
//! from it, and zeroed, again: that was a sixth of the time of writing TPC-H lineitem.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What columns have no more use for. The next ones take it: there is never more than all had at one time.
#[derive(Debug, Default)]
pub(super) struct BufferPool {
    /// Whether anything is kept: where memory has a limit, it is given back.
    keeps: bool,
    blocks: Mutex<Vec<Vec<u8>>>,
    /// Longer than a block.
    pages: Mutex<Vec<Vec<u8>>>,
}

impl BufferPool {
    pub(super) fn new(keeps: bool) -> Arc<Self> {
        Arc::new(BufferPool { keeps, ..BufferPool::default() })
    }

    /// How many bytes are kept.
    pub(super) fn memory_size(&self) -> usize {
        let of = |pool: &Mutex<Vec<Vec<u8>>>| lock(pool).iter().map(Vec::capacity).sum::<usize>();
        of(&self.blocks) + of(&self.pages)
    }

    /// Gives back what is kept.
    pub(super) fn shrink(&self) {
        for pool in [&self.blocks, &self.pages] {
            drop(std::mem::take(&mut *lock(pool)));
        }
    }

    /// How many blocks there are.
    #[cfg(test)]
    pub(super) fn blocks(&self) -> usize {
        lock(&self.blocks).len()
    }
}

fn lock<T>(pool: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of finished pages. If it is a full-sized block of [`BLOCK_BYTES`] bytes, or a page that is longer, its memory goes to the
/// pool when it is dropped.
#[derive(Debug)]
pub(super) struct PooledBlock {
    bytes: Vec<u8>,
    pool: Option<Arc<BufferPool>>,
}

impl PooledBlock {
    /// One that has these bytes. It may get few more, and grows with them.
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        PooledBlock { bytes, pool: None }
    }

    /// A full-sized one.
    pub(super) fn full(pool: &Arc<BufferPool>) -> Self {
        let bytes = lock(&pool.blocks).pop().unwrap_or_else(|| Vec::with_capacity(BLOCK_BYTES));
        PooledBlock { bytes, pool: Some(pool.clone()) }
    }

    /// One that is the whole of `page`, longer than a block, for which it gives other memory.
    pub(super) fn page(page: &mut Vec<u8>, pool: &Arc<BufferPool>) -> Self {
        // Pages of one column are about as long.
        let other =
            lock(&pool.pages).pop().unwrap_or_else(|| Vec::with_capacity(page.len() + page.len() / 8));
        PooledBlock { bytes: std::mem::replace(page, other), pool: Some(pool.clone()) }
    }

    /// Takes the first of `bytes`, as many as there is room for, and gives back the others. It has at most [`BLOCK_BYTES`].
    pub(super) fn fill<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let (taken, rest) = bytes.split_at(bytes.len().min(BLOCK_BYTES - self.bytes.len()));
        let len = self.bytes.len() + taken.len();
        if len > self.bytes.capacity() {
            // No more than a block gets.
            let capacity = (2 * self.bytes.capacity()).clamp(len, BLOCK_BYTES);
            self.bytes.reserve_exact(capacity - self.bytes.len());
        }
        self.bytes.extend_from_slice(taken);
        rest
    }
}

impl Deref for PooledBlock {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl AsRef<[u8]> for PooledBlock {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for PooledBlock {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take_if(|pool| pool.keeps) {
            let mut bytes = std::mem::take(&mut self.bytes);
            bytes.clear();
            let kind = if bytes.capacity() == BLOCK_BYTES { &pool.blocks } else { &pool.pages };
            lock(kind).push(bytes);
        }
    }
}

/// Bytes of a block: more than a chunk of a table of thousands of columns has.
pub(super) const BLOCK_BYTES: usize = 256 << 10;
