use super::*;
use crate::schema::{ARROW_SCHEMA_KEY, TypeOptions, ipc, to_arrow};
use arrow_schema::{Fields, IntervalUnit, TimeUnit as ArrowUnit};
use marquetry_base::{ErrorKind, Limits};
use marquetry_core::nesting::NestedField;
use marquetry_core::schema::Schema;
use marquetry_format::{ConvertedType, EdgeInterpolationAlgorithm, LogicalType, Type};
use std::collections::HashMap;
use std::sync::Arc;

fn elements(field: ArrowField) -> Result<Vec<SchemaElement>> {
    from_arrow(&ArrowSchema::new(vec![field]), &FromArrowOptions::default())
}

fn nullable(data_type: DataType) -> ArrowField {
    ArrowField::new("c", data_type, true)
}

/// The schema as it comes back from a file that has `schema` in its metadata, or not.
fn back(schema: &ArrowSchema, stored: bool) -> ArrowSchema {
    let elements = from_arrow(schema, &FromArrowOptions::default()).unwrap();
    let parquet = Schema::from_thrift(&elements, &Limits::default()).unwrap();
    assert_eq!(parquet.to_thrift(), elements);
    let fields = NestedField::from_schema(&parquet);
    let encoded = ipc::encode(schema);
    let metadata = match stored {
        true => HashMap::from([(ARROW_SCHEMA_KEY, &*encoded)]),
        false => HashMap::new(),
    };
    to_arrow(&fields, 0.., &parquet, &metadata, &TypeOptions::default())
}

fn metadata(pairs: &[(&str, &str)]) -> HashMap<String, String> {
    pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

fn element(data_type: DataType) -> Arc<ArrowField> {
    Arc::new(ArrowField::new("element", data_type, true))
}

fn plain_types() -> Vec<DataType> {
    use DataType::*;
    let units = [ArrowUnit::Second, ArrowUnit::Millisecond, ArrowUnit::Microsecond, ArrowUnit::Nanosecond];
    let zone: Arc<str> = "Europe/Berlin".into();
    let mut types = vec![
        Null,
        Boolean,
        Int8,
        Int16,
        Int32,
        Int64,
        UInt8,
        UInt16,
        UInt32,
        UInt64,
        Float16,
        Float32,
        Float64,
        Utf8,
        LargeUtf8,
        Utf8View,
        Binary,
        LargeBinary,
        BinaryView,
        Date32,
        Date64,
    ];
    types.extend([FixedSizeBinary(5), FixedSizeBinary(16)]);
    types.extend([Time32(units[0]), Time32(units[1]), Time64(units[2]), Time64(units[3])]);
    types.extend(units.map(Duration));
    types.extend(units.map(|unit| Timestamp(unit, None)));
    types.extend(units.map(|unit| Timestamp(unit, Some(zone.clone()))));
    types.extend([IntervalUnit::YearMonth, IntervalUnit::DayTime, IntervalUnit::MonthDayNano].map(Interval));
    types.extend([(1, 0), (9, 9)].map(|(p, s)| Decimal32(p, s)));
    types.extend([(1, 0), (9, 2), (10, 3), (18, 18)].map(|(p, s)| Decimal64(p, s)));
    types.extend([(1, 0), (9, 2), (18, 3), (19, 3), (38, 38)].map(|(p, s)| Decimal128(p, s)));
    types.extend([(1, 0), (18, 3), (38, 3), (39, 0), (76, 76)].map(|(p, s)| Decimal256(p, s)));
    types
}

#[test]
fn every_type_comes_back() {
    let mut types = plain_types();
    let values = types.clone().into_iter().filter(|data_type| !data_type.is_null());
    let encoded = values.flat_map(|values| {
        let dictionary = DataType::Dictionary(Box::new(DataType::Int16), Box::new(values.clone()));
        let runs = |values| {
            let ends = Arc::new(ArrowField::new("run_ends", DataType::Int32, false));
            DataType::RunEndEncoded(ends, Arc::new(ArrowField::new("values", values, true)))
        };
        [dictionary.clone(), runs(values), runs(dictionary)]
    });
    types.extend(encoded.collect::<Vec<_>>());
    types.extend([
        DataType::List(element(DataType::Utf8)),
        DataType::LargeList(element(DataType::LargeUtf8)),
        DataType::ListView(element(DataType::Int8)),
        DataType::LargeListView(element(DataType::Null)),
        DataType::FixedSizeList(element(DataType::Date64), 3),
        DataType::List(element(DataType::List(element(DataType::Float16)))),
        DataType::Struct(Fields::from(vec![
            ArrowField::new("a", DataType::Int64, false),
            ArrowField::new("b", DataType::List(element(DataType::Boolean)), true),
        ])),
        DataType::Map(
            Arc::new(ArrowField::new(
                "key_value",
                DataType::Struct(Fields::from(vec![
                    ArrowField::new("key", DataType::Utf8View, false),
                    ArrowField::new("value", DataType::Duration(ArrowUnit::Second), true),
                ])),
                false,
            )),
            true,
        ),
    ]);
    for data_type in types {
        for nullable in [true, false] {
            let field = ArrowField::new("c", data_type.clone(), nullable || data_type.is_null());
            let field = field.with_metadata(metadata(&[("k", "v"), (FIELD_ID_KEY, "17")]));
            let schema = ArrowSchema::new(vec![field]);
            let schema = schema.with_metadata(metadata(&[("of", "schema")]));
            assert_eq!(back(&schema, true), schema, "{data_type}");
        }
    }
}

#[test]
fn other_readers_see_types_close_to_arrows() {
    let seen = |data_type: DataType| {
        let schema = ArrowSchema::new(vec![nullable(data_type)]);
        back(&schema, false).field(0).data_type().clone()
    };
    use DataType::*;
    for same in
        [Null, Int8, UInt64, Float16, Date32, FixedSizeBinary(3), Decimal128(20, 2), Decimal256(40, 2)]
    {
        assert_eq!(seen(same.clone()), same);
    }
    assert_eq!(seen(Timestamp(ArrowUnit::Second, None)), Timestamp(ArrowUnit::Millisecond, None));
    assert_eq!(
        seen(Timestamp(ArrowUnit::Nanosecond, Some("x".into()))),
        Timestamp(ArrowUnit::Nanosecond, Some("UTC".into()))
    );
    assert_eq!(seen(Timestamp(ArrowUnit::Second, Some("".into()))), Timestamp(ArrowUnit::Millisecond, None));
    assert_eq!(seen(Time32(ArrowUnit::Second)), Time32(ArrowUnit::Millisecond));
    assert_eq!(seen(Duration(ArrowUnit::Second)), Int64);
    assert_eq!(seen(Date64), Int64);
    let options = FromArrowOptions { coerce_types: true, ..Default::default() };
    let elements = from_arrow(&ArrowSchema::new(vec![nullable(Date64)]), &options).unwrap();
    assert_eq!(elements[1].logical_type, Some(LogicalType::Date));
}

#[test]
fn annotations_are_written_twice() {
    let found = elements(nullable(DataType::Decimal128(20, 2))).unwrap();
    let root = SchemaElement { name: "schema".into(), num_children: Some(1), ..SchemaElement::default() };
    let decimal = SchemaElement {
        name: "c".into(),
        type_: Some(Type::FIXED_LEN_BYTE_ARRAY),
        type_length: Some(9),
        repetition_type: Some(Repetition::OPTIONAL),
        converted_type: Some(ConvertedType::DECIMAL),
        scale: Some(2),
        precision: Some(20),
        logical_type: Some(LogicalType::Decimal { precision: 20, scale: 2 }),
        ..SchemaElement::default()
    };
    assert_eq!(found, [root, decimal]);
}

#[test]
fn widths_of_decimals() {
    let width = |precision| match elements(nullable(DataType::Decimal256(precision, 0))).unwrap()[1].type_ {
        Some(Type::INT32) => 4,
        Some(Type::INT64) => 8,
        _ => decimal_width(precision),
    };
    let found = [1, 9, 10, 18, 19, 21, 22, 38, 39, 76].map(width);
    assert_eq!(found, [4, 4, 8, 8, 9, 9, 10, 16, 17, 32]);
}

#[test]
fn lists_and_maps_have_three_levels() {
    let item = ArrowField::new("item", DataType::Int32, true).with_metadata(metadata(&[(FIELD_ID_KEY, "2")]));
    let list = ArrowField::new("c", DataType::LargeList(Arc::new(item)), false);
    let found = elements(list.with_metadata(metadata(&[(FIELD_ID_KEY, "1")]))).unwrap();
    let names: Vec<_> = found.iter().map(|element| element.name.as_ref()).collect();
    assert_eq!(names, ["schema", "c", "list", "element"]);
    let repetitions: Vec<_> = found.iter().map(|element| element.repetition_type).collect();
    let expected = [Repetition::REQUIRED, Repetition::REPEATED, Repetition::OPTIONAL];
    assert_eq!(repetitions[1..], expected.map(Some));
    let ids: Vec<_> = found.iter().map(|element| element.field_id).collect();
    assert_eq!(ids, [None, Some(1), None, Some(2)]);
    assert_eq!(found[1].converted_type, Some(ConvertedType::LIST));
    let parts =
        vec![ArrowField::new("keys", DataType::Utf8, true), ArrowField::new("values", DataType::Int32, true)];
    let entries = ArrowField::new("entries", DataType::Struct(parts.into()), false);
    let found = elements(nullable(DataType::Map(Arc::new(entries), false))).unwrap();
    let names: Vec<_> = found.iter().map(|element| element.name.as_ref()).collect();
    assert_eq!(names, ["schema", "c", "key_value", "key", "value"]);
    assert_eq!(found[3].repetition_type, Some(Repetition::REQUIRED));
}

#[test]
fn extension_types() {
    let logical = |data_type: DataType, name: &str, parameters: &str| {
        let pairs = [("ARROW:extension:name", name), ("ARROW:extension:metadata", parameters)];
        let schema = ArrowSchema::new(vec![nullable(data_type).with_metadata(metadata(&pairs))]);
        assert_eq!(back(&schema, true), schema);
        from_arrow(&schema, &FromArrowOptions::default()).unwrap()[1].logical_type.clone()
    };
    let fsb16 = DataType::FixedSizeBinary(16);
    assert_eq!(logical(fsb16.clone(), "arrow.uuid", ""), Some(LogicalType::Uuid));
    let dictionary = DataType::Dictionary(Box::new(DataType::Int8), Box::new(fsb16));
    assert_eq!(logical(dictionary, "arrow.uuid", ""), Some(LogicalType::Uuid));
    assert_eq!(logical(DataType::FixedSizeBinary(15), "arrow.uuid", ""), None);
    assert_eq!(logical(DataType::LargeUtf8, "arrow.json", ""), Some(LogicalType::Json));
    assert_eq!(
        logical(DataType::BinaryView, "geoarrow.wkb", "{}"),
        Some(LogicalType::Geometry { crs: None })
    );
    assert_eq!(
        logical(DataType::Binary, "geoarrow.wkb", r#"{"crs":"EPSG:4267","edges":"vincenty"}"#),
        Some(LogicalType::Geography {
            crs: Some("EPSG:4267".to_owned()),
            algorithm: Some(EdgeInterpolationAlgorithm::VINCENTY)
        })
    );
    let variant = |metadata_nullable, other: &str| {
        DataType::Struct(Fields::from(vec![
            ArrowField::new("metadata", DataType::BinaryView, metadata_nullable),
            ArrowField::new(other, DataType::BinaryView, true),
        ]))
    };
    let name = "arrow.parquet.variant";
    let found = logical(variant(false, "value"), name, "");
    assert_eq!(found, Some(LogicalType::Variant { specification_version: Some(1) }));
    assert_eq!(logical(variant(true, "value"), name, ""), None);
    assert_eq!(logical(variant(false, "x"), name, ""), None);
}

#[test]
fn what_parquet_cannot_store_is_named() {
    let arrow_error = |data_type: DataType| {
        let inner = ArrowField::new("s", DataType::Struct(vec![nullable(data_type)].into()), true);
        let error = elements(inner).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        error.to_string()
    };
    let union = arrow_schema::UnionFields::from_fields([nullable(DataType::Int8)]);
    let union = DataType::Union(union, arrow_schema::UnionMode::Sparse);
    assert!(arrow_error(union).contains("column s.c"));
    assert!(arrow_error(DataType::Struct(Fields::empty())).contains("struct without fields"));
    assert!(arrow_error(DataType::Decimal128(5, -2)).contains("not -2"));
    assert!(arrow_error(DataType::Decimal128(5, 6)).contains("not 6"));
    assert!(arrow_error(DataType::Decimal32(10, 0)).contains("10 digits"));
    let dictionary = |values| DataType::Dictionary(Box::new(DataType::Int8), Box::new(values));
    assert!(arrow_error(dictionary(dictionary(DataType::Utf8))).contains("dictionary"));
    let of_lists = arrow_error(dictionary(DataType::List(element(DataType::Utf8))));
    assert!(of_lists.contains("only dictionaries of values that are not nested"), "{of_lists}");
    let runs = |values| {
        let ends = Arc::new(ArrowField::new("run_ends", DataType::Int32, false));
        DataType::RunEndEncoded(ends, Arc::new(ArrowField::new("values", values, true)))
    };
    let of_structs = arrow_error(runs(DataType::Struct(vec![nullable(DataType::Int8)].into())));
    assert!(of_structs.contains("only runs of values that are not nested"), "{of_structs}");
    assert!(arrow_error(DataType::FixedSizeBinary(0)).contains("binary of 0 bytes"));
    let key = ArrowField::new("key", DataType::Null, false);
    let entries = DataType::Struct(vec![key, ArrowField::new("value", DataType::Int8, true)].into());
    let of_nulls = DataType::Map(Arc::new(ArrowField::new("entries", entries, false)), false);
    assert!(arrow_error(of_nulls).contains("keys of a map"));
    let deep = (0..200).fold(DataType::Int8, |inner, _| DataType::List(element(inner)));
    assert_eq!(elements(nullable(deep)).unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn equal_schemas_have_equal_text() {
    let pairs: HashMap<_, _> = (0..50).map(|i| (i.to_string(), i.to_string())).collect();
    let schema = || {
        ArrowSchema::new(vec![nullable(DataType::Int8).with_metadata(pairs.clone().into_iter().collect())])
            .with_metadata(pairs.clone().into_iter().collect())
    };
    assert_eq!(ipc::encode(&schema()), ipc::encode(&schema()));
    assert!(ipc::encode(&schema()).starts_with("/////"));
}
