use super::*;
use crate::schema::{TypeOptions, to_arrow};
use crate::test_schemas::{OPTIONAL, REPEATED, REQUIRED, batch, column, group, schema};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use marquetry_core::nesting::RepetitionLevels;
use marquetry_encoding::{Shape, Values};
use marquetry_format::{LogicalType, SchemaElement, Type};
use std::collections::HashMap;

/// Slots of a column of INT32, and its levels.
fn leaf(values: &[i32], validity: Option<&[bool]>, def: &[u8], rep: &[u8]) -> Option<ColumnBatch> {
    let words = values.iter().map(|&value| value as u32).collect();
    let entries = if def.is_empty() { values.len() } else { def.len() };
    let rep = RepetitionLevels::Bytes(rep.to_vec());
    Some(ColumnBatch { def: def.to_vec(), rep, entries, ..batch(Values::W32(words), validity) })
}

fn assembled(
    elements: Vec<SchemaElement>,
    to: Option<DataType>,
    batches: Vec<Option<ColumnBatch>>,
) -> Result<ArrayRef> {
    let (schema, fields) = schema(1, elements);
    let arrow = to_arrow(&fields, 0.., &schema, &HashMap::new(), &TypeOptions::default());
    let to = to.map_or_else(|| arrow.field(0).clone(), |to| ArrowField::new("x", to, true));
    let mut dictionaries = ColumnMap::new(0..batches.len(), DictionaryCache::default);
    let mut batches: ColumnMap<_> = batches.into_iter().enumerate().collect();
    let (batches, dictionaries, held) = (&mut batches, &mut dictionaries, &mut MemoryReservation::default());
    let mut leaves = Leaves { schema: &schema, batches, dictionaries, held };
    let array = assemble(&fields[0], &to, &mut leaves)?;
    assert_eq!(array.data_type(), to.data_type());
    array.to_data().validate_full().unwrap();
    Ok(array)
}

fn int(name: &str) -> SchemaElement {
    column(name, OPTIONAL, Type::INT32, None)
}

fn list() -> Vec<SchemaElement> {
    vec![group("l", OPTIONAL, 1, Some(LogicalType::List)), group("list", REPEATED, 1, None), int("element")]
}

/// [1, 2], null, [], [null]
fn lists() -> Option<ColumnBatch> {
    leaf(&[1, 2, 0], Some(&[true, true, false]), &[3, 3, 0, 1, 2], &[0, 1, 0, 0, 0])
}

#[test]
fn a_list() {
    let array = assembled(list(), None, vec![lists()]).unwrap();
    let array = array.as_list::<i32>();
    assert_eq!(&**array.offsets(), [0, 2, 2, 2, 3]);
    assert_eq!(array.nulls().unwrap().iter().collect::<Vec<_>>(), [true, false, true, true]);
    let values: Vec<_> = array.values().as_primitive::<Int32Type>().iter().collect();
    assert_eq!(values, [Some(1), Some(2), None]);
}

#[test]
fn every_kind_of_list() {
    let element = || Arc::new(ArrowField::new("e", DataType::Int32, true));
    let read = |to: DataType| assembled(list(), Some(to), vec![lists()]).unwrap();
    assert_eq!(&**read(DataType::LargeList(element())).as_list::<i64>().offsets(), [0, 2, 2, 2, 3]);
    let view = read(DataType::ListView(element()));
    assert_eq!(&**view.as_list_view::<i32>().offsets(), [0, 2, 2, 2]);
    assert_eq!(&**view.as_list_view::<i32>().sizes(), [2, 0, 0, 1]);
    assert_eq!(&**read(DataType::LargeListView(element())).as_list_view::<i64>().sizes(), [2, 0, 0, 1]);
}

#[test]
fn lists_of_one_size() {
    let to = |size| {
        let element = Arc::new(ArrowField::new("e", DataType::Int32, true));
        Some(DataType::FixedSizeList(element, size))
    };
    // [1, 2], null, [3, 4]
    let pairs = || leaf(&[1, 2, 3, 4], None, &[3, 3, 0, 3, 3], &[0, 1, 0, 0, 1]);
    let array = assembled(list(), to(2), vec![pairs()]).unwrap();
    let array = array.as_fixed_size_list();
    let values: Vec<_> = array.values().as_primitive::<Int32Type>().iter().collect();
    assert_eq!(values, [Some(1), Some(2), None, None, Some(3), Some(4)]);
    assert!(array.is_null(1));
    let error = assembled(list(), to(3), vec![pairs()]).unwrap_err();
    assert!(error.to_string().contains("a list of 2 elements where the Arrow schema says 3"), "{error}");
    // A size that only a hostile file claims costs nothing.
    let nulls = leaf(&[], None, &[0; 1000], &[0; 1000]);
    assert!(assembled(list(), to(i32::MAX), vec![nulls]).is_err());
    // Nor does the width of an element, which is a claim as well.
    let mut wide = list();
    wide[2] = column("element", OPTIONAL, Type::FIXED_LEN_BYTE_ARRAY, None);
    wide[2].type_length = Some(1 << 20);
    let element = Arc::new(ArrowField::new("e", DataType::FixedSizeBinary(1 << 20), true));
    let null = ColumnBatch {
        def: vec![0],
        rep: RepetitionLevels::Bytes(vec![0]),
        entries: 1,
        ..batch(Shape::Fixed(1 << 20).empty(), None)
    };
    let to = DataType::FixedSizeList(element, 1 << 26);
    let error = assembled(wide, Some(to), vec![Some(null)]).unwrap_err();
    assert_eq!(error.kind(), marquetry_base::ErrorKind::Limit);
}

fn pair(repetition: marquetry_format::Repetition) -> Vec<SchemaElement> {
    vec![group("a", repetition, 2, None), column("x", REQUIRED, Type::INT32, None), int("y")]
}

#[test]
fn a_struct_with_nulls() {
    // {1, null}, null, {2, 5}
    let x = leaf(&[1, 0, 2], Some(&[true, false, true]), &[1, 0, 1], &[]);
    let y = leaf(&[0, 0, 5], Some(&[false, false, true]), &[1, 0, 2], &[]);
    let array = assembled(pair(OPTIONAL), None, vec![x, y]).unwrap();
    let array = array.as_struct();
    assert_eq!(array.nulls().unwrap().iter().collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(array.column(1).as_primitive::<Int32Type>().iter().collect::<Vec<_>>(), [None, None, Some(5)]);
}

#[test]
fn siblings_must_agree() {
    let batches = vec![leaf(&[1, 2], None, &[], &[]), leaf(&[1, 2, 3], None, &[], &[])];
    let error = assembled(pair(REQUIRED), None, batches).unwrap_err();
    assert_eq!(error.to_string(), "corrupt: columns a.x and a.y disagree: 2 and 3 values");
    let error = assembled(pair(REQUIRED), None, vec![leaf(&[1], None, &[], &[]), None]).unwrap_err();
    assert_eq!(error.message(), "column 1 a.y was not read");
    // As many values, but another struct is null.
    let x = leaf(&[1, 0, 2], Some(&[true, false, true]), &[1, 0, 1], &[]);
    let y = leaf(&[0, 5, 0], Some(&[false, true, false]), &[1, 2, 0], &[]);
    let error = assembled(pair(OPTIONAL), None, vec![x, y]).unwrap_err();
    assert_eq!(error.message(), "columns a.x and a.y disagree: other lists or nulls above both");
}

fn map() -> Vec<SchemaElement> {
    vec![
        group("m", OPTIONAL, 1, Some(LogicalType::Map)),
        group("key_value", REPEATED, 2, None),
        int("key"),
        int("value"),
    ]
}

#[test]
fn a_map() {
    // {1: 10, 1: null}, null, {}
    let levels: (&[u8], &[u8]) = (&[3, 3, 0, 1], &[0, 1, 0, 0]);
    let values = || leaf(&[10, 0], Some(&[true, false]), &[3, 2, 0, 1], levels.1);
    let array = assembled(map(), None, vec![leaf(&[1, 1], None, levels.0, levels.1), values()]).unwrap();
    let array = array.as_map();
    assert_eq!(&**array.offsets(), [0, 2, 2, 2]);
    assert_eq!(array.keys().as_primitive::<Int32Type>().values(), &[1, 1]);
    assert!(array.is_null(1) && !array.is_null(2));
    let null_key = leaf(&[1, 0], Some(&[true, false]), &[3, 2, 0, 1], levels.1);
    let error = assembled(map(), None, vec![null_key, values()]).unwrap_err();
    assert_eq!(error.to_string(), "corrupt: null map key, in column m.key_value.key");
}

#[test]
fn keys_and_values_of_other_rows() {
    // {1, 2}, {3}, {4} of keys and {1, 2}, {3, 4}, {} of values: as many.
    let keys = leaf(&[1, 2, 3, 4], None, &[3, 3, 3, 3], &[0, 1, 0, 0]);
    let values = leaf(&[1, 2, 3, 4], None, &[3, 3, 3, 3, 1], &[0, 1, 0, 1, 0]);
    let error = assembled(map(), None, vec![keys, values]).unwrap_err();
    let expected =
        "corrupt: columns m.key_value.key and m.key_value.value disagree: other lists or nulls above both";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn lists_of_structs() {
    let elements = [
        vec![group("l", REQUIRED, 1, Some(LogicalType::List)), group("list", REPEATED, 1, None)],
        pair(OPTIONAL),
    ]
    .concat();
    // [{1, 2}, null], []      def: 0 empty, 1 null struct, 2 struct, 3 y
    let x = leaf(&[1, 0], Some(&[true, false]), &[2, 1, 0], &[0, 1, 0]);
    let y = leaf(&[2, 0], Some(&[true, false]), &[3, 1, 0], &[0, 1, 0]);
    let array = assembled(elements, None, vec![x, y]).unwrap();
    assert_eq!(&**array.as_list::<i32>().offsets(), [0, 2, 2]);
    let structs = array.as_list::<i32>().values().as_struct();
    assert_eq!(structs.null_count(), 1);
}
