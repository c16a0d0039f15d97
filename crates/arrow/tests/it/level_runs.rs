//! Long stretches of rows that are all values, between rows that are not: a reader keeps levels in another form there.

use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int32Array, ListArray, RecordBatch, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields};
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;
use bytes::Bytes;
use marquetry_arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_core::predicate::{Predicate, col};
use marquetry_core::write::WriterProperties;
use proptest::prelude::*;
use std::sync::Arc;

/// What the rows of a stretch are.
#[derive(Debug, Clone, Copy)]
enum Rows {
    Full,
    Null,
    Empty,
    NullElements,
    Mixed,
}

type List = Option<Vec<Option<i32>>>;

fn list(rows: Rows, row: usize) -> List {
    let n = 1 + row % 3;
    let full = || (0..n).map(|i| Some((row + i) as i32)).collect();
    match rows {
        Rows::Full => Some(full()),
        Rows::Null => None,
        Rows::Empty => Some(Vec::new()),
        Rows::NullElements => Some(vec![None; n]),
        Rows::Mixed => match row % 5 {
            0 => None,
            1 => Some(Vec::new()),
            2 => Some(vec![None, Some(row as i32)]),
            _ => Some(full()),
        },
    }
}

/// A number for each row, and lists, lists of two lists, and structs of a number and a list.
fn table(stretches: &[(Rows, usize)]) -> RecordBatch {
    let kinds: Vec<Rows> = stretches.iter().flat_map(|(rows, n)| vec![*rows; *n]).collect();
    let lists: Vec<List> = kinds.iter().enumerate().map(|(row, rows)| list(*rows, row)).collect();
    let n = lists.len();
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..n as i32));
    let inner = ListArray::from_iter_primitive::<Int32Type, _, _>(lists.clone());
    let twice = lists.iter().chain(&lists).cloned();
    let item = Arc::new(Field::new("item", inner.data_type().clone(), true));
    let outer_nulls = NullBuffer::from_iter(kinds.iter().map(|rows| !matches!(rows, Rows::Null)));
    let lengths = outer_nulls.iter().map(|is_there| if is_there { 2 } else { 0 });
    let offsets = OffsetBuffer::from_lengths(lengths);
    let elements = ListArray::from_iter_primitive::<Int32Type, _, _>(twice);
    let outer = ListArray::new(item, offsets, Arc::new(elements), Some(outer_nulls.clone()));
    let numbers = Int32Array::from_iter(lists.iter().map(|list| list.as_ref().map(|list| list.len() as i32)));
    let fields = Fields::from(vec![
        Field::new("number", DataType::Int32, true),
        Field::new("list", inner.data_type().clone(), true),
    ]);
    let both: Vec<ArrayRef> = vec![Arc::new(numbers), Arc::new(inner.clone())];
    let structs = StructArray::new(fields, both, Some(outer_nulls));
    let columns: [(&str, ArrayRef); 4] = [
        ("id", ids),
        ("lists", Arc::new(inner)),
        ("lists_of_lists", Arc::new(outer)),
        ("structs", Arc::new(structs)),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn written(table: &RecordBatch, rows_per_page: usize) -> Bytes {
    let properties = WriterProperties::builder().set_data_page_row_count_limit(rows_per_page).build();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, table.schema(), Some(properties)).unwrap();
    writer.write(table).unwrap();
    writer.close().unwrap();
    Bytes::from(file)
}

fn read(file: &Bytes, batch_size: usize, filter: Option<Predicate>) -> RecordBatch {
    let mut builder =
        ParquetRecordBatchReaderBuilder::try_new(file.clone()).unwrap().with_batch_size(batch_size);
    if let Some(filter) = filter {
        builder = builder.with_predicate(filter);
    }
    let schema = builder.schema().clone();
    let batches: Vec<_> = builder.build().unwrap().collect::<Result<_, _>>().unwrap();
    concat_batches(&schema, &batches).unwrap()
}

fn stretch() -> impl Strategy<Value = (Rows, usize)> {
    let rows = prop_oneof![
        3 => Just(Rows::Full),
        1 => Just(Rows::Null),
        1 => Just(Rows::Empty),
        1 => Just(Rows::NullElements),
        1 => Just(Rows::Mixed),
    ];
    (rows, prop_oneof![1..100usize, 1..5000usize])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn stretches_are_read_as_they_were_written(
        stretches in proptest::collection::vec(stretch(), 1..8),
        batch_size in prop_oneof![1..100usize, 1000..20_000usize],
        rows_per_page in prop_oneof![Just(20_000usize), 500..6000usize],
        (modulo, wanted) in (1..2000i32, 1..2000i32),
    ) {
        let table = table(&stretches);
        let file = written(&table, rows_per_page);
        let batch_size = batch_size.max(table.num_rows() / 500);
        prop_assert_eq!(&read(&file, batch_size, None), &table);

        // Some rows: runs of them, or a few here and there.
        let ids = 0..table.num_rows() as i32;
        let chosen: Vec<i32> = ids.clone().filter(|id| id % modulo < wanted % 7 || id % 4001 < wanted).collect();
        let keep = BooleanArray::from_iter(ids.map(|id| Some(chosen.binary_search(&id).is_ok())));
        let expected = filter_record_batch(&table, &keep).unwrap();
        let filter = col("id").is_in(chosen);
        prop_assert_eq!(&read(&file, batch_size, Some(filter)), &expected);
    }
}
