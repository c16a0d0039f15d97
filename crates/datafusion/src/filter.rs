//! The filters of a scan: conditions that every row of the output fulfils.

use datafusion::common::tree_node::TreeNode;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::DynamicFilterPhysicalExpr;
use std::sync::Arc;

/// A condition that all rows of a query fulfil.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    /// In terms of the table's columns, partition columns among them.
    pub(crate) expr: Arc<dyn PhysicalExpr>,
    /// Whether nobody asks it after this source. If not, it is here for what it rules out.
    pub(crate) is_ours: bool,
}

/// Whether an expression is one that changes while a query runs.
pub(crate) fn has_dynamic_filter(expr: &Arc<dyn PhysicalExpr>) -> bool {
    let is_dynamic =
        |expr: &Arc<dyn PhysicalExpr>| Ok(expr.downcast_ref::<DynamicFilterPhysicalExpr>().is_some());
    expr.exists(is_dynamic).unwrap_or(true)
}
