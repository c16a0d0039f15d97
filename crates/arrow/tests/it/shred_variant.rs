//! Shredding: what becomes a column and what stays, how it comes back, and what damaged columns are.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int64Type};
use arrow_array::{Array, ArrayRef, BinaryArray, ListArray, RecordBatch, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields, Schema};
use bytes::Bytes;
use marquetry_arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_arrow::variant::{
    BatchShredder, Shredder, Shreddings, VariantColumn, shreddings_of, variant_columns,
};
use marquetry_core::write::{Compression, WriterProperties};
use marquetry_variant::{Shredding, Variant, json};
use std::collections::HashMap;
use std::sync::Arc;

/// Metadata and value of each row; `None` where the row is NULL.
pub(crate) type Rows = Vec<Option<(Vec<u8>, Vec<u8>)>>;

fn storage() -> Fields {
    let bytes = |name: &str| Field::new(name, DataType::Binary, false);
    vec![bytes("metadata"), bytes("value")].into()
}

pub(crate) fn array(rows: &Rows) -> StructArray {
    let metadata = rows.iter().map(|row| row.as_ref().map_or(&[1_u8, 0, 0][..], |row| &row.0));
    let value = rows.iter().map(|row| row.as_ref().map_or(&[0_u8][..], |row| &row.1));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(BinaryArray::from_iter_values(metadata)),
        Arc::new(BinaryArray::from_iter_values(value)),
    ];
    let nulls: NullBuffer = rows.iter().map(Option::is_some).collect();
    StructArray::try_new(storage(), columns, Some(nulls)).unwrap()
}

pub(crate) fn rows_of(array: &StructArray) -> Rows {
    let column = VariantColumn::try_new(array).unwrap();
    let mut reader = column.reader();
    (0..column.len())
        .map(|row| {
            let variant = reader.get(row).unwrap();
            variant.map(|variant| (variant.metadata().as_bytes().to_vec(), variant.bytes().to_vec()))
        })
        .collect()
}

pub(crate) fn texts(rows: &Rows) -> Vec<Option<String>> {
    let text = |(metadata, value): &(Vec<u8>, Vec<u8>)| {
        json::to_string(Variant::new(metadata, value).unwrap()).unwrap()
    };
    rows.iter().map(|row| row.as_ref().map(text)).collect()
}

fn of_json(rows: &[Option<&str>]) -> Rows {
    rows.iter().map(|row| row.map(|text| json::parse(text).unwrap())).collect()
}

pub(crate) fn variant_field(name: &str) -> Field {
    let extension = HashMap::from([("ARROW:extension:name".to_owned(), "arrow.parquet.variant".to_owned())]);
    Field::new(name, DataType::Struct(storage()), true).with_metadata(extension)
}

/// Through a file: the batch as it comes back.
pub(crate) fn stored(batch: &RecordBatch) -> RecordBatch {
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    let file = Bytes::from(writer.into_inner().unwrap());
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    reader.next().unwrap().unwrap()
}

#[test]
fn the_specifications_events() {
    // VariantShredding.md, "Objects", with decimals in place of its timestamps: JSON has none.
    let texts = [
        Some(r#"{"event_type": "noop", "event_ts": 1.14}"#),
        Some(r#"{"event_type": "login", "event_ts": 2.24, "email": "user@example.com"}"#),
        Some(r#"{"error_msg": "malformed: ..."}"#),
        Some(r#""malformed: not an object""#),
        Some(r#"{"event_ts": 3.33, "click": "_button"}"#),
        Some(r#"{"event_type": null, "event_ts": 4.44}"#),
        Some(r#"{"event_type": "noop", "event_ts": "2024-10-24"}"#),
        Some("{}"),
        Some("null"),
        None,
    ];
    let shredder = Shredder::new(&"{event_type: string, event_ts: decimal(9, 2)}".parse().unwrap()).unwrap();
    let rows = of_json(&texts);
    let unshredded = array(&rows);
    let shredded = shredder.shred(&VariantColumn::try_new(&unshredded).unwrap()).unwrap();
    let typed = shredded.column_by_name("typed_value").unwrap().as_struct();
    let is_there =
        |array: &dyn Array| (0..array.len()).map(|i| u8::from(array.is_valid(i))).collect::<Vec<_>>();
    let value = shredded.column_by_name("value").unwrap();
    assert_eq!(is_there(value), [0, 1, 1, 1, 1, 0, 0, 0, 1, 0]);
    assert_eq!(is_there(typed), [1, 1, 1, 0, 1, 1, 1, 1, 0, 0]);
    let of_type = typed.column_by_name("event_type").unwrap().as_struct();
    assert_eq!(is_there(of_type.column_by_name("value").unwrap()), [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
    let strings = of_type.column_by_name("typed_value").unwrap().as_string_view();
    assert_eq!(strings.iter().collect::<Vec<_>>()[..2], [Some("noop"), Some("login")]);
    assert_eq!(is_there(strings), [1, 1, 0, 0, 0, 0, 1, 0, 0, 0]);
    let of_time = typed.column_by_name("event_ts").unwrap().as_struct();
    assert_eq!(is_there(of_time.column_by_name("value").unwrap()), [0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
    let numbers = of_time.column_by_name("typed_value").unwrap().as_primitive::<Decimal128Type>();
    assert_eq!(is_there(numbers), [1, 1, 0, 0, 1, 1, 0, 0, 0, 0]);
    assert_eq!((numbers.value(0), numbers.value(1), numbers.value(4)), (114, 224, 333));
    assert_eq!(self::texts(&rows_of(&shredded)), self::texts(&rows));
}

#[test]
fn numbers_come_back_with_their_digits() {
    let texts = ["1", "300", "70000", "5000000000", "1.5", "1.50", "123456789012.25", "1e2", "\"1\"", "true"];
    let rows = of_json(&texts.map(Some));
    for (shape, typed) in [
        ("int64", 0b0000001111),
        ("int16", 0b0000000011),
        ("decimal(9, 2)", 0b0000100000),
        ("decimal(18, 2)", 0b0001100000),
        ("decimal(18, 1)", 0b0000010000),
        ("decimal(18, 0)", 0),
        ("double", 0b0010000000),
        ("float", 0),
        ("string", 0b0100000000),
        ("boolean", 0b1000000000),
    ] {
        let shredder = Shredder::new(&shape.parse().unwrap()).unwrap();
        let shredded = shredder.shred(&VariantColumn::try_new(&array(&rows)).unwrap()).unwrap();
        let column = shredded.column_by_name("typed_value").unwrap();
        let found = (0..rows.len()).filter(|row| column.is_valid(*row)).fold(0, |bits, row| bits | 1 << row);
        assert_eq!(found, typed, "{shape}: {found:b}");
        assert_eq!(
            self::texts(&rows_of(&shredded)),
            texts.map(|text| Some(text.replace("1e2", "100.0"))),
            "{shape}"
        );
    }
    // With exact widths just the ones of the type.
    let shredder = Shredder::new(&"int16".parse().unwrap()).unwrap().with_exact_widths(true);
    let shredded = shredder.shred(&VariantColumn::try_new(&array(&rows)).unwrap()).unwrap();
    assert_eq!(shredded.column_by_name("typed_value").unwrap().null_count(), rows.len() - 1);
}

#[test]
fn null_missing_and_no_row_are_three_things() {
    let rows = of_json(&[
        None,
        Some("null"),
        Some("{}"),
        Some(r#"{"a": null}"#),
        Some(r#"{"a": [null]}"#),
        Some("[]"),
    ]);
    for shape in ["{a: int64}", "{a: [int64]}", "[int64]", "int64", "{a: variant}", "[variant]", "variant"] {
        let shreddings = Shreddings::new().with_column("v", shape.parse().unwrap());
        let schema = Arc::new(Schema::new(vec![variant_field("v")]));
        let shredder = BatchShredder::new(schema.clone(), &shreddings).unwrap();
        let batch = RecordBatch::try_new(schema, vec![Arc::new(array(&rows))]).unwrap();
        let stored = stored(&shredder.shred(&batch).unwrap());
        let found = rows_of(stored.column(0).as_struct());
        let expected =
            [None, Some("null"), Some("{}"), Some(r#"{"a":null}"#), Some(r#"{"a":[null]}"#), Some("[]")];
        assert_eq!(texts(&found), expected.map(|text| text.map(str::to_owned)), "{shape}");
    }
}

#[test]
fn columns_are_found_by_their_paths() {
    let rows = of_json(&[Some(r#"{"k": 1}"#), Some(r#"{"k": 2, "x": 1}"#), None]);
    let element = Arc::new(variant_field("element"));
    let list =
        ListArray::new(element.clone(), OffsetBuffer::from_lengths([2, 1]), Arc::new(array(&rows)), None);
    let inner = Fields::from(vec![Field::new("l", DataType::List(element), true), variant_field("w")]);
    let two = array(&rows[..2].to_vec());
    let outer = StructArray::new(inner.clone(), vec![Arc::new(list), Arc::new(two.clone())], None);
    let fields = vec![Field::new("s", DataType::Struct(inner), true), variant_field("v")];
    let schema = Arc::new(Schema::new(fields));
    assert_eq!(variant_columns(&schema), ["s.l.list.element", "s.w", "v"]);
    let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(outer), Arc::new(two)]).unwrap();
    let shape = || "{k: bigint}".parse::<Shredding>().unwrap();
    let shreddings = Shreddings::new().with_column("s.l.list.element", shape()).with_column("v", shape());
    let shredder = BatchShredder::new(schema.clone(), &shreddings).unwrap();
    let shredded = shredder.shred(&batch).unwrap();
    let stored = stored(&shredded);
    let outer = stored.column(0).as_struct();
    assert_eq!(texts(&rows_of(outer.column(0).as_list::<i32>().values().as_struct())), texts(&rows));
    let column = |array: &StructArray| {
        array.column_by_name("typed_value").map(|typed| {
            typed.as_struct().column(0).as_struct().column(1).as_primitive::<Int64Type>().value(1)
        })
    };
    assert_eq!(column(outer.column(0).as_list::<i32>().values().as_struct()), Some(2));
    assert_eq!(column(outer.column(1).as_struct()), None);
    assert_eq!(column(stored.column(1).as_struct()), Some(2));
    // And back.
    let back = Shreddings::new()
        .with_column("s.l.list.element", Shredding::Variant)
        .with_column("v", Shredding::Variant);
    let unshredded = BatchShredder::new(stored.schema(), &back).unwrap().shred(&stored).unwrap();
    assert_eq!(texts(&rows_of(unshredded.column(1).as_struct())), texts(&rows)[..2]);
    assert!(VariantColumn::try_new(unshredded.column(1)).unwrap().is_unshredded());

    let wrong = Shreddings::new().with_column("s", shape());
    let error = BatchShredder::new(schema, &wrong).unwrap_err();
    assert_eq!(error.message(), "no column of VARIANT is called s; there are: s.l.list.element, s.w, v");
}

#[test]
fn a_writer_shreds_what_it_is_given() {
    let rows = of_json(&[Some(r#"{"a": 1}"#), None, Some("null")]);
    let schema = Arc::new(Schema::new(vec![variant_field("v")]));
    let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(array(&rows))]).unwrap();
    let shreddings = Shreddings::new().with_column("v", "{a: int64}".parse().unwrap());
    let mut writer = ArrowWriter::try_new_shredded(Vec::new(), schema, None, &shreddings).unwrap();
    writer.write(&batch).unwrap();
    writer.write(&batch).unwrap();
    let none = RecordBatch::new_empty(Arc::new(Schema::empty()));
    let error = writer.write(&none).unwrap_err();
    assert_eq!(error.message(), "a batch of 0 columns where 1 are to be shredded");
    let file = Bytes::from(writer.into_inner().unwrap());
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let found = reader.next().unwrap().unwrap();
    assert_eq!(shreddings_of(&found.schema()), shreddings);
    assert_eq!(texts(&rows_of(found.column(0).as_struct())), [texts(&rows), texts(&rows)].concat());
}

#[test]
fn what_is_damaged_is_an_error_with_its_row() {
    let mut rows = of_json(&[Some(r#"{"a": "xyz"}"#), Some(r#"{"a": "xyz"}"#)]);
    rows[1].as_mut().unwrap().1.truncate(6);
    let shredder = Shredder::new(&"{a: string}".parse().unwrap()).unwrap();
    let error = shredder.shred(&VariantColumn::try_new(&array(&rows)).unwrap()).unwrap_err();
    assert!(error.message().ends_with("in row 1 of the batch"), "{error}");
}

/// Each byte of a shredded file is wrong once: reading it gives an error or values, of which looking at all gives one or the other.
#[test]
fn a_file_with_a_wrong_byte_is_an_error_or_values() {
    let rows = of_json(&[
        Some(r#"{"a": 1, "b": ["x", null, 2], "c": {"d": 1.50}, "rest": [true]}"#),
        Some(r#"{"a": "n/a", "c": {"d": "longer than a view has room for", "e": null}}"#),
        Some("null"),
        None,
        Some(r#"{"b": [], "c": 7}"#),
    ]);
    let schema = Arc::new(Schema::new(vec![variant_field("v")]));
    let shape = "{a: int64, b: [string], c: {d: decimal(9, 2)}}".parse().unwrap();
    let shredder = BatchShredder::new(schema.clone(), &Shreddings::new().with_column("v", shape)).unwrap();
    let batch = shredder.shred(&RecordBatch::try_new(schema, vec![Arc::new(array(&rows))]).unwrap()).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_page_checksums(false)
        .set_arrow_schema(false)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    let file = writer.into_inner().unwrap();
    let read = |bytes: Vec<u8>| -> marquetry_base::Result<Vec<Option<String>>> {
        let mut out = Vec::new();
        for batch in ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes))?.build()? {
            let batch = batch.map_err(|error| marquetry_base::Error::argument(error.to_string()))?;
            for column in batch.columns() {
                let column = VariantColumn::try_new(column)?;
                let again = Shredder::new(&"{a: string, c: {e: variant}}".parse()?)?.shred(&column);
                let mut reader = column.reader();
                for row in 0..column.len() {
                    out.push(reader.get(row)?.map(json::to_string).transpose()?);
                }
                again?;
            }
        }
        Ok(out)
    };
    assert_eq!(read(file.clone()).unwrap(), texts(&rows));
    let (mut errors, mut values) = (0, 0);
    for at in 0..file.len() {
        for flipped in [0x01, 0x80, 0xff] {
            let mut wrong = file.clone();
            wrong[at] ^= flipped;
            match read(wrong) {
                Ok(_) => values += 1,
                Err(_) => errors += 1,
            }
        }
    }
    assert!(errors > 100 && values > 100, "{errors} errors, {values} files that are read");
}

/// JSON as it is written out of the columns.
pub(crate) fn json_of(array: &StructArray) -> Vec<Option<String>> {
    let column = VariantColumn::try_new(array).unwrap();
    let mut reader = column.reader();
    let of_row = |row| {
        let mut text = String::new();
        reader.write_json(row, &mut text).unwrap().then_some(text)
    };
    (0..column.len()).map(of_row).collect()
}

/// QUIRK: names of shredded fields belong into the metadata, and some writers leave them out.
#[test]
fn names_that_the_metadata_lack() {
    let texts = [Some(r#"{"a":1,"b":[{"c":2},{}]}"#), Some("7"), None, Some(r#"{"b":[]}"#)];
    let rows = of_json(&texts);
    let unshredded = array(&rows);
    let shredder = Shredder::new(&"{a: int64, b: [{c: int64}]}".parse().unwrap()).unwrap();
    let shredded = shredder.shred(&VariantColumn::try_new(&unshredded).unwrap()).unwrap();
    let mut columns = shredded.columns().to_vec();
    columns[0] = Arc::new(BinaryArray::from_iter_values(texts.map(|_| [1_u8, 0, 0])));
    let mut fields: Vec<Field> = shredded.fields().iter().map(|field| field.as_ref().clone()).collect();
    fields[0] = fields[0].clone().with_data_type(DataType::Binary);
    let bare = StructArray::try_new(fields.into(), columns, shredded.nulls().cloned()).unwrap();
    let expected: Vec<Option<String>> = texts.iter().map(|text| text.map(str::to_owned)).collect();
    assert_eq!(json_of(&bare), expected);
    let whole = VariantColumn::try_new(&bare).unwrap().unshredded().unwrap();
    assert_eq!((json_of(&whole), whole.null_count()), (expected, 1));
}
