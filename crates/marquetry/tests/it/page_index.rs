//! Offset indexes: pages that nothing is wanted of are not read, and an index that is wrong gives no wrong rows.
#![allow(clippy::single_range_in_vec_init)] // A selection may well have one run.

use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use bytes::Bytes;
use marquetry::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection};
use marquetry::arrow::{ArrowWriter, ProjectionMask};
use marquetry::errors::{Error, ErrorKind, Result};
use marquetry::file::properties::{WriterProperties, WriterVersion};
use marquetry::file::{Source, read_metadata};
use marquetry::internals::format::{FileMetaData, FooterTail, OffsetIndex, Reader, Writer};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const ROWS: usize = 4000;
const PAGE: usize = 100;

/// Numbers, texts of few different ones, and lists of one to three numbers: each row's own.
fn table() -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values((0..ROWS as i64).map(|row| row * 3)));
    let texts: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..ROWS).map(|row| format!("text {}", row * row % 89))));
    let mut lists = ListBuilder::new(Int64Builder::new());
    for row in 0..ROWS as i64 {
        (0..=row % 3).for_each(|i| lists.values().append_value(row * 10 + i));
        lists.append(row % 7 > 0);
    }
    RecordBatch::try_from_iter([
        ("number", numbers),
        ("text", texts),
        ("list", Arc::new(lists.finish()) as ArrayRef),
    ])
    .unwrap()
}

fn written(version: WriterVersion) -> Bytes {
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_data_page_row_count_limit(PAGE)
        .set_write_batch_size(PAGE)
        .build();
    let table = table();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, table.schema(), Some(properties)).unwrap();
    writer.write(&table).unwrap();
    writer.close().unwrap();
    Bytes::from(file)
}

fn builder(source: Arc<dyn Source>, page_index: bool) -> ParquetRecordBatchReaderBuilder<Arc<dyn Source>> {
    let options = ArrowReaderOptions::new().with_page_index(page_index);
    ParquetRecordBatchReaderBuilder::try_new_with_options(source, options).unwrap()
}

/// Reads these rows of a column.
fn read(file: &Bytes, column: usize, rows: &[Range<usize>], page_index: bool) -> Result<Vec<ArrayRef>> {
    let builder = builder(Arc::new(file.clone()), page_index);
    let mask = ProjectionMask::roots(builder.parquet_schema(), [column]);
    let selection = RowSelection::from_consecutive_ranges(rows.iter().cloned(), ROWS);
    let mut reader = builder.with_row_selection(selection).with_projection(mask).build()?;
    std::iter::from_fn(|| reader.next_batch()).map(|batch| Ok(batch?.column(0).clone())).collect()
}

/// Returns the same rows of the table.
fn expected(column: usize, rows: &[Range<usize>]) -> ArrayRef {
    let all = table().column(column).clone();
    let parts: Vec<ArrayRef> = rows.iter().map(|rows| all.slice(rows.start, rows.len())).collect();
    let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
    arrow_select::concat::concat(&parts).unwrap()
}

/// The file with another offset index of a column.
fn with_index(file: &Bytes, column: usize, change: impl FnOnce(&mut OffsetIndex)) -> Bytes {
    let metadata = read_metadata(file, &Default::default()).unwrap().metadata;
    let chunk = metadata.row_group(0).column(column).unwrap();
    let range = chunk.offset_index_range().unwrap();
    let bytes = file.slice(range.start as usize..range.end as usize);
    let mut index = OffsetIndex::read(&mut Reader::new(&bytes)).unwrap();
    change(&mut index);
    let mut writer = Writer::new();
    index.write(&mut writer);
    let index = writer.finish();
    let mut thrift: FileMetaData = metadata.to_thrift().unwrap();
    // Behind the old footer, which nothing needs any more.
    let chunk = &mut thrift.row_groups[0].columns[column];
    chunk.offset_index_offset = Some(file.len() as i64);
    chunk.offset_index_length = Some(index.len() as i32);
    let mut footer = Writer::new();
    thrift.write(&mut footer);
    let footer = footer.finish();
    let mut out = file.to_vec();
    out.extend(index);
    out.extend(&footer);
    out.extend(FooterTail::Plain { metadata_len: footer.len() as u32 }.to_bytes());
    Bytes::from(out)
}

/// Makes one mistake: a wrong number, a missing page, or a duplicate page.
fn wrong(index: &mut OffsetIndex, kind: usize, page: usize, by: i64) {
    let location = &mut index.page_locations[page];
    match kind {
        0 => location.first_row_index += by,
        1 => location.offset += by,
        2 => location.compressed_page_size += by as i32,
        3 => drop(index.page_locations.remove(page)),
        _ => {
            let twice = location.clone();
            index.page_locations.insert(page, twice);
        }
    }
}

#[test]
fn a_wrong_index_gives_no_wrong_rows() {
    let selections: [&[Range<usize>]; 4] = [
        &[1500..1501],
        &[0..1, 1450..1720, 3999..4000],
        &[1400..1400, 1599..1601, 2005..2006],
        &[3000..4000],
    ];
    let (mut refused, mut right) = (0, 0);
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        let file = written(version);
        for column in 0..3 {
            for kind in 0..5 {
                for page in [0, 1, 14, 15, 16, 20, 39] {
                    for by in [-100, -1, 1, 37, 100, 5000] {
                        let bad = with_index(&file, column, |index| wrong(index, kind, page, by));
                        for rows in selections {
                            match read(&bad, column, rows, true) {
                                Err(error) => {
                                    let is_damage = matches!(
                                        error.kind(),
                                        ErrorKind::Corrupt
                                            | ErrorKind::Truncated
                                            | ErrorKind::Unsupported
                                            | ErrorKind::Limit
                                    );
                                    assert!(is_damage, "{error}");
                                    refused += 1;
                                }
                                Ok(found) => {
                                    let found: Vec<&dyn Array> = found.iter().map(AsRef::as_ref).collect();
                                    let found = arrow_select::concat::concat(&found).unwrap();
                                    assert_eq!(
                                        &found,
                                        &expected(column, rows),
                                        "{version:?} {column} {kind} {page} {by}"
                                    );
                                    right += 1;
                                }
                            }
                        }
                    }
                }
            }
            // Without the index, the same file reads well.
            let bad = with_index(&file, column, |index| wrong(index, 0, 15, 1));
            let found = read(&bad, column, selections[1], false).unwrap();
            assert_eq!(found.iter().map(|found| found.len()).sum::<usize>(), 272);
        }
    }
    assert!(refused > 100 && right > 100, "{refused} refused, {right} right");
}

#[test]
fn the_error_says_what_to_do() {
    let file = written(WriterVersion::PARQUET_1_0);
    let bad = with_index(&file, 0, |index| wrong(index, 0, 15, 1));
    let error = read(&bad, 0, &[1520..1530], true).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("the offset index says 99; read without page indexes"), "{error}");
    assert_eq!((error.place().column.as_deref(), error.place().page), (Some("number"), Some(15)));
}

/// Counts what is read.
struct Counted {
    file: Bytes,
    bytes: AtomicUsize,
    reads: AtomicUsize,
}

impl Source for Counted {
    fn len(&self) -> u64 {
        Source::len(&self.file)
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes, Error> {
        self.bytes.fetch_add(len, Ordering::Relaxed);
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.file.read_at(offset, len)
    }
}

/// Bytes and reads for a file of 100 pages of random numbers, of which two pages are wanted.
fn cost(offset_index: bool, page_index: bool) -> (usize, usize) {
    let rows = 100 * 1000;
    let mut state = 9u64;
    let numbers = (0..rows).map(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state as i64
    });
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(numbers));
    let table = RecordBatch::try_from_iter([("number", numbers)]).unwrap();
    let properties = WriterProperties::builder()
        .set_data_page_row_count_limit(1000)
        .set_dictionary_enabled(false)
        .set_offset_index_disabled(!offset_index)
        .build();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, table.schema(), Some(properties)).unwrap();
    writer.write(&table).unwrap();
    writer.close().unwrap();
    let counted =
        Arc::new(Counted { file: Bytes::from(file), bytes: AtomicUsize::new(0), reads: AtomicUsize::new(0) });
    let wanted = [30_100..30_150, 70_999..71_000];
    let selection = RowSelection::from_consecutive_ranges(wanted.iter().cloned(), rows);
    let builder = builder(counted.clone(), page_index).with_row_selection(selection);
    counted.bytes.store(0, Ordering::Relaxed);
    counted.reads.store(0, Ordering::Relaxed);
    let found: Vec<RecordBatch> = builder.build().unwrap().map(|batch| batch.unwrap()).collect();
    let found = arrow_select::concat::concat_batches(&table.schema(), &found).unwrap();
    let all = table.column(0).as_primitive::<Int64Type>();
    let expected: Vec<i64> = wanted.into_iter().flatten().map(|row| all.value(row)).collect();
    assert_eq!(found.column(0).as_primitive::<Int64Type>().values(), expected.as_slice());
    (counted.bytes.load(Ordering::Relaxed), counted.reads.load(Ordering::Relaxed))
}

#[test]
fn pages_that_nothing_is_wanted_of_are_not_read() {
    // Two pages of 8,000 bytes, and an index of a hundred places.
    let (bytes, reads) = cost(true, true);
    assert!(bytes < 20_000 && reads <= 3, "{bytes} bytes in {reads} reads");
    // Headers are read one by one where no index tells of pages.
    for (bytes, reads) in [cost(false, true), cost(true, false)] {
        assert!(bytes < 80_000 && reads < 120, "{bytes} bytes in {reads} reads");
    }
}
