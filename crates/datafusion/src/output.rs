//! Finishes the batches of a file: filters that only DataFusion can evaluate, then the projection.

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::projection::{ProjectionExprs, Projector};
use datafusion::physical_expr::utils::reassign_expr_columns;
use datafusion::physical_plan::filter::batch_filter;
use std::sync::Arc;

/// Turns the batches of a file into batches of a query.
pub(crate) struct Output {
    residual: Option<Arc<dyn PhysicalExpr>>,
    projector: Projector,
    schema: SchemaRef,
}

impl Output {
    /// For batches with the schema `read`.
    pub(crate) fn new(
        read: &SchemaRef,
        residual: Option<&Arc<dyn PhysicalExpr>>,
        projection: &ProjectionExprs,
        schema: &SchemaRef,
    ) -> Result<Self> {
        let reassign = |expr: Arc<dyn PhysicalExpr>| reassign_expr_columns(expr, read);
        let projection = projection.clone().try_map_exprs(reassign)?;
        Ok(Output {
            residual: residual.cloned().map(reassign).transpose()?,
            projector: projection.make_projector(read)?,
            schema: schema.clone(),
        })
    }

    /// The wanted rows and columns of a batch; `None` if no row is wanted.
    pub(crate) fn batch(&self, batch: RecordBatch) -> Result<Option<RecordBatch>> {
        let batch = match &self.residual {
            Some(residual) => batch_filter(&batch, residual)?,
            None => batch,
        };
        if batch.num_rows() == 0 {
            return Ok(None);
        }
        let batch = self.projector.project_batch(&batch)?;
        if batch.schema_ref() == &self.schema {
            return Ok(Some(batch));
        }
        // A file's column may differ from the table's in nullability and metadata.
        let (_, columns, rows) = batch.into_parts();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(Some(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?))
    }
}
