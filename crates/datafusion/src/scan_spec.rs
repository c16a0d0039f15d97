//! The scan specification: what a file opener takes from a file source.

use crate::filter::Filter;
use crate::options::FormatOptions;
use crate::session::SessionParts;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use std::sync::Arc;

/// Columns, conditions and options of a scan.
#[derive(Debug, Clone)]
pub(crate) struct ScanSpec {
    pub(crate) table_schema: TableSchema,
    pub(crate) options: Arc<FormatOptions>,
    pub(crate) session: SessionParts,
    pub(crate) filters: Vec<Filter>,
    /// Whether filters are evaluated on rows here, or only prune.
    pub(crate) asks_rows: bool,
    pub(crate) projection: ProjectionExprs,
    pub(crate) batch_size: usize,
    pub(crate) metrics: ExecutionPlanMetricsSet,
}
