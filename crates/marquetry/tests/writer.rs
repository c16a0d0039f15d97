//! What a writer promises besides the values: where row groups end, what it says of itself, what it refuses.

use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, RecordBatchOptions, StringArray};
use arrow_schema::{DataType, Field, Schema};
use marquetry::arrow::ArrowWriter;
use marquetry::errors::ErrorKind;
use marquetry::file::metadata::{KeyValue, SortingColumn};
use marquetry::file::properties::{EnabledStatistics, WriterProperties};
use marquetry::schema::types::ColumnPath;
use std::io::{self, Write};
use std::sync::Arc;

fn numbers(rows: std::ops::Range<i64>) -> RecordBatch {
    let numbers = Arc::new(Int64Array::from_iter_values(rows)) as ArrayRef;
    RecordBatch::try_from_iter([("n", numbers)]).unwrap()
}

fn writer(properties: WriterProperties) -> ArrowWriter<Vec<u8>> {
    ArrowWriter::try_new(Vec::new(), numbers(0..0).schema(), Some(properties)).unwrap()
}

fn rows_of(metadata: &marquetry::file::metadata::ParquetMetaData) -> Vec<u64> {
    metadata.row_groups().map(|row_group| row_group.num_rows()).collect()
}

#[test]
fn row_groups_end_after_so_many_rows() {
    let mut writer = writer(WriterProperties::builder().set_max_row_group_row_count(Some(300)).build());
    writer.write(&numbers(0..1000)).unwrap();
    assert_eq!(writer.flushed_row_groups().len(), 3);
    assert_eq!(writer.in_progress_rows(), 100);
    writer.write(&numbers(0..10)).unwrap();
    writer.flush().unwrap();
    writer.flush().unwrap();
    writer.write(&numbers(0..5)).unwrap();
    assert_eq!(rows_of(&writer.close().unwrap()), [300, 300, 300, 110, 5]);
}

#[test]
fn row_groups_end_after_so_many_bytes() {
    let properties =
        WriterProperties::builder().set_max_row_group_bytes(Some(100_000)).set_dictionary_enabled(false);
    let mut writer = writer(properties.build());
    let mut state = 1i64;
    for _ in 0..100 {
        let random = (0..1000).map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state
        });
        let random = Arc::new(Int64Array::from_iter_values(random)) as ArrayRef;
        writer.write(&RecordBatch::try_from_iter([("n", random)]).unwrap()).unwrap();
    }
    let metadata = writer.close().unwrap();
    assert_eq!(rows_of(&metadata).iter().sum::<u64>(), 100_000);
    let (last, full) = (metadata.num_row_groups() - 1, metadata.row_groups());
    for row_group in full.take(last) {
        let size = row_group.column(0).unwrap().compressed_size();
        assert!((80_000..200_000).contains(&size), "{size}");
    }
}

#[test]
fn sizes_grow_and_start_again() {
    let mut writer = writer(WriterProperties::default());
    assert_eq!((writer.in_progress_size(), writer.bytes_written()), (0, 4));
    writer.write(&numbers(0..10_000)).unwrap();
    assert!(writer.in_progress_size() > 1000 && writer.memory_size() > 1000);
    writer.flush().unwrap();
    assert_eq!((writer.in_progress_size(), writer.in_progress_rows()), (0, 0));
    assert!(writer.bytes_written() > 4);
}

#[test]
fn metadata_of_the_file_of_columns_and_of_row_groups() {
    let pair = |key: &str| KeyValue { key: key.to_owned(), value: Some(format!("{key}!")) };
    let sorting = vec![SortingColumn { column_idx: 0, descending: false, nulls_first: true }];
    let properties = WriterProperties::builder()
        .set_key_value_metadata(Some(vec![pair("file")]))
        .add_column_key_value_metadata(ColumnPath::from("n"), pair("column"))
        .set_sorting_columns(Some(sorting.clone()))
        .set_created_by("a test".to_owned())
        .set_arrow_schema(false)
        .set_statistics_enabled(EnabledStatistics::None);
    let mut writer = writer(properties.build());
    writer.write(&numbers(0..3)).unwrap();
    writer.append_key_value_metadata(pair("late"));
    let metadata = writer.close().unwrap();
    assert_eq!(metadata.key_value_metadata(), [pair("file"), pair("late")]);
    assert_eq!(metadata.created_by(), Some("a test"));
    assert_eq!(metadata.version(), 1);
    let row_group = &metadata.to_thrift().unwrap().row_groups[0];
    assert_eq!(row_group.sorting_columns, Some(sorting));
    let column = row_group.columns[0].meta_data.as_ref().unwrap();
    assert_eq!(column.key_value_metadata, Some(vec![pair("column")]));
    assert_eq!(column.statistics, None);
}

#[test]
fn a_batch_of_another_schema_is_refused_and_the_writer_goes_on() {
    let mut writer = writer(WriterProperties::default());
    let other = RecordBatch::try_from_iter([("n", Arc::new(Int32Array::from(vec![1])) as ArrayRef)]).unwrap();
    let error = writer.write(&other).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert_eq!(error.place().column.as_deref(), Some("n"));
    let renamed = RecordBatch::try_from_iter([("m", numbers(0..1).column(0).clone())]).unwrap();
    assert_eq!(writer.write(&renamed).unwrap_err().kind(), ErrorKind::Argument);
    writer.write(&numbers(0..1)).unwrap();
    assert_eq!(writer.close().unwrap().num_rows(), 1);
}

#[test]
fn names_of_fields_count_and_names_of_elements_do_not() {
    let list = |element: &str, field: &str| {
        let inner = DataType::Struct(vec![Field::new(field, DataType::Int32, true)].into());
        DataType::List(Arc::new(Field::new(element, inner, true)))
    };
    let schema_of = |data_type: DataType| Arc::new(Schema::new(vec![Field::new("l", data_type, true)]));
    let mut writer = ArrowWriter::try_new(Vec::new(), schema_of(list("item", "a")), None).unwrap();
    writer.write(&RecordBatch::new_empty(schema_of(list("element", "a")))).unwrap();
    let error = writer.write(&RecordBatch::new_empty(schema_of(list("item", "b")))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
}

#[test]
fn a_null_in_a_required_column_is_refused() {
    let schema = Arc::new(Schema::new(vec![Field::new("s", DataType::Utf8, false)]));
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, None).unwrap();
    let batch =
        RecordBatch::try_from_iter([("s", Arc::new(StringArray::from(vec![Some("a"), None])) as ArrayRef)]);
    writer.write(&batch.unwrap()).unwrap();
    let error = writer.close().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
    assert_eq!(error.place().column.as_deref(), Some("s"), "{error}");
}

#[test]
fn after_a_failed_write_nothing_looks_finished() {
    /// Takes so many bytes, and no more.
    struct Full(usize, Vec<u8>);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.1.len() + bytes.len() > self.0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.1.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut complete = writer(WriterProperties::default());
    complete.write(&numbers(0..1000)).unwrap();
    let complete = complete.into_inner().unwrap().len();
    for room in [4, 100, complete / 2, complete - 1] {
        let mut sink = Full(room, Vec::new());
        let mut writer = ArrowWriter::try_new(&mut sink, numbers(0..0).schema(), None).unwrap();
        writer.write(&numbers(0..1000)).unwrap();
        let error = writer.finish().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "{error}");
        assert!(writer.write(&numbers(0..1)).is_err());
        assert!(writer.finish().is_err());
        drop(writer);
        assert!(!sink.1.ends_with(b"PAR1") || sink.1.len() == 4, "room for {room}");
    }
}

#[test]
fn no_rows_and_no_columns() {
    let metadata = writer(WriterProperties::default()).close().unwrap();
    assert_eq!((metadata.num_rows(), metadata.num_row_groups()), (0, 0));
    let schema = Arc::new(Schema::empty());
    let rows = RecordBatchOptions::new().with_row_count(Some(3));
    let batch = RecordBatch::try_new_with_options(schema.clone(), vec![], &rows).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, None).unwrap();
    writer.write(&batch).unwrap();
    assert_eq!(writer.close().unwrap().num_rows(), 3);
}

#[test]
fn ten_thousand_columns() {
    let column = Arc::new(Int64Array::from_iter_values(0..100)) as ArrayRef;
    let batch = RecordBatch::try_from_iter((0..10_000).map(|i| (format!("c{i}"), column.clone()))).unwrap();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let back = marquetry::open_bytes(file).unwrap().columns(["c7777"]).batches().unwrap();
    assert_eq!(back.map(|batch| batch.unwrap().column(0).clone()).collect::<Vec<_>>(), [column]);
}
