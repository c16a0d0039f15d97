//! After a panic, of a source or a sink for example, a reader fails instead of waiting for ever or going on with other rows, and
//! a writer instead of ending a file that lacks some.

use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
use bytes::Bytes;
use marquetry_arrow::arrow_reader::{
    ArrowPredicateFn, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, ProjectionMask, RowFilter,
};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_base::Result;
use marquetry_core::io::AtomicFile;
use marquetry_core::predicate::Predicate;
use marquetry_core::source::Source;
use marquetry_core::write::WriterProperties;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::time::Duration;

/// A file whose reads panic, once some of them were done.
struct Panicking {
    file: Bytes,
    reads_left: AtomicUsize,
}

impl Source for Panicking {
    fn len(&self) -> u64 {
        self.file.len() as u64
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        let left = self.reads_left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        assert!(left.is_ok(), "a source that panics");
        self.file.read_at(offset, len)
    }
}

fn file() -> Bytes {
    let rows = 0..40_000i64;
    let columns: [(&str, ArrayRef); 2] = [
        ("id", Arc::new(Int64Array::from_iter_values(rows.clone()))),
        ("text", Arc::new(StringArray::from_iter_values(rows.map(|i| format!("row {i}"))))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(5_000))
        .set_data_page_row_count_limit(500)
        .set_write_batch_size(500);
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties.build())).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap().into()
}

/// Reads until a call panics, and after that; fails if no call panics. None takes more than a minute.
fn read_on_after_a_panic(mut reader: ParquetRecordBatchReader) {
    let (done, is_done) = channel();
    std::thread::spawn(move || {
        let mut next = || catch_unwind(AssertUnwindSafe(|| reader.next_batch()));
        let panicked = loop {
            match next() {
                Ok(Some(Ok(_))) => {}
                Ok(_) => break false,
                Err(_) => break true,
            }
        };
        let error = next();
        let error = error.map(|batch| batch.map(|batch| batch.map_err(|error| error.to_string())));
        let end = next().map(|batch| batch.is_none());
        done.send((panicked, format!("{error:?}"), end.ok())).unwrap();
    });
    let (panicked, error, end) =
        is_done.recv_timeout(Duration::from_secs(60)).expect("nobody waits for ever");
    assert!(panicked);
    assert!(error.contains("reading panicked before"), "{error}");
    assert_eq!(end, Some(true), "after an error a reader is over");
}

#[test]
fn a_reader_whose_source_panicked_says_so() {
    let file = file();
    for threads in [1, 3] {
        for reads in [2, 9] {
            for predicate in [None, Some("id > 7"), Some("text != 'row 7'")] {
                let predicate = predicate.and_then(|text| Predicate::parse(text).ok());
                let source = Panicking { file: file.clone(), reads_left: usize::MAX.into() };
                let source = Arc::new(source);
                let any: Arc<dyn Source> = source.clone();
                let mut builder = ParquetRecordBatchReaderBuilder::try_new(any)
                    .unwrap()
                    .with_batch_size(100)
                    .with_threads(threads);
                if let Some(predicate) = predicate {
                    builder = builder.with_predicate(predicate);
                }
                let reader = builder.build().unwrap();
                source.reads_left.store(reads, Relaxed);
                read_on_after_a_panic(reader);
            }
        }
    }
}

#[test]
fn a_reader_whose_filter_panicked_says_so() {
    let builder = ParquetRecordBatchReaderBuilder::try_new(file()).unwrap();
    let mask = ProjectionMask::leaves(builder.parquet_schema(), [0]);
    let mut calls = 0;
    let predicate = ArrowPredicateFn::new(mask, move |batch: RecordBatch| {
        calls += 1;
        assert!(calls < 3, "a filter that panics");
        Ok(BooleanArray::from(vec![true; batch.num_rows()]))
    });
    read_on_after_a_panic(
        builder.with_row_filter(RowFilter::new(vec![Box::new(predicate)])).build().unwrap(),
    );
}

/// A file that panics once instead of taking some bytes.
struct PanickingSink {
    file: AtomicFile,
    writes_left: usize,
}

impl Write for PanickingSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writes_left = self.writes_left.wrapping_sub(1);
        assert!(self.writes_left != 0, "a sink that panics");
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[test]
fn a_writer_whose_sink_panicked_ends_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f.parquet");
    std::fs::write(&path, "the old file").unwrap();
    let batch = RecordBatch::try_from_iter([
        ("a", Arc::new(Int64Array::from_iter_values(0..1_000)) as ArrayRef),
        ("b", Arc::new(Int64Array::from_iter_values(5_000..6_000))),
    ])
    .unwrap();
    let mut panics = 0;
    for writes_left in 2..20 {
        let sink = PanickingSink { file: AtomicFile::create(&path).unwrap(), writes_left };
        let mut writer = ArrowWriter::try_new(sink, batch.schema(), None).unwrap();
        let mut call = |work: &mut dyn FnMut(&mut ArrowWriter<PanickingSink>) -> Result<()>| {
            catch_unwind(AssertUnwindSafe(|| work(&mut writer)))
        };
        let flushed = call(&mut |writer| writer.write(&batch).and_then(|()| writer.flush()));
        if flushed.is_ok() {
            break;
        }
        panics += 1;
        let error = call(&mut |writer| writer.write(&batch)).unwrap().unwrap_err();
        assert!(error.to_string().contains("writing failed before"), "{error}");
        assert!(writer.into_inner().is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"the old file");
    }
    assert!(panics > 1, "{panics}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}
