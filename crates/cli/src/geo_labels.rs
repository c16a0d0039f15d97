//! Columns of bytes that only the metadata of GeoParquet says are geometries, as files of its versions 1.0 and 1.1 have them.

use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use marquetry::file::metadata::ParquetMetaData;
use marquetry_geo::GeoParquet;
use marquetry_geo::geoparquet::KEY;
use std::sync::Arc;

/// The schema with such columns as geometries; `None` if the file has none.
pub(crate) fn labelled(schema: &SchemaRef, metadata: &ParquetMetaData) -> Option<SchemaRef> {
    let geo = GeoParquet::parse(&metadata.value_of(KEY)?).ok()?;
    let is_named =
        |name: &str| geo.columns().any(|(column, of)| column == name && of.encoding() == Some("WKB"));
    let is_bytes = |field: &Field| {
        matches!(field.data_type(), DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
    };
    let mut is_any = false;
    let fields = schema.fields().iter().map(|field| -> FieldRef {
        if !is_bytes(field) || field.metadata().contains_key(EXTENSION) || !is_named(field.name()) {
            return field.clone();
        }
        is_any = true;
        let mut metadata = field.metadata().clone();
        metadata.insert(EXTENSION.to_owned(), "geoarrow.wkb".to_owned());
        Arc::new(Field::clone(field).with_metadata(metadata))
    });
    let fields: Vec<FieldRef> = fields.collect();
    is_any.then(|| Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())))
}

const EXTENSION: &str = "ARROW:extension:name";
