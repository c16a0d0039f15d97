//! What scans take from their session: the footer cache and the memory pool.

use crate::footer_cache::FooterCache;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};
use datafusion::execution::runtime_env::RuntimeEnv;
use marquetry_base::{Error, ErrorKind, Limits, MemoryBudget};
use std::sync::Arc;

/// A session's footer cache and memory pool. Without a session no footer is cached, and memory is that of the process.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionParts {
    pub(crate) footers: FooterCache,
    pool: Option<Arc<dyn MemoryPool>>,
}

impl SessionParts {
    pub(crate) fn of(runtime: &RuntimeEnv) -> Self {
        SessionParts {
            footers: FooterCache::new(runtime.cache_manager.get_file_metadata_cache()),
            pool: Some(runtime.memory_pool.clone()),
        }
    }

    /// Limits of one partition of a scan, whose memory the session's pool counts.
    pub(crate) fn limits(&self, partition: usize) -> Limits {
        let Some(pool) = &self.pool else { return Limits::default() };
        let reservation = MemoryConsumer::new(format!("MarquetrySource[{partition}]")).register(pool);
        let memory = Reserved { reservation, pool: pool.clone() };
        Limits::default().with_memory(MemoryBudget::from_pool(Arc::new(memory)))
    }
}

/// A session's memory pool as that of a reader.
#[derive(Debug)]
struct Reserved {
    reservation: MemoryReservation,
    pool: Arc<dyn MemoryPool>,
}

impl marquetry_base::MemoryPool for Reserved {
    fn try_grow(&self, bytes: usize) -> marquetry_base::Result<()> {
        let grown = self.reservation.try_grow(bytes);
        grown.map_err(|error| Error::caused_by(ErrorKind::Memory, "the session has no memory left", error))
    }

    fn shrink(&self, bytes: usize) {
        self.reservation.shrink(bytes);
    }

    fn left(&self) -> usize {
        match self.pool.memory_limit() {
            MemoryLimit::Finite(limit) => limit.saturating_sub(self.pool.reserved()),
            _ => usize::MAX,
        }
    }
}
