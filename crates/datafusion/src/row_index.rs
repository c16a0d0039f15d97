//! Virtual columns: the number of each row in its file.

use arrow_schema::extension::ExtensionType;
use arrow_schema::{DataType, Field, Fields};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::functions::core::file_row_index::FileRowIndexFunc;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr_adapter::rewrite::expr_references_scalar_udf;
use marquetry_arrow::arrow_reader::RowNumber;
use std::sync::Arc;

/// Whether a projection asks for `file_row_index()`.
pub(crate) fn asks_row_index(projection: &ProjectionExprs) -> bool {
    projection.iter().any(|projected| expr_references_scalar_udf::<FileRowIndexFunc>(&projected.expr))
}

/// The table with a virtual column of row numbers, and that column: an existing one, or one that is appended.
pub(crate) fn with_row_index(table: &TableSchema) -> (TableSchema, Column) {
    let stored = table.schema_without_virtual_columns().fields().len();
    let is_row_number = |field: &Arc<Field>| field.extension_type_name() == Some(RowNumber::NAME);
    if let Some(index) = table.virtual_columns().iter().position(is_row_number) {
        let column = Column::new(table.virtual_columns()[index].name(), stored + index);
        return (table.clone(), column);
    }
    let is_taken = |name: &String| table.table_schema().field_with_name(name).is_ok();
    let names = std::iter::once(NAME.to_owned()).chain((1..).map(|number| format!("{NAME}_{number}")));
    let mut free = names.skip_while(is_taken);
    let name = free.next().unwrap_or_else(|| NAME.to_owned());
    let column = Column::new(&name, table.table_schema().fields().len());
    let field = Field::new(name, DataType::Int64, true).with_extension_type(RowNumber);
    let columns = table.virtual_columns().iter().cloned().chain([Arc::new(field)]);
    let extended = TableSchema::builder(table.file_schema().clone())
        .with_table_partition_cols(table.table_partition_cols().clone())
        .with_virtual_columns(columns.collect::<Fields>());
    (extended.build(), column)
}

/// Whether an expression refers to virtual columns, which no file stores.
pub(crate) fn asks_virtual_column(expr: &Arc<dyn PhysicalExpr>, table: &TableSchema) -> bool {
    let stored = table.schema_without_virtual_columns().fields().len();
    collect_columns(expr).iter().any(|column| column.index() >= stored)
}

/// The name of the column in DataFusion's own Parquet scans, so that plans look the same.
const NAME: &str = "__datafusion_file_row_index";
