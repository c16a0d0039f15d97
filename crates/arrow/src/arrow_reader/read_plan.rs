//! The plan of an unfiltered read: columns, row groups and types.

use super::ProjectionMask;
use marquetry_base::SharedExecutor;
use marquetry_core::metrics::ReadCounters;
use marquetry_core::predicate::BoundPredicate;
use std::sync::Arc;

/// The parameters of an unfiltered read.
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
    /// Set only where damage is not an error. Offset and limit then count matching rows.
    pub(super) predicate: Option<BoundPredicate>,
}
