//! A worker's scratch space, reused from page to page and column to column.

use super::buffer_pool::BufferPool;
use super::settings::ColumnSettings;
use crate::metrics::WriteCounters;
use marquetry_base::{Result, Stopwatch};
use marquetry_codec::{Codec, Compressor};
use std::sync::{Arc, Mutex, PoisonError};

/// Codec states and buffers of a worker. PERF: creating a codec's state costs more than compressing a page with it, and
/// buffers are as large as pages, so each worker has one of each, instead of each column.
#[derive(Debug)]
pub struct Workspace {
    compressors: Vec<(Codec, Option<i32>, Compressor)>,
    /// The beginning of a page that is stored uncompressed: the levels of V2 pages, or all of an uncompressed page's
    /// head.
    pub(super) head: Vec<u8>,
    /// The rest of a page before compression.
    pub(super) body: Vec<u8>,
    /// The rest of a page after compression.
    pub(super) stored: Vec<u8>,
    /// Dictionary indices of a few values.
    pub(super) indices: Vec<u32>,
    pub(super) pool: Arc<BufferPool>,
    pub(super) counters: Arc<WriteCounters>,
}

impl Workspace {
    /// Creates an empty workspace; buffers and codecs are created at their first use.
    pub fn new() -> Self {
        Workspace::with(&BufferPool::new(true), &Arc::default())
    }

    /// Like [`new`](Self::new), counting work in `counters`.
    pub fn counted_by(counters: &Arc<WriteCounters>) -> Self {
        Workspace::with(&BufferPool::new(true), counters)
    }

    /// Takes `head`, `body` and `stored` for the next page, emptied.
    pub(super) fn take_cleared(&mut self) -> [Vec<u8>; 3] {
        [&mut self.head, &mut self.body, &mut self.stored].map(|buffer| {
            buffer.clear();
            std::mem::take(buffer)
        })
    }

    /// Creates workspaces for `n` workers, at least one. Memory that a column no longer needs goes to the next column
    /// of any worker; without `keeps_memory` it is freed, which is slower. Work is counted in `counters`.
    pub fn several(n: usize, keeps_memory: bool, counters: &Arc<WriteCounters>) -> Vec<Self> {
        let pool = BufferPool::new(keeps_memory);
        (0..n.max(1)).map(|_| Workspace::with(&pool, counters)).collect()
    }

    fn with(pool: &Arc<BufferPool>, counters: &Arc<WriteCounters>) -> Self {
        let [head, body, stored] = Default::default();
        let (pool, counters) = (pool.clone(), counters.clone());
        Workspace { compressors: Vec::new(), head, body, stored, indices: Vec::new(), pool, counters }
    }

    /// Returns the counters of the work.
    pub fn counters(&self) -> &Arc<WriteCounters> {
        &self.counters
    }

    /// Returns how many bytes these workspaces of one writer keep: buffers of pages, and memory that waits for the next
    /// row group. The memory of compressors is unknown.
    pub fn memory_size(workspaces: &[Workspace]) -> usize {
        let buffers = |workspace: &Workspace| {
            let Workspace { head, body, stored, .. } = workspace;
            head.capacity() + body.capacity() + stored.capacity()
        };
        let pool = workspaces.first().map_or(0, |workspace| workspace.pool.memory_size());
        pool + workspaces.iter().map(buffers).sum::<usize>()
    }

    /// Frees the memory that the workspace keeps, compressors included.
    pub fn shrink(&mut self) {
        self.pool.shrink();
        *self = Workspace::with(&self.pool, &self.counters);
    }

    /// Appends the compressed form of `input` to `output`.
    pub(super) fn compress(
        &mut self,
        settings: &ColumnSettings,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<()> {
        let start = Stopwatch::start();
        let wanted = (settings.codec, settings.level);
        let known = self.compressors.iter().position(|(codec, level, _)| (*codec, *level) == wanted);
        let at = match known {
            Some(at) => at,
            None => {
                let compressor = Compressor::new(settings.codec, settings.level)?;
                self.compressors.push((settings.codec, settings.level, compressor));
                self.compressors.len() - 1
            }
        };
        self.compressors[at].2.compress(input, output)?;
        self.counters.compressed(start);
        Ok(())
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Workspace::new()
    }
}

/// A pool of workspaces for any number of workers that come and go: it creates as many as are in use at the same time.
/// Memory that a column no longer needs goes to the next column of any worker.
///
/// ```
/// use marquetry_core::metrics::WriteCounters;
/// use marquetry_core::write::WorkspacePool;
/// use std::sync::Arc;
///
/// let pool = WorkspacePool::new(true, &Arc::<WriteCounters>::default());
/// let answer = pool.with(|_workspace| 42);
/// assert_eq!(answer, 42);
/// ```
#[derive(Debug)]
pub struct WorkspacePool {
    buffers: Arc<BufferPool>,
    counters: Arc<WriteCounters>,
    free: Mutex<Vec<Workspace>>,
}

impl WorkspacePool {
    /// Creates an empty pool; workspaces are created at their first use. Without `keeps_memory`, memory that a column
    /// no longer needs is freed, which is slower. Work is counted in `counters`.
    pub fn new(keeps_memory: bool, counters: &Arc<WriteCounters>) -> Self {
        let (buffers, counters) = (BufferPool::new(keeps_memory), counters.clone());
        WorkspacePool { buffers, counters, free: Mutex::default() }
    }

    /// Returns the counters of the work.
    pub fn counters(&self) -> &Arc<WriteCounters> {
        &self.counters
    }

    /// Calls `work` with a workspace that no other worker uses meanwhile.
    pub fn with<R>(&self, work: impl FnOnce(&mut Workspace) -> R) -> R {
        let free = || self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let found = free().pop();
        let mut workspace = found.unwrap_or_else(|| Workspace::with(&self.buffers, &self.counters));
        let done = work(&mut workspace);
        free().push(workspace);
        done
    }
}
