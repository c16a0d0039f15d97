//! A buffer pool: passes memory from one row group to the next.
//!
//! PERF: the allocator returns large blocks to the system, which must then provide and zero each of their pages again.
//! That took a sixth of the time of writing TPC-H lineitem.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Buffers that columns no longer use, for the next ones. The pool holds at most what all columns had at one time.
#[derive(Debug, Default)]
pub(super) struct BufferPool {
    /// Whether freed buffers are kept. If memory has a limit, they are not.
    keeps: bool,
    blocks: Mutex<Vec<Vec<u8>>>,
    /// Buffers that are longer than a block.
    pages: Mutex<Vec<Vec<u8>>>,
}

impl BufferPool {
    pub(super) fn new(keeps: bool) -> Arc<Self> {
        Arc::new(BufferPool { keeps, ..BufferPool::default() })
    }

    /// Returns the bytes in the pool.
    pub(super) fn memory_size(&self) -> usize {
        let of = |pool: &Mutex<Vec<Vec<u8>>>| lock(pool).iter().map(Vec::capacity).sum::<usize>();
        of(&self.blocks) + of(&self.pages)
    }

    /// Frees the buffers in the pool.
    pub(super) fn shrink(&self) {
        for pool in [&self.blocks, &self.pages] {
            drop(std::mem::take(&mut *lock(pool)));
        }
    }

    /// Returns the number of blocks in the pool.
    #[cfg(test)]
    pub(super) fn blocks(&self) -> usize {
        lock(&self.blocks).len()
    }
}

fn lock<T>(pool: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of finished pages. When it is dropped, the memory of a full-sized block of [`BLOCK_BYTES`] bytes, or of a
/// longer page, goes to the pool.
#[derive(Debug)]
pub(super) struct PooledBlock {
    bytes: Vec<u8>,
    pool: Option<Arc<BufferPool>>,
}

impl PooledBlock {
    /// Creates a block of these bytes. Few may be added, and it grows with them.
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        PooledBlock { bytes, pool: None }
    }

    /// Creates an empty block of full size.
    pub(super) fn full(pool: &Arc<BufferPool>) -> Self {
        let bytes = lock(&pool.blocks).pop().unwrap_or_else(|| Vec::with_capacity(BLOCK_BYTES));
        PooledBlock { bytes, pool: Some(pool.clone()) }
    }

    /// Creates a block from all of `page`, which is longer than a block, and gives `page` other memory.
    pub(super) fn page(page: &mut Vec<u8>, pool: &Arc<BufferPool>) -> Self {
        // Pages of one column have about the same length.
        let other =
            lock(&pool.pages).pop().unwrap_or_else(|| Vec::with_capacity(page.len() + page.len() / 8));
        PooledBlock { bytes: std::mem::replace(page, other), pool: Some(pool.clone()) }
    }

    /// Appends the first of `bytes`, as many as fit into [`BLOCK_BYTES`] bytes, and returns the rest.
    pub(super) fn fill<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let (taken, rest) = bytes.split_at(bytes.len().min(BLOCK_BYTES - self.bytes.len()));
        let len = self.bytes.len() + taken.len();
        if len > self.bytes.capacity() {
            // Its capacity never exceeds that of a block.
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

/// Size of a block in bytes: larger than a chunk in a table of thousands of columns.
pub(super) const BLOCK_BYTES: usize = 256 << 10;
