//! The filters of a scan: conditions that every row of the output fulfils.

use datafusion::common::tree_node::TreeNode;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::DynamicFilterPhysicalExpr;
use std::sync::Arc;

/// A condition that all rows of a query fulfil.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    /// In terms of the table's columns, including partition columns.
    pub(crate) expr: Arc<dyn PhysicalExpr>,
    /// Whether nothing evaluates it after this source. Otherwise it only prunes.
    pub(crate) is_ours: bool,
}

/// Whether an expression contains a dynamic filter, which changes while a query runs.
pub(crate) fn has_dynamic_filter(expr: &Arc<dyn PhysicalExpr>) -> bool {
    let is_dynamic =
        |expr: &Arc<dyn PhysicalExpr>| Ok(expr.downcast_ref::<DynamicFilterPhysicalExpr>().is_some());
    expr.exists(is_dynamic).unwrap_or(true)
}
