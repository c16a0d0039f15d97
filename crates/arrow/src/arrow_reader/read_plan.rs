//! The plan of an unfiltered read: columns, row groups and types.

use super::ProjectionMask;
use marquetry_base::SharedExecutor;
use marquetry_core::metrics::ReadCounters;
use marquetry_core::predicate::BoundPredicate;
use std::sync::Arc;

/// What to read.
pub(super) struct ReadPlan {
    pub(super) row_groups: Vec<usize>,
    pub(super) batch_size: usize,
    pub(super) projection: ProjectionMask,
    pub(super) limit: usize,
    pub(super) offset: usize,
    pub(super) threads: usize,
    pub(super) executor: SharedExecutor,
    pub(super) counters: Arc<ReadCounters>,
    /// Whether the row groups are counted elsewhere.
    pub(super) is_part: bool,
    /// Only where damage is no error: offset and limit are of rows that it wants.
    pub(super) predicate: Option<BoundPredicate>,
}
