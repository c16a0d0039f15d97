//! A scan's request of one file: projection, filters, orders, limit.

use crate::filter::Filter;
use crate::row_order::RowOrder;
use arrow_schema::SchemaRef;
use datafusion::physical_expr::projection::ProjectionExprs;

/// A query's request of a file, with the file's partition values filled in.
pub(crate) struct FileRequest {
    pub(crate) projection: ProjectionExprs,
    pub(crate) filters: Vec<Filter>,
    /// Orders that the rows must have.
    pub(crate) orders: Vec<RowOrder>,
    pub(crate) output_schema: SchemaRef,
    pub(crate) batch_size: usize,
    pub(crate) limit: Option<usize>,
    /// Whether the reader may evaluate conditions on rows.
    pub(crate) asks_rows: bool,
    /// Whether anything may be pruned.
    pub(crate) prunes: bool,
}
