//! Columns of bytes that only GeoParquet's metadata declares to be geometries, as in files of its versions 1.0 and 1.1.

use crate::remote;
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use marquetry::file::metadata::ParquetMetaData;
use marquetry_geo::GeoParquet;
use marquetry_geo::geoparquet::KEY;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// The schema with such columns as geometries; `None` if there are none.
pub(crate) fn labelled(schema: &SchemaRef, metadata: &ParquetMetaData) -> Option<SchemaRef> {
    labelled_where(schema, metadata, &|_| true)
}

/// The schema of a table of many files, with such columns as geometries. For each column the first file that has it
/// decides, as it does for the column's type; a file that cannot be opened is reported when it is read.
pub(crate) fn labelled_by_files<'a>(
    schema: SchemaRef,
    files: impl IntoIterator<Item = &'a Path>,
) -> SchemaRef {
    let open = schema.fields().iter().filter(|field| is_unlabelled(field));
    let mut open: HashSet<String> = open.map(|field| field.name().clone()).collect();
    let mut schema = schema;
    for path in files {
        if open.is_empty() {
            break;
        }
        let Ok(file) = remote::open(path) else { break };
        let found = labelled_where(&schema, file.metadata(), &|name| open.contains(name));
        schema = found.unwrap_or(schema);
        for field in file.metadata().schema().fields() {
            open.remove(field.name());
        }
    }
    schema
}

fn labelled_where(
    schema: &SchemaRef,
    metadata: &ParquetMetaData,
    may: &dyn Fn(&str) -> bool,
) -> Option<SchemaRef> {
    let geo = GeoParquet::parse(&metadata.value_of(KEY)?).ok()?;
    let is_named =
        |name: &str| geo.columns().any(|(column, of)| column == name && of.encoding() == Some("WKB"));
    let mut is_any = false;
    let fields = schema.fields().iter().map(|field| -> FieldRef {
        if !is_unlabelled(field) || !may(field.name()) || !is_named(field.name()) {
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

/// Whether a column has bytes without an extension type.
fn is_unlabelled(field: &Field) -> bool {
    matches!(field.data_type(), DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
        && !field.metadata().contains_key(EXTENSION)
}

const EXTENSION: &str = "ARROW:extension:name";
