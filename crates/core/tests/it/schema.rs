//! Schemas: the tree, its levels, and its text. What is not a tree is refused.

use crate::chunk::file::{group, leaf, root};
use marquetry_base::{Error, ErrorKind, Limits, MemoryBudget};
use marquetry_core::schema::{Leaf, NodeKind, Repetition, Schema};
use marquetry_encoding::PhysicalType;
use marquetry_format::{
    ConvertedType, EdgeInterpolationAlgorithm, LogicalType, Repetition as R, SchemaElement, TimeUnit, Type,
};

fn schema(elements: &[SchemaElement]) -> Schema {
    Schema::from_thrift(elements, &Limits::default()).unwrap()
}

fn refused(elements: &[SchemaElement], kind: ErrorKind, text: &str) -> Error {
    let error = Schema::from_thrift(elements, &Limits::default()).unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.message().contains(text), "{error}");
    error
}

fn with_logical(element: SchemaElement, logical_type: LogicalType) -> SchemaElement {
    SchemaElement { logical_type: Some(logical_type), ..element }
}

fn with_converted(element: SchemaElement, converted_type: ConvertedType) -> SchemaElement {
    SchemaElement { converted_type: Some(converted_type), ..element }
}

const INT32: PhysicalType = PhysicalType::Int32;

#[test]
fn leaves_are_numbered_and_have_levels() {
    let elements = [
        root(3),
        leaf("a", R::REQUIRED, INT32),
        group("b", R::OPTIONAL, 2),
        leaf("c", R::REPEATED, PhysicalType::FixedLenByteArray(5)),
        group("d", R::REPEATED, 1),
        leaf("e", R::OPTIONAL, PhysicalType::Boolean),
        leaf("f", R::OPTIONAL, PhysicalType::Int96),
    ];
    let schema = schema(&elements);
    assert_eq!((schema.name(), schema.num_columns()), ("m", 4));
    let of = |i: usize| {
        let leaf = schema.column(i);
        (&**leaf.dotted(), leaf.max_def(), leaf.max_rep(), leaf.root())
    };
    assert_eq!(of(0), ("a", 0, 0, 0));
    assert_eq!(of(1), ("b.c", 2, 1, 1));
    assert_eq!(of(2), ("b.d.e", 3, 1, 1));
    assert_eq!(of(3), ("f", 1, 0, 2));
    assert_eq!(schema.column(1).physical(), PhysicalType::FixedLenByteArray(5));
    assert_eq!(schema.column(1).repetition(), Repetition::Repeated);
    assert_eq!(schema.column(2).name(), "e");
    assert_eq!((schema.find("b.d.e"), schema.find("b.d")), (Some(2), None));
    assert!(matches!(schema.fields()[1].kind(), NodeKind::Group(fields) if fields.len() == 2));
    assert!(matches!(schema.fields()[2].kind(), NodeKind::Leaf(3)));
}

#[test]
fn what_is_no_tree_is_refused() {
    let a = || leaf("a", R::REQUIRED, INT32);
    refused(&[], ErrorKind::Corrupt, "the schema is empty");
    refused(&[root(1)], ErrorKind::Corrupt, "the schema ends inside a group");
    refused(&[root(3), a(), a()], ErrorKind::Corrupt, "the schema ends inside a group");
    refused(&[root(1), a(), a()], ErrorKind::Corrupt, "1 schema elements are in no group");
    refused(&[root(i32::MAX), a()], ErrorKind::Corrupt, "the schema ends inside a group");
    refused(&[root(-1), a()], ErrorKind::Corrupt, "-1 children in group m");
    let nested = |children| {
        [root(1), SchemaElement { num_children: Some(children), ..group("g", R::OPTIONAL, 1) }, a()]
    };
    refused(&nested(i32::MAX), ErrorKind::Corrupt, "the schema ends inside a group");
    refused(&nested(2), ErrorKind::Corrupt, "the schema ends inside a group");
    refused(&nested(i32::MIN), ErrorKind::Corrupt, "-2147483648 children in group g");
    refused(&nested(0), ErrorKind::Corrupt, "1 schema elements are in no group");
    assert_eq!(schema(&[root(0)]).num_columns(), 0);
}

#[test]
fn types_that_are_missing_or_unknown() {
    let unknown = SchemaElement { type_: Some(Type(8)), ..leaf("a", R::REQUIRED, INT32) };
    let error = refused(&[root(1), unknown], ErrorKind::Unsupported, "physical type UNKNOWN(8)");
    assert_eq!(error.place().column.as_deref(), Some("a"));
    let fixed = |type_length| {
        let fixed = leaf("a", R::REQUIRED, PhysicalType::FixedLenByteArray(1));
        [root(2), group("g", R::OPTIONAL, 0), SchemaElement { type_length, ..fixed }]
    };
    refused(&fixed(None), ErrorKind::Corrupt, "FIXED_LEN_BYTE_ARRAY of length -1");
    refused(&fixed(Some(-16)), ErrorKind::Corrupt, "FIXED_LEN_BYTE_ARRAY of length -16");
    assert_eq!(schema(&fixed(Some(0))).column(0).physical(), PhysicalType::FixedLenByteArray(0));
    let repetition = SchemaElement { repetition_type: Some(R(3)), ..leaf("a", R::REQUIRED, INT32) };
    let error = refused(&[root(1), repetition], ErrorKind::Unsupported, "repetition type UNKNOWN(3)");
    assert_eq!(error.place().column.as_deref(), Some("a"));
    // Without a type and without children: an empty group. Without a repetition: required.
    let bare = SchemaElement { name: "g".into(), ..SchemaElement::default() };
    let schema = schema(&[root(2), bare, leaf("a", R::REQUIRED, INT32)]);
    assert!(matches!(schema.fields()[0].kind(), NodeKind::Group(fields) if fields.is_empty()));
    assert_eq!(schema.fields()[0].repetition(), Repetition::Required);
    assert_eq!(schema.num_columns(), 1);
}

#[test]
fn the_limits_on_depth_and_nodes() {
    let deep = |depth: usize| {
        let mut elements = vec![root(1)];
        elements.extend((1..depth).map(|i| group(&format!("g{i}"), R::REPEATED, 1)));
        elements.push(leaf("x", R::REPEATED, INT32));
        elements
    };
    let default = Limits::default();
    assert_eq!(Schema::from_thrift(&deep(200), &default).unwrap().column(0).max_rep(), 200);
    let error = Schema::from_thrift(&deep(201), &default).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.message().contains("raise Limits::schema_depth"), "{error}");
    let high = Limits::default().with_schema_depth(10_000);
    assert_eq!(Schema::from_thrift(&deep(250), &high).unwrap().column(0).max_def(), 250);
    for depth in [251, 300, 9_000] {
        assert_eq!(Schema::from_thrift(&deep(depth), &high).unwrap_err().kind(), ErrorKind::Limit);
    }
    let few = Limits::default().with_schema_nodes(5);
    assert!(Schema::from_thrift(&deep(4), &few).is_ok());
    let error = Schema::from_thrift(&deep(5), &few).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.message().contains("raise Limits::schema_nodes"), "{error}");
}

/// Of schemas that are larger than those of real files.
#[test]
fn a_schema_has_to_fit_into_the_memory_budget() {
    let wide = |columns: usize, name: &str| {
        let column = |i| leaf(&format!("{name}{i}"), R::REQUIRED, INT32);
        std::iter::once(root(columns as i32)).chain((0..columns).map(column)).collect::<Vec<_>>()
    };
    let of = |memory: usize| Limits::default().with_memory(MemoryBudget::new(memory));
    assert!(Schema::from_thrift(&wide(60_000, ""), &of(1)).is_ok());
    assert!(Schema::from_thrift(&wide(70_000, ""), &of(100 << 20)).is_ok());
    let error = Schema::from_thrift(&wide(70_000, ""), &of(50 << 20)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.message().contains("a schema of 70001 nodes"), "{error}");
    let long = "n".repeat(10_000);
    assert!(Schema::from_thrift(&wide(2_000, &long), &of(100 << 20)).is_ok());
    let error = Schema::from_thrift(&wide(2_000, &long), &of(50 << 20)).unwrap_err();
    assert!(error.message().contains("bytes of paths are too much for 52428800 bytes"), "{error}");
}

#[test]
fn the_columns_of_a_field_are_found() {
    let elements = vec![
        root(4),
        leaf("a", R::REQUIRED, INT32),
        group("g", R::REQUIRED, 2),
        leaf("b", R::REQUIRED, INT32),
        leaf("c", R::REQUIRED, INT32),
        group("none", R::REQUIRED, 0),
        leaf("d", R::REQUIRED, INT32),
    ];
    let schema = Schema::from_thrift(&elements, &Limits::default()).unwrap();
    assert_eq!([0, 1, 2, 3, 4].map(|root| schema.columns_of(root)), [0..1, 1..3, 3..3, 3..4, 4..4]);
}

#[test]
fn wide_schemas_build_in_no_time() {
    let mut elements = vec![root(50_000)];
    elements.extend((0..50_000).map(|i| leaf(&format!("c{i}"), R::OPTIONAL, INT32)));
    assert_eq!(schema(&elements).find("c49999"), Some(49_999));
}

#[test]
fn the_schema_as_text() {
    let binary = |name: &str| leaf(name, R::OPTIONAL, PhysicalType::ByteArray);
    let fixed = |name: &str, width| leaf(name, R::REQUIRED, PhysicalType::FixedLenByteArray(width));
    let int64 = |name: &str| leaf(name, R::REQUIRED, PhysicalType::Int64);
    let integer = LogicalType::Integer { bit_width: 8, is_signed: false };
    let time = LogicalType::Time { is_adjusted_to_utc: false, unit: TimeUnit::Nanos };
    let timestamp = LogicalType::Timestamp { is_adjusted_to_utc: true, unit: TimeUnit::Micros };
    let crs = Some("EPSG:4326".to_owned());
    let algorithm = Some(EdgeInterpolationAlgorithm::KARNEY);
    let elements = [
        root(21),
        leaf("boolean", R::REQUIRED, PhysicalType::Boolean),
        leaf("int96", R::OPTIONAL, PhysicalType::Int96),
        leaf("float", R::REPEATED, PhysicalType::Float),
        leaf("double", R::REQUIRED, PhysicalType::Double),
        SchemaElement { field_id: Some(7), ..with_logical(binary("string"), LogicalType::String) },
        with_converted(binary("enum"), ConvertedType::ENUM),
        with_logical(fixed("uuid", 16), LogicalType::Uuid),
        with_logical(fixed("decimal", 4), LogicalType::Decimal { scale: 2, precision: 9 }),
        with_converted(fixed("interval", 12), ConvertedType::INTERVAL),
        with_logical(fixed("float16", 2), LogicalType::Float16),
        with_logical(leaf("date", R::OPTIONAL, INT32), LogicalType::Date),
        with_logical(leaf("byte", R::OPTIONAL, INT32), integer),
        with_logical(int64("time"), time),
        with_logical(int64("timestamp"), timestamp),
        with_logical(binary("geometry"), LogicalType::Geometry { crs: crs.clone() }),
        with_logical(binary("geography"), LogicalType::Geography { crs: None, algorithm }),
        with_logical(binary("nothing"), LogicalType::Null),
        with_logical(binary("unknown"), LogicalType::Unknown(99)),
        SchemaElement {
            field_id: Some(-1),
            ..with_logical(group("tags", R::OPTIONAL, 1), LogicalType::List)
        },
        group("list", R::REPEATED, 1),
        with_logical(binary("element"), LogicalType::Json),
        with_logical(group("v", R::OPTIONAL, 1), LogicalType::Variant { specification_version: Some(1) }),
        leaf("metadata", R::REQUIRED, PhysicalType::ByteArray),
        group("empty", R::OPTIONAL, 0),
    ];
    let expected = "\
message m {
  required boolean boolean;
  optional int96 int96;
  repeated float float;
  required double double;
  optional byte_array string (STRING) = 7;
  optional byte_array enum (ENUM);
  required fixed_len_byte_array(16) uuid (UUID);
  required fixed_len_byte_array(4) decimal (DECIMAL(9,2));
  required fixed_len_byte_array(12) interval (INTERVAL);
  required fixed_len_byte_array(2) float16 (FLOAT16);
  optional int32 date (DATE);
  optional int32 byte (INTEGER(8,false));
  required int64 time (TIME(NANOS,false));
  required int64 timestamp (TIMESTAMP(MICROS,true));
  optional byte_array geometry (GEOMETRY(EPSG:4326));
  optional byte_array geography (GEOGRAPHY(OGC:CRS84,KARNEY));
  optional byte_array nothing (UNKNOWN);
  optional byte_array unknown;
  optional group tags (LIST) = -1 {
    repeated group list {
      optional byte_array element (JSON);
    }
  }
  optional group v (VARIANT(1)) {
    required byte_array metadata;
  }
  optional group empty {
  }
}";
    assert_eq!(schema(&elements).to_string(), expected);
}

#[test]
fn names_with_dots_are_not_below_others() {
    let elements = vec![
        root(2),
        group("a", R::OPTIONAL, 2),
        leaf("b.c", R::OPTIONAL, PhysicalType::Int32),
        leaf("d", R::OPTIONAL, PhysicalType::Int32),
        leaf("a.b", R::OPTIONAL, PhysicalType::Int32),
    ];
    let schema = schema(&elements);
    let above = |column: &Leaf| column.dotted_ancestors().map(str::to_owned).collect::<Vec<_>>();
    let found: Vec<_> = schema.columns().iter().map(above).collect();
    assert_eq!(found, [vec!["a", "a.b.c"], vec!["a", "a.d"], vec!["a.b"]]);
}
