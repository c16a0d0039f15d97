//! Columns whose stored value is not the value that is shown: predicates, statistics, bloom filters and dictionaries agree
//! with what batches show.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, TimestampNanosecondType};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use bytes::Bytes;
use marquetry_arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
use marquetry_core::predicate::Predicate;
use marquetry_core::schema::Schema;
use marquetry_core::write::{ColumnWriter, FileSettings, FileWriter, Workspace, WriterProperties};
use marquetry_encoding::{FixedLenBytes, Values};

/// One column of this type, a row group for each list, with all that can prune.
fn file(column: &str, row_groups: Vec<Values>, has_dictionary: bool) -> Bytes {
    let schema = Schema::parse(&format!("message m {{ required {column}; }}")).unwrap();
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(has_dictionary)
        .set_bloom_filter_enabled(true)
        .set_data_page_row_count_limit(3)
        .build();
    let mut file = FileWriter::new(Vec::new(), schema.to_thrift(), FileSettings::default()).unwrap();
    let mut workspace = Workspace::new();
    for values in row_groups {
        let rows = values.len();
        let settings = properties.column_settings(schema.column(0)).unwrap();
        let mut writer = ColumnWriter::new(schema.column(0), &settings).unwrap();
        let values = ColumnValues::Values(values);
        let block = ShreddedColumn::flat(rows, DefinitionLevels::Max, values);
        writer.write(&block, &mut workspace).unwrap();
        let chunk = writer.close(&mut workspace).unwrap().0;
        file.write_row_group(rows as u64, vec![chunk], None).unwrap();
    }
    Bytes::from(file.finish().unwrap().0)
}

fn read(file: &Bytes, filter: Option<&str>) -> Vec<RecordBatch> {
    let mut builder = ParquetRecordBatchReaderBuilder::try_new(file.clone()).unwrap();
    if let Some(filter) = filter {
        builder = builder.with_predicate(Predicate::parse(filter).unwrap());
    }
    builder.build().unwrap().map(Result::unwrap).collect()
}

fn integers(batches: &[RecordBatch]) -> Vec<i64> {
    let to_i64 = |batch: &RecordBatch| {
        let array = arrow_cast::cast(batch.column(0), &DataType::Int64).unwrap();
        array.as_primitive::<Int64Type>().values().to_vec()
    };
    batches.iter().flat_map(to_i64).collect()
}

#[test]
fn narrow_integers() {
    let stored: [Vec<i32>; 4] = [
        vec![300, -1, 44, 255, 65_836],
        vec![0, 1, 2, 100, 127],
        vec![i32::MIN, i32::MAX, 256, -129, 32_768],
        vec![65_580; 9],
    ];
    for column in [
        "int32 x (INTEGER(8,false))",
        "int32 x (INTEGER(8,true))",
        "int32 x (INTEGER(16,false))",
        "int32 x (INTEGER(16,true))",
    ] {
        for has_dictionary in [false, true] {
            let groups =
                stored.iter().map(|group| Values::W32(group.iter().map(|word| *word as u32).collect()));
            let file = file(column, groups.collect(), has_dictionary);
            let shown = integers(&read(&file, None));
            assert_eq!(shown.len(), 24);
            let mut literals: Vec<i64> = shown.clone();
            literals.extend(stored.iter().flatten().map(|stored| i64::from(*stored)));
            type Test = fn(i64, i64) -> bool;
            let tests: [(&str, Test); 6] = [
                ("=", |a, b| a == b),
                ("!=", |a, b| a != b),
                ("<", |a, b| a < b),
                ("<=", |a, b| a <= b),
                (">", |a, b| a > b),
                (">=", |a, b| a >= b),
            ];
            for literal in literals {
                for (sign, test) in tests {
                    let expected: Vec<i64> = shown.iter().copied().filter(|x| test(*x, literal)).collect();
                    let predicate = format!("x {sign} {literal}");
                    assert_eq!(integers(&read(&file, Some(&predicate))), expected, "{column} {predicate}");
                }
                let expected: Vec<i64> = shown.iter().copied().filter(|x| [literal, 2].contains(x)).collect();
                let predicate = format!("x in (2, {literal})");
                assert_eq!(integers(&read(&file, Some(&predicate))), expected, "{column} {predicate}");
            }
        }
    }
}

/// The nanoseconds of several days are one instant with the day, however they are written.
#[test]
fn int96_with_more_nanoseconds_than_a_day_has() {
    const DAY: i64 = 86_400_000_000_000;
    let mut fixed = FixedLenBytes::new(12);
    let stored = [(DAY, 2_440_588), (2 * DAY, 2_440_587), (0, 2_440_589), (-1, 2_440_589), (5, 2_440_588)];
    for (nanos, day) in stored {
        fixed.push(&[&i64::to_le_bytes(nanos)[..], &i32::to_le_bytes(day)].concat());
    }
    let file = file("int96 x", vec![Values::Fixed(fixed)], false);
    let shown = |filter: Option<&str>| -> Vec<i64> {
        let batches = read(&file, filter);
        let nanos = |batch: &RecordBatch| {
            assert_eq!(*batch.column(0).data_type(), DataType::Timestamp(TimeUnit::Nanosecond, None));
            batch.column(0).as_primitive::<TimestampNanosecondType>().values().to_vec()
        };
        batches.iter().flat_map(nanos).collect()
    };
    assert_eq!(shown(None), [DAY, DAY, DAY, DAY - 1, 5]);
    assert_eq!(shown(Some("x = timestamp '1970-01-02'")), [DAY, DAY, DAY]);
    assert_eq!(shown(Some("x < timestamp '1970-01-02'")), [DAY - 1, 5]);
    assert_eq!(shown(Some("x in (timestamp '1970-01-02', null)")), [DAY, DAY, DAY]);
}

#[test]
fn always_null() {
    let schema = Schema::parse("message m { optional int32 n (UNKNOWN); required int32 a; }").unwrap();
    let bound = |text: &str| Predicate::parse(text).unwrap().bind(&schema).unwrap().to_string();
    for never in
        ["n = 'x'", "n = 1", "not n = 1", "n like 'a%'", "is_nan(n)", "n in (1, 'b')", "n is not null"]
    {
        assert_eq!(bound(never), "false", "{never}");
    }
    assert_eq!(bound("n is null"), "true");
    assert_eq!(bound("n = 'x' or a = 1"), "a = 1");
}
