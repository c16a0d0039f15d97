//! Metrics add up: to the file, to what a predicate leaves, and to the same for any number of threads. Writers keep to a budget.

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use bytes::Bytes;
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry::arrow::arrow_writer::compute_leaves;
use marquetry::basic::Encoding;
use marquetry::errors::{ErrorKind, MemoryBudget, Result};
use marquetry::file::metadata::ParquetMetaData;
use marquetry::file::properties::{WriterProperties, WriterPropertiesBuilder};
use marquetry::metrics::{ReadMetrics, WriteMetrics};
use marquetry::predicate::Predicate;
use std::sync::Arc;
use std::time::Duration;

const ROWS: i64 = 40_000;
const GROUP: usize = 10_000;
const PAGE: usize = 1_000;

/// Four row groups of ten pages in each column.
fn file() -> Bytes {
    let texts = (0..ROWS).map(|i| format!("text {}", i * 7919 % 1009));
    let batch = RecordBatch::try_from_iter([
        ("id", Arc::new(Int64Array::from_iter_values(0..ROWS)) as ArrayRef),
        ("number", Arc::new(Int64Array::from_iter_values((0..ROWS).map(|i| i * 7919 % 10_007)))),
        ("text", Arc::new(StringArray::from_iter_values(texts))),
    ])
    .unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(GROUP))
        .set_data_page_row_count_limit(PAGE)
        .set_write_batch_size(PAGE)
        .set_dictionary_enabled(false)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap().into()
}

fn metrics(file: &Bytes, threads: usize, predicate: Option<&str>) -> (usize, ReadMetrics) {
    let builder = ParquetRecordBatchReaderBuilder::try_new(file.clone()).unwrap().with_threads(threads);
    let mut reader = match predicate {
        Some(predicate) => builder.with_predicate(Predicate::parse(predicate).unwrap()),
        None => builder,
    }
    .build()
    .unwrap();
    let rows = (&mut reader).map(|batch| batch.unwrap().num_rows()).sum();
    (rows, reader.metrics())
}

#[test]
fn a_scan_reads_all_there_is() {
    let file = file();
    let (rows, metrics) = metrics(&file, 1, None);
    assert_eq!((rows, metrics.rows), (ROWS as usize, ROWS as u64));
    assert_eq!((metrics.row_groups, metrics.pages, metrics.pages_skipped), (4, 120, 0));
    assert_eq!(metrics.batches, (ROWS as u64).div_ceil(8192));
    // Some bytes are read twice, at the borders of windows.
    assert!((file.len() as u64 / 2..file.len() as u64 * 2).contains(&metrics.bytes_fetched), "{metrics:?}");
    assert!((1..=60).contains(&metrics.requests), "{metrics:?}");
    assert!(metrics.decompressed_bytes > file.len() as u64 / 2, "{metrics:?}");
    assert!(
        metrics.decode_time > metrics.decompress_time && metrics.decompress_time > Duration::ZERO,
        "{metrics:?}"
    );
    assert_eq!((metrics.filtered_rows, metrics.filter_time), (0, Duration::ZERO));
}

#[test]
fn what_a_predicate_leaves_out_is_counted_by_what_ruled_it_out() {
    let file = file();
    // The second row group, of its pages those from the fourth on, and of their rows the one in ten that is wanted.
    let (rows, metrics) = metrics(&file, 1, Some("id >= 13000 and id < 20000 and number < 1000"));
    assert_eq!((metrics.row_groups, metrics.statistics.row_groups, metrics.statistics.rows), (4, 3, 30_000));
    assert_eq!((metrics.page_index.row_groups, metrics.page_index.rows), (0, 3_000), "{metrics:?}");
    assert_eq!(metrics.rows, rows as u64);
    assert_eq!(metrics.filtered_rows, 7_000 - rows as u64, "{metrics:?}");
    assert!((500..900).contains(&rows) && metrics.filter_time > Duration::ZERO, "{metrics:?}");
    // Seven pages of each column are read, and three of each are skipped.
    assert_eq!((metrics.pages, metrics.pages_skipped), (21, 9), "{metrics:?}");
    let (none, metrics) = self::metrics(&file, 1, Some("id > 100000"));
    assert_eq!((none, metrics.pages, metrics.statistics.row_groups), (0, 0, 4));
}

#[test]
fn threads_count_the_same() {
    let file = file();
    let counts = |metrics: ReadMetrics| {
        let pruned = [metrics.statistics, metrics.page_index, metrics.dictionaries, metrics.bloom_filters];
        (metrics.rows, metrics.row_groups, metrics.filtered_rows, metrics.decompressed_bytes, pruned)
    };
    for predicate in [None, Some("number < 1000"), Some("id >= 13000 and number < 1000")] {
        let (rows, alone) = metrics(&file, 1, predicate);
        let (same_rows, together) = metrics(&file, 3, predicate);
        assert_eq!((rows, counts(alone)), (same_rows, counts(together)), "{predicate:?}");
    }
}

/// Numbers without an order, texts of which there are few, and long ones of which there are many.
fn rows(n: i64) -> RecordBatch {
    let numbers = (0..n).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64));
    let few = (0..n).map(|i| (i % 7 > 0).then(|| format!("text {}", i % 20)));
    let many = numbers.clone().map(|i| format!("{i:x} {i:o} {i:b}"));
    RecordBatch::try_from_iter([
        ("number", Arc::new(Int64Array::from_iter_values(numbers.clone())) as ArrayRef),
        ("few", Arc::new(StringArray::from_iter(few))),
        ("many", Arc::new(StringArray::from_iter_values(many))),
    ])
    .unwrap()
}

/// The file of [`rows`], written in batches.
fn write(
    rows: &RecordBatch,
    properties: WriterPropertiesBuilder,
) -> Result<(Vec<u8>, ParquetMetaData, WriteMetrics)> {
    let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties.build()))?;
    for from in (0..rows.num_rows()).step_by(10_000) {
        writer.write(&rows.slice(from, 10_000.min(rows.num_rows() - from)))?;
    }
    let metadata = writer.finish()?;
    let metrics = writer.metrics();
    Ok((writer.into_sink(), metadata, metrics))
}

/// Writes the same by column writers, whose chunks wait until all are there.
fn write_columns(rows: &RecordBatch, properties: WriterPropertiesBuilder) -> Result<(Vec<u8>, WriteMetrics)> {
    let writer = ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties.build()))?;
    let (mut file, factory) = writer.into_serialized_writer()?;
    let mut chunks = Vec::new();
    for (number, from) in (0..rows.num_rows()).step_by(20_000).enumerate() {
        let rows = rows.slice(from, 20_000.min(rows.num_rows() - from));
        let mut leaves = Vec::new();
        for (field, array) in rows.schema().fields().iter().zip(rows.columns()) {
            leaves.extend(compute_leaves(field, array)?);
        }
        let mut group = Vec::new();
        for (mut column, leaf) in factory.create_column_writers(number)?.into_iter().zip(&leaves) {
            column.write(leaf)?;
            group.push(column.close()?);
        }
        chunks.push(group);
    }
    chunks.into_iter().try_for_each(|group| file.append_row_group(group))?;
    file.finish()?;
    let metrics = file.metrics();
    Ok((file.into_sink(), metrics))
}

fn read_back(file: Vec<u8>) -> Vec<RecordBatch> {
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file)).unwrap().with_batch_size(1 << 20);
    reader.build().unwrap().collect::<std::result::Result<_, _>>().unwrap()
}

#[test]
fn what_is_written_is_counted() {
    let all = rows(50_000);
    let properties = || WriterProperties::builder().set_max_row_group_row_count(Some(20_000));
    let (file, metadata, metrics) = write(&all, properties()).unwrap();
    assert_eq!((metrics.rows, metrics.row_groups, metrics.bytes_written), (50_000, 3, file.len() as u64));
    let (mut pages, mut dictionaries, mut uncompressed, mut compressed) = (0, 0, 0, 0);
    for chunk in metadata
        .row_groups()
        .flat_map(|group| group.columns().map(|chunk| chunk.unwrap()).collect::<Vec<_>>())
    {
        pages += chunk.encoding_stats().unwrap().iter().map(|stats| stats.count as u64).sum::<u64>();
        dictionaries += u64::from(chunk.dictionary_page_offset().is_some());
        uncompressed += chunk.uncompressed_size() as u64;
        compressed += chunk.compressed_size() as u64;
    }
    assert_eq!(
        (metrics.pages, metrics.dictionaries, metrics.dictionaries_given_up),
        (pages, dictionaries, 0)
    );
    // Footers count headers of pages, too.
    for (ours, theirs) in [(metrics.uncompressed_bytes, uncompressed), (metrics.compressed_bytes, compressed)]
    {
        assert!(ours < theirs && ours + 100 * pages > theirs, "{ours}, {theirs}");
    }
    assert!(metrics.encode_time > metrics.compress_time && metrics.compress_time > Duration::ZERO);
    assert!(metrics.sink_time > Duration::ZERO && metrics.peak_memory > 100_000, "{metrics:?}");
    assert_eq!((metrics.spilled_bytes, metrics.spill_time), (0, Duration::ZERO));

    let counts = |metrics: WriteMetrics| {
        let WriteMetrics { rows, pages, uncompressed_bytes, compressed_bytes, bytes_written, .. } = metrics;
        (rows, pages, uncompressed_bytes, compressed_bytes, bytes_written)
    };
    let (_, _, threads) = write(&all, properties().set_threads(3)).unwrap();
    assert_eq!(counts(threads), counts(metrics));
    let (same, columns) = write_columns(&all, properties()).unwrap();
    assert!(same == file);
    assert_eq!(counts(columns), counts(metrics));
    // All chunks wait at the same time.
    assert!(columns.peak_memory > metrics.compressed_bytes, "{columns:?}");
}

#[test]
fn a_dictionary_that_is_given_up_is_counted() {
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(true)
        .set_encoding(Encoding::PLAIN)
        .set_dictionary_page_size_limit(10_000);
    let (_, metadata, metrics) = write(&rows(20_000), properties).unwrap();
    // The first pages of the columns with many values use a dictionary.
    assert_eq!((metrics.dictionaries, metrics.dictionaries_given_up), (3, 2), "{metadata:?}");
}

#[test]
fn writers_that_share_a_budget_keep_to_it() {
    const BUDGET: usize = 4 << 20;
    let all = rows(200_000);
    let (_, _, free) = write(&all, WriterProperties::builder()).unwrap();
    assert!(free.peak_memory > 2 * BUDGET as u64, "{free:?}");

    let memory = MemoryBudget::new(BUDGET);
    let properties = || {
        // The memory that cannot be spilled.
        let builder = WriterProperties::builder().set_dictionary_page_size_limit(100_000);
        builder.set_data_page_size_limit(100_000).set_memory(memory.clone())
    };
    let (file, _, metrics) = write(&all, properties()).unwrap();
    assert!(read_back(file) == [all.clone()]);
    assert!(metrics.spilled_bytes > BUDGET as u64 && memory.used() == 0, "{metrics:?}");

    // Reads side by side do not share counts.
    let threads = [(); 2].map(|()| {
        let (all, properties) = (all.clone(), properties());
        std::thread::spawn(move || write(&all, properties).map(|(file, _, _)| read_back(file) == [all]))
    });
    assert!(threads.into_iter().all(|thread| thread.join().unwrap().unwrap()));
    let (file, metrics) = write_columns(&all, properties()).unwrap();
    assert!(arrow_select::concat::concat_batches(&all.schema(), &read_back(file)).unwrap() == all);
    assert!(metrics.spilled_bytes > 0, "{metrics:?}");
    assert_eq!(memory.used(), 0);
}

#[test]
fn a_budget_that_is_too_small_is_an_error() {
    let memory = MemoryBudget::new(10_000);
    let properties = || WriterProperties::builder().set_memory(memory.clone());
    let error = write(&rows(100_000), properties()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Memory, "{error}");
    let error = write_columns(&rows(100_000), properties()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Memory, "{error}");
    assert_eq!(memory.used(), 0, "all is given back");
}
