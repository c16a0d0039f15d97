//! Text that is not UTF-8, and decimals that are too large: each option, with and without dictionaries, and predicates see
//! what batches show.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type};
use arrow_array::{Array, RecordBatch};
use arrow_buffer::i256;
use arrow_schema::DataType;
use bytes::Bytes;
use marquetry_arrow::arrow_reader::{
    ArrowReaderOptions, DecimalOverflow, InvalidUtf8, ParquetRecordBatchReaderBuilder,
};
use marquetry_arrow::schema::StringLayout;
use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
use marquetry_core::predicate::Predicate;
use marquetry_core::schema::Schema;
use marquetry_core::write::{ColumnWriter, FileSettings, FileWriter, Workspace, WriterProperties};
use marquetry_encoding::{FixedLenBytes, StringViews, Values};

const ROWS: usize = 3000;

/// Bytes of row `i`: Latin-1, of 3 or of some 20 bytes.
fn text(i: usize) -> Vec<u8> {
    let word: &[u8] = if i % 7 == 3 { b"h\xfct" } else { b"hut" };
    let tail = if i.is_multiple_of(2) { format!(", number {} of some", i % 50) } else { String::new() };
    [word, tail.as_bytes()].concat()
}

/// The decimal of row `i` in 20 bytes: every fifth takes 17 of them.
fn decimal(i: usize) -> [u8; 20] {
    let mut bytes = [0; 20];
    bytes[19] = (i % 100) as u8;
    bytes[3] = u8::from(i % 5 == 2);
    bytes
}

fn file(has_dictionary: bool) -> Bytes {
    let schema = "message m {
        required binary s (STRING); optional binary o (STRING);
        required fixed_len_byte_array(20) d (DECIMAL(10, 0)); optional binary b (DECIMAL(10, 0));
    }";
    let schema = Schema::parse(schema).unwrap();
    let properties = WriterProperties::builder().set_dictionary_enabled(has_dictionary);
    let properties = properties.set_data_page_row_count_limit(700).build();
    let strings = || (0..ROWS).map(text);
    let mut fixed = FixedLenBytes::new(20);
    (0..ROWS).for_each(|i| fixed.push(&decimal(i)));
    let is_valid = |i: &usize| !i.is_multiple_of(3);
    let views = |all: &mut dyn Iterator<Item = Vec<u8>>| {
        let mut views = StringViews::new();
        all.for_each(|string| views.push(&string));
        Values::Bytes(views)
    };
    let columns = [
        (views(&mut strings()), true),
        (views(&mut (0..ROWS).filter(is_valid).map(text)), false),
        (Values::Fixed(fixed), true),
        (views(&mut (0..ROWS).filter(is_valid).map(|i| decimal(i).to_vec())), false),
    ];
    let mut workspace = Workspace::new();
    let chunks = columns.into_iter().enumerate().map(|(i, (values, is_required))| {
        let settings = properties.column_settings(schema.column(i)).unwrap();
        let mut writer = ColumnWriter::new(schema.column(i), &settings).unwrap();
        let def = match is_required {
            true => DefinitionLevels::Max,
            false => DefinitionLevels::Bitmap((0..ROWS).map(|i| is_valid(&i)).collect()),
        };
        let values = ColumnValues::Values(values);
        let block = ShreddedColumn::flat(ROWS, def, values);
        writer.write(&block, &mut workspace).unwrap();
        writer.close(&mut workspace).unwrap().0
    });
    let chunks = chunks.collect();
    let mut file = FileWriter::new(Vec::new(), schema.to_thrift(), FileSettings::default()).unwrap();
    file.write_row_group(ROWS as u64, chunks, None).unwrap();
    Bytes::from(file.finish().unwrap().0)
}

fn read(file: &Bytes, options: ArrowReaderOptions, filter: Option<&str>) -> Result<RecordBatch, String> {
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options).unwrap();
    let builder = match filter {
        Some(filter) => builder.with_predicate(Predicate::parse(filter).unwrap()),
        None => builder,
    };
    let mut reader = builder.with_batch_size(ROWS).build().map_err(|error| error.to_string())?;
    let schema = arrow_array::RecordBatchReader::schema(&reader);
    match reader.next() {
        Some(batch) => batch.map_err(|error| error.to_string()),
        None => Ok(RecordBatch::new_empty(schema)),
    }
}

/// Reads all columns: others of the file would fail.
fn options() -> ArrowReaderOptions {
    let options = ArrowReaderOptions::new().with_invalid_utf8(InvalidUtf8::Replace);
    options.with_decimal_overflow(DecimalOverflow::Null)
}

#[test]
fn errors_name_the_option() {
    let file = file(true);
    let decimals = ArrowReaderOptions::new().with_decimal_overflow(DecimalOverflow::Widen);
    assert!(read(&file, decimals, None).unwrap_err().contains("the option invalid_utf8"));
    let text = ArrowReaderOptions::new().with_invalid_utf8(InvalidUtf8::Replace);
    assert!(read(&file, text, None).unwrap_err().contains("the option decimal_overflow"));
}

#[test]
fn text_is_replaced() {
    for file in [file(false), file(true)] {
        for layout in [StringLayout::Utf8, StringLayout::LargeUtf8, StringLayout::Utf8View] {
            let batch = read(&file, options().with_text(layout), None).unwrap();
            for (column, is_required) in [(0, true), (1, false)] {
                let strings = arrow_cast::cast(batch.column(column), &DataType::Utf8).unwrap();
                for (i, string) in strings.as_string::<i32>().iter().enumerate() {
                    let expected = String::from_utf8_lossy(&text(i)).into_owned();
                    assert_eq!(string, (is_required || i % 3 != 0).then_some(&*expected), "row {i}");
                }
            }
        }
    }
}

#[test]
fn text_is_binary() {
    for file in [file(false), file(true)] {
        let options = options().with_invalid_utf8(InvalidUtf8::Binary).with_text(StringLayout::Utf8View);
        let batch = read(&file, options, None).unwrap();
        assert_eq!(batch.column(0).data_type(), &DataType::BinaryView);
        for (i, string) in batch.column(0).as_binary_view().iter().enumerate() {
            assert_eq!(string, Some(&*text(i)));
        }
    }
}

#[test]
fn decimals_are_widened() {
    for file in [file(false), file(true)] {
        let batch = read(&file, options().with_decimal_overflow(DecimalOverflow::Widen), None).unwrap();
        assert_eq!(batch.column(2).data_type(), &DataType::Decimal256(48, 0));
        assert_eq!(batch.column(3).data_type(), &DataType::Decimal256(76, 0));
        for (column, is_required) in [(2, true), (3, false)] {
            for (i, value) in batch.column(column).as_primitive::<Decimal256Type>().iter().enumerate() {
                let mut bytes = [0; 32];
                bytes[12..].copy_from_slice(&decimal(i));
                let expected = (is_required || i % 3 != 0).then_some(i256::from_be_bytes(bytes));
                assert_eq!(value, expected, "row {i}");
            }
        }
    }
}

#[test]
fn decimals_become_null() {
    for file in [file(false), file(true)] {
        let batch = read(&file, options(), None).unwrap();
        assert!(batch.schema().field(2).is_nullable());
        for (column, is_required) in [(2, true), (3, false)] {
            for (i, value) in batch.column(column).as_primitive::<Decimal128Type>().iter().enumerate() {
                let is_there = (is_required || i % 3 != 0) && i % 5 != 2;
                assert_eq!(value, is_there.then_some((i % 100) as i128), "row {i}");
            }
        }
    }
}

#[test]
fn predicates_see_what_is_shown() {
    for file in [file(false), file(true)] {
        let all = read(&file, options(), None).unwrap();
        let (s, o) = (all.column(0).as_string::<i32>(), all.column(1).as_string::<i32>());
        let (d, b) =
            (all.column(2).as_primitive::<Decimal128Type>(), all.column(3).as_primitive::<Decimal128Type>());
        let shown = |i: usize| (s.value(i), o.is_valid(i).then(|| o.value(i)), d, b);
        type Shown<'a> = (&'a str, Option<&'a str>);
        type TextTest = (&'static str, fn(Shown<'_>) -> bool);
        let texts: [TextTest; 4] = [
            ("s = 'h\u{fffd}t'", |(s, _)| s == "h\u{fffd}t"),
            ("s > 'hz'", |(s, _)| s > "hz"),
            ("o != 'hut'", |(_, o)| o.is_some_and(|o| o != "hut")),
            ("o is null or s >= 'h\u{fffd}'", |(s, o)| o.is_none() || s >= "h\u{fffd}"),
        ];
        for (filter, expected) in texts {
            let found = read(&file, options(), Some(filter)).unwrap();
            let rows = (0..ROWS).filter(|&i| expected((shown(i).0, shown(i).1)));
            assert_eq!(found.num_rows(), rows.count(), "{filter}");
        }
        type Numbers = (Option<i128>, Option<i128>);
        type NumberTest = (&'static str, fn(Numbers) -> bool);
        let numbers: [NumberTest; 6] = [
            ("d is null", |(d, _)| d.is_none()),
            ("d is not null", |(d, _)| d.is_some()),
            ("d > 1000000", |(d, _)| d.is_some_and(|d| d > 1_000_000)),
            ("d >= 0", |(d, _)| d.is_some_and(|d| d >= 0)),
            ("b is null", |(_, b)| b.is_none()),
            ("b != 7 and d < 50", |(d, b)| b.is_some_and(|b| b != 7) && d.is_some_and(|d| d < 50)),
        ];
        let at =
            |values: &arrow_array::Decimal128Array, i: usize| values.is_valid(i).then(|| values.value(i));
        for (filter, expected) in numbers {
            let found = read(&file, options(), Some(filter)).unwrap();
            let rows = (0..ROWS).filter(|&i| expected((at(d, i), at(b, i))));
            assert_eq!(found.num_rows(), rows.count(), "{filter}");
        }
        let widened = options().with_decimal_overflow(DecimalOverflow::Widen);
        let found = read(&file, widened, Some("d > 1000000")).unwrap();
        assert_eq!(found.num_rows(), (0..ROWS).filter(|i| i % 5 == 2).count());
        let binary = options().with_invalid_utf8(InvalidUtf8::Binary);
        let found = read(&file, binary, Some("s > 'h\u{7f}'")).unwrap();
        assert_eq!(found.num_rows(), (0..ROWS).filter(|i| i % 7 == 3).count());
    }
}
