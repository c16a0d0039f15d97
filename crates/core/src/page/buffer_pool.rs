//! A buffer pool that the columns of a reader share.
//!
//! PERF: a column takes buffers when it begins a column chunk, and gives them back with its last row. Columns that are read one after the
//! other thus decompress into the same memory by the same codec context. With buffers of their own 1,200 columns touched
//! twice as many pages of memory.

use super::buffers::PageBuffers;
use super::free_list::FreeList;
use crate::metrics::ReadCounters;
use std::sync::Arc;

/// Buffers that columns have no more use for. There are never more than columns were in the middle of a column chunk at one time.
#[derive(Default)]
pub struct PageBufferPool {
    /// What new buffers are like.
    first: PageBuffers,
    free: FreeList<PageBuffers>,
}

impl PageBufferPool {
    /// An empty pool for `columns` columns that are read side by side and share the bytes that are read ahead.
    pub fn for_columns(columns: usize) -> Self {
        PageBufferPool { first: PageBuffers::sharing_read_ahead(columns), ..PageBufferPool::default() }
    }

    /// Counts the pages that are read into these buffers.
    #[must_use]
    pub fn counted_by(self, counters: Arc<ReadCounters>) -> Self {
        PageBufferPool { first: self.first.counted_by(counters), ..self }
    }

    /// Buffers for a column chunk: the last ones that were given back, or new ones.
    pub(crate) fn take(&self) -> PageBuffers {
        self.free.take().unwrap_or_else(|| self.first.new_like())
    }

    /// Takes buffers back that [`take`](Self::take) gave.
    pub(crate) fn give_back(&self, buffers: PageBuffers) {
        self.free.give_back(buffers);
    }
}
