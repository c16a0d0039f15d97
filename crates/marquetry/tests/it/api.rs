//! What the builder and the short door promise, beyond the values.

use crate::cells;
use crate::corpus;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use bytes::Bytes;
use marquetry::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, Int96Unit, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use marquetry::arrow::{ProjectionMask, StringLayout};
use marquetry::errors::{Error, ErrorKind, Limits};
use std::sync::Arc;

/// Two row groups of 100 rows each: name, country, year, price, rating, grapes, producer {name, founded}, tasted.
fn wines() -> Bytes {
    std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet")).unwrap().into()
}

fn builder() -> ParquetRecordBatchReaderBuilder<Bytes> {
    ParquetRecordBatchReaderBuilder::try_new(wines()).unwrap()
}

fn with_options(file: Bytes, options: ArrowReaderOptions) -> Result<ParquetRecordBatchReader, Error> {
    ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)?.build()
}

fn batches(mut reader: ParquetRecordBatchReader) -> Vec<RecordBatch> {
    std::iter::from_fn(|| reader.next_batch()).collect::<Result<_, _>>().unwrap()
}

fn columns(mut reader: ParquetRecordBatchReader) -> Result<Vec<Vec<String>>, Error> {
    cells::columns(std::iter::from_fn(|| reader.next_batch()))
}

fn sizes(reader: ParquetRecordBatchReader) -> Vec<usize> {
    batches(reader).iter().map(RecordBatch::num_rows).collect()
}

fn names(reader: &ParquetRecordBatchReader) -> Vec<String> {
    reader.schema().fields().iter().map(|field| field.name().clone()).collect()
}

#[test]
fn batches_go_on_from_row_group_to_row_group() {
    assert_eq!(sizes(builder().with_batch_size(70).build().unwrap()), [70, 70, 60]);
    assert_eq!(sizes(builder().build().unwrap()), [200]);
    assert_eq!(sizes(builder().with_offset(95).with_limit(10).build().unwrap()), [10]);
    assert!(sizes(builder().with_offset(200).build().unwrap()).is_empty());
    assert!(sizes(builder().with_limit(0).build().unwrap()).is_empty());
}

#[test]
fn row_groups_come_in_the_order_asked_for() {
    let name = |reader| columns(reader).unwrap()[0][0].clone();
    let (first, second) = (
        name(builder().with_row_groups(vec![0]).build().unwrap()),
        name(builder().with_row_groups(vec![1]).build().unwrap()),
    );
    assert_ne!(first, second);
    let swapped = columns(builder().with_row_groups(vec![1, 0]).build().unwrap()).unwrap();
    assert_eq!((&swapped[0][0], &swapped[0][100]), (&second, &first));
}

#[test]
fn impossible_requests_are_argument_errors() {
    let kind = |outcome: Result<ParquetRecordBatchReader, Error>| outcome.err().unwrap();
    let error = kind(builder().with_row_groups(vec![0, 2]).build());
    assert_eq!(error.to_string(), "argument: no row group 2, there are 2");
    assert_eq!(kind(builder().with_batch_size(0).build()).kind(), ErrorKind::Argument);
    let error = marquetry::open_bytes(wines()).unwrap().columns(["producer.nam"]).batches().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(error.to_string().contains("no column producer.nam; did you mean"), "{error}");
    assert!(error.to_string().contains("producer.name"), "{error}");
    let error = marquetry::open_bytes(wines()).unwrap().columns(["Name"]).batches().err().unwrap();
    assert!(error.to_string().contains("did you mean name"), "{error}");
    let error = marquetry::open_bytes(wines()).unwrap().columns(["xyz"]).batches().err().unwrap();
    assert!(error.to_string().contains("there are name, country"), "{error}");
}

#[test]
fn columns_are_chosen_by_leaf_by_root_and_by_path() {
    let read = |mask: ProjectionMask| builder().with_projection(mask).build().unwrap();
    let builder = builder();
    let schema = builder.parquet_schema();
    // Leaves 6 and 7 are in the root's field 6.
    assert_eq!(names(&read(ProjectionMask::leaves(schema, [7, 0, 99]))), ["name", "producer"]);
    assert_eq!(names(&read(ProjectionMask::roots(schema, [6, 2]))), ["year", "producer"]);
    assert_eq!(names(&read(ProjectionMask::columns(schema, ["grapes", "nothing"]))), ["grapes"]);
    assert_eq!(read(ProjectionMask::all()).schema().fields().len(), 8);
    let mut both = ProjectionMask::columns(schema, ["year"]);
    both.union(&ProjectionMask::columns(schema, ["name"]));
    assert_eq!(names(&read(both)), ["name", "year"]);

    let half = read(ProjectionMask::columns(schema, ["producer.founded"]));
    let fields = vec![Field::new("founded", DataType::Date32, true)];
    assert_eq!(*half.schema().field(0).data_type(), DataType::Struct(fields.into()));

    let none = batches(read(ProjectionMask::none(schema.num_columns())));
    assert_eq!((none[0].num_rows(), none[0].num_columns()), (200, 0));
}

#[test]
fn half_a_map_is_a_list_of_structs() {
    let Some(root) = corpus::root() else { return };
    let file = corpus::bytes(&root, "parquet-testing/data/nested_maps.snappy.parquet");
    let read = |path: &str| {
        let mut reader = marquetry::open_bytes(file.clone()).unwrap().columns([path]).batches().unwrap();
        let schema = RecordBatchReader::schema(&reader);
        let cells = cells::columns(std::iter::from_fn(|| reader.next_batch())).unwrap();
        (schema.field(0).data_type().clone(), cells[0].clone())
    };
    let (whole, all) = read("a");
    assert!(matches!(whole, DataType::Map(_, _)), "{whole}");
    assert_eq!(all[0], r#"[{"a",[{1,true},{2,false}]}]"#);
    let (keys, cells) = read("a.key_value.key");
    assert!(matches!(keys, DataType::List(_)), "{keys}");
    assert_eq!(cells[0], r#"[{"a"}]"#);
    let (values, cells) = read("a.key_value.value.key_value.value");
    assert!(matches!(values, DataType::List(_)), "{values}");
    assert_eq!(cells[0], "[{[{true},{false}]}]");
}

#[test]
fn one_field_of_a_struct_in_a_list() {
    let Some(root) = corpus::root() else { return };
    let file = corpus::bytes(&root, "parquet-testing/data/nullable.impala.parquet");
    let read = |path: &str| {
        let reader = marquetry::open_bytes(file.clone()).unwrap().columns([path]).batches().unwrap();
        columns(reader).unwrap()[0].clone()
    };
    let below = "nested_struct.C.d.list.element.list.element";
    let whole = read(below);
    assert_eq!(whole[0], r#"{{[[{10,"aaa"},{-10,"bbb"}],[{11,"c"}]]}}"#);
    let first = r#"[{null,null},{10,"aaa"},{null,null},{-10,"bbb"},{null,null}]"#;
    assert_eq!(whole[1], format!(r#"{{{{[{first},[{{11,"c"}},null],[],null]}}}}"#));
    let field = read(&format!("{below}.F"));
    assert_eq!(field[0], r#"{{[[{"aaa"},{"bbb"}],[{"c"}]]}}"#);
    assert_eq!(field[1], r#"{{[[{null},{"aaa"},{null},{"bbb"},{null}],[{"c"},null],[],null]}}"#);
}

/// The builder's own schema with other types in it.
fn retyped(schema: &SchemaRef, wanted: impl Fn(&Field) -> DataType) -> SchemaRef {
    let fields: Vec<_> = schema
        .fields()
        .iter()
        .map(|field| Field::new(field.name(), wanted(field), field.is_nullable()))
        .collect();
    Arc::new(Schema::new(fields))
}

#[test]
fn strings_are_the_same_in_every_layout() {
    let builder = builder();
    assert_eq!(*builder.schema().field(0).data_type(), DataType::Utf8);
    let expected = columns(builder.build().unwrap()).unwrap();
    let dictionary = |key: DataType| DataType::Dictionary(Box::new(key), Box::new(DataType::Utf8));
    for text in [
        DataType::Utf8View,
        DataType::LargeUtf8,
        DataType::Utf8,
        dictionary(DataType::Int32),
        dictionary(DataType::Int16),
        DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8View)),
    ] {
        let schema = retyped(self::builder().schema(), |field| match field.data_type() {
            DataType::Utf8 => text.clone(),
            other => other.clone(),
        });
        let options = ArrowReaderOptions::new().with_schema(schema.clone());
        let reader = with_options(wines(), options).unwrap();
        assert_eq!(reader.schema().fields(), schema.fields());
        assert_eq!(*reader.schema().field(1).data_type(), text);
        assert_eq!(columns(reader).unwrap(), expected, "{text}");
    }
    for (text, name) in [
        (StringLayout::Utf8View, DataType::Utf8View),
        (StringLayout::LargeUtf8, DataType::LargeUtf8),
        (StringLayout::Utf8, DataType::Utf8),
    ] {
        let reader = with_options(wines(), ArrowReaderOptions::new().with_text(text)).unwrap();
        assert_eq!(*reader.schema().field(0).data_type(), name);
        assert_eq!(columns(reader).unwrap(), expected, "{name}");
    }
    let short = marquetry::open_bytes(wines()).unwrap();
    assert_eq!(*short.schema().unwrap().field(0).data_type(), DataType::Utf8View);
    assert_eq!(columns(short.batches().unwrap()).unwrap(), expected);
}

#[test]
fn a_schema_that_does_not_fit_is_refused_at_once() {
    let refuse = |schema: SchemaRef, word: &str| {
        let options = ArrowReaderOptions::new().with_schema(schema);
        let error = ParquetRecordBatchReaderBuilder::try_new_with_options(wines(), options).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
        assert!(error.to_string().contains(word), "{error}");
    };
    let schema = builder().schema().clone();
    let numbers = retyped(&schema, |field| match field.name().as_str() {
        "name" => DataType::Int64,
        _ => field.data_type().clone(),
    });
    refuse(numbers, "field name cannot be read as wanted");
    let fields = |change: &dyn Fn(&Field) -> Field| {
        Arc::new(Schema::new(schema.fields().iter().map(|field| change(field)).collect::<Vec<_>>()))
    };
    refuse(fields(&|field| field.clone().with_name(field.name().to_uppercase())), "NAME");
    refuse(fields(&|field| field.clone().with_nullable(false)), "it may be null");
    refuse(Arc::new(Schema::new(schema.fields()[..3].to_vec())), "field price");
}

#[test]
fn int96_units() {
    let Some(root) = corpus::root() else { return };
    let far = corpus::bytes(&root, "parquet-testing/data/int96_from_spark.parquet");
    let near = corpus::bytes(&root, "parquet-testing/data/alltypes_plain.parquet");
    let read = |file: &Bytes, column: &str, int96: Int96Unit| {
        let file = marquetry::open_bytes(file.clone()).unwrap().columns([column]).int96(int96);
        let reader = file.batches().unwrap();
        let data_type = reader.schema().field(0).data_type().clone();
        columns(reader).map(|cells| (data_type, cells[0].clone()))
    };
    let timestamp = |unit| DataType::Timestamp(unit, None);

    // Values that fit in nanoseconds are read as nanoseconds.
    let (data_type, cells) = read(&near, "timestamp_col", Int96Unit::Auto).unwrap();
    assert_eq!(data_type, timestamp(TimeUnit::Nanosecond));
    assert_eq!(cells[0], "ts:1235865600000000000");
    let (_, seconds) = read(&near, "timestamp_col", Int96Unit::Unit(TimeUnit::Second)).unwrap();
    assert_eq!(seconds[0], cells[0]);

    // Values that do not fit are an error, or are read in a coarser unit; they never become another value.
    let error = read(&far, "a", Int96Unit::Nanoseconds).unwrap_err();
    assert!(error.place().column.as_deref() == Some("a"), "{error}");
    let (data_type, cells) = read(&far, "a", Int96Unit::Auto).unwrap();
    assert_eq!(data_type, timestamp(TimeUnit::Microsecond));
    assert_eq!(
        (cells[0].as_str(), cells[5].as_str()),
        ("ts:1704141296123456000", "ts:9089380393200000000000")
    );
    let (data_type, cells) = read(&far, "a", Int96Unit::Unit(TimeUnit::Millisecond)).unwrap();
    assert_eq!(data_type, timestamp(TimeUnit::Millisecond));
    assert_eq!(cells[0], "ts:1704141296123000000");
    let (_, cells) = read(&far, "a", Int96Unit::Unit(TimeUnit::Second)).unwrap();
    assert_eq!(cells[0], "ts:1704141296000000000");
}

#[test]
fn limits_say_how_to_raise_them() {
    let limited = |limits| ArrowReaderOptions::new().with_limits(limits);
    let reader = with_options(wines(), limited(Limits::default().with_page_bytes(100))).unwrap();
    let error = columns(reader).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.message().contains("Limits::page_bytes"), "{error}");
    assert_eq!((error.place().row_group, error.place().page), (Some(0), Some(0)), "{error}");
    let rows = builder().metadata().num_rows();
    assert!(with_options(wines(), limited(Limits::default().with_rows(rows))).is_ok());
    let too_low = [
        ("footer_bytes", Limits::default().with_footer_bytes(100)),
        ("rows", Limits::default().with_rows(rows - 1)),
    ];
    for (name, limits) in too_low {
        let error = with_options(wines(), limited(limits)).err().unwrap();
        assert!(
            error.kind() == ErrorKind::Limit && error.message().contains(&format!("Limits::{name} ")),
            "{error}"
        );
    }
}

/// Generic code sees Arrow's errors; ours are inside them. After an error there is nothing more.
#[test]
fn errors_of_the_iterator_have_ours_as_their_source() {
    let mut damaged = wines().to_vec();
    damaged[4..40].fill(0xff);
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(damaged)).unwrap().build().unwrap();
    match Iterator::next(&mut reader) {
        Some(Err(ArrowError::ExternalError(error))) => {
            let error = error.downcast_ref::<Error>().unwrap();
            assert_eq!(error.place().column.as_deref(), Some("name"), "{error}");
            assert_eq!(error.place().row_group, Some(0), "{error}");
        }
        other => panic!("{other:?}"),
    }
    assert!(Iterator::next(&mut reader).is_none());
}

#[test]
fn files_bytes_and_loaded_metadata_read_the_same() {
    let expected = columns(builder().build().unwrap()).unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
    let file = std::fs::File::open(path).unwrap();
    let from_file = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    assert_eq!(columns(from_file).unwrap(), expected);
    let metadata = ArrowReaderMetadata::load(wines(), ArrowReaderOptions::new()).unwrap();
    assert_eq!(metadata.metadata().num_rows(), 200);
    for _ in 0..2 {
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(wines(), metadata.clone());
        assert_eq!(builder.schema(), metadata.schema());
        assert_eq!(columns(builder.build().unwrap()).unwrap(), expected);
    }
    let error = marquetry::open(format!("{path}.none")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("wines.parquet.none"), "{error}");
}

#[test]
fn metadata_is_read_through_accessors() {
    let builder = builder();
    let metadata = builder.metadata();
    assert_eq!((metadata.num_rows(), metadata.num_row_groups()), (200, 2));
    assert!(metadata.created_by().unwrap().starts_with("parquet-cpp-arrow"));
    let chunk = metadata.row_group(1).column(3).unwrap();
    assert_eq!((&**chunk.leaf().dotted(), chunk.num_values()), ("price", 100));
    assert!(chunk.statistics().is_some());
    assert_eq!(builder.parquet_schema().num_columns(), 9);
    let schema = builder.schema().clone();
    assert_eq!(schema, builder.build().unwrap().schema());
}
