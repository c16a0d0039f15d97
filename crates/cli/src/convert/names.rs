//! Column names in text formats: each must be there, once.
//!
//! A column's name may be empty in Parquet, and several columns may have the same name. CSV headers and JSON objects
//! cannot distinguish such columns: those that would be lost get other names.

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use marquetry_text::column_names::{filled_names, unique_filled_names};
use std::sync::Arc;

/// The schema with a unique name for every column; unchanged if that is so already.
pub(crate) fn with_unique_names(schema: SchemaRef) -> SchemaRef {
    let names = unique_filled_names(names_of(&schema));
    with_names(schema, names)
}

/// The schema with a name for every column; unchanged if that is so already.
pub(crate) fn with_filled_names(schema: SchemaRef) -> SchemaRef {
    let names = filled_names(names_of(&schema));
    with_names(schema, names)
}

fn names_of(schema: &SchemaRef) -> impl Iterator<Item = &str> + Clone {
    schema.fields().iter().map(|field| field.name().as_str())
}

fn with_names(schema: SchemaRef, names: Vec<String>) -> SchemaRef {
    if names_of(&schema).eq(names.iter().map(String::as_str)) {
        return schema;
    }
    let fields =
        schema.fields().iter().zip(names).map(|(field, name)| Arc::new(Field::clone(field).with_name(name)));
    Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone()))
}

/// The batch with `schema`, which differs from its own only in names.
pub(crate) fn renamed(batch: RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    if Arc::ptr_eq(&batch.schema(), schema) {
        return Ok(batch);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(schema.clone(), batch.columns().to_vec(), &options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Int32Array;
    use arrow_schema::DataType;

    #[test]
    fn columns_without_a_name_get_one() {
        let fields = ["a", "", "a"].map(|name| Field::new(name, DataType::Int32, false));
        let array = Arc::new(Int32Array::from(vec![1]));
        let batch = RecordBatch::try_new(
            Arc::new(Schema::new(fields.to_vec())),
            vec![array.clone(), array.clone(), array],
        );
        let batch = batch.unwrap();
        let schema = with_unique_names(batch.schema());
        let batch = renamed(batch, &schema).unwrap();
        let names: Vec<_> = batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect();
        assert_eq!(names, ["a", "C1", "a_1"]);
        assert!(Arc::ptr_eq(&with_unique_names(schema.clone()), &schema));
    }
}
