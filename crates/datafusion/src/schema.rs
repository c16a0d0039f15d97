//! Which schema a table has, and which one its files are read as.

use crate::column_kind::{is_binary, is_text};
use crate::variant_storage::is_restored;
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use datafusion::common::config::ParquetOptions;
use std::collections::HashMap;
use std::sync::Arc;

/// The schema that a table has of files with this one, as the session's options want it.
pub(crate) fn table_schema(schema: &Schema, options: &ParquetOptions) -> Schema {
    let as_wanted = |data_type: &DataType| {
        let data_type = match data_type {
            DataType::Binary if options.binary_as_string => DataType::Utf8,
            DataType::LargeBinary if options.binary_as_string => DataType::LargeUtf8,
            DataType::BinaryView if options.binary_as_string => DataType::Utf8View,
            other => other.clone(),
        };
        match data_type {
            DataType::Utf8 | DataType::LargeUtf8 if options.schema_force_view_types => DataType::Utf8View,
            DataType::Binary | DataType::LargeBinary if options.schema_force_view_types => {
                DataType::BinaryView
            }
            other => other,
        }
    };
    let fields = schema.fields().iter().map(|field| with_type(field, as_wanted(field.data_type())));
    Schema::new_with_metadata(fields.collect::<Fields>(), schema.metadata().clone())
}

/// The schema without the metadata of fields and of its own.
pub(crate) fn without_metadata(schema: &Schema) -> Schema {
    let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_metadata(HashMap::new()));
    Schema::new(fields.collect::<Fields>())
}

/// The schema to read a file as, for a table: where only the layout of byte strings differs, that of the table, so that nothing has
/// to be converted; everything else as the file has it, VARIANT of other storage too. `None` if that is the file's own.
pub(crate) fn read_schema(file: &Schema, table: &Schema) -> Option<SchemaRef> {
    let fields = read_fields(file.fields(), table.fields());
    let is_own = fields.iter().zip(file.fields()).all(|(read, own)| read == own);
    (!is_own).then(|| Arc::new(Schema::new_with_metadata(fields, file.metadata().clone())))
}

fn read_fields(file: &Fields, table: &Fields) -> Fields {
    let read = |field: &FieldRef| match table.find(field.name()) {
        Some((_, wanted)) => read_field(field, wanted),
        None => field.clone(),
    };
    file.iter().map(read).collect()
}

fn read_field(file: &FieldRef, table: &FieldRef) -> FieldRef {
    match is_restored(file, table.data_type()) {
        true => file.clone(),
        false => with_type(file, read_type(file.data_type(), table.data_type())),
    }
}

fn read_type(file: &DataType, table: &DataType) -> DataType {
    match (file, table) {
        (file, table) if is_text(file) && is_text(table) => table.clone(),
        (file, table) if is_binary(file) && (is_binary(table) || is_text(table)) => table.clone(),
        (DataType::Struct(file), DataType::Struct(table)) => DataType::Struct(read_fields(file, table)),
        (DataType::List(file), DataType::List(table)) => DataType::List(read_field(file, table)),
        (DataType::LargeList(file), DataType::LargeList(table)) => {
            DataType::LargeList(read_field(file, table))
        }
        (DataType::Map(file, sorted), DataType::Map(table, _)) => {
            DataType::Map(read_field(file, table), *sorted)
        }
        (file, _) => file.clone(),
    }
}

fn with_type(field: &FieldRef, data_type: DataType) -> FieldRef {
    match *field.data_type() == data_type {
        true => field.clone(),
        false => Arc::new(Field::clone(field).with_data_type(data_type)),
    }
}
