//! A buffer pool that the columns of a reader share.
//!
//! PERF: a column takes buffers when it begins a column chunk, and gives them back with its last row. Columns that are read one after the
//! other thus decompress into the same memory by the same codec context. With buffers of their own 1,200 columns touched
//! twice as many pages of memory.

use super::buffers::PageBuffers;
use super::free_list::FreeList;
use crate::metrics::ReadCounters;
use std::sync::Arc;

/// A pool of page buffers that are not in use. Its size is at most the number of columns that were inside a column
/// chunk at the same time.
#[derive(Default)]
pub struct PageBufferPool {
    /// The template of new buffers.
    first: PageBuffers,
    free: FreeList<PageBuffers>,
}

impl PageBufferPool {
    /// Creates an empty pool for `columns` columns that are read side by side and share the read-ahead bytes.
    pub fn for_columns(columns: usize) -> Self {
        PageBufferPool { first: PageBuffers::sharing_read_ahead(columns), ..PageBufferPool::default() }
    }

    /// Counts the pages that are read with these buffers.
    #[must_use]
    pub fn counted_by(self, counters: Arc<ReadCounters>) -> Self {
        PageBufferPool { first: self.first.counted_by(counters), ..self }
    }

    /// Takes buffers for a column chunk: the last ones that were given back, or new ones.
    pub(crate) fn take(&self) -> PageBuffers {
        self.free.take().unwrap_or_else(|| self.first.new_like())
    }

    /// Returns buffers to the pool, which [`take`](Self::take) gave.
    pub(crate) fn give_back(&self, buffers: PageBuffers) {
        self.free.give_back(buffers);
    }
}
