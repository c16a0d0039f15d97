//! Writing takes a bounded amount of memory, however large a row group is, and however large one of its columns.

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry::basic::Compression;
use marquetry::file::properties::WriterProperties;
use peak_alloc::PeakAlloc;
use std::sync::{Arc, Mutex, PoisonError};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;
/// Memory is that of the process: one test at a time.
static TURN: Mutex<()> = Mutex::new(());

/// A gigabyte in one row group: a column of large texts, one of numbers, and one that has a dictionary all along.
#[test]
fn a_gigabyte_in_one_row_group_takes_a_fraction_of_it() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    const LIMIT: usize = 48 << 20;
    const BATCHES: usize = 128;
    const ROWS: usize = 8 << 10;
    let file = tempfile();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(None)
        .set_memory_limit(Some(LIMIT))
        .set_compression(Compression::LZ4_RAW)
        .build();
    let schema = batch(0, 1).schema();
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let mut writer = ArrowWriter::try_new(file.try_clone().unwrap(), schema, Some(properties)).unwrap();
    let mut input = 0;
    for i in 0..BATCHES {
        let batch = batch(i, ROWS);
        input += batch.get_array_memory_size();
        writer.write(&batch).unwrap();
    }
    let metadata = writer.close().unwrap();
    let peak = MEMORY.peak_usage() - before;
    assert!(input > 1 << 30, "{input}");
    assert_eq!(metadata.num_row_groups(), 1);
    // What may exceed the limit: a batch of the caller's, pages that are being filled, the page index, a codec.
    assert!(peak < 2 * LIMIT, "{peak} bytes of memory at a limit of {LIMIT}");
    eprintln!("{} MB written with {} MB of memory", input >> 20, peak >> 20);

    let rows = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().with_batch_size(ROWS).build().unwrap();
    for (i, read) in rows.enumerate() {
        let read = read.unwrap();
        assert_eq!(read.columns(), batch(i, ROWS).columns(), "batch {i}");
    }
}

/// Columns that do not compress, of a table that is in memory: their chunks are in the file before the next ones begin.
#[test]
fn a_table_at_once_takes_less_memory_than_its_chunks() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    const ROWS: usize = 1 << 20;
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 4
    };
    let texts: StringArray = (0..ROWS).map(|_| Some(format!("{:015x}", next()))).collect();
    let mut numbers = || Arc::new(Int64Array::from_iter_values((0..ROWS).map(|_| next() as i64))) as ArrayRef;
    let columns: [(&str, ArrayRef); 4] =
        [("a", numbers()), ("b", numbers()), ("text", Arc::new(texts)), ("c", numbers())];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    for threads in [1, 2] {
        let properties =
            WriterProperties::builder().set_compression(Compression::SNAPPY).set_threads(threads);
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        let mut writer =
            ArrowWriter::try_new(std::io::sink(), batch.schema(), Some(properties.build())).unwrap();
        writer.write_table(std::slice::from_ref(&batch)).unwrap();
        let metadata = writer.close().unwrap();
        let peak = MEMORY.peak_usage() - before;
        let group = metadata.row_group(0);
        let sizes: Vec<_> = (0..4).map(|i| group.column(i).unwrap().compressed_size() as usize).collect();
        let largest = sizes[2];
        eprintln!("{threads} threads: {peak} bytes of memory for chunks of {sizes:?}");
        // Each thread, except the one whose chunk goes into the file, may hold a chunk whose turn has not come.
        let most = largest / 2 + (threads - 1) * largest;
        assert!(peak < most && most * 3 < sizes.iter().sum::<usize>() * 2);
    }
}

/// Rows of about a thousand bytes.
fn batch(number: usize, rows: usize) -> RecordBatch {
    let mut state = number as u64 + 1;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 33
    };
    // Texts are pieces of one that is longer than any codec's window.
    let pool: String = (0..1 << 20).map(|_| char::from(b'!' + (next() % 90) as u8)).collect();
    let mut texts = StringBuilder::new();
    for _ in 0..rows {
        let from = next() as usize % (pool.len() - 1000);
        texts.append_value(&pool[from..from + 1000]);
    }
    let numbers: Int64Array = (0..rows).map(|_| next() as i64).collect();
    let few: Int64Array = (0..rows).map(|_| (next() % 1000) as i64).collect();
    let columns: [(&str, ArrayRef); 3] =
        [("text", Arc::new(texts.finish())), ("number", Arc::new(numbers)), ("few", Arc::new(few))];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// A file without a name: it is gone when it is closed.
fn tempfile() -> std::fs::File {
    let path = std::env::temp_dir().join(format!("marquetry-write-memory-{}", std::process::id()));
    let file = std::fs::OpenOptions::new().read(true).write(true).create_new(true).open(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    file
}
