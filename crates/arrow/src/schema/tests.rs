use super::*;
use crate::test_schemas::{OPTIONAL, REPEATED, REQUIRED, column, fixed, group, schema};
use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteOptions};
use arrow_schema::IntervalUnit;
use arrow_schema::TimeUnit;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use marquetry_format::{EdgeInterpolationAlgorithm, LogicalType, SchemaElement, TimeUnit as Unit, Type};

/// The Arrow schema of all fields.
fn arrow(
    fields: &[NestedField],
    schema: &Schema,
    metadata: &HashMap<String, String>,
    options: &TypeOptions,
) -> ArrowSchema {
    let metadata = metadata.iter().map(|(key, value)| (&**key, &**value)).collect();
    to_arrow(fields, 0.., schema, &metadata, options)
}

fn mapped(roots: i32, elements: Vec<SchemaElement>, options: &TypeOptions) -> ArrowSchema {
    let (schema, fields) = schema(roots, elements);
    arrow(&fields, &schema, &HashMap::new(), options)
}

fn hinted(
    roots: i32,
    elements: Vec<SchemaElement>,
    hint: Vec<ArrowField>,
    options: &TypeOptions,
) -> ArrowSchema {
    let (schema, fields) = schema(roots, elements);
    arrow(&fields, &schema, &stored(&ArrowSchema::new(hint), true), options)
}

/// The file metadata with `schema` in it, as Arrow writers do it.
fn stored(schema: &ArrowSchema, with_marker: bool) -> HashMap<String, String> {
    let options = IpcWriteOptions::default();
    let mut tracker = DictionaryTracker::new(false);
    let message = IpcDataGenerator {}
        .schema_to_bytes_with_dictionary_tracker(schema, &mut tracker, &options)
        .ipc_message;
    let marker = [&[0xff; 4][..], &(message.len() as u32).to_le_bytes()].concat();
    let bytes = [if with_marker { &marker[..] } else { &[] }, &message].concat();
    HashMap::from([(ARROW_SCHEMA_KEY.to_owned(), STANDARD.encode(bytes))])
}

fn type_of(element: SchemaElement) -> DataType {
    type_of_first(vec![element])
}

fn type_of_first(elements: Vec<SchemaElement>) -> DataType {
    mapped(1, elements, &TypeOptions::default()).field(0).data_type().clone()
}

fn optional(physical: Type, logical: Option<LogicalType>) -> SchemaElement {
    column("x", OPTIONAL, physical, logical)
}

#[test]
fn physical_types() {
    let rows = [
        (Type::BOOLEAN, DataType::Boolean),
        (Type::INT32, DataType::Int32),
        (Type::INT64, DataType::Int64),
        (Type::INT96, DataType::Timestamp(TimeUnit::Nanosecond, None)),
        (Type::FLOAT, DataType::Float32),
        (Type::DOUBLE, DataType::Float64),
        (Type::BYTE_ARRAY, DataType::Binary),
    ];
    for (physical, expected) in rows {
        assert_eq!(type_of(optional(physical, None)), expected);
    }
    assert_eq!(type_of(fixed("x", 0, None)), DataType::FixedSizeBinary(0));
}

#[test]
fn logical_types() {
    use LogicalType::*;
    let utc = |is_adjusted_to_utc, unit| Timestamp { is_adjusted_to_utc, unit };
    let rows = [
        (Type::BYTE_ARRAY, String, DataType::Utf8),
        (Type::BYTE_ARRAY, Enum, DataType::Utf8),
        (Type::BYTE_ARRAY, Bson, DataType::Binary),
        (Type::INT32, Integer { bit_width: 8, is_signed: false }, DataType::UInt8),
        (Type::INT64, Integer { bit_width: 64, is_signed: true }, DataType::Int64),
        (Type::INT32, Decimal { scale: 2, precision: 9 }, DataType::Decimal128(9, 2)),
        (Type::BYTE_ARRAY, Decimal { scale: -2, precision: 39 }, DataType::Decimal256(39, -2)),
        // Scales that Arrow cannot express: what is stored.
        (Type::INT32, Decimal { scale: 128, precision: 9 }, DataType::Int32),
        (Type::INT32, Date, DataType::Date32),
        (
            Type::INT32,
            Time { is_adjusted_to_utc: true, unit: Unit::Millis },
            DataType::Time32(TimeUnit::Millisecond),
        ),
        (
            Type::INT64,
            Time { is_adjusted_to_utc: true, unit: Unit::Nanos },
            DataType::Time64(TimeUnit::Nanosecond),
        ),
        (
            Type::INT64,
            utc(true, Unit::Micros),
            DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        ),
        (Type::INT64, utc(false, Unit::Millis), DataType::Timestamp(TimeUnit::Millisecond, None)),
        (Type::DOUBLE, Null, DataType::Null),
    ];
    for (physical, logical, expected) in rows {
        assert_eq!(type_of(optional(physical, Some(logical.clone()))), expected, "{logical:?}");
    }
    assert_eq!(type_of(fixed("x", 2, Some(Float16))), DataType::Float16);
    assert_eq!(type_of(column("x", REQUIRED, Type::INT32, Some(Null))), DataType::Int32);
    let mut interval = fixed("x", 12, None);
    interval.converted_type = Some(marquetry_format::ConvertedType::INTERVAL);
    assert_eq!(type_of(interval), DataType::Interval(IntervalUnit::MonthDayNano));
}

#[test]
fn options() {
    let options = TypeOptions {
        text: Some(StringLayout::Utf8View),
        int96_unit: Some(TimeUnit::Second),
        ..TypeOptions::default()
    };
    let elements = vec![
        column("a", OPTIONAL, Type::BYTE_ARRAY, Some(LogicalType::String)),
        column("b", OPTIONAL, Type::BYTE_ARRAY, None),
        column("c", OPTIONAL, Type::INT96, None),
    ];
    // A stored schema does not outweigh what the caller chose.
    let hint = |name: &str, data_type| ArrowField::new(name, data_type, true);
    let hints = vec![
        hint("a", DataType::LargeUtf8),
        hint("b", DataType::Binary),
        hint("c", DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()))),
    ];
    for (hints, zone) in [(vec![], None), (hints, Some("UTC".into()))] {
        let schema = hinted(3, elements.clone(), hints, &options);
        let types: Vec<_> = schema.fields().iter().map(|field| field.data_type().clone()).collect();
        let time = DataType::Timestamp(TimeUnit::Second, zone);
        assert_eq!(types, [DataType::Utf8View, DataType::BinaryView, time]);
    }
}

#[test]
fn extension_types_and_ids() {
    let name_of = |element: SchemaElement| {
        let schema = mapped(1, vec![element], &TypeOptions::default());
        let metadata = schema.field(0).metadata();
        let get = |key: &str| metadata.get(key).cloned().unwrap_or_default();
        (get("ARROW:extension:name"), get("ARROW:extension:metadata"), get(FIELD_ID_KEY))
    };
    let expected = |name: &str, parameters: &str, id: &str| (name.into(), parameters.into(), id.into());
    let uuid = SchemaElement { field_id: Some(7), ..fixed("x", 16, Some(LogicalType::Uuid)) };
    assert_eq!(name_of(uuid), expected("arrow.uuid", "", "7"));
    assert_eq!(name_of(optional(Type::BYTE_ARRAY, Some(LogicalType::Json))), expected("arrow.json", "", ""));
    let geography = LogicalType::Geography { crs: None, algorithm: Some(EdgeInterpolationAlgorithm::KARNEY) };
    let parameters = r#"{"crs":"OGC:CRS84","crs_type":"authority_code","edges":"karney"}"#;
    assert_eq!(
        name_of(optional(Type::BYTE_ARRAY, Some(geography))),
        expected("geoarrow.wkb", parameters, "")
    );
}

#[test]
fn variants_are_marked_structs() {
    let variant = LogicalType::Variant { specification_version: None };
    let elements = vec![
        group("v", OPTIONAL, 2, Some(variant)),
        column("metadata", REQUIRED, Type::BYTE_ARRAY, None),
        column("value", REQUIRED, Type::BYTE_ARRAY, None),
    ];
    let schema = mapped(1, elements, &TypeOptions::default());
    let children = vec![
        ArrowField::new("metadata", DataType::Binary, false),
        ArrowField::new("value", DataType::Binary, false),
    ];
    assert_eq!(schema.field(0).data_type(), &DataType::Struct(children.into()));
    assert_eq!(schema.field(0).metadata()["ARROW:extension:name"], "arrow.parquet.variant");
}

fn list_of_int() -> Vec<SchemaElement> {
    vec![
        group("l", OPTIONAL, 1, Some(LogicalType::List)),
        group("list", REPEATED, 1, None),
        column("element", OPTIONAL, Type::INT32, None),
    ]
}

fn map_of_text() -> Vec<SchemaElement> {
    vec![
        group("m", OPTIONAL, 1, Some(LogicalType::Map)),
        group("key_value", REPEATED, 2, None),
        column("key", OPTIONAL, Type::BYTE_ARRAY, Some(LogicalType::String)),
        column("value", OPTIONAL, Type::INT32, None),
    ]
}

fn entries(name: &str, key: DataType) -> FieldRef {
    let parts = vec![ArrowField::new("key", key, false), ArrowField::new("value", DataType::Int32, true)];
    Arc::new(ArrowField::new(name, DataType::Struct(parts.into()), false))
}

#[test]
fn lists_and_maps() {
    let schema = mapped(1, list_of_int(), &TypeOptions::default());
    let element = Arc::new(ArrowField::new("element", DataType::Int32, true));
    assert_eq!(schema.field(0), &ArrowField::new("l", DataType::List(element), true));
    // The key is optional in the file, and cannot be so in Arrow.
    let schema = mapped(1, map_of_text(), &TypeOptions::default());
    let expected = DataType::Map(entries("key_value", DataType::Utf8), false);
    assert_eq!(schema.field(0), &ArrowField::new("m", expected, true));
}

#[test]
fn the_stored_schema_is_followed_where_it_fits() {
    let dictionary = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::LargeUtf8));
    let element = Arc::new(
        ArrowField::new("item", DataType::Duration(TimeUnit::Second), true)
            .with_metadata(HashMap::from([("k".to_owned(), "v".to_owned())])),
    );
    let elements = [
        list_of_int(),
        map_of_text(),
        vec![
            column("s", OPTIONAL, Type::BYTE_ARRAY, Some(LogicalType::String)),
            column("t", OPTIONAL, Type::INT64, None),
            column("u", OPTIONAL, Type::INT64, None),
        ],
    ]
    .concat();
    let zone = DataType::Timestamp(TimeUnit::Second, Some("Asia/Tokyo".into()));
    let hint = vec![
        // An element that does not fit leaves the list itself as hinted.
        ArrowField::new("l", DataType::LargeList(element), true),
        ArrowField::new("m", DataType::Map(entries("entries", dictionary.clone()), true), true),
        // Does not fit at all, so its metadata is ignored, too.
        ArrowField::new("s", DataType::Int32, true).with_metadata(HashMap::from([("k".into(), "v".into())])),
        ArrowField::new("t", zone.clone(), false),
        ArrowField::new("other", DataType::Int64, false),
    ];
    let schema = hinted(5, elements, hint, &TypeOptions::default());
    let element = Arc::new(ArrowField::new("item", DataType::Int32, true));
    assert_eq!(schema.field(0).data_type(), &DataType::LargeList(element));
    assert_eq!(schema.field(1).data_type(), &DataType::Map(entries("entries", dictionary), true));
    assert_eq!(schema.field(2), &ArrowField::new("s", DataType::Utf8, true));
    assert_eq!(schema.field(3), &ArrowField::new("t", zone, true));
    assert_eq!(schema.field(4), &ArrowField::new("u", DataType::Int64, true));
}

#[test]
fn hints_do_not_change_the_meaning() {
    let utc = LogicalType::Timestamp { is_adjusted_to_utc: true, unit: Unit::Micros };
    let rows = [
        (optional(Type::INT64, Some(utc)), DataType::Timestamp(TimeUnit::Microsecond, None)),
        (optional(Type::INT32, Some(LogicalType::Date)), DataType::Int32),
        (optional(Type::BYTE_ARRAY, None), DataType::Utf8),
        (optional(Type::INT32, None), DataType::Int8),
        (fixed("x", 16, Some(LogicalType::Uuid)), DataType::FixedSizeBinary(8)),
    ];
    for (element, hint) in rows {
        let schema =
            hinted(1, vec![element.clone()], vec![ArrowField::new("x", hint, true)], &TypeOptions::default());
        assert_eq!(schema.field(0).data_type(), &type_of(element));
    }
}

#[test]
fn the_stored_schema_with_and_without_marker() {
    let wanted = ArrowSchema::new_with_metadata(
        vec![
            ArrowField::new("a", DataType::Decimal32(5, -1), true),
            ArrowField::new("b", DataType::Time32(TimeUnit::Second), true),
            ArrowField::new(
                "c",
                DataType::Union(arrow_schema::UnionFields::empty(), arrow_schema::UnionMode::Sparse),
                true,
            ),
            ArrowField::new_dictionary("d", DataType::UInt16, DataType::Utf8View, false)
                .with_dict_is_ordered(true),
        ],
        HashMap::from([("pandas".to_owned(), "{}".to_owned())]),
    );
    for with_marker in [true, false] {
        let found = ipc::decode(&stored(&wanted, with_marker)[ARROW_SCHEMA_KEY]).unwrap();
        assert_eq!(found.metadata, wanted.metadata);
        assert_eq!(found.field(0), wanted.field(0));
        assert_eq!(found.field(1), wanted.field(1));
        assert_eq!(found.field(2).data_type(), &DataType::Null);
        assert_eq!(found.field(3), wanted.field(3));
        assert_eq!(found.field(3).dict_is_ordered(), Some(true));
    }
}

#[test]
fn a_broken_stored_schema_is_no_schema() {
    let good = stored(&ArrowSchema::new(vec![ArrowField::new("a", DataType::Utf8, true)]), true);
    let bytes = STANDARD.decode(&good[ARROW_SCHEMA_KEY]).unwrap();
    for end in 0..bytes.len() {
        let _ = ipc::decode(&STANDARD.encode(&bytes[..end]));
    }
    for i in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[i / 8] ^= 1 << (i % 8);
        let _ = ipc::decode(&STANDARD.encode(flipped));
    }
    assert_eq!(ipc::decode("not base64!"), None);
    assert_eq!(ipc::decode(""), None);
}

#[test]
fn what_the_caller_wants() {
    let elements = || [list_of_int(), map_of_text()].concat();
    let (schema, fields) = schema(2, elements());
    let list = |data_type| {
        let element = Arc::new(ArrowField::new("any name", data_type, true));
        ArrowField::new("l", DataType::FixedSizeList(element, 3), true)
    };
    let map = || ArrowField::new("m", DataType::Map(entries("e", DataType::Utf8View), false), true);
    let wanted = ArrowSchema::new(vec![list(DataType::Date32), map()]);
    assert_eq!(to_arrow_as(&fields, &schema, &wanted).unwrap(), wanted);
    let arrow_error = |fields_wanted: Vec<ArrowField>, message: &str| {
        let error = to_arrow_as(&fields, &schema, &ArrowSchema::new(fields_wanted)).unwrap_err();
        assert!(error.message().contains(message), "{error}");
    };
    arrow_error(
        vec![list(DataType::Utf8), map()],
        "field l.element cannot be read as wanted: it is INT32, Utf8 is wanted",
    );
    arrow_error(
        vec![list(DataType::Int32)],
        "field m cannot be read as wanted: the wanted schema does not have it",
    );
    arrow_error(vec![map()], "the wanted schema has \"m\" in its place");
    arrow_error(vec![list(DataType::Int32).with_nullable(false), map()], "it may be null");
    arrow_error(vec![list(DataType::Int32), map(), map()], "the file does not have it");
    arrow_error(vec![ArrowField::new("l", DataType::Int32, true), map()], "it is a list");
}

#[test]
fn maps_in_maps_take_no_longer_than_they_are_deep() {
    // A type that is mapped twice at each level would take 2^60 steps.
    const DEPTH: usize = 60;
    let mut elements = Vec::new();
    for _ in 0..DEPTH {
        elements.push(group("m", OPTIONAL, 1, Some(LogicalType::Map)));
        elements.push(group("key_value", REPEATED, 2, None));
        elements.push(column("key", REQUIRED, Type::INT32, None));
    }
    elements.push(column("value", OPTIONAL, Type::INT32, None));
    let mut data_type = type_of_first(elements);
    let mut depth = 0;
    while let DataType::Map(entries, _) = &data_type {
        let DataType::Struct(parts) = entries.data_type() else { panic!("entries are not a struct") };
        assert!(!parts[0].is_nullable());
        data_type = parts[1].data_type().clone();
        depth += 1;
    }
    assert_eq!((depth, data_type), (DEPTH, DataType::Int32));
}
