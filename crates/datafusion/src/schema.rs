//! Which schema a table has, and which one its files are read as.

use crate::column_kind::{is_binary, is_text};
use crate::variant_storage::{below, changed_fields, is_restored, with_type};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
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
    changed_fields(file, table, |field, wanted| with_type(field, read_type(field, wanted)))
}

fn read_type(file: &Field, table: &Field) -> DataType {
    match (file.data_type(), table.data_type()) {
        (stored, wanted) if is_restored(file, wanted) => stored.clone(),
        (stored, wanted) if is_text(stored) && is_text(wanted) => wanted.clone(),
        (stored, wanted) if is_binary(stored) && (is_binary(wanted) || is_text(wanted)) => wanted.clone(),
        (stored, wanted) => below(stored, wanted, &read_type),
    }
}
