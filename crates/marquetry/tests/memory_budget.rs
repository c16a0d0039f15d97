//! `Limits::memory` is kept: a reader holds no more, whatever the file is, or fails.

use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
use bytes::Bytes;
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::ProjectionMask;
use marquetry::arrow::arrow_reader::{
    ArrowPredicateFn, ArrowReaderOptions, OnCorrupt, ParquetRecordBatchReaderBuilder, RowFilter,
};
use marquetry::basic::{Compression, Encoding, ZstdLevel};
use marquetry::errors::{Error, ErrorKind, Limits, MemoryBudget};
use marquetry::file::properties::{WriterProperties, WriterPropertiesBuilder};
use marquetry::predicate::Predicate;
use peak_alloc::PeakAlloc;
use std::sync::Arc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

type Builder = ParquetRecordBatchReaderBuilder<Bytes>;

const MIB: usize = 1 << 20;
/// Memory that is not counted: the footer, codec contexts, small allocations.
const PADDING: usize = 6 * MIB;

fn written(columns: Vec<(String, ArrayRef)>, properties: WriterPropertiesBuilder) -> Bytes {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties.build())).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap().into()
}

/// What a read gave, and the most memory that it took besides the file.
struct Outcome {
    rows: Result<usize, Error>,
    peak: usize,
}

fn read(file: &Bytes, memory: &MemoryBudget, batch_size: usize, on_corrupt: OnCorrupt) -> Outcome {
    read_rows(file, memory, batch_size, on_corrupt, |builder| builder)
}

/// [`read`] of some rows.
fn read_rows(
    file: &Bytes,
    memory: &MemoryBudget,
    batch_size: usize,
    on_corrupt: OnCorrupt,
    filtered: impl FnOnce(Builder) -> Builder,
) -> Outcome {
    let limits = Limits::default().with_memory(memory.clone());
    let options = ArrowReaderOptions::new().with_limits(limits).with_on_corrupt(on_corrupt);
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options).unwrap();
    let mut reader = filtered(builder.with_batch_size(batch_size)).build().unwrap();
    let mut rows = Ok(0);
    while let Some(batch) = reader.next_batch() {
        match (batch, &mut rows) {
            (Ok(batch), Ok(rows)) => *rows += batch.num_rows(),
            (Err(error), _) => rows = Err(error),
            _ => {}
        }
    }
    let peak = MEMORY.peak_usage() - before;
    drop(reader);
    assert_eq!(memory.used(), 0, "all is given back");
    Outcome { rows, peak }
}

/// Columns of numbers and of texts, as most files are.
fn honest() -> Bytes {
    let n = 200_000;
    let columns = (0..8usize).map(|column| {
        let array: ArrayRef = match column % 2 {
            0 => Arc::new(Int64Array::from_iter_values((0..n).map(|i| i * (column as i64 + 1)))),
            _ => Arc::new(StringArray::from_iter_values(
                (0..n).map(|i| format!("text {} of {column}", i % 5000)),
            )),
        };
        (format!("c{column}"), array)
    });
    written(columns.collect(), WriterProperties::builder())
}

/// A text of 256 KiB, so often that all of them are 200 MiB, and hardly more than once in the file.
fn one_text() -> Bytes {
    let text = "x".repeat(MIB / 4);
    let texts = StringArray::from_iter_values(std::iter::repeat_n(text.as_str(), 800));
    written(vec![("text".into(), Arc::new(texts))], WriterProperties::builder().set_compression(zstd()))
}

/// A row of 8 million elements that are all the same.
fn one_list() -> Bytes {
    let mut lists = ListBuilder::new(Int64Builder::new());
    lists.values().append_value_n(7, 8_000_000);
    lists.append(true);
    written(vec![("list".into(), Arc::new(lists.finish()))], WriterProperties::builder())
}

/// Many columns, each of one page that compresses to nothing.
fn many_pages() -> Bytes {
    let zeros: ArrayRef = Arc::new(Int64Array::from_iter_values((0..400_000).map(|i| i & 1)));
    let properties = WriterProperties::builder()
        .set_compression(zstd())
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::PLAIN)
        .set_data_page_size_limit(64 * MIB)
        .set_data_page_row_count_limit(1 << 20);
    written((0..40).map(|column| (format!("c{column}"), zeros.clone())).collect(), properties)
}

fn zstd() -> Compression {
    Compression::ZSTD(ZstdLevel::try_new(1).unwrap())
}

/// Rows that a predicate selects, or a closure over texts.
fn by_predicate(builder: Builder) -> Builder {
    builder.with_predicate(Predicate::parse("c0 >= 1000 and c1 like 'text 1%'").unwrap())
}

fn by_closure(column: &'static str) -> impl Fn(Builder) -> Builder {
    move |builder: Builder| {
        let mask = ProjectionMask::columns(builder.parquet_schema(), [column]);
        let is_wanted = |batch: RecordBatch| {
            let rows = batch.num_rows();
            Ok((0..rows).map(|row| Some(row % 3 > 0)).collect::<BooleanArray>())
        };
        builder.with_row_filter(RowFilter::new(vec![Box::new(ArrowPredicateFn::new(mask, is_wanted))]))
    }
}

/// The memory of filters counts.
fn budgets_of_filters() {
    let file = honest();
    let ways: [(&str, &dyn Fn(Builder) -> Builder); 2] =
        [("predicate", &by_predicate), ("closure", &by_closure("c1"))];
    for (name, way) in ways {
        let free = read_rows(&file, &MemoryBudget::default(), 8192, OnCorrupt::Fail, way);
        let rows = free.rows.unwrap();
        assert!((1..200_000).contains(&rows), "{name}: {rows}");
        for budget in [24 * MIB, 48 * MIB] {
            let bounded = read_rows(&file, &MemoryBudget::new(budget), 8192, OnCorrupt::Fail, way);
            println!("honest, {name}: {} of {budget}, {} without a bound", bounded.peak, free.peak);
            assert_eq!(bounded.rows.unwrap(), rows);
            assert!(bounded.peak <= budget + PADDING);
        }
        let starved = read_rows(&file, &MemoryBudget::new(MIB / 2), 8192, OnCorrupt::Fail, way);
        assert_eq!(starved.rows.unwrap_err().kind(), ErrorKind::Memory);
        assert!(starved.peak <= MIB / 2 + PADDING, "{}", starved.peak);
    }
    // The column in the predicate is the one that grows.
    for (column, file) in [("text", one_text()), ("list", one_list())] {
        let budget = 32 * MIB;
        let bounded = read_rows(&file, &MemoryBudget::new(budget), 300, OnCorrupt::Fail, by_closure(column));
        println!("{column}, filtered: {} of {budget}; {:?}", bounded.peak, bounded.rows);
        assert!(bounded.peak <= budget + PADDING, "{column}: {}", bounded.peak);
        assert_eq!(bounded.rows.unwrap_err().kind(), ErrorKind::Memory);
    }
}

/// Texts of 16 KiB that differ, 32 MiB in all, without a dictionary.
fn many_texts() -> Bytes {
    let text = "x".repeat(16 << 10);
    let texts = StringArray::from_iter_values((0..2_000).map(|i| format!("{text}{}", i % 7)));
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::PLAIN)
        .set_data_page_size_limit(128 << 10)
        .set_write_batch_size(1)
        .set_data_page_row_count_limit(1 << 20);
    written(vec![("text".into(), Arc::new(texts))], properties)
}

/// Counting rows needs no arrays: columns that only the predicate uses are read page by page, in the page.
fn counting_makes_no_arrays() {
    for (file, text, rows) in
        [(one_text(), "text like '%y' or text like '%x'", 800), (many_texts(), "text like '%x3'", 286)]
    {
        let filtered = |builder: Builder, columns: &[&str]| {
            let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
            builder.with_projection(mask).with_predicate(Predicate::parse(text).unwrap())
        };
        let free = MemoryBudget::default();
        let counted = read_rows(&file, &free, 2_000, OnCorrupt::Fail, |builder| filtered(builder, &[]));
        let shown = read_rows(&file, &free, 2_000, OnCorrupt::Fail, |builder| filtered(builder, &["text"]));
        println!("{text}: {} to count, {} to show", counted.peak, shown.peak);
        assert_eq!((counted.rows.unwrap(), shown.rows.unwrap()), (rows, rows));
        assert!(counted.peak <= 3 * MIB, "{text}: {}", counted.peak);
        assert!(shown.peak > 4 * MIB, "{text}: {}", shown.peak);
    }
}

/// One test: the allocator counts for all threads.
#[test]
fn a_budget_is_kept() {
    counting_makes_no_arrays();
    budgets_of_filters();
    let file = honest();
    for mode in [OnCorrupt::Fail, OnCorrupt::SkipPage] {
        let free = read(&file, &MemoryBudget::default(), 8192, mode);
        assert_eq!(free.rows.unwrap(), 200_000);
        for budget in [24 * MIB, 48 * MIB] {
            let bounded = read(&file, &MemoryBudget::new(budget), 8192, mode);
            println!("honest, {mode:?}: {} of {budget}, {} without a bound", bounded.peak, free.peak);
            assert_eq!(bounded.rows.unwrap(), 200_000);
            assert!(bounded.peak <= budget + PADDING);
        }
        let starved = read(&file, &MemoryBudget::new(MIB / 2), 8192, mode);
        assert!(starved.peak <= MIB / 2 + PADDING, "{}", starved.peak);
        if mode == OnCorrupt::Fail {
            assert_eq!(starved.rows.unwrap_err().kind(), ErrorKind::Memory);
        }
    }
    for (name, file) in [("text", one_text()), ("list", one_list()), ("pages", many_pages())] {
        let free = read(&file, &MemoryBudget::default(), 300, OnCorrupt::Fail);
        assert!(free.rows.is_ok());
        for mode in [OnCorrupt::Fail, OnCorrupt::NullPage] {
            let budget = 32 * MIB;
            let bounded = read(&file, &MemoryBudget::new(budget), 300, mode);
            println!(
                "{name}, {mode:?}: {} of {budget}, {} without a bound; {:?}",
                bounded.peak, free.peak, bounded.rows
            );
            assert!(free.peak > budget + 2 * PADDING, "{name} is no danger");
            assert!(bounded.peak <= budget + PADDING, "{name}: {}", bounded.peak);
            if mode == OnCorrupt::Fail {
                let error = bounded.rows.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Memory);
                assert!(error.message().contains("Limits::memory"), "{error}");
            }
        }
    }
}
