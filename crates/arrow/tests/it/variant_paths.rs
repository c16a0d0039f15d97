//! Paths into VARIANT as columns and in predicates: of rows shredded in many ways, of many files, of damaged ones.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, BinaryArray, Int64Array, RecordBatch, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Fields, Schema};
use bytes::Bytes;
use marquetry_arrow::arrow_reader::{ArrowReaderOptions, OnCorrupt};
use marquetry_arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_arrow::dataset::Dataset;
use marquetry_arrow::variant::{Shreddings, VariantColumn};
use marquetry_core::predicate::Predicate;
use marquetry_core::source::Source;
use marquetry_core::write::WriterProperties;
use marquetry_variant::json;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// A column `id` of row numbers and a column `v` of these; small row groups and pages, all indexes.
pub(crate) fn file(rows: &[Option<&str>], shredding: &str) -> Bytes {
    let values: Vec<_> = rows.iter().map(|row| row.map(|text| json::parse(text).unwrap())).collect();
    let bytes = |name: &str| Field::new(name, DataType::Binary, false);
    let storage: Fields = vec![bytes("metadata"), bytes("value")].into();
    let metadata = values.iter().map(|row| row.as_ref().map_or(&[1_u8, 0, 0][..], |row| &row.0));
    let value = values.iter().map(|row| row.as_ref().map_or(&[0_u8][..], |row| &row.1));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(BinaryArray::from_iter_values(metadata)),
        Arc::new(BinaryArray::from_iter_values(value)),
    ];
    let nulls: NullBuffer = rows.iter().map(Option::is_some).collect();
    let array = StructArray::try_new(storage.clone(), columns, Some(nulls)).unwrap();
    let extension = HashMap::from([("ARROW:extension:name".to_owned(), "arrow.parquet.variant".to_owned())]);
    let field = Field::new("v", DataType::Struct(storage), true).with_metadata(extension);
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows.len() as i64));
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, false), field]));
    let batch = RecordBatch::try_new(schema.clone(), vec![ids, Arc::new(array)]).unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(8))
        .set_data_page_row_count_limit(2)
        .set_write_batch_size(1)
        .set_bloom_filter_enabled(true)
        .build();
    let shreddings = match shredding {
        "" => Shreddings::new(),
        shape => Shreddings::new().with_column("v", shape.parse().unwrap()),
    };
    let mut writer =
        ArrowWriter::try_new_shredded(Vec::new(), schema, Some(properties), &shreddings).unwrap();
    writer.write(&batch).unwrap();
    Bytes::from(writer.into_inner().unwrap())
}

pub(crate) fn open(file: &Bytes) -> ParquetRecordBatchReaderBuilder<Bytes> {
    ParquetRecordBatchReaderBuilder::try_new(file.clone()).unwrap()
}

pub(crate) fn whole(reader: ParquetRecordBatchReader) -> RecordBatch {
    let schema = arrow_array::RecordBatchReader::schema(&reader);
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    arrow_select::concat::concat_batches(&schema, &batches).unwrap()
}

pub(crate) fn ids(file: &Bytes, predicate: &str) -> Vec<i64> {
    let builder = open(file).with_columns(["id"]).unwrap();
    let batch = whole(builder.with_predicate(Predicate::parse(predicate).unwrap()).build().unwrap());
    batch.column(0).as_primitive::<Int64Type>().values().to_vec()
}

const EVENTS: [Option<&str>; 9] = [
    Some(r#"{"user": {"id": 5, "name": "x"}, "tags": ["a", "b"]}"#),
    Some(r#"{"user": {"id": "five"}, "tags": []}"#),
    Some(r#"{"user": {"id": null}}"#),
    Some(r#"{"user": {}, "tags": [null, 7]}"#),
    None,
    Some("null"),
    Some(r#"{"user": {"id": 6.0, "name": 8}}"#),
    Some(r#"{"user": 3, "odd name": true}"#),
    Some(r#"{"user": {"id": 6.5}}"#),
];

const SHREDDINGS: [&str; 12] = [
    "",
    "{user: {id: int64, name: string}, tags: [string]}",
    "{user: {id: int8}}",
    "{user: {id: string}}",
    "{user: int64}",
    "{user: {id: double}}",
    "{user: variant, tags: variant}",
    "{user: {id: variant}}",
    "{user: {id: decimal(9, 1)}}",
    "{user: {id: {id: int64}}, tags: [int64]}",
    "int64",
    "[string]",
];

#[test]
fn paths_are_columns_whatever_is_shredded() {
    for shredding in SHREDDINGS {
        let names = [
            "v:user.id::bigint",
            "v:user.id",
            "id",
            "v:user.name::text",
            "v:tags[*]::text",
            "v:tags[1]::json",
            r#"v:"odd name"::boolean"#,
            "v:user.id::double",
            "v:user::json",
            "v:user.id::decimal(9, 2)",
        ];
        let batch = whole(open(&file(&EVENTS, shredding)).with_columns(names).unwrap().build().unwrap());
        assert_eq!(
            batch.schema().fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>(),
            names
        );
        let integers: Vec<_> = batch.column(0).as_primitive::<Int64Type>().iter().collect();
        assert_eq!(integers, [Some(5), None, None, None, None, None, Some(6), None, None], "{shredding}");
        let variants = VariantColumn::try_new(batch.column(1)).unwrap();
        let mut reader = variants.reader();
        let texts: Vec<_> = (0..9)
            .map(|row| reader.get(row).unwrap().map(|variant| json::to_string(variant).unwrap()))
            .collect();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            texts,
            [text("5"), text("\"five\""), text("null"), None, None, None, text("6.0"), None, text("6.5")],
            "{shredding}"
        );
        let names: Vec<_> = batch.column(3).as_string_view().iter().collect();
        assert_eq!(names, [Some("x"), None, None, None, None, None, Some("8"), None, None], "{shredding}");
        let tags = batch.column(4).as_list::<i32>();
        let of_row = |row: usize| {
            tags.is_valid(row).then(|| {
                let row = tags.value(row);
                row.as_string_view().iter().map(|tag| tag.map(str::to_owned)).collect::<Vec<_>>()
            })
        };
        assert_eq!(of_row(0), Some(vec![text("a"), text("b")]), "{shredding}");
        assert_eq!((of_row(1), of_row(3), of_row(4)), (Some(vec![]), Some(vec![None, text("7")]), None));
        let second: Vec<_> = batch.column(5).as_string_view().iter().collect();
        assert_eq!(second, [Some("\"b\""), None, None, Some("7"), None, None, None, None, None]);
        assert!(batch.column(6).as_boolean().value(7) && batch.column(6).null_count() == 8);
        let doubles: Vec<_> = batch.column(7).as_primitive::<Float64Type>().iter().collect();
        assert_eq!(
            doubles,
            [Some(5.0), None, None, None, None, None, Some(6.0), None, Some(6.5)],
            "{shredding}"
        );
        let users: Vec<_> = batch.column(8).as_string_view().iter().collect();
        assert_eq!(users[7], Some("3"));
        assert_eq!((users[3], users[4], users[2]), (Some("{}"), None, Some(r#"{"id":null}"#)), "{shredding}");
    }
}

#[test]
fn three_nothings_are_kept_apart() {
    for shredding in SHREDDINGS {
        let file = file(&EVENTS, shredding);
        for (predicate, rows) in [
            ("v is null", &[4][..]),
            ("v:user.id is null", &[3, 4, 5, 7]),
            ("v:user.id is missing", &[3, 5, 7]),
            ("v:user.id is variant null", &[2]),
            ("v:user.id is not null", &[0, 1, 2, 6, 8]),
            ("v:user.id is not missing", &[0, 1, 2, 4, 6, 8]),
            ("v:user.id::bigint is null", &[1, 2, 3, 4, 5, 7, 8]),
            ("v:user.id::bigint is not null", &[0, 6]),
            ("v:user.id::bigint > 5 or v:user.name = 'x'", &[0, 6]),
            ("v:user.id > 5", &[6, 8]),
            ("v:user.id = 'five' and id < 5", &[1]),
            ("id = 3 or v:user.id::text = '5'", &[0, 3]),
            ("not v:user.id::bigint > 5", &[0]),
            ("v:user.id::bigint in (6, 7)", &[6]),
            ("v:user.id::text like 'f%'", &[1]),
            ("starts_with(v:user.name, 'x')", &[0]),
            ("any(v:tags[*]::text) = 'b'", &[0]),
            ("any(v:tags[*]::bigint) = 7", &[3]),
            ("cardinality(v:tags[*]::text) = 2", &[0, 3]),
            ("v:\"odd name\"::boolean", &[7]),
            ("v:user.id::bigint = id", &[6]),
        ] {
            assert_eq!(ids(&file, predicate), rows, "{predicate} of {shredding}");
        }
    }
}

#[test]
fn what_is_wrong_has_a_place() {
    let file = file(&EVENTS, "");
    for (predicate, message) in [
        ("v:a::uint8 = 5", "a type is wanted"),
        ("id:a = 5", "not a VARIANT"),
        ("w:a = 5", "no column w"),
        ("v:a in (5, 'x')", "several types"),
    ] {
        let error = open(&file).with_predicate(Predicate::parse(predicate).unwrap()).build().err().unwrap();
        assert!(error.to_string().contains(message), "{predicate}: {error}");
    }
    assert!(open(&file).with_columns(["v:a::nothing"]).is_err());
    assert!(open(&file).with_columns(["id:a"]).is_err());
    assert!(open(&file).with_columns(["v.value", "v:a"]).unwrap().build().is_err());
}

/// Where all values of a path are shredded, only its typed column is read; a plain predicate over it prunes.
#[test]
fn only_typed_columns_are_read() {
    let rows: Vec<String> =
        (0..4000).map(|i| format!(r#"{{"id": {i}, "text": "{}"}}"#, "x".repeat(i % 50))).collect();
    let rows: Vec<Option<&str>> = rows.iter().map(|row| Some(row.as_str())).collect();
    let file = file(&rows, "{id: int64, text: string}");
    let bytes = |builder: ParquetRecordBatchReaderBuilder<Bytes>| {
        let mut reader = builder.build().unwrap();
        let rows: usize = reader.by_ref().map(|batch| batch.unwrap().num_rows()).sum();
        (rows, reader.metrics().decompressed_bytes)
    };
    let plain = bytes(open(&file).with_columns(["v.typed_value.id.typed_value"]).unwrap());
    let path = bytes(open(&file).with_columns(["v:id::bigint"]).unwrap());
    assert_eq!(path, plain);
    assert_eq!(path.0, 4000);
    let all = bytes(open(&file));
    assert!(path.1 * 3 < all.1, "{path:?} of {all:?}");
    let wanted = Predicate::parse("v:id::bigint = 1234").unwrap();
    let mut reader =
        open(&file).with_columns(["v:id::bigint"]).unwrap().with_predicate(wanted).build().unwrap();
    assert_eq!(reader.by_ref().map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 1);
    assert!(reader.metrics().statistics.row_groups >= 499, "{:?}", reader.metrics());
}

/// A table of files in partitions `part=0`, `part=1`, ..
pub(crate) fn table(files: Vec<Bytes>) -> Dataset {
    let names: Vec<String> = (0..files.len()).map(|i| format!("part={i}/file.parquet")).collect();
    let all: HashMap<String, Bytes> = names.iter().cloned().zip(files).collect();
    let open = move |path: &Path| Ok(Arc::new(all[path.to_str().unwrap()].clone()) as Arc<dyn Source>);
    Dataset::from_files(names, open).unwrap()
}

pub(crate) fn rows_of(dataset: Dataset) -> RecordBatch {
    let reader = dataset.batches().unwrap();
    let schema = arrow_array::RecordBatchReader::schema(&reader);
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    arrow_select::concat::concat_batches(&schema, &batches).unwrap()
}

/// The JSON of each row.
pub(crate) fn texts(column: &ArrayRef) -> Vec<Option<String>> {
    let variants = VariantColumn::try_new(column).unwrap();
    let mut reader = variants.reader();
    (0..variants.len())
        .map(|row| reader.get(row).unwrap().map(|variant| json::to_string(variant).unwrap()))
        .collect()
}

#[test]
fn files_of_a_table_may_be_shredded_each_in_its_way() {
    let plain = open(&file(&EVENTS, ""));
    let all = whole(plain.with_columns(["v", "v:user.id::bigint"]).unwrap().build().unwrap());
    for first in SHREDDINGS {
        for second in SHREDDINGS {
            let table = || table(vec![file(&EVENTS[..4], first), file(&EVENTS[4..], second)]);
            for union in [false, true] {
                let names = ["v:user.id::bigint", "part", "v", "v:user.name::text", "id"];
                let batch = rows_of(table().union_by_name(union).columns(names));
                let schema = batch.schema();
                let given: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
                assert_eq!(given, names);
                assert_eq!(batch.column(0), all.column(1), "{first} {second}");
                assert_eq!(texts(batch.column(2)), texts(all.column(0)), "{first} {second}");
                let texts: Vec<_> = batch.column(3).as_string_view().iter().collect();
                assert_eq!((texts[0], texts[6], texts[1]), (Some("x"), Some("8"), None));
            }
            // Without a choice of columns, too.
            let batch = rows_of(table());
            assert_eq!(texts(batch.column_by_name("v").unwrap()), texts(all.column(0)), "{first} {second}");
        }
    }
}

#[test]
fn a_file_may_lack_the_variant_that_a_path_leads_into() {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(100..103));
    let batch = RecordBatch::try_from_iter([("id", ids)]).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    let without = Bytes::from(writer.into_inner().unwrap());
    let table = || table(vec![without.clone(), file(&EVENTS, "{user: {id: int64}}")]).union_by_name(true);
    let batch = rows_of(table().columns(["id", "v:user.id::bigint"]));
    assert_eq!((batch.num_rows(), batch.column(1).null_count()), (12, 10));
    for (condition, rows) in [
        ("v:user.id::bigint >= 5", 2),
        ("v:user.id is null", 7),
        ("v:user.id is missing", 3),
        ("not (v:user.id is missing)", 9),
        ("v:user.id is variant null", 1),
        ("v:user.id::bigint > 0 or id > 100", 4),
    ] {
        let found = rows_of(table().columns(["id"]).filter(Predicate::parse(condition).unwrap()));
        assert_eq!(found.num_rows(), rows, "{condition}");
    }
    let nowhere = table().columns(["w:user.id"]).batches();
    assert!(nowhere.err().unwrap().to_string().contains("w:user.id"));
    assert!(table().union_by_name(false).columns(["v:user.id"]).batches().is_err());
}

#[test]
fn paths_are_read_out_of_what_is_left_of_damaged_files() {
    let whole_file = file(&EVENTS, "{user: {id: int64, name: string}}");
    let builder = open(&whole_file);
    let schema = builder.parquet_schema();
    let names = schema.columns().iter().position(|column| column.dotted().contains("name.typed_value"));
    let chunk = builder.metadata().row_group(0).column(names.unwrap()).unwrap();
    let at = chunk.data_page_offset() as usize;
    let mut bytes = whole_file.to_vec();
    // The header of the first page.
    bytes[at..at + 4].fill(0xFF);
    let damaged = Bytes::from(bytes);
    let columns = ["id", "v:user.name::text", "v:user.id::bigint"];
    for on_corrupt in [OnCorrupt::SkipPage, OnCorrupt::NullPage] {
        let options = ArrowReaderOptions::new().with_on_corrupt(on_corrupt);
        let single = ParquetRecordBatchReaderBuilder::try_new_with_options(damaged.clone(), options.clone());
        let single = whole(single.unwrap().with_columns(columns).unwrap().build().unwrap());
        assert!(single.num_rows() > 0);
        let table = table(vec![damaged.clone(), file(&EVENTS, "")]).options(options).columns(columns);
        let mut reader = table.batches().unwrap();
        let rows: usize = (&mut reader).map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!(rows, single.num_rows() + 9, "{on_corrupt:?}");
        let losses = reader.loss_reports();
        assert!(!losses[0].1.is_empty() && losses[1].1.is_empty());
        // What is not read is not missed.
        let ids = whole(
            ParquetRecordBatchReaderBuilder::try_new(damaged.clone())
                .unwrap()
                .with_columns(["v:user.id::bigint"])
                .unwrap()
                .build()
                .unwrap(),
        );
        assert_eq!(ids.num_rows(), 9);
    }
}

/// A damaged file, and conditions on paths: what is lost is NULL to them, rows that are left out have no part.
#[test]
fn conditions_on_paths_choose_among_what_is_left() {
    for shredding in SHREDDINGS {
        let whole_file = file(&EVENTS, shredding);
        let builder = open(&whole_file);
        let schema = builder.parquet_schema();
        let broken = schema.columns().iter().position(|column| &**column.dotted() == "v.value").unwrap();
        // The second row group has one row. Nothing of the first is damaged.
        let chunk = builder.metadata().row_group(1).column(broken).unwrap();
        let at = chunk.data_page_offset() as usize;
        let mut bytes = whole_file.to_vec();
        bytes[at..at + 4].fill(0xFF);
        let damaged = Bytes::from(bytes);
        let read = |on_corrupt, columns: &[&str], condition: &str, (offset, limit): (usize, usize)| {
            let options = ArrowReaderOptions::new().with_on_corrupt(on_corrupt);
            let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(damaged.clone(), options);
            let builder = builder.unwrap().with_batch_size(3).with_columns(columns.iter().copied()).unwrap();
            let builder = builder.with_predicate(Predicate::parse(condition).unwrap());
            let mut reader = builder.with_offset(offset).with_limit(limit).build().unwrap();
            let schema = arrow_array::RecordBatchReader::schema(&reader);
            let batches: Vec<RecordBatch> = reader.by_ref().map(Result::unwrap).collect();
            assert!(batches.iter().all(|batch| batch.num_rows() > 0 && batch.schema() == schema));
            let batch = arrow_select::concat::concat_batches(&schema, &batches).unwrap();
            (batch, reader.loss_report())
        };
        let ids = |batch: &RecordBatch| {
            batch.column_by_name("id").unwrap().as_primitive::<Int64Type>().values().to_vec()
        };
        for (condition, skipped, nulled) in [
            ("v:user.id::bigint is not null", &[0, 6][..], &[0, 6][..]),
            ("v:user.id is missing", &[3, 5, 7], &[3, 5, 7]),
            ("v:user.id::bigint is null", &[1, 2, 3, 4, 5, 7], &[1, 2, 3, 4, 5, 7, 8]),
            ("v:user.id > 5 or id = 8", &[6], &[6, 8]),
            ("not v:user.id::bigint > 5", &[0], &[0]),
            ("v:user.name = 'x' and id < 5", &[0], &[0]),
        ] {
            let all = (0, usize::MAX);
            let (batch, losses) = read(OnCorrupt::SkipPage, &["id"], condition, all);
            assert_eq!(ids(&batch), skipped, "{condition} of {shredding}");
            assert!(!losses.is_empty(), "{condition} of {shredding}");
            // Whatever else is given.
            for columns in [&["v", "id"][..], &["v:user.name::text", "id"]] {
                let (batch, _) = read(OnCorrupt::NullPage, columns, condition, all);
                assert_eq!(ids(&batch), nulled, "{condition} of {shredding}");
                let (batch, _) = read(OnCorrupt::NullPage, columns, condition, (1, 1));
                let one: Vec<i64> = nulled.iter().copied().skip(1).take(1).collect();
                assert_eq!(ids(&batch), one, "{condition} of {shredding}");
            }
        }
        // The values of the rows that are left are those that they are.
        let (batch, _) = read(OnCorrupt::SkipPage, &["v", "id"], "v:user.id is not missing", (0, usize::MAX));
        let all = whole(open(&whole_file).with_columns(["v"]).unwrap().build().unwrap());
        let expected = texts(all.column(0));
        let expected: Vec<_> = ids(&batch).iter().map(|id| expected[*id as usize].clone()).collect();
        assert_eq!(texts(batch.column(0)), expected, "{shredding}");
    }
}
