//! Plan codecs: ours first, then Ballista's.

use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::PhysicalExtensionCodec;
use marquetry_datafusion::{MarquetryLogicalCodec, MarquetryPhysicalCodec};
use std::sync::Arc;

/// The codec of logical plans, for all parts of a cluster.
///
/// Ours comes first: some of Ballista's take any format for theirs. Tables declare no order: Ballista 55 plans with
/// exchanges that keep it, and runs others, so that an `ORDER BY` without a sort gave rows in no order.
pub fn logical_codec() -> Arc<dyn LogicalExtensionCodec> {
    let other = Arc::new(BallistaLogicalExtensionCodec::default());
    Arc::new(MarquetryLogicalCodec::new(other).without_orders())
}

/// The codec of physical plans, for all parts of a cluster.
pub fn physical_codec() -> Arc<dyn PhysicalExtensionCodec> {
    Arc::new(MarquetryPhysicalCodec::new(Arc::new(BallistaPhysicalExtensionCodec::default())))
}
