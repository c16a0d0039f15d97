//! Casts batches to the types of a file, if they only differ in memory layout.

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, SchemaRef};
use marquetry::errors::{Error, Result};

/// The batch with the types of `schema`. Columns are matched by name.
///
/// Fails if a column is missing, unexpected or of another type, and if there are nulls that the file does not allow.
pub(crate) fn conform(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let theirs = batch.schema();
    if let Some(other) = theirs.fields().iter().find(|field| schema.field_with_name(field.name()).is_err()) {
        return Err(Error::argument("a column that the file has not").in_column(other.name().as_str()));
    }
    if theirs.fields().len() > schema.fields().len() {
        return Err(Error::argument("two columns have one name"));
    }
    let column = |field: &std::sync::Arc<Field>| {
        let fail = |why: String| Error::argument(why).in_column(field.name().as_str());
        let Some(array) = batch.column_by_name(field.name()) else {
            return Err(fail("the column is missing".into()));
        };
        if array.data_type() == field.data_type() {
            return Ok(array.clone());
        }
        if !is_alike(array.data_type(), field.data_type()) {
            return Err(fail(format!("{} where the file has {}", array.data_type(), field.data_type())));
        }
        cast(array, field.data_type()).map_err(|error| fail(error.to_string()))
    };
    let columns = schema.fields().iter().map(column).collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
}

/// Whether both types represent the same values.
fn is_alike(from: &DataType, to: &DataType) -> bool {
    use DataType::*;
    match (from, to) {
        (Dictionary(_, values), to) => is_alike(values, to),
        (from, Dictionary(_, values)) => is_alike(from, values),
        (Utf8 | LargeUtf8 | Utf8View, Utf8 | LargeUtf8 | Utf8View)
        | (Binary | LargeBinary | BinaryView, Binary | LargeBinary | BinaryView)
        // A column without values has no type of its own.
        | (Null, _) => true,
        (List(from) | LargeList(from), List(to) | LargeList(to)) => is_alike(from.data_type(), to.data_type()),
        (Struct(from), Struct(to)) => {
            let same = |(from, to): (&std::sync::Arc<Field>, &std::sync::Arc<Field>)| {
                from.name() == to.name() && is_alike(from.data_type(), to.data_type())
            };
            from.len() == to.len() && from.iter().zip(to).all(same)
        }
        (from, to) => from.equals_datatype(to),
    }
}
