//! NOT NULL columns: tables are read without them, and the rows that are inserted are checked.

use arrow_array::{Array, RecordBatch};
use arrow_schema::{Field, Fields, Schema, SchemaRef};
use datafusion::common::exec_err;
use datafusion::error::Result;
use std::sync::Arc;

/// Returns the schema with all columns nullable. Tables are read so, because later files may have nulls; and rows are inserted
/// so, because DataFusion's own check does not name the column.
pub(crate) fn nullable(schema: &Schema) -> SchemaRef {
    let nullable = schema.fields().iter().map(|field| Field::clone(field).with_nullable(true));
    Arc::new(Schema::new_with_metadata(nullable.collect::<Fields>(), schema.metadata().clone()))
}

/// Fails if a column has nulls that is not nullable in `schema`. `keys` are the partition columns, the last ones of the
/// table.
pub(crate) fn check_required(batch: &RecordBatch, schema: &Schema, keys: &[String]) -> Result<()> {
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        if field.is_nullable() || column.logical_null_count() == 0 {
            continue;
        }
        let name = field.name();
        return match keys.contains(name) {
            true => exec_err!(
                "the key {name} is null in some rows, and the table has no folder for these, as it is declared: leave them out, or write all \
                 by COPY .. TO .. PARTITIONED BY"
            ),
            false => exec_err!(
                "the column {name} is null in some rows, and the table has no nulls in it: NOT NULL"
            ),
        };
    }
    Ok(())
}
