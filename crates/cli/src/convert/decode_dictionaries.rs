//! Decodes dictionary and run-end encoded columns into plain arrays.
//!
//! The stored Arrow schema may declare columns as dictionaries or run-end encoded. Text formats have neither, nor have
//! all readers of Arrow files: the values are read instead.

use super::exact_int96::{is_int96, with_exact_int96};
use crate::memory::bounded_options;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::ChunkReader;
use marquetry::errors;
use std::sync::Arc;

/// How INT96 is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimesAs {
    /// As timestamps, in the finest unit that holds all values of a column.
    Timestamps,
    /// As exact values, which are only shown.
    Text,
}

/// The file, with dictionary and run-end encoded columns read as their values.
pub(crate) fn plain_columns(file: OpenFile, times: TimesAs) -> errors::Result<OpenFile> {
    let has_int96 = file.metadata().schema().columns().iter().any(is_int96);
    let is_encoded = file.schema()?.fields().iter().any(|field| is_encoded(field.data_type()));
    let are_exact = has_int96 && times == TimesAs::Text;
    if !(is_encoded || has_int96) {
        return Ok(file);
    }
    // The schema of the reader, in which INT96 columns have a unit that holds their values.
    let schema = match has_int96 {
        true => file.clone().batches()?.schema(),
        false => file.schema()?,
    };
    let mut schema = plain_schema(&schema);
    if are_exact {
        schema = with_exact_int96(&file, &schema)?;
    }
    OpenFile::new(file.into_source()?, bounded_options().with_schema(schema))
}

/// The schema without dictionary and run-end encoded types.
pub(crate) fn plain_schema(schema: &SchemaRef) -> SchemaRef {
    Arc::new(Schema::new_with_metadata(fields(schema.fields()), schema.metadata().clone()))
}

/// A batch converted to its [`plain_schema`].
pub(crate) fn plain_batch(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().zip(schema.fields());
    let columns =
        columns.map(|(column, field)| plain(column, field.data_type())).collect::<Result<_, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options)
}

/// Decodes a dictionary or run-end encoded column.
///
/// QUIRK: `cast` of a dictionary to views loses nulls among its values; casts to other layouts do not.
fn plain(column: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    if !is_encoded(column.data_type()) {
        return cast(column, to);
    }
    cast(&cast(column, &without_views(to))?, to)
}

/// The type without views of text and bytes.
fn without_views(data_type: &DataType) -> DataType {
    let below =
        |field: &FieldRef| Arc::new(field.as_ref().clone().with_data_type(without_views(field.data_type())));
    match data_type {
        DataType::Utf8View => DataType::LargeUtf8,
        DataType::BinaryView => DataType::LargeBinary,
        DataType::Struct(children) => DataType::Struct(children.iter().map(below).collect()),
        DataType::List(element) => DataType::List(below(element)),
        DataType::LargeList(element) => DataType::LargeList(below(element)),
        DataType::ListView(element) => DataType::ListView(below(element)),
        DataType::LargeListView(element) => DataType::LargeListView(below(element)),
        DataType::FixedSizeList(element, n) => DataType::FixedSizeList(below(element), *n),
        DataType::Map(entries, sorted) => DataType::Map(below(entries), *sorted),
        other => other.clone(),
    }
}

fn fields(fields: &Fields) -> Fields {
    fields.iter().map(plain_field).collect()
}

fn plain_field(field: &FieldRef) -> FieldRef {
    // Built from scratch: a field remembers that its dictionary is ordered.
    let plain = Field::new(field.name(), plain_type(field.data_type()), field.is_nullable());
    Arc::new(plain.with_metadata(field.metadata().clone()))
}

fn plain_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Dictionary(_, values) => plain_values(values),
        DataType::RunEndEncoded(_, values) => plain_values(values.data_type()),
        DataType::Struct(children) => DataType::Struct(fields(children)),
        DataType::List(element) => DataType::List(plain_field(element)),
        DataType::LargeList(element) => DataType::LargeList(plain_field(element)),
        DataType::ListView(element) => DataType::ListView(plain_field(element)),
        DataType::LargeListView(element) => DataType::LargeListView(plain_field(element)),
        DataType::FixedSizeList(element, n) => DataType::FixedSizeList(plain_field(element), *n),
        DataType::Map(entries, sorted) => DataType::Map(plain_field(entries), *sorted),
        other => other.clone(),
    }
}

/// The type of a dictionary's values: byte strings in the layout of all other columns.
fn plain_values(values: &DataType) -> DataType {
    match values {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        other => plain_type(other),
    }
}

fn is_encoded(data_type: &DataType) -> bool {
    plain_type(data_type) != *data_type
}
