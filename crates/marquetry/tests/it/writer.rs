//! What a writer promises besides the values: where row groups end, what it says of itself, what it refuses.

use arrow_array::builder::{Int32Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, Decimal128Array, Int32Array, Int32DictionaryArray, Int64Array, ListArray, RecordBatch,
    RecordBatchOptions, StringArray, Time64NanosecondArray, TimestampMicrosecondArray, TimestampSecondArray,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Schema};
use marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry::arrow::{ArrowWriter, StringLayout};
use marquetry::basic::Encoding;
use marquetry::errors::ErrorKind;
use marquetry::file::metadata::{KeyValue, SortingColumn};
use marquetry::file::properties::{EnabledStatistics, StoredForms, WriterProperties};
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
    let pair = |key: &str| KeyValue::new(key, format!("{key}!"));
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
    writer.append_key_value_metadata(pair("late")).unwrap();
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

#[test]
fn types_have_the_stored_forms_that_are_asked_for() {
    let day = 86_400_000_000i64;
    // Before 1970, midnight, and the last microsecond of a day.
    let times = [Some(-1), None, Some(0), Some(day - 1), Some(40_000 * day + 12_345)];
    let mut list =
        ListBuilder::new(Int32Builder::new()).with_field(Field::new("thing", DataType::Int32, true));
    (0..5).for_each(|i| list.append_value([Some(i), None]));
    let batch = RecordBatch::try_from_iter([
        ("t", Arc::new(TimestampMicrosecondArray::from(times.to_vec())) as ArrayRef),
        (
            "d",
            Arc::new(Decimal128Array::from(vec![-5, 0, 7, 99, 100]).with_precision_and_scale(5, 2).unwrap()),
        ),
        ("l", Arc::new(list.finish())),
        ("c", Arc::new(Time64NanosecondArray::from(vec![0, 1, 2, 3, 4]))),
    ])
    .unwrap();
    let forms = StoredForms::default().with_int96_timestamps(true).with_fixed_decimals(true);
    let forms = forms.with_arrow_item_names(true).with_utc_times(true);
    let properties = WriterProperties::builder().set_stored_forms(forms).set_format_version(2);
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties.build())).unwrap();
    writer.write(&batch).unwrap();
    let (bytes, metadata) = writer.into_parts().unwrap();
    let schema = metadata.schema().to_string();
    for part in ["int96 t", "fixed_len_byte_array(3) d", "int32 thing", "int64 c (TIME(NANOS,true))"] {
        assert!(schema.contains(part), "{part} in {schema}");
    }
    assert_eq!(metadata.version(), 2);
    let read = marquetry::open_bytes(bytes).unwrap().batches().unwrap().next().unwrap().unwrap();
    assert_eq!(read.columns(), batch.columns());
}

#[test]
fn a_timestamp_that_int96_has_no_day_for_is_refused() {
    let seconds = Arc::new(TimestampSecondArray::from(vec![0, i64::MAX])) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("t", seconds)]).unwrap();
    let forms = StoredForms::default().with_int96_timestamps(true);
    let properties = WriterProperties::builder().set_stored_forms(forms).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    let failed = writer.write(&batch).and_then(|()| writer.close().map(drop)).unwrap_err();
    assert!(failed.to_string().contains("INT96"), "{failed}");
}

#[test]
fn distinct_counts_are_left_out_if_they_are_not_wanted() {
    for wanted in [true, false] {
        let mut writer = writer(WriterProperties::builder().set_distinct_counts(wanted).build());
        let few = Arc::new(Int64Array::from_iter_values((0..1000).map(|i| i % 7))) as ArrayRef;
        writer.write(&RecordBatch::try_from_iter([("n", few)]).unwrap()).unwrap();
        let metadata = writer.close().unwrap();
        let counted = metadata.row_group(0).column(0).unwrap().statistics().unwrap().distinct_count;
        assert_eq!(counted, wanted.then_some(7));
    }
}

#[test]
fn whole_dictionaries_keep_their_order_and_what_no_row_has() {
    let colours = Arc::new(StringArray::from(vec!["red", "green", "blue"]));
    let keys = Int32Array::from(vec![Some(2), None, Some(0), Some(2)]);
    let column = Arc::new(Int32DictionaryArray::new(keys, colours)) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("c", column)]).unwrap();
    for (whole, expected) in [(true, vec!["red", "green", "blue"]), (false, vec!["blue", "red"])] {
        // As PLAIN, which is what pays here, there is no dictionary to keep.
        let properties = WriterProperties::builder().set_whole_dictionaries(whole);
        let properties = properties.set_encoding(Encoding::RLE_DICTIONARY).build();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        let (bytes, metadata) = writer.into_parts().unwrap();
        let statistics = metadata.row_group(0).column(0).unwrap().statistics().unwrap();
        // Bounds of the values in the rows: no row is green.
        assert_eq!((statistics.min_value, statistics.max_value), (Some(&b"blue"[..]), Some(&b"red"[..])));
        let open = marquetry::open_bytes(bytes).unwrap().text(StringLayout::Utf8);
        let read = open.batches().unwrap().next().unwrap().unwrap();
        let read = read.column(0).as_dictionary::<Int32Type>().clone();
        let values: Vec<_> = read.values().as_string::<i32>().iter().flatten().collect();
        assert_eq!(values, expected);
        let rows: Vec<_> = read.downcast_dict::<StringArray>().unwrap().into_iter().collect();
        assert_eq!(rows, [Some("blue"), None, Some("red"), Some("blue")]);
    }
}

#[test]
fn ordered_dictionaries_keep_their_order() {
    let sizes = Arc::new(StringArray::from(vec!["small", "medium", "large"]));
    let column: ArrayRef =
        Arc::new(Int32DictionaryArray::new(Int32Array::from(vec![Some(2), None, Some(0)]), sizes));
    let ordered = Field::new("size", column.data_type().clone(), true).with_dict_is_ordered(true);
    let list =
        ListArray::new(Arc::new(ordered.clone()), OffsetBuffer::from_lengths([3]), column.clone(), None);
    let of_list = Field::new("sizes", list.data_type().clone(), true);
    for (field, column) in [(ordered, column), (of_list, Arc::new(list) as ArrayRef)] {
        let schema = Arc::new(Schema::new(vec![field]));
        let batch = RecordBatch::try_new(schema, vec![column]).unwrap();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        let read = marquetry::open_bytes(writer.into_inner().unwrap()).unwrap().text(StringLayout::Utf8);
        let read = read.batches().unwrap().next().unwrap().unwrap();
        let column = match read.column(0).as_list_opt::<i32>() {
            Some(list) => list.values().clone(),
            None => read.column(0).clone(),
        };
        let values = column.as_dictionary::<Int32Type>().values().clone();
        assert_eq!(*values.as_string::<i32>(), StringArray::from(vec!["small", "medium", "large"]));
    }
}

/// A limit below all sizes does not end a page or a row group after each row: information about pages takes memory,
/// too.
#[test]
fn a_limit_of_a_byte_makes_no_page_of_a_row() {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values((0..100_000).map(|i| i * 7919 % 100_003)));
    let batch = RecordBatch::try_from_iter([("a", numbers)]).unwrap();
    let properties = WriterProperties::builder().set_memory_limit(Some(1)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    for at in (0..batch.num_rows()).step_by(10) {
        writer.write(&batch.slice(at, 10)).unwrap();
    }
    writer.finish().unwrap();
    let metrics = writer.metrics();
    assert_eq!((metrics.row_groups, metrics.rows), (1, 100_000));
    assert!(metrics.pages < 20, "{} pages of 800 kB", metrics.pages);
    let file = bytes::Bytes::from(writer.into_sink());
    let rows =
        ParquetRecordBatchReaderBuilder::try_new(file).unwrap().with_batch_size(100_000).build().unwrap();
    assert_eq!(rows.map(Result::unwrap).collect::<Vec<_>>(), [batch]);
}
