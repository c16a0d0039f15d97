//! A scan's request of one file: projection, filters, orders, limit.

use crate::filter::Filter;
use crate::row_order::RowOrder;
use arrow_schema::SchemaRef;
use datafusion::physical_expr::projection::ProjectionExprs;

/// What a query wants of a file, with the file's partition values in it.
pub(crate) struct FileRequest {
    pub(crate) projection: ProjectionExprs,
    pub(crate) filters: Vec<Filter>,
    /// Orders that the rows have to have.
    pub(crate) orders: Vec<RowOrder>,
    pub(crate) output_schema: SchemaRef,
    pub(crate) batch_size: usize,
    pub(crate) limit: Option<usize>,
    /// Whether conditions may be asked of rows before these are handed on.
    pub(crate) asks_rows: bool,
    /// Whether anything at all may be ruled out without reading it.
    pub(crate) prunes: bool,
}
