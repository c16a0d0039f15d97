//! What a reader of whole row groups reads.

use super::ProjectionMask;
use marquetry_core::predicate::BoundPredicate;

/// What to read.
pub(super) struct ReadPlan {
    pub(super) row_groups: Vec<usize>,
    pub(super) batch_size: usize,
    pub(super) projection: ProjectionMask,
    pub(super) limit: usize,
    pub(super) offset: usize,
    pub(super) threads: usize,
    /// Only where damage is no error: offset and limit are of rows that it wants.
    pub(super) predicate: Option<BoundPredicate>,
}
