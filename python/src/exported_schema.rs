//! Exports schemas to C with a flag that Arrow's own export loses: that the keys of a map are sorted.

use arrow_schema::ffi::{FFI_ArrowSchema, Flags};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema};

pub(crate) fn exported_schema(schema: &Schema) -> Result<FFI_ArrowSchema, ArrowError> {
    if !has_sorted_maps(schema) {
        return FFI_ArrowSchema::try_from(schema);
    }
    let format = FFI_ArrowSchema::try_from(schema)?.format().to_owned();
    let columns = schema.fields().iter().map(|field| exported_field(field)).collect::<Result<_, _>>()?;
    FFI_ArrowSchema::try_new(&format, columns, None)?.with_metadata(schema.metadata())
}

/// Whether some map, at any depth, has sorted keys.
pub(crate) fn has_sorted_maps(schema: &Schema) -> bool {
    schema.fields().iter().any(|field| has_sorted(field.data_type()))
}

fn has_sorted(data_type: &DataType) -> bool {
    let is_sorted = matches!(data_type, DataType::Map(_, true));
    is_sorted || children(data_type).iter().any(|field| has_sorted(field.data_type()))
}

fn exported_field(field: &Field) -> Result<FFI_ArrowSchema, ArrowError> {
    let plain = FFI_ArrowSchema::try_from(field)?;
    if !has_sorted(field.data_type()) {
        return Ok(plain);
    }
    let parts = children(field.data_type()).iter().map(|child| exported_field(child));
    let parts = parts.collect::<Result<_, _>>()?;
    let mut flags = plain.flags().unwrap_or(Flags::empty());
    flags.set(Flags::MAP_KEYS_SORTED, matches!(field.data_type(), DataType::Map(_, true)));
    FFI_ArrowSchema::try_new(plain.format(), parts, None)?
        .with_name(field.name())?
        .with_flags(flags)?
        .with_metadata(field.metadata())
}

/// The child fields of a type; none for dictionaries, whose values are written as they are.
fn children(data_type: &DataType) -> &[FieldRef] {
    match data_type {
        DataType::Struct(fields) => fields,
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => std::slice::from_ref(field),
        _ => &[],
    }
}
