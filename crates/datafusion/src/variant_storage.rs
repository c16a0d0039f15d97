//! Which columns are VARIANT to DataFusion: by their fields, since a table's schema may have no metadata to tell it.

use crate::column_kind::is_binary;
use arrow_schema::DataType;

/// Whether a type is that of a VARIANT: a struct with `metadata`, and `value` or `typed_value`.
pub(crate) fn is_variant_storage(data_type: &DataType) -> bool {
    let DataType::Struct(fields) = data_type else { return false };
    let has_bytes = |name: &str| fields.find(name).is_some_and(|(_, field)| is_binary(field.data_type()));
    has_bytes("metadata") && (has_bytes("value") || fields.find("typed_value").is_some())
}
