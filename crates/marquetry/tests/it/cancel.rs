//! What is cancelled stops at the next page, whatever it does and however many threads do it, and leaves nothing behind.

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use bytes::Bytes;
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use marquetry::basic::Compression;
use marquetry::errors::{CancelToken, Error, ErrorKind, Limits, Result};
use marquetry::file::Source;
use marquetry::file::properties::{WriterProperties, WriterPropertiesBuilder};
use marquetry::predicate::Predicate;
use marquetry::prune::{PruneOptions, PruneReport, prune_row_group};
use marquetry::verify::{Level, VerifyOptions, verify};
use marquetry_core::write::copy::{CopySettings, copy_chunk};
use marquetry_recover::{RecoverOptions, recover};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

const ROWS: usize = 1 << 20;

/// Four columns of 8 MiB that do not compress.
fn rows() -> RecordBatch {
    let column = |seed: u64| {
        let numbers = (0..ROWS as u64).map(|i| (i ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) as i64);
        Arc::new(Int64Array::from_iter_values(numbers)) as ArrayRef
    };
    RecordBatch::try_from_iter([("a", column(1)), ("b", column(2)), ("c", column(3)), ("d", column(4))])
        .unwrap()
}

fn properties() -> WriterPropertiesBuilder {
    WriterProperties::builder().set_compression(Compression::UNCOMPRESSED).set_dictionary_enabled(false)
}

fn file() -> &'static Bytes {
    static FILE: OnceLock<Bytes> = OnceLock::new();
    FILE.get_or_init(|| {
        let batch = rows();
        let properties = properties().set_max_row_group_row_count(Some(ROWS / 2)).build();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap().into()
    })
}

/// A file that cancels when it is read for the n-th time, and counts what is read afterwards.
struct Watched {
    bytes: Bytes,
    token: CancelToken,
    cancels_at: usize,
    reads: AtomicUsize,
}

impl Watched {
    fn new(cancels_at: usize) -> Arc<Self> {
        let (token, reads) = (CancelToken::new(), AtomicUsize::new(0));
        Arc::new(Watched { bytes: file().clone(), token, cancels_at, reads })
    }

    fn limits(&self) -> Limits {
        Limits::default().with_cancel(self.token.clone())
    }

    /// Returns the error of a cancelled operation, after which no more than `most` reads came.
    fn is_cancelled<T>(&self, outcome: Result<T>, most: usize) {
        let error = outcome.err().expect("it was cancelled");
        assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
        let after = self.reads() - self.cancels_at;
        assert!(after <= most, "{after} reads after it was cancelled");
    }

    fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }
}

impl Source for Watched {
    fn len(&self) -> u64 {
        Source::len(&self.bytes)
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        if self.reads.fetch_add(1, Ordering::SeqCst) + 1 == self.cancels_at {
            self.token.cancel();
        }
        self.bytes.read_at(offset, len)
    }
}

fn reader(
    source: &Arc<Watched>,
    threads: usize,
    predicate: Option<&str>,
) -> Result<ParquetRecordBatchReader> {
    let options = ArrowReaderOptions::new().with_limits(source.limits());
    let source: Arc<dyn Source> = source.clone();
    let metadata = ArrowReaderMetadata::load(file().clone(), options)?;
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(source, metadata).with_threads(threads);
    match predicate {
        Some(predicate) => builder.with_predicate(Predicate::parse(predicate)?).build(),
        None => builder.build(),
    }
}

fn drain(reader: Result<ParquetRecordBatchReader>) -> Result<usize> {
    let (mut reader, mut rows) = (reader?, 0);
    while let Some(batch) = reader.next_batch() {
        rows += batch?.num_rows();
    }
    Ok(rows)
}

#[test]
fn reading_stops_at_the_next_page() {
    for (threads, predicate) in
        [(1, None), (2, None), (5, None), (1, Some("a > 0 and b < 100")), (2, Some("a > 0 and b < 100"))]
    {
        // Each thread may be before a read for which it has already checked the token.
        for cancels_at in [1, 4, 9] {
            let source = Watched::new(cancels_at);
            source.is_cancelled(drain(reader(&source, threads, predicate)), threads);
        }
        let source = Watched::new(usize::MAX);
        let all = drain(reader(&source, threads, predicate)).unwrap();
        assert!(source.reads() > 20 && (all == ROWS) == predicate.is_none(), "{} reads", source.reads());
    }
}

/// Dropping a reader does not wait for what its threads would read ahead.
#[test]
fn a_dropped_reader_stops_its_threads_and_no_others() {
    for predicate in [None, Some("a > 0")] {
        for threads in [2, 4] {
            let source = Watched::new(usize::MAX);
            let mut dropped = reader(&source, threads, predicate).unwrap();
            dropped.next_batch().unwrap().unwrap();
            let before = source.reads();
            drop(dropped);
            let after = source.reads() - before;
            assert!(after <= threads, "{after} reads by {threads} threads after the reader was dropped");
            assert!(!source.token.is_cancelled());
            assert!(drain(reader(&source, threads, None)).is_ok(), "others go on");
        }
    }
}

#[test]
fn pruning_stops() {
    let source = Watched::new(usize::MAX);
    let metadata = marquetry::open_bytes(file().clone()).unwrap().metadata().clone();
    let predicate = Predicate::parse("a > 0").unwrap().bind(metadata.schema()).unwrap();
    source.token.cancel();
    let options = PruneOptions::default().with_limits(Arc::new(source.limits()));
    let mut report = PruneReport::default();
    let pruned = prune_row_group(&*source, &metadata, 0, &predicate, &options, &mut report);
    assert_eq!(pruned.unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(source.reads(), 0);
}

#[test]
fn verifying_stops() {
    for threads in [1, 3] {
        for level in [Level::Default, Level::Deep] {
            for cancels_at in [3, 10, 17] {
                let source = Watched::new(cancels_at);
                let limits = source.limits();
                let options =
                    VerifyOptions::default().with_threads(threads).with_level(level).with_limits(limits);
                source.is_cancelled(verify(source.clone(), &options), threads);
            }
        }
    }
    let source = Watched::new(usize::MAX);
    let options = VerifyOptions::default().with_level(Level::Deep).with_limits(source.limits());
    assert!(verify(source.clone(), &options).unwrap().findings.is_empty());
    assert!(source.reads() > 20, "{} reads", source.reads());
}

/// With a footer pages are checked, without one they are searched for.
#[test]
fn recovering_stops() {
    for cut in [0, 100] {
        for cancels_at in [3, 8, 12] {
            let mut source = Watched::new(cancels_at);
            let whole = Arc::get_mut(&mut source).unwrap();
            whole.bytes.truncate(whole.bytes.len() - cut);
            let options = RecoverOptions::default().with_threads(2).with_limits(Arc::new(source.limits()));
            source.is_cancelled(recover(source.clone(), &options).map(drop), 2);
        }
    }
}

#[test]
fn copying_stops() {
    let metadata = Arc::new(marquetry::open_bytes(file().clone()).unwrap().metadata().clone());
    for cancels_at in [2, 4] {
        let source = Watched::new(cancels_at);
        let settings = CopySettings::default()
            .with_verify_checksums(true)
            .with_checksums(true)
            .with_limits(Arc::new(source.limits()));
        let from: Arc<dyn Source> = source.clone();
        source.is_cancelled(copy_chunk(&from, &metadata, 0, 0, &settings).map(drop), 1);
    }
}

#[test]
fn a_writer_that_is_cancelled_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let (path, batch) = (folder.path().join("a.parquet"), rows());
    for threads in [1, 3] {
        for rows_before in [0, 10, ROWS] {
            let token = CancelToken::new();
            let properties = properties().set_threads(threads).set_cancel_token(token.clone()).build();
            let mut writer = marquetry::create_with_properties(&path, batch.schema(), properties).unwrap();
            writer.write(&batch.slice(0, rows_before)).unwrap();
            token.cancel();
            let written = writer.write(&batch);
            assert_eq!(written.map_err(|error| error.kind()), Err(ErrorKind::Cancelled));
            assert_eq!(writer.close().unwrap_err().kind(), ErrorKind::Argument, "it failed before");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
    // Cancelled while it ends.
    let token = CancelToken::new();
    let properties = properties().set_cancel_token(token.clone()).build();
    let mut writer = marquetry::create_with_properties(&path, batch.schema(), properties).unwrap();
    writer.write(&batch.slice(0, 10)).unwrap();
    token.cancel();
    let error: Error = writer.close().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
