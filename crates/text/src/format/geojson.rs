//! Formats rows as GeoJSON features.

use super::column::Objects;
use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use marquetry_base::Error;
use marquetry_geo::geojson;

/// The text before the features.
pub const START: &str = "{\"type\":\"FeatureCollection\",\"features\":[";
/// The text behind the features.
pub const END: &str = "\n]}\n";

/// Appends the rows of a batch, each as a comma, a line end and a feature. The first column has the geometries, and the
/// others are properties. Fails, with the row in the batch, if a value is not a geometry that GeoJSON has.
pub fn write_features(batch: &RecordBatch, out: &mut String) -> Result<(), Error> {
    let Some((geometries, schema)) = batch.columns().first().zip(batch.schema().fields().first().cloned())
    else {
        return Err(Error::argument("there is no column of geometries"));
    };
    let others: Vec<usize> = (1..batch.num_columns()).collect();
    let others = batch.project(&others)?;
    let objects = Objects::new(&others)?;
    for row in 0..batch.num_rows() {
        out.push_str(",\n{\"type\":\"Feature\",\"properties\":");
        objects.write(row, out);
        out.push_str(",\"geometry\":");
        match value(geometries, row) {
            None => out.push_str("null"),
            Some(wkb) => geojson::write_to(wkb, out).map_err(|error| {
                let message = format!("row {row} of a batch: {}", error.message());
                Error::new(error.kind(), message).in_column(schema.name().as_str())
            })?,
        }
        out.push('}');
    }
    Ok(())
}

/// Returns the bytes of a value in a column of any binary layout. `None` if it is null, or the column has another type.
pub fn value(array: &dyn Array, row: usize) -> Option<&[u8]> {
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::Binary => Some(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => Some(array.as_binary::<i64>().value(row)),
        DataType::BinaryView => Some(array.as_binary_view().value(row)),
        _ => None,
    }
}
