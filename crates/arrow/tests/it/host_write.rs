//! Column chunks that a host's threads make are those of our own threads, byte for byte, and only what fits goes into a file.

use arrow_array::builder::{ListBuilder, MapBuilder, StringBuilder, StringDictionaryBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, StructArray,
    TimestampMicrosecondArray, TimestampMillisecondArray,
};
use arrow_schema::{DataType, Field, Schema};
use marquetry_arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry_arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriter, compute_leaves,
};
use marquetry_base::Result;
use marquetry_core::source::Source;
use marquetry_core::write::{
    BloomFilterPosition, CheckpointEvery, Compat, Encoding, SortingColumn, WriterProperties,
    WriterPropertiesBuilder,
};
use std::sync::{Arc, Mutex};

/// Rows of every shape: numbers, text, a dictionary, lists, maps, structs in structs, nulls at each depth.
fn batch(number: usize, rows: usize) -> RecordBatch {
    let mut state = number as u64 * 977 + 1;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let ids: Int64Array = (0..rows).map(|row| Some((number * rows + row) as i64)).collect();
    let prices: Float64Array = (0..rows).map(|_| (next() % 9 > 0).then(|| next() as f64 / 7.0)).collect();
    let names: StringArray = (0..rows).map(|_| Some(format!("name {}", next() % 3000))).collect();
    let texts: StringArray = (0..rows).map(|_| Some(format!("{:x}{:x}", next(), next()))).collect();
    let flags: BooleanArray = (0..rows).map(|_| Some(next() % 3 == 0)).collect();
    let mut kinds = StringDictionaryBuilder::<Int32Type>::new();
    let mut lists = ListBuilder::new(StringBuilder::new());
    let mut maps = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    for _ in 0..rows {
        kinds.append_value(["red", "green", "blue"][next() % 3]);
        for _ in 0..next() % 4 {
            lists.values().append_option((next() % 5 > 0).then(|| format!("tag {}", next() % 50)));
            maps.keys().append_value(format!("key {}", next() % 20));
            maps.values().append_value(format!("{}", next()));
        }
        lists.append(next() % 7 > 0);
        maps.append(next() % 11 > 0).unwrap();
    }
    let lists: ArrayRef = Arc::new(lists.finish());
    let maps: ArrayRef = Arc::new(maps.finish());
    let inner = structure(vec![("lists", lists), ("flag", Arc::new(flags))], |_| true);
    let outer =
        structure(vec![("inner", inner), ("maps", maps), ("price", Arc::new(prices))], |row| row % 13 > 0);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(ids)),
        ("name", Arc::new(names)),
        ("outer", outer),
        ("kind", Arc::new(kinds.finish())),
        ("text", Arc::new(texts)),
    ];
    let fields: Vec<_> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

fn structure(columns: Vec<(&str, ArrayRef)>, is_there: impl Fn(usize) -> bool) -> ArrayRef {
    let rows = columns[0].1.len();
    let fields: Vec<_> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    let valid: Vec<bool> = (0..rows).map(is_there).collect();
    Arc::new(StructArray::new(fields.into(), arrays, Some(valid.into())))
}

/// What `ArrowWriter` makes of these row groups of batches.
fn by_writer(groups: &[Vec<RecordBatch>], properties: &WriterProperties, threads: usize) -> Vec<u8> {
    let properties = properties.clone().into_builder().set_threads(threads).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), groups[0][0].schema(), Some(properties)).unwrap();
    for group in groups {
        group.iter().for_each(|batch| writer.write(batch).unwrap());
        writer.flush().unwrap();
    }
    writer.into_inner().unwrap()
}

/// The chunks of a row group, its columns on threads of ours, two of which share them out.
fn chunks(
    factory: &ArrowRowGroupWriterFactory,
    number: usize,
    batches: &[RecordBatch],
) -> Vec<ArrowColumnChunk> {
    let columns = factory.create_column_writers(number).unwrap();
    let leaves: Vec<Vec<_>> = batches
        .iter()
        .map(|batch| {
            let pairs = factory.arrow_schema().fields().iter().zip(batch.columns());
            pairs.flat_map(|(field, array)| compute_leaves(field, array).unwrap()).collect()
        })
        .collect();
    let mut done: Vec<Option<ArrowColumnChunk>> = columns.iter().map(|_| None).collect();
    // From the last to the first: the order is nobody's business.
    let queue: Vec<_> = columns.into_iter().enumerate().zip(&mut done).collect();
    let queue = Mutex::new(queue);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(((i, mut column), done)) = queue.lock().unwrap().pop() else { break };
                    leaves.iter().for_each(|leaves| column.write(&leaves[i]).unwrap());
                    *done = Some(column.close().unwrap());
                }
            });
        }
    });
    done.into_iter().flatten().collect()
}

fn by_host(groups: &[Vec<RecordBatch>], properties: &WriterProperties) -> Vec<u8> {
    let writer = ArrowWriter::try_new(Vec::new(), groups[0][0].schema(), Some(properties.clone())).unwrap();
    let (mut file, factory) = writer.into_serialized_writer().unwrap();
    // All row groups at a time.
    let factory = &factory;
    let made: Vec<_> = std::thread::scope(|scope| {
        let threads = groups.iter().enumerate();
        let threads: Vec<_> =
            threads.map(|(i, group)| scope.spawn(move || chunks(factory, i, group))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for chunks in made {
        let mut row_group = file.next_row_group().unwrap();
        chunks.into_iter().for_each(|chunk| chunk.append_to_row_group(&mut row_group).unwrap());
        row_group.close().unwrap();
    }
    file.into_inner().unwrap()
}

fn groups() -> Vec<Vec<RecordBatch>> {
    let batches = |from: usize, rows: &[usize]| {
        rows.iter().enumerate().map(|(i, rows)| batch(from + i, *rows)).collect::<Vec<_>>()
    };
    vec![batches(0, &[20_000, 5_000, 30_001]), batches(3, &[100]), batches(4, &[9_000, 66_000])]
}

fn settings() -> Vec<(&'static str, WriterPropertiesBuilder)> {
    let new = WriterProperties::builder;
    let sorting = vec![SortingColumn { column_idx: 0, descending: false, nulls_first: false }];
    vec![
        ("defaults", new()),
        ("latest encodings", new().set_compat(Compat::Latest)),
        ("plain", new().set_dictionary_enabled(false).set_encoding(Encoding::PLAIN)),
        ("small pages", new().set_data_page_row_count_limit(700).set_dictionary_page_size_limit(2000)),
        ("bloom filters", new().set_bloom_filter_enabled(true).set_sorting_columns(Some(sorting))),
        (
            "checkpoints",
            new()
                .set_checkpoint_every(Some(CheckpointEvery::RowGroups(1)))
                .set_bloom_filter_enabled(true)
                .set_bloom_filter_position(BloomFilterPosition::AfterRowGroup),
        ),
    ]
}

#[test]
fn threads_of_a_host_write_the_same_bytes() {
    let groups = groups();
    for (name, builder) in settings() {
        let properties = builder.build();
        let ours = by_writer(&groups, &properties, 1);
        assert!(ours == by_writer(&groups, &properties, 2), "{name}: two threads of ours");
        assert!(ours == by_host(&groups, &properties), "{name}: threads of a host");
        // And they are the rows.
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(ours)).unwrap();
        let rows: usize = reader.build().unwrap().map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!(rows, groups.iter().flatten().map(RecordBatch::num_rows).sum::<usize>());
    }
}

#[test]
fn a_memory_limit_holds_for_all_columns_together() {
    let folder = tempfile::tempdir().unwrap();
    let batches: Vec<_> = (0..20).map(|i| batch(i, 20_000)).collect();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(None)
        .set_memory_limit(Some(3 << 20))
        .set_spill_dir(folder.path())
        .build();
    let writer = ArrowWriter::try_new(Vec::new(), batches[0].schema(), Some(properties)).unwrap();
    let (mut file, factory) = writer.into_serialized_writer().unwrap();
    let mut columns = factory.create_column_writers(0).unwrap();
    for batch in &batches {
        let pairs = batch.schema_ref().fields().iter().zip(batch.columns());
        let leaves: Vec<_> = pairs.flat_map(|(field, array)| compute_leaves(field, array).unwrap()).collect();
        columns.iter_mut().zip(&leaves).for_each(|(column, leaf)| column.write(leaf).unwrap());
        let held: usize = columns.iter().map(ArrowColumnWriter::memory_size).sum();
        assert!(held < 6 << 20, "{held} bytes");
    }
    let chunks: Vec<_> = columns.into_iter().map(|column| column.close().unwrap()).collect();
    let size: u64 = chunks.iter().map(ArrowColumnChunk::compressed_size).sum();
    assert!(size > 8 << 20, "{size} bytes are too few for this test");
    file.append_row_group(chunks).unwrap();
    let file = bytes::Bytes::from(file.into_inner().unwrap());
    let read: Vec<_> = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(|builder| builder.with_batch_size(20_000).build())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(read, batches);
}

fn writers(batch: &RecordBatch) -> (ArrowWriter<Vec<u8>>, Vec<ArrowColumnWriter>) {
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    let columns = writer.get_column_writers().unwrap();
    (writer, columns)
}

fn closed(columns: Vec<ArrowColumnWriter>, batch: &RecordBatch) -> Vec<ArrowColumnChunk> {
    let pairs = batch.schema_ref().fields().iter().zip(batch.columns());
    let leaves: Vec<_> = pairs.flat_map(|(field, array)| compute_leaves(field, array).unwrap()).collect();
    let columns = columns.into_iter().zip(&leaves);
    let written = columns.map(|(mut column, leaf)| column.write(leaf).and_then(|()| column.close()));
    written.collect::<Result<_>>().unwrap()
}

/// Their pages would be read as other values, or as none.
#[test]
fn chunks_that_were_made_for_a_file_of_other_types_are_refused() {
    let file_of = |array: ArrayRef, nullable| {
        let field = Field::new("x", array.data_type().clone(), nullable);
        RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).unwrap()
    };
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let millis: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![1, 2, 3]));
    let micros: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![1, 2, 3]));
    let files = [
        file_of(numbers.clone(), false),
        file_of(numbers, true),
        file_of(millis, true),
        file_of(micros, true),
    ];
    for (i, from) in files.iter().enumerate() {
        for (j, to) in files.iter().enumerate() {
            let (_, columns) = writers(from);
            let (mut writer, _) = writers(to);
            let appended = writer.append_row_group(closed(columns, from));
            assert_eq!(appended.is_ok(), i == j, "{i} {j}");
            if let Err(error) = appended {
                assert!(error.to_string().contains("made for a column of another type"), "{error}");
                assert_eq!(writer.close().unwrap().num_rows(), 0);
            }
        }
    }
}

#[test]
fn only_what_fits_is_appended() {
    let rows = batch(0, 500);
    let (mut writer, columns) = writers(&rows);
    let count = columns.len();
    assert_eq!(count, writer.parquet_schema().columns().len());

    // One too few, two in each other's place, one too many, one of other rows: none of it ends the file.
    let mut few = closed(columns, &rows);
    few.pop();
    let error = writer.append_row_group(few).unwrap_err();
    assert!(error.to_string().contains(&format!("{} chunks for a file of {count}", count - 1)), "{error}");
    let make = |rows: &RecordBatch, writer: &mut ArrowWriter<Vec<u8>>| {
        closed(writer.get_column_writers().unwrap(), rows)
    };
    let mut swapped = make(&rows, &mut writer);
    swapped.swap(0, 1);
    let error = writer.append_row_group(swapped).unwrap_err();
    assert!(error.to_string().contains("the chunk is of another column"), "{error}");
    assert_eq!(error.place().column.as_deref(), Some("id"));
    let mut many = make(&rows, &mut writer);
    many.extend(make(&rows, &mut writer));
    let error = writer.append_row_group(many).unwrap_err();
    assert!(error.to_string().contains("a chunk too many"), "{error}");
    let mut mixed = make(&rows, &mut writer);
    mixed[3] = make(&rows.slice(0, 499), &mut writer).remove(3);
    let error = writer.append_row_group(mixed).unwrap_err();
    assert!(error.to_string().contains("499 rows, the chunks before have 500"), "{error}");
    assert_eq!(writer.flushed_row_groups().len(), 0);

    // Rows that were written before come before, and nothing of the above is in the file.
    writer.write(&rows).unwrap();
    let good = make(&rows, &mut writer);
    writer.append_row_group(good).unwrap();
    let empty = make(&rows.slice(0, 0), &mut writer);
    writer.append_row_group(empty).unwrap();
    let (file, metadata) = writer.into_parts().unwrap();
    assert_eq!((metadata.num_rows(), metadata.num_row_groups()), (1000, 2));
    let read: Vec<_> = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file))
        .and_then(|builder| builder.with_batch_size(500).build())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(read, [rows.clone(), rows]);
}

#[test]
fn a_column_takes_what_is_its_own() {
    let rows = batch(0, 50);
    let (_, mut columns) = writers(&rows);
    let schema = rows.schema();
    let leaves = compute_leaves(schema.field(2), rows.column(2)).unwrap();
    assert_eq!(leaves.len(), columns.iter().filter(|column| column.field().name() == "outer").count());
    for wrong in [&leaves[0], &leaves[1]] {
        let error = columns[0].write(wrong).unwrap_err();
        assert!(error.to_string().contains("of field outer for another one"), "{error}");
    }
    assert!(columns[3].write(&leaves[0]).is_err());
    columns[3].write(&leaves[1]).unwrap();
    assert_eq!(columns[3].rows(), 50);
    // An array of another type, under the right name.
    let error = compute_leaves(schema.field(0), rows.column(1)).unwrap_err();
    assert!(error.to_string().contains("an array of Utf8 for a field of Int64"), "{error}");
    assert!(columns[0].write_array(rows.column(1)).is_err());
    columns[0].write_array(rows.column(0)).unwrap();
}

#[test]
fn a_column_that_failed_is_not_closed() {
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, false)]));
    let mut writer = ArrowWriter::try_new(Vec::new(), schema.clone(), None).unwrap();
    let mut column = writer.get_column_writers().unwrap().remove(0);
    let array: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None]));
    let error = column.write(&compute_leaves(schema.field(0), &array).unwrap()[0]).unwrap_err();
    assert_eq!((error.place().column.as_deref(), error.place().row_group), (Some("id"), Some(0)));
    assert!(column.close().unwrap_err().to_string().contains("failed before"));
    // The file goes on without it.
    writer.write(&RecordBatch::try_new(schema, vec![Arc::new(Int64Array::from(vec![7]))]).unwrap()).unwrap();
    assert_eq!(writer.close().unwrap().num_rows(), 1);
}

#[test]
fn row_groups_are_copied() {
    let groups = groups();
    let properties = WriterProperties::builder().set_bloom_filter_enabled(true).build();
    let old = bytes::Bytes::from(by_writer(&groups, &properties, 1));
    let source: Arc<dyn Source> = Arc::new(old.clone());
    let old = ParquetRecordBatchReaderBuilder::try_new(old).unwrap();
    let mut writer =
        ArrowWriter::try_new(Vec::new(), groups[0][0].schema(), Some(properties.clone())).unwrap();
    writer.write(&groups[1][0]).unwrap();
    writer.append_copied(&source, old.metadata(), 2).unwrap();
    writer.append_copied(&source, old.metadata(), 0).unwrap();
    let error = writer.append_copied(&source, old.metadata(), 3).unwrap_err();
    assert!(error.to_string().contains("no row group 3, there are 3"), "{error}");
    let copied = writer.into_inner().unwrap();
    let again = [groups[1].clone(), groups[2].clone(), groups[0].clone()];
    // A chunk's bytes, statistics, indexes and filters are the same.
    assert!(copied == by_writer(&again, &properties, 1));

    let other = RecordBatch::try_from_iter([("id", groups[1][0].column(0).clone())]).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), other.schema(), None).unwrap();
    let error = writer.append_copied(&source, old.metadata(), 0).unwrap_err();
    assert!(error.to_string().contains("a row group of"), "{error}");
    let renamed = groups[0][0]
        .schema()
        .fields()
        .iter()
        .map(|field| match field.name().as_str() {
            "text" => field.as_ref().clone().with_name("txt"),
            _ => field.as_ref().clone(),
        })
        .collect::<Vec<_>>();
    let mut writer = ArrowWriter::try_new(Vec::new(), Arc::new(Schema::new(renamed)), None).unwrap();
    let error = writer.append_copied(&source, old.metadata(), 0).unwrap_err();
    assert_eq!(error.place().column.as_deref(), Some("txt"), "{error}");
}
