//! The schema and settings of a file, made from an Arrow schema and properties before its first byte.

use super::dictionary_compat::keep_dictionaries_readable;
use crate::schema::{ARROW_SCHEMA_KEY, FromArrowOptions, GEOPARQUET_KEY, from_arrow, ipc};
use arrow_schema::Schema as ArrowSchema;
use marquetry_base::{Limits, Result};
use marquetry_core::schema::Schema;
use marquetry_core::sort_order::SortOrder;
use marquetry_core::write::{
    BloomFilterPosition, ColumnSettings, FileSettings, KeyValue, WriterProperties, geo_without_hidden_boxes,
};
use marquetry_format::{ColumnOrder, SchemaElement};
use std::sync::Arc;

/// The schema in all its forms, and all settings.
pub(super) struct FileSetup {
    pub(super) schema: Arc<Schema>,
    pub(super) elements: Vec<SchemaElement>,
    pub(super) columns: Arc<[ColumnSettings]>,
    /// The order of each column's bounds.
    pub(super) orders: Vec<ColumnOrder>,
    pub(super) settings: FileSettings,
}

impl FileSetup {
    pub(super) fn new(arrow_schema: &ArrowSchema, properties: &WriterProperties) -> Result<Self> {
        let options =
            FromArrowOptions { coerce_types: properties.coerce_types(), forms: properties.stored_forms() };
        let elements = from_arrow(arrow_schema, &options)?;
        let schema = Arc::new(Schema::from_thrift(&elements, &Limits::default())?);
        properties.check(&schema)?;
        let mut columns: Vec<_> =
            schema.columns().iter().map(|leaf| properties.column_settings(leaf)).collect::<Result<_>>()?;
        keep_dictionaries_readable(arrow_schema, &mut columns);
        let orders = schema.columns().iter().zip(&columns);
        let orders: Vec<_> =
            orders.map(|(leaf, settings)| SortOrder::for_writing(leaf, settings.total_order).1).collect();
        let settings = FileSettings::default()
            .with_created_by(Some(properties.created_by().into()))
            .with_column_orders(Some(orders.clone()))
            .with_key_values(key_values(arrow_schema, &schema, properties))
            .with_filters_at_end(properties.bloom_filter_position() == BloomFilterPosition::End)
            .with_leave_out_offset_index(properties.offset_index_disabled())
            .with_format_version(properties.format_version())
            .with_checkpoint_every(properties.checkpoint_every())
            .with_encryption(properties.file_encryption_properties().cloned())
            .with_cancel(properties.cancel_token().clone());
        Ok(FileSetup { schema, elements, columns: columns.into(), orders, settings })
    }
}

/// Returns the caller's pairs, then the Arrow schema.
fn key_values(arrow_schema: &ArrowSchema, schema: &Schema, properties: &WriterProperties) -> Vec<KeyValue> {
    let mut pairs = properties.key_value_metadata().cloned().unwrap_or_default();
    if properties.arrow_schema() && pairs.iter().all(|pair| pair.key != ARROW_SCHEMA_KEY) {
        let shown = without_hidden_boxes(arrow_schema, schema, properties);
        pairs.push(KeyValue::new(ARROW_SCHEMA_KEY, ipc::encode(shown.as_ref().unwrap_or(arrow_schema))));
    }
    pairs
}

/// Returns the Arrow schema, without the bounding boxes that its GeoParquet metadata has of columns with their own key;
/// `None` if there are none.
fn without_hidden_boxes(
    arrow_schema: &ArrowSchema,
    schema: &Schema,
    properties: &WriterProperties,
) -> Option<ArrowSchema> {
    let (geo, encryption) =
        (arrow_schema.metadata().get(GEOPARQUET_KEY)?, properties.file_encryption_properties()?);
    let shown = geo_without_hidden_boxes(geo, schema, encryption)?;
    let mut arrow_schema = arrow_schema.clone();
    arrow_schema.metadata.insert(GEOPARQUET_KEY.to_owned(), shown);
    Some(arrow_schema)
}
