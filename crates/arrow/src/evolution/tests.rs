use super::*;
use crate::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use crate::arrow_writer::ArrowWriter;
use crate::schema::FIELD_ID_KEY;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BinaryViewArray, Int32Array, Int64Array, ListArray, RecordBatch, RecordBatchReader,
    StringArray, StructArray, make_array,
};
use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use bytes::Bytes;
use marquetry_base::{Error, ErrorKind, Result};
use proptest::prelude::*;
use std::sync::Arc;

fn file(batch: &RecordBatch) -> Bytes {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes.into()
}

fn open(file: &Bytes, evolution: Evolution) -> Result<ParquetRecordBatchReader> {
    ParquetRecordBatchReaderBuilder::try_new(file.clone())?.with_evolution(evolution).build()
}

fn read(file: &Bytes, evolution: Evolution) -> Result<RecordBatch> {
    let mut reader = open(file, evolution)?;
    let batch = reader.next_batch().expect("one batch")?;
    assert_eq!(batch.schema(), reader.schema());
    assert!(reader.next_batch().is_none());
    Ok(batch)
}

fn error(file: &Bytes, evolution: Evolution) -> String {
    let error = open(file, evolution).err().expect("an error");
    assert_eq!(error.kind(), ErrorKind::Argument);
    error.to_string()
}

fn to(fields: Vec<Field>) -> Evolution {
    Evolution::to(Arc::new(Schema::new(fields)))
}

fn int32(name: &str) -> Field {
    Field::new(name, DataType::Int32, true)
}

fn with_id(field: Field, id: i32) -> Field {
    field.with_metadata(HashMap::from([(FIELD_ID_KEY.to_owned(), id.to_string())]))
}

/// Columns id, Name, and where {x, y}.
fn places() -> RecordBatch {
    let x: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]));
    let y: ArrayRef = Arc::new(Int32Array::from(vec![4, 5, 6]));
    let fields = Fields::from(vec![with_id(int32("x"), 4), with_id(int32("y"), 5)]);
    let nulls = arrow_buffer::NullBuffer::from(vec![true, false, true]);
    let place: ArrayRef = Arc::new(StructArray::new(fields.clone(), vec![x, y], Some(nulls)));
    let schema = Schema::new(vec![
        with_id(int32("id"), 1),
        with_id(Field::new("Name", DataType::Utf8, true), 2),
        with_id(Field::new("where", DataType::Struct(fields), true), 3),
    ]);
    let id: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3]));
    let name: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
    RecordBatch::try_new(Arc::new(schema), vec![id, name, place]).unwrap()
}

#[test]
fn missing_fields_are_null_or_have_their_default() {
    let file = file(&places());
    let part = Fields::from(vec![
        int32("z"),
        Field::new("x", DataType::Int64, true),
        Field::new("w", DataType::Int64, false),
    ]);
    let wanted = vec![
        Field::new("note", DataType::Utf8View, true),
        Field::new("where", DataType::Struct(part), true),
        Field::new("source", DataType::LargeUtf8, false),
    ];
    let source: ArrayRef = Arc::new(StringArray::from(vec!["north"]));
    let seven: ArrayRef = Arc::new(Int32Array::from(vec![7]));
    let evolution = to(wanted).with_default("source", source).with_default("where.w", seven);
    let batch = read(&file, evolution).unwrap();
    assert_eq!(batch.column(0).null_count(), 3);
    assert_eq!(batch.column(2).as_string::<i64>().iter().flatten().collect::<Vec<_>>(), ["north"; 3]);
    let place = batch.column(1).as_struct();
    assert!(place.is_null(1) && place.is_valid(0));
    assert_eq!(place.column(0).null_count(), 3);
    assert_eq!(place.column(1).as_primitive::<Int64Type>(), &Int64Array::from(vec![Some(1), None, Some(3)]));
    assert_eq!(place.column(2).as_primitive::<Int64Type>().value(2), 7);
}

#[test]
fn a_struct_without_any_of_its_fields_keeps_its_nulls() {
    let wanted = Field::new("where", DataType::Struct(Fields::from(vec![int32("z")])), true);
    let batch = read(&file(&places()), to(vec![wanted])).unwrap();
    let place = batch.column(0).as_struct();
    assert_eq!((place.is_valid(0), place.is_null(1), place.is_valid(2)), (true, true, true));
    assert_eq!(place.column(0).null_count(), 3);
}

#[test]
fn columns_of_the_wanted_schema_are_chosen_by_their_places() {
    let wanted = vec![int32("id"), Field::new("tag", DataType::Utf8, false), int32("z")];
    let tag = || Arc::new(StringArray::from(vec!["new"])) as ArrayRef;
    let all = to(wanted).with_default("tag", tag()).with_constant("z", Arc::new(Int32Array::from(vec![7])));
    let all = all.refuse_extra(true);
    let batch = read(&file(&places()), all.clone().project(&[2, 1]).unwrap()).unwrap();
    let expected: [(&str, ArrayRef); 2] =
        [("z", Arc::new(Int32Array::from(vec![7; 3]))), ("tag", Arc::new(StringArray::from(vec!["new"; 3])))];
    for (column, (name, values)) in batch.columns().iter().zip(expected) {
        assert_eq!((column, batch.schema().column_with_name(name).is_some()), (&values, true));
    }
    let none = read(&file(&places()), all.clone().project(&[]).unwrap()).unwrap();
    assert_eq!((none.num_rows(), none.num_columns()), (3, 0));
    assert!(all.project(&[3]).is_err());
}

#[test]
fn nothing_of_the_file_is_wanted() {
    let batch = read(&file(&places()), to(vec![int32("z")])).unwrap();
    assert_eq!((batch.num_rows(), batch.column(0).null_count()), (3, 3));
    assert_eq!(read(&file(&places()), to(vec![])).unwrap().num_rows(), 3);
}

#[test]
fn names_in_another_case_and_ids() {
    let file = file(&places());
    let wanted = || vec![Field::new("NAME", DataType::Utf8, true), Field::new("id", DataType::Int64, true)];
    assert_eq!(read(&file, to(wanted())).unwrap().column(0).null_count(), 3);
    let batch = read(&file, to(wanted()).by(MatchBy::NameIgnoringCase)).unwrap();
    assert_eq!(batch.column(0).as_string::<i32>().value(1), "b");
    let part = Fields::from(vec![with_id(int32("latitude"), 5)]);
    let wanted = vec![
        with_id(Field::new("place", DataType::Struct(part), true), 3),
        with_id(Field::new("key", DataType::Int64, true), 1),
        with_id(Field::new("Name", DataType::Utf8, true), 9),
    ];
    let batch = read(&file, to(wanted).by(MatchBy::FieldId)).unwrap();
    assert_eq!(batch.column(0).as_struct().column(0).as_primitive::<Int32Type>().value(2), 6);
    assert_eq!(batch.column(1).as_primitive::<Int64Type>().values(), &[1, 2, 3]);
    assert_eq!(batch.column(2).null_count(), 3, "of another id");
}

#[test]
fn what_cannot_be_is_an_error_that_says_why() {
    let places = file(&places());
    let part = |field| Field::new("where", DataType::Struct(Fields::from(vec![field])), true);
    let arrow_error = |evolution, expected: &str| assert_eq!(error(&places, evolution), expected);
    arrow_error(
        to(vec![part(Field::new("x", DataType::Int8, true))]),
        "argument: the column is Int32 in the file, which cannot become Int8 with every value the same, in column \
         where.x",
    );
    arrow_error(
        to(vec![Field::new("id", DataType::Int32, false)]),
        "argument: the column may be null in the file, and must not be, in column id",
    );
    arrow_error(
        to(vec![Field::new("z", DataType::Int32, false)]),
        "argument: the column is not in the file, and must not be null, in column z",
    );
    arrow_error(
        to(vec![int32("z")]).refuse_missing(true),
        "argument: the column is not in the file, in column z",
    );
    arrow_error(
        to(vec![int32("id"), part(int32("x"))]).refuse_extra(true),
        "argument: the column is not among the wanted fields, id, where, in column Name",
    );
    arrow_error(
        to(vec![int32("id")]).by(MatchBy::FieldId),
        "argument: the column is wanted by field id, and has none, in column id",
    );
    arrow_error(to(vec![int32("id"), int32("id")]), "argument: the column is wanted twice, in column id");
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    arrow_error(
        to(vec![int32("z")]).with_default("z", text.clone()),
        "argument: the column has a default of Utf8, which cannot become Int32 with every value the same, in column z",
    );
    // The file has this one.
    arrow_error(
        to(vec![int32("id")]).with_constant("id", text.clone()),
        "argument: the column has a constant of Utf8, which cannot become Int32 with every value the same, in column id",
    );
    arrow_error(
        to(vec![int32("z")]).with_constant("z", text.slice(0, 0)),
        "argument: the column has 0 values as its constant, not one, in column z",
    );
    let ids = RecordBatch::try_from_iter([("a", Arc::new(Int32Array::from(vec![1])) as ArrayRef)]).unwrap();
    let by_id = to(vec![with_id(int32("a"), 1)]).by(MatchBy::FieldId);
    assert!(error(&file(&ids), by_id).contains("the file has no field ids"));
    let columns = ["a", "A"].map(|name| (name, Arc::new(Int32Array::from(vec![1])) as ArrayRef));
    let both = file(&RecordBatch::try_from_iter(columns).unwrap());
    assert_eq!(read(&both, to(vec![int32("A")]).by(MatchBy::NameIgnoringCase)).unwrap().num_columns(), 1);
    let columns = ["ab", "aB"].map(|name| (name, Arc::new(Int32Array::from(vec![1])) as ArrayRef));
    let both = file(&RecordBatch::try_from_iter(columns).unwrap());
    let ignoring = to(vec![int32("AB")]).by(MatchBy::NameIgnoringCase);
    assert!(error(&both, ignoring).contains("may be any of the file's ab, aB"));
}

#[test]
fn values_that_do_not_fit_are_errors() {
    let days: ArrayRef = Arc::new(arrow_array::Date32Array::from(vec![2_932_896]));
    let file = file(&RecordBatch::try_from_iter([("day", days)]).unwrap());
    let at = |unit| to(vec![Field::new("day", DataType::Timestamp(unit, None), true)]);
    assert!(read(&file, at(TimeUnit::Microsecond)).is_ok());
    let error = read(&file, at(TimeUnit::Nanosecond)).unwrap_err();
    assert_eq!(error.place().column.as_deref(), Some("day"));
}

/// A type, and one that it becomes.
fn widening() -> impl Strategy<Value = (DataType, DataType)> {
    let types = sample_types();
    let pairs: Vec<_> = types
        .iter()
        .flat_map(|from| types.iter().map(move |to| (from.clone(), to.clone())))
        .filter(|(from, to)| promotion::is_promotable(from, to) && from != to)
        .collect();
    prop::sample::select(pairs)
}

fn sample_types() -> Vec<DataType> {
    use DataType::*;
    let utc = || Some("UTC".into());
    vec![
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
        Date32,
        Date64,
        Utf8,
        LargeUtf8,
        Utf8View,
        Binary,
        LargeBinary,
        BinaryView,
        FixedSizeBinary(3),
        Decimal32(7, 2),
        Decimal64(15, 2),
        Decimal128(9, 0),
        Decimal128(25, 3),
        Decimal256(50, 10),
        Time32(TimeUnit::Second),
        Time32(TimeUnit::Millisecond),
        Time64(TimeUnit::Microsecond),
        Time64(TimeUnit::Nanosecond),
        Timestamp(TimeUnit::Second, None),
        Timestamp(TimeUnit::Millisecond, utc()),
        Timestamp(TimeUnit::Microsecond, None),
        Timestamp(TimeUnit::Nanosecond, utc()),
        Duration(TimeUnit::Second),
        Duration(TimeUnit::Microsecond),
        Dictionary(Box::new(Int32), Box::new(Utf8)),
        Dictionary(Box::new(Int16), Box::new(Int64)),
    ]
}

/// An array of small values, which all types hold.
fn array(data_type: &DataType, values: &[Option<i8>]) -> ArrayRef {
    use DataType::*;
    let numbers: ArrayRef = Arc::new(Int32Array::from_iter(values.iter().map(|value| value.map(i32::from))));
    let positive =
        Int32Array::from_iter(values.iter().map(|value| value.map(|value| i32::from(value.unsigned_abs()))));
    let cast = |array: &dyn Array, to: &DataType| arrow_cast::cast(array, to).unwrap();
    match data_type {
        UInt8 | UInt16 | UInt32 | UInt64 => cast(&positive, data_type),
        Int8 | Int16 | Int32 | Int64 | Float16 | Float32 | Float64 => cast(&numbers, data_type),
        Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..) => {
            let halves = cast(&cast(&numbers, &Decimal128(9, 0)), data_type);
            make_array(halves.to_data())
        }
        Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView => {
            cast(&cast(&numbers, &Utf8), data_type)
        }
        FixedSizeBinary(_) => {
            let text =
                values.iter().map(|value| value.map(|value| [b'a', value.unsigned_abs() % 26 + b'a', b'z']));
            Arc::new(arrow_array::FixedSizeBinaryArray::try_from_sparse_iter_with_size(text, 3).unwrap())
        }
        Time32(_) | Time64(_) => cast(&cast(&positive, &Time32(TimeUnit::Second)), data_type),
        Date64 => cast(&cast(&numbers, &Date32), data_type),
        Dictionary(_, values) => cast(&array(values, values_of(&numbers).as_slice()), data_type),
        Timestamp(..) | Duration(_) => cast(&cast(&numbers, &Int64), data_type),
        _ => cast(&numbers, data_type),
    }
}

fn values_of(numbers: &ArrayRef) -> Vec<Option<i8>> {
    numbers.as_primitive::<Int32Type>().iter().map(|value| value.map(|value| value as i8)).collect()
}

/// The array in a place of a table: as a column, in a struct, as the elements of lists.
fn nested(array: ArrayRef, place: usize) -> ArrayRef {
    let field = Arc::new(Field::new("v", array.data_type().clone(), true));
    let len = array.len();
    match place {
        0 => array,
        1 => Arc::new(StructArray::new(vec![field].into(), vec![array], None)),
        2 => {
            let offsets =
                arrow_buffer::OffsetBuffer::from_lengths((0..=len / 3).map(|i| (len - i * 3).min(3)));
            Arc::new(ListArray::new(field, offsets, array, None))
        }
        _ => nested(nested(array, 2), 1),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Values that are read as a wider type, and narrowed again, equal the written ones.
    #[test]
    fn wider_types_hold_the_same_values(
        (from, wide) in widening(),
        values in prop::collection::vec(prop::option::of(any::<i8>()), 1..40),
        place in 0..4usize,
    ) {
        let narrow = nested(array(&from, &values), place);
        let wide_type = nested(arrow_array::new_empty_array(&wide), place).data_type().clone();
        let file = file(&RecordBatch::try_from_iter([("a", narrow.clone())]).unwrap());
        let wanted = vec![int32("z"), Field::new("a", wide_type.clone(), true)];
        let batch = read(&file, to(wanted)).unwrap();
        let read = batch.column(1);
        prop_assert_eq!(read.data_type(), &wide_type);
        let plain = |array: &ArrayRef, to: &DataType| arrow_cast::cast(array, to);
        // Binary that is read as text was written as valid text; FixedSizeBinary cannot be cast back.
        let (found, expected) = match from {
            DataType::FixedSizeBinary(_) => (read.clone(), plain(&narrow, &wide_type).unwrap()),
            _ => (plain(read, narrow.data_type()).unwrap(), narrow.clone()),
        };
        prop_assert_eq!(found.to_data(), expected.to_data(), "{} to {}", from, wide);
    }

    /// Types that are not in the table are refused, and the error names both.
    #[test]
    fn other_types_are_refused(
        from in prop::sample::select(sample_types()),
        narrow in prop::sample::select(sample_types()),
        values in prop::collection::vec(prop::option::of(any::<i8>()), 1..5),
    ) {
        prop_assume!(!promotion::is_promotable(&from, &narrow));
        let file = file(&RecordBatch::try_from_iter([("a", array(&from, &values))]).unwrap());
        let text = error(&file, to(vec![Field::new("a", narrow.clone(), true)]));
        prop_assert!(text.contains(&format!("is {from} in the file, which cannot become {narrow}")), "{}", text);
    }
}

#[test]
fn unions() {
    let fields = |fields: Vec<Field>| Fields::from(fields);
    let a = fields(vec![
        Field::new("id", DataType::Int32, false),
        Field::new("p", DataType::Struct(fields(vec![int32("x")])), true),
        Field::new("old", DataType::Utf8, false),
    ]);
    let b = fields(vec![
        Field::new(
            "p",
            DataType::Struct(fields(vec![int32("y"), Field::new("x", DataType::Int64, true)])),
            true,
        ),
        Field::new("id", DataType::UInt32, false),
        Field::new("new", DataType::Null, true),
    ]);
    let wanted = fields(vec![
        Field::new("id", DataType::Int64, false),
        Field::new(
            "p",
            DataType::Struct(fields(vec![Field::new("x", DataType::Int64, true), int32("y")])),
            true,
        ),
        Field::new("old", DataType::Utf8, true),
        Field::new("new", DataType::Null, true),
    ]);
    assert_eq!(union(&a, &b, MatchBy::Name).unwrap(), wanted);
    let text = |name| {
        fields(vec![Field::new(
            name,
            DataType::Struct(fields(vec![Field::new("x", DataType::Utf8, true)])),
            true,
        )])
    };
    let error = union(&a, &text("p"), MatchBy::Name).unwrap_err().to_string();
    assert_eq!(error, "argument: the column is Utf8, and Int32 in files before it, in column p.x");
    assert_eq!(union(&a, &text("P"), MatchBy::Name).unwrap().len(), 4);
    assert!(union(&a, &text("P"), MatchBy::NameIgnoringCase).is_err());
}

const MERCATOR: &str = r#"{"crs":"EPSG:3857"}"#;
const CRS84: &str = r#"{"crs":"OGC:CRS84","crs_type":"authority_code"}"#;

fn extended(data_type: DataType, name: &str, parameters: &str) -> Field {
    let pairs = [(EXTENSION_TYPE_NAME_KEY, name), (EXTENSION_TYPE_METADATA_KEY, parameters)];
    let metadata = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
    Field::new("c", data_type, true).with_metadata(metadata.into())
}

fn geometry(parameters: &str) -> Field {
    extended(DataType::BinaryView, "geoarrow.wkb", parameters)
}

#[test]
fn unions_have_the_extension_types_of_all() {
    let union_of = |a: &Field, b: &Field| {
        let fields = union(&vec![a.clone()].into(), &vec![b.clone()].into(), MatchBy::Name)?;
        Ok::<_, Error>(Field::clone(&fields[0]))
    };
    let (uuid, bytes) = (
        extended(DataType::FixedSizeBinary(16), "arrow.uuid", ""),
        Field::new("c", DataType::FixedSizeBinary(16), true),
    );
    let tensor = |shape| extended(DataType::Binary, "tensor", shape);
    let null = Field::new("c", DataType::Null, true);
    for (a, b, wanted) in [
        (&uuid, &uuid, &uuid),
        (&uuid, &bytes, &bytes),
        (&bytes, &uuid, &bytes),
        (&null, &uuid, &uuid),
        (&uuid, &null, &uuid),
        (&tensor("2 x 3"), &tensor("3 x 2"), &Field::new("c", DataType::Binary, true)),
        (&geometry(CRS84), &geometry(""), &geometry(CRS84)),
        (
            &geometry(MERCATOR),
            &Field::new("c", DataType::Binary, true),
            &Field::new("c", DataType::BinaryView, true),
        ),
    ] {
        assert_eq!(union_of(a, b).unwrap(), *wanted, "{a} and {b}");
        let list = |field: &Field| Field::new("c", DataType::List(Arc::new(field.clone())), true);
        assert_eq!(union_of(&list(a), &list(b)).unwrap(), list(wanted), "lists of {a} and {b}");
    }
    let error = union_of(&geometry(CRS84), &geometry(MERCATOR)).unwrap_err().to_string();
    assert_eq!(
        error,
        "argument: the column is geoarrow.wkb (EPSG:3857, planar edges), and geoarrow.wkb (OGC:CRS84, planar edges) in files before it, in column c"
    );
}

#[test]
fn coordinates_are_in_the_wanted_reference_system() {
    let points: ArrayRef = Arc::new(BinaryViewArray::from(vec![&b"point"[..]]));
    let stored = |field: Field| {
        let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![points.clone()]);
        file(&batch.unwrap())
    };
    let (mercator, bytes) = (stored(geometry(MERCATOR)), stored(Field::new("c", DataType::BinaryView, true)));
    let same = geometry(r#"{"crs":{"name":"Mercator","id":{"authority":"EPSG","code":3857}}}"#);
    assert_eq!(*read(&mercator, to(vec![same.clone()])).unwrap().schema().field(0), same);
    assert_eq!(read(&bytes, to(vec![geometry(CRS84)])).unwrap().column(0), &points);
    assert_eq!(
        read(&mercator, to(vec![Field::new("c", DataType::BinaryView, true)])).unwrap().column(0),
        &points
    );
    assert_eq!(
        error(&mercator, to(vec![geometry(CRS84)])),
        "argument: the column is geoarrow.wkb (EPSG:3857, planar edges) in the file, which is not geoarrow.wkb (OGC:CRS84, planar edges), in column c"
    );
}

#[test]
fn coordinates_of_geoparquet_are_in_the_wanted_reference_system() {
    let columns = |crs: &str| {
        let text = format!(
            r#"{{"version":"1.1.0","primary_column":"c","columns":{{"c":{{"encoding":"WKB"{crs}}}}}}}"#
        );
        HashMap::from([("geo".to_owned(), text)])
    };
    let field = Field::new("c", DataType::BinaryView, true);
    let schema = |crs| Arc::new(Schema::new_with_metadata(vec![field.clone()], columns(crs)));
    let points: ArrayRef = Arc::new(BinaryViewArray::from(vec![&b"point"[..]]));
    let mercator = r#","crs":{"name":"Mercator","id":{"authority":"EPSG","code":3857}}"#;
    let stored = file(&RecordBatch::try_new(schema(mercator), vec![points]).unwrap());
    let same = r#","crs":{"name":"Pseudo","id":{"authority":"EPSG","code":3857}},"bbox":[0,0,1,1]"#;
    assert_eq!(read(&stored, Evolution::to(schema(same))).unwrap().num_rows(), 1);
    assert_eq!(read(&stored, to(vec![field.clone()])).unwrap().num_rows(), 1);
    assert_eq!(
        error(&stored, Evolution::to(schema(""))),
        "argument: the column has coordinates of EPSG:3857, planar edges in the file, which are not OGC:CRS84, planar edges, in column c"
    );
}
