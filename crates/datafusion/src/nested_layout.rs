//! The Arrow layout of text and binary inside of nested columns.

use crate::variant_storage::with_type;
use arrow_schema::{DataType, FieldRef, Fields, Schema};

/// The schema with no views within lists, maps and structs: DataFusion's functions compare nested values with literals,
/// and support only plain text and bytes there. Top-level columns may be views.
pub(crate) fn without_nested_views(schema: &Schema) -> Schema {
    let fields = schema.fields().iter().map(|field| with_type(field, below(field.data_type())));
    Schema::new_with_metadata(fields.collect::<Fields>(), schema.metadata().clone())
}

fn below(of: &DataType) -> DataType {
    use DataType::{FixedSizeList, LargeList, LargeListView, List, ListView, Map, Struct};
    match of {
        Struct(fields) => Struct(fields.iter().map(part).collect()),
        List(item) => List(part(item)),
        LargeList(item) => LargeList(part(item)),
        ListView(item) => ListView(part(item)),
        LargeListView(item) => LargeListView(part(item)),
        FixedSizeList(item, length) => FixedSizeList(part(item), *length),
        Map(entries, are_sorted) => Map(part(entries), *are_sorted),
        other => other.clone(),
    }
}

fn part(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        other => below(other),
    };
    with_type(field, data_type)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::Field;
    use std::sync::Arc;

    #[test]
    fn columns_may_be_views_and_their_parts_not() {
        let list = |of: DataType| DataType::List(Arc::new(Field::new("item", of, true)));
        let fields = |text: DataType, bytes: DataType| {
            let pair = DataType::Struct(Fields::from(vec![
                Field::new("key", text.clone(), false),
                Field::new("value", list(bytes), true),
            ]));
            vec![
                Field::new("t", DataType::Utf8View, true),
                Field::new("l", list(list(text)), true),
                Field::new("m", DataType::Map(Arc::new(Field::new("entries", pair, false)), false), true),
            ]
        };
        let views = Schema::new(fields(DataType::Utf8View, DataType::BinaryView));
        assert_eq!(without_nested_views(&views), Schema::new(fields(DataType::Utf8, DataType::Binary)));
    }
}
