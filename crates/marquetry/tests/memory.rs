//! Reading streams: a file of many row groups takes the memory of a few of them, however long it is.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray};
use bytes::Bytes;
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry::basic::Compression;
use marquetry::file::properties::WriterProperties;
use marquetry::internals::codec::{Codec, Compressor};
use marquetry::internals::format::{
    ColumnChunk, ColumnMetaData, CompressionCodec, DataPageHeader, Encoding, FileMetaData, FooterTail, PAR1,
    PageHeader, PageType, Repetition, RowGroup, SchemaElement, Type, Writer,
};
use marquetry::predicate::{Predicate, col};
use peak_alloc::PeakAlloc;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const ROW_GROUPS: usize = 50;
const PAGES: usize = 8;
const ROWS_OF_PAGE: usize = 12_500;
const ROWS: usize = ROW_GROUPS * PAGES * ROWS_OF_PAGE;

/// Bytes of a row group's values: a number of 8 bytes, and a text of 28 with its length.
const NUMBERS_OF_ROW_GROUP: usize = PAGES * ROWS_OF_PAGE * 8;
const ROW_GROUP: usize = PAGES * ROWS_OF_PAGE * (8 + 4 + 28);

/// One test: the allocator counts for all threads.
#[test]
fn reading_takes_a_few_row_groups() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("memory.parquet");
    let file = Removed(path);
    write_file(&file.0).unwrap();
    let whole = ROW_GROUPS * ROW_GROUP;
    println!("{} bytes, {whole} of values, {ROW_GROUP} in a row group", file.0.metadata().unwrap().len());

    for batch_size in [1024, 8192, PAGES * ROWS_OF_PAGE] {
        let peak = peak_of(|| assert_eq!(read(&file.0, &["number", "text"], batch_size, 1), sum(ROWS)));
        println!("{peak} bytes at {batch_size} rows in a batch");
        assert!(peak < 3 * ROW_GROUP && peak < whole / 10, "{peak}");
    }
    // Two threads read 8 MiB of encoded columns ahead, which are texts of a dictionary here.
    let ahead = peak_of(|| assert_eq!(read(&file.0, &["number", "text"], 8192, 2), sum(ROWS)));
    println!("{ahead} bytes with two threads");
    assert!(ahead < 16 * ROW_GROUP, "{ahead}");
    let peak = peak_of(|| assert_eq!(read(&file.0, &["number"], 8192, 1), sum(ROWS)));
    println!("{peak} bytes for the numbers alone");
    // No statistics show that all rows are wanted.
    let all = || marquetry::open(&file.0).unwrap().filter(col("number").ge(0)).threads(1);
    let filtered = peak_of(|| {
        let rows: usize = all().batches().unwrap().map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!(rows, ROWS);
    });
    println!("{filtered} bytes with a filter");
    assert!(filtered < 3 * ROW_GROUP && filtered < whole / 10, "{filtered}");
    assert!(peak < 3 * NUMBERS_OF_ROW_GROUP, "{peak}");
    drop(file);
    counting_makes_no_values();
    columns_share_buffers();
}

/// Columns that are read to their end one after the other decompress into the same memory: a batch of all rows takes little more
/// than its values.
fn columns_share_buffers() {
    const COLUMNS: usize = 500;
    let column = |i: usize| {
        // Few bits per value, so that the memory of decompressed pages and dictionaries matters.
        Arc::new(Int64Array::from_iter_values((0..4_000).map(|row| (row * (i as i64 + 7)) % 2_000)))
            as ArrayRef
    };
    let batch = RecordBatch::try_from_iter((0..COLUMNS).map(|i| (format!("c{i}"), column(i)))).unwrap();
    let values = batch.get_array_memory_size();
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    drop(batch);
    let builder = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file)).unwrap();
    let peak = peak_of(|| {
        let mut reader = builder.with_batch_size(4_000).with_threads(1).build().unwrap();
        assert_eq!(reader.next().unwrap().unwrap().num_rows(), 4_000);
    });
    println!("{peak} bytes for {values} of values in {COLUMNS} columns");
    // Buffers of their own took twice the values.
    assert!(peak < values + values / 4, "{peak}");
}

/// A filter reads texts in place: counting does not copy those of a single block of rows.
fn counting_makes_no_values() {
    const TEXT: usize = 16 << 10;
    let file = Removed(Path::new(env!("CARGO_TARGET_TMPDIR")).join("shared_texts.parquet"));
    let texts: Vec<String> = (0..8).map(|i| format!("{i}{}", "x".repeat(TEXT))).collect();
    let keys = Int32Array::from_iter((0..40_000).map(|row| (row % 9 > 0).then_some(row % 8)));
    let texts = DictionaryArray::new(keys, Arc::new(StringArray::from(texts)));
    let batch = RecordBatch::try_from_iter([("text", Arc::new(texts) as ArrayRef)]).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(&file.0).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    for (predicate, rows) in [
        ("text like '%xxx'", 35_555),
        ("text like '3%'", 4_444),
        ("text ~ '^[57]x'", 8_890),
        ("text is null or text ilike '%XXXX%'", 40_000),
        ("text <= text", 35_555),
    ] {
        let all = marquetry::open(&file.0).unwrap().filter(Predicate::parse(predicate).unwrap());
        let peak = peak_of(|| {
            let none: [&str; 0] = [];
            let batches = all.columns(none).batches().unwrap();
            assert_eq!(batches.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), rows, "{predicate}");
        });
        println!("{peak} bytes to count {predicate}");
        // The texts of a thousand rows would be 16 MiB.
        assert!(peak < 4 << 20, "{predicate}: {peak}");
    }
}

/// The most memory that `run` held on to at any time.
fn peak_of(run: impl FnOnce()) -> usize {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    run();
    MEMORY.peak_usage() - before
}

/// Reads all rows like a converter, which drops a batch before the next one comes. Returns the sum of the numbers.
fn read(path: &Path, columns: &[&str], batch_size: usize, threads: usize) -> i64 {
    let file = marquetry::open(path).unwrap().columns(columns.iter().copied()).threads(threads);
    let (mut sum, mut rows) = (0, 0);
    for batch in file.batch_size(batch_size).batches().unwrap() {
        let batch = batch.unwrap();
        sum += batch.column(0).as_primitive::<Int64Type>().values().iter().sum::<i64>();
        if let Some(text) = batch.columns().get(1) {
            assert_eq!(text.as_string_view().value(0), text_of(rows));
        }
        rows += batch.num_rows();
    }
    assert_eq!(rows, ROWS);
    sum
}

/// The sum of the numbers below `rows`.
fn sum(rows: usize) -> i64 {
    (rows * (rows - 1) / 2) as i64
}

fn text_of(row: usize) -> String {
    format!("a text of some length {row:06}", row = row % 1_000_000)
}

/// A file that is gone when the test is over.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Writes the file by hand: row by row its own number, as PLAIN, and a text, as PLAIN under SNAPPY.
fn write_file(path: &Path) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut position = PAR1.len();
    file.write_all(&PAR1)?;
    let mut row_groups = Vec::new();
    for row_group in 0..ROW_GROUPS {
        let first = row_group * PAGES * ROWS_OF_PAGE;
        let mut columns = Vec::new();
        for (column, codec) in [(0, CompressionCodec::UNCOMPRESSED), (1, CompressionCodec::SNAPPY)] {
            let start = position;
            for page in 0..PAGES {
                let rows = first + page * ROWS_OF_PAGE..first + (page + 1) * ROWS_OF_PAGE;
                let bytes = page_bytes(rows, column, codec);
                file.write_all(&bytes)?;
                position += bytes.len();
            }
            columns.push(chunk(column, codec, start, position - start));
        }
        row_groups.push(RowGroup { columns, num_rows: (PAGES * ROWS_OF_PAGE) as i64, ..RowGroup::default() });
    }
    let mut footer = Writer::new();
    metadata(row_groups).write(&mut footer);
    let footer = footer.finish();
    file.write_all(&footer)?;
    file.write_all(&FooterTail::Plain { metadata_len: footer.len() as u32 }.to_bytes())?;
    file.flush()
}

/// A data page of these rows, its header included.
fn page_bytes(rows: std::ops::Range<usize>, column: usize, codec: CompressionCodec) -> Vec<u8> {
    let mut values = Vec::new();
    let num_values = rows.len() as i32;
    for row in rows {
        if column == 0 {
            values.extend((row as i64).to_le_bytes());
        } else {
            let text = text_of(row);
            values.extend((text.len() as u32).to_le_bytes());
            values.extend(text.bytes());
        }
    }
    let mut stored = Vec::new();
    let codec = Codec::from_code(codec.0).unwrap();
    Compressor::new(codec, None).unwrap().compress(&values, &mut stored).unwrap();
    let mut header = Writer::new();
    PageHeader {
        type_: PageType::DATA_PAGE,
        uncompressed_page_size: values.len() as i32,
        compressed_page_size: stored.len() as i32,
        data_page_header: Some(DataPageHeader {
            num_values,
            encoding: Encoding::PLAIN,
            definition_level_encoding: Encoding::RLE,
            repetition_level_encoding: Encoding::RLE,
            statistics: None,
        }),
        ..PageHeader::default()
    }
    .write(&mut header);
    let mut page = header.finish();
    page.extend(stored);
    page
}

const COLUMNS: [(&str, Type); 2] = [("number", Type::INT64), ("text", Type::BYTE_ARRAY)];

fn chunk(column: usize, codec: CompressionCodec, start: usize, len: usize) -> ColumnChunk {
    let (name, type_) = COLUMNS[column];
    ColumnChunk {
        meta_data: Some(ColumnMetaData {
            type_,
            encodings: vec![Encoding::PLAIN],
            path_in_schema: vec![name.into()],
            codec,
            num_values: (PAGES * ROWS_OF_PAGE) as i64,
            total_uncompressed_size: len as i64,
            total_compressed_size: len as i64,
            data_page_offset: start as i64,
            ..ColumnMetaData::default()
        }),
        ..ColumnChunk::default()
    }
}

fn metadata(row_groups: Vec<RowGroup>) -> FileMetaData {
    let root = SchemaElement {
        name: "schema".into(),
        num_children: Some(COLUMNS.len() as i32),
        ..SchemaElement::default()
    };
    let columns = COLUMNS.iter().map(|(name, type_)| SchemaElement {
        name: (*name).into(),
        type_: Some(*type_),
        repetition_type: Some(Repetition::REQUIRED),
        converted_type: (*name == "text").then_some(marquetry::internals::format::ConvertedType::UTF8),
        ..SchemaElement::default()
    });
    FileMetaData {
        version: 1,
        schema: std::iter::once(root).chain(columns).collect(),
        num_rows: ROWS as i64,
        row_groups,
        ..FileMetaData::default()
    }
}
