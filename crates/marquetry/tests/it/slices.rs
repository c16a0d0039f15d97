//! Any choice of columns, row groups, offset, limit and batch size gives that part of what reading everything gives.

use crate::cells;
use crate::corpus;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::DataType;
use bytes::Bytes;
use marquetry::arrow::ProjectionMask;
use marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry::errors::Error;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::path::Path;
use std::sync::Arc;

/// What to read of a file.
#[derive(Debug, Clone)]
struct Choice {
    batch_size: usize,
    /// Also some that occur twice, in any order.
    row_groups: Option<Vec<usize>>,
    offset: usize,
    limit: Option<usize>,
    leaves: Option<Vec<usize>>,
    threads: usize,
}

fn choice(rows: usize, row_groups: usize, leaves: usize) -> impl Strategy<Value = Choice> {
    let some_row_groups = proptest::collection::vec(0..row_groups.max(1), 0..=row_groups + 1);
    let row_groups = match row_groups {
        0 => Just(None).boxed(),
        _ => proptest::option::of(some_row_groups).boxed(),
    };
    let some_leaves = proptest::sample::subsequence((0..leaves).collect::<Vec<_>>(), 0..=leaves);
    (
        prop_oneof![1..=rows + 1, 1..=16usize, Just(1024), Just(usize::MAX)],
        row_groups,
        prop_oneof![2 => Just(0), 5 => 0..=rows, 1 => Just(rows + 7)],
        proptest::option::of(prop_oneof![0..=rows + 1, 0..=10usize]),
        proptest::option::of(some_leaves),
        1..4usize,
    )
        .prop_map(|(batch_size, row_groups, offset, limit, leaves, threads)| Choice {
            batch_size,
            row_groups,
            offset,
            limit,
            leaves,
            threads,
        })
}

/// The batches of a choice.
fn read(file: &Bytes, choice: &Choice) -> Result<(DataType, Vec<RecordBatch>), Error> {
    let mut builder =
        ParquetRecordBatchReaderBuilder::try_new(file.clone())?.with_batch_size(choice.batch_size);
    builder = builder.with_threads(choice.threads);
    if let Some(row_groups) = &choice.row_groups {
        builder = builder.with_row_groups(row_groups.clone());
    }
    if let Some(limit) = choice.limit {
        builder = builder.with_limit(limit);
    }
    if let Some(leaves) = &choice.leaves {
        let mask = ProjectionMask::leaves(builder.parquet_schema(), leaves.iter().copied());
        builder = builder.with_projection(mask);
    }
    let mut reader = builder.with_offset(choice.offset).build()?;
    let schema = DataType::Struct(reader.schema().fields().clone());
    let batches: Result<Vec<_>, _> = std::iter::from_fn(|| reader.next_batch()).collect();
    Ok((schema, batches?))
}

/// The whole of one row group, as an array of its rows.
fn row_group(file: &Bytes, row_group: usize) -> ArrayRef {
    let all = Choice {
        batch_size: usize::MAX,
        row_groups: Some(vec![row_group]),
        offset: 0,
        limit: None,
        leaves: None,
        threads: 1,
    };
    let (_, mut batches) = read(file, &all).unwrap();
    assert!(batches.len() <= 1);
    match batches.pop() {
        Some(batch) => Arc::new(arrow_array::StructArray::from(batch)),
        None => Arc::new(arrow_array::NullArray::new(0)),
    }
}

/// The cells of what is left of `array` as the type `part`: structs with fewer fields, and half a map as a list.
fn pruned(array: &ArrayRef, part: &DataType) -> Vec<String> {
    let each = |text: &dyn Fn(usize) -> String| {
        let cell = |i| if array.is_null(i) { "null".to_owned() } else { text(i) };
        (0..array.len()).map(cell).collect()
    };
    match (array.data_type(), part) {
        (whole, part) if whole == part => cells::of(array),
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let array = array.as_struct();
            let columns = fields.iter().map(|field| {
                let column = array.column_by_name(field.name()).expect("fields keep their names");
                pruned(column, field.data_type())
            });
            let columns: Vec<_> = columns.collect();
            each(&|i| {
                let cells: Vec<_> = columns.iter().map(|cells| cells[i].as_str()).collect();
                format!("{{{}}}", cells.join(","))
            })
        }
        (DataType::List(_), DataType::List(element)) => each(&|i| {
            format!("[{}]", pruned(&array.as_list::<i32>().value(i), element.data_type()).join(","))
        }),
        (DataType::Map(_, _), DataType::List(entry) | DataType::Map(entry, _)) => each(&|i| {
            let entries: ArrayRef = Arc::new(array.as_map().value(i));
            format!("[{}]", pruned(&entries, entry.data_type()).join(","))
        }),
        (whole, part) => panic!("{part} is not part of {whole}"),
    }
}

/// Checks the law for one choice.
fn check(file: &Bytes, row_groups: &[ArrayRef], choice: &Choice) -> Result<(), TestCaseError> {
    let (schema, batches) = read(file, choice).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let chosen = match &choice.row_groups {
        Some(chosen) => chosen.clone(),
        None => (0..row_groups.len()).collect(),
    };
    let whole = chosen.iter().map(|&i| &row_groups[i]).filter(|rows| !rows.is_empty());
    let expected: Vec<String> = whole
        .flat_map(|rows| pruned(rows, &schema))
        .skip(choice.offset)
        .take(choice.limit.unwrap_or(usize::MAX))
        .collect();
    let sizes: Vec<usize> = batches.iter().map(RecordBatch::num_rows).collect();
    prop_assert_eq!(sizes.iter().sum::<usize>(), expected.len());
    if let Some((last, full)) = sizes.split_last() {
        prop_assert!((1..=choice.batch_size).contains(last), "{:?}", sizes);
        prop_assert!(full.iter().all(|&size| size == choice.batch_size), "{:?}", sizes);
    }
    let mut rows = expected.iter();
    for batch in batches {
        prop_assert_eq!(&DataType::Struct(batch.schema().fields().clone()), &schema);
        if batch.num_columns() == 0 {
            let nothing = rows.by_ref().take(batch.num_rows()).all(|row| row == "{}");
            prop_assert!(nothing);
            continue;
        }
        let batch: ArrayRef = Arc::new(arrow_array::StructArray::from(batch));
        for row in cells::of(&batch) {
            prop_assert_eq!(Some(&row), rows.next());
        }
    }
    Ok(())
}

fn check_file(name: &str, file: &Bytes, cases: u32) {
    let builder = ParquetRecordBatchReaderBuilder::try_new(file.clone()).unwrap();
    let (count, leaves) = (builder.metadata().num_row_groups(), builder.parquet_schema().num_columns());
    let row_groups: Vec<_> = (0..count).map(|i| row_group(file, i)).collect();
    let rows = row_groups.iter().map(Array::len).sum();
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let outcome = runner.run(&choice(rows, count, leaves), |choice| check(file, &row_groups, &choice));
    outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
}

#[test]
fn of_the_example() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/wines.parquet");
    check_file("wines.parquet", &std::fs::read(path).unwrap().into(), 256);
}

#[test]
fn of_nested_files() {
    let Some(root) = corpus::root() else { return };
    for name in NESTED {
        check_file(name, &corpus::bytes(&root, name), 200);
    }
}

#[test]
fn of_flat_files() {
    let Some(root) = corpus::root() else { return };
    for name in FLAT {
        check_file(name, &corpus::bytes(&root, name), 24);
    }
}

const NESTED: [&str; 12] = [
    "parquet-testing/data/list_columns.parquet",
    "parquet-testing/data/map_no_value.parquet",
    "parquet-testing/data/nested_lists.snappy.parquet",
    "parquet-testing/data/nested_maps.snappy.parquet",
    "parquet-testing/data/nonnullable.impala.parquet",
    "parquet-testing/data/null_list.parquet",
    "parquet-testing/data/nullable.impala.parquet",
    "parquet-testing/data/old_list_structure.parquet",
    "parquet-testing/data/repeated_no_annotation.parquet",
    "parquet-testing/data/repeated_primitive_no_list.parquet",
    "corpus/apache__parquet-java/parquet-hadoop/src/test/resources/test-file-with-no-column-indexes-1.parquet",
    "corpus/parquet-go__parquet-go/testdata/issue276_4_per_page.parquet",
];

const FLAT: [&str; 14] = [
    "parquet-testing/data/alltypes_plain.parquet",
    "parquet-testing/data/alltypes_tiny_pages.parquet",
    "parquet-testing/data/alltypes_tiny_pages_plain.parquet",
    "parquet-testing/data/byte_stream_split_extended.gzip.parquet",
    "parquet-testing/data/datapage_v2.snappy.parquet",
    "parquet-testing/data/delta_binary_packed.parquet",
    "parquet-testing/data/delta_byte_array.parquet",
    "parquet-testing/data/delta_encoding_optional_column.parquet",
    "parquet-testing/data/delta_length_byte_array.parquet",
    "parquet-testing/data/floating_orders_nan_count.parquet",
    "parquet-testing/data/int32_with_null_pages.parquet",
    "parquet-testing/data/overflow_i16_page_cnt.parquet",
    "parquet-testing/data/rle_boolean_encoding.parquet",
    "parquet-testing/data/sort_columns.parquet",
];
