//! `Limits::memory` bounds streams too: what they fetch, ahead or not, and what they make of it.

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use futures::{StreamExt, executor::block_on};
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_arrow::async_reader::ParquetRecordBatchStreamBuilder;
use marquetry_base::{ErrorKind, Limits, MemoryBudget, Result};
use marquetry_core::io::LocalFile;
use marquetry_core::predicate::Predicate;
use marquetry_core::source::Source;
use marquetry_core::write::{Compression, WriterProperties};
use peak_alloc::PeakAlloc;
use std::sync::Arc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const MIB: usize = 1 << 20;
/// What is not counted: footer and indexes, codec contexts, the small things; and a batch that was handed over.
const PADDING: usize = 6 * MIB;
const ROWS: usize = 600_000;

/// Six row groups of 2.4 MiB, in a file, so that what is fetched is memory.
fn file() -> (tempfile::NamedTempFile, Arc<dyn Source>) {
    let numbers = (0..ROWS as i64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64));
    let texts = (0..ROWS).map(|i| format!("text {:x}", i * i % 1_000_003));
    let columns: [(&str, ArrayRef); 3] = [
        ("id", Arc::new(Int64Array::from_iter_values(0..ROWS as i64))),
        ("number", Arc::new(Int64Array::from_iter_values(numbers))),
        ("text", Arc::new(StringArray::from_iter_values(texts))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_max_row_group_row_count(Some(ROWS / 6))
        .build();
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut writer = ArrowWriter::try_new(file.reopen().unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let source = Arc::new(LocalFile::open(file.path()).unwrap());
    (file, source)
}

/// The rows that a stream gives, the most of the budget that was taken between batches, and the most memory.
fn read(
    source: &Arc<dyn Source>,
    memory: &MemoryBudget,
    predicate: Option<&str>,
) -> (Result<usize>, usize, usize) {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let limits = Limits { memory: memory.clone(), ..Limits::default() };
    let options = ArrowReaderOptions::new().with_limits(limits);
    let outcome = block_on(async {
        let metadata = ArrowReaderMetadata::load_async(source, options).await?;
        let mut builder = ParquetRecordBatchStreamBuilder::new_with_metadata(source.clone(), metadata);
        if let Some(predicate) = predicate {
            builder = builder.with_predicate(Predicate::parse(predicate)?);
        }
        let mut stream = builder.with_batch_size(8192).build()?;
        let (mut rows, mut most) = (0, 0);
        while let Some(batch) = stream.next().await {
            rows += batch?.num_rows();
            most = most.max(memory.used());
        }
        Ok((rows, most))
    });
    let peak = MEMORY.peak_usage() - before;
    assert_eq!(memory.used(), 0, "all is given back");
    match outcome {
        Ok((rows, most)) => (Ok(rows), most, peak),
        Err(error) => (Err(error), 0, peak),
    }
}

/// One test: the allocator counts for all threads.
#[test]
fn a_stream_keeps_its_budget() {
    let (_file, source) = file();
    assert!(source.len() > 10 * MIB as u64);
    for (predicate, wanted) in [(None, ROWS), (Some("id >= 150000 and text like 'text 1%'"), 0)] {
        let (rows, _, free) = read(&source, &MemoryBudget::default(), predicate);
        let rows = rows.unwrap();
        assert!(if wanted > 0 { rows == wanted } else { (1..ROWS / 2).contains(&rows) }, "{rows}");
        for budget in [12 * MIB, 24 * MIB] {
            let (seen, most, peak) = read(&source, &MemoryBudget::new(budget), predicate);
            println!("{predicate:?}: {peak} with {budget}, {most} of it held, {free} without a bound");
            assert_eq!(seen.unwrap(), rows);
            assert!(peak <= budget + PADDING, "{peak} with {budget}");
            assert!((2 * MIB..=budget).contains(&most), "{most}: what was fetched counts");
        }
        let (seen, _, peak) = read(&source, &MemoryBudget::new(MIB), predicate);
        let error = seen.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert!(error.message().contains("Limits::memory"), "{error}");
        assert!(peak <= MIB + PADDING, "{peak}");
    }
}
