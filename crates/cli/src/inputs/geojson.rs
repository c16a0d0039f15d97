//! GeoJSON: properties of features are columns, like members of JSON Lines, and `geometry` is GEOMETRY in OGC:CRS84, or
//! in the `crs` of an old file.

use super::bad_input::bad;
use super::byte_stream::ByteStream;
use super::input::{Input, InputOptions};
use super::jsonl::{self, FeatureCrs, GEOMETRY, JsonText};
use crate::failure::Failure;
use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use marquetry_geo::geojson;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

/// Opens a FeatureCollection.
pub(super) fn open(origin: ByteStream, wanted: &InputOptions<'_>) -> Result<Input, Failure> {
    let crs = FeatureCrs::default();
    let input = jsonl::open(vec![origin], wanted, JsonText::Features(crs.clone()))?;
    let Some((at, field)) = input.schema.column_with_name(GEOMETRY) else { return Ok(input) };
    // If another type is given, the column has the text.
    if *field.data_type() != DataType::Utf8
        || wanted.args.schema.as_ref().is_some_and(|given| given.contains(GEOMETRY))
    {
        return Ok(input);
    }
    let crs = crs.settled();
    let parameters = match crs.strip_prefix("srid:") {
        Some(id) => json!({"crs": id, "crs_type": "srid"}),
        None => json!({"crs": crs, "crs_type": "authority_code"}),
    };
    let extension = HashMap::from([
        ("ARROW:extension:name".to_owned(), "geoarrow.wkb".to_owned()),
        ("ARROW:extension:metadata".to_owned(), parameters.to_string()),
    ]);
    let mut fields = input.schema.fields().to_vec();
    fields[at] = Arc::new(Field::new(GEOMETRY, DataType::Binary, true).with_metadata(extension));
    let schema = Arc::new(Schema::new(fields));
    let of_batch = schema.clone();
    let mut before = 0;
    let batches = input.batches.map(move |batch| {
        let batch = batch?;
        let made = with_geometries(&batch, at, &of_batch, before)?;
        before += batch.num_rows() as u64;
        Ok(made)
    });
    Ok(Input { schema, batches: Box::new(batches), ..input })
}

fn with_geometries(
    batch: &RecordBatch,
    at: usize,
    schema: &SchemaRef,
    before: u64,
) -> Result<RecordBatch, Failure> {
    let texts = batch.column(at).as_string::<i32>();
    let mut out = BinaryBuilder::with_capacity(texts.len(), 0);
    for (row, text) in texts.iter().enumerate() {
        match text {
            None => out.append_null(),
            Some(text) => {
                let wkb = geojson::parse(text);
                let wrong = |error: marquetry::errors::Error| {
                    bad(format!("feature {}: {}", before + row as u64 + 1, error.message()))
                };
                out.append_value(wkb.map_err(wrong)?);
            }
        }
    }
    let mut columns = batch.columns().to_vec();
    columns[at] = Arc::new(out.finish()) as ArrayRef;
    Ok(RecordBatch::try_new(schema.clone(), columns)?)
}
