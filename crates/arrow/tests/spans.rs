//! What somebody sees who watches: spans of opening, fetching, row groups, batches and writing, one in another.

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use bytes::Bytes;
use futures::executor::block_on_stream;
use marquetry_arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_arrow::async_reader::ParquetRecordBatchStreamBuilder;
use marquetry_core::predicate::Predicate;
use marquetry_core::write::{Compression, WriterProperties};
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

thread_local! {
    /// The spans that the thread is in.
    static IN: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Writes down each span as the names from the outermost to it.
#[derive(Default)]
struct Watcher {
    next: AtomicU64,
    paths: Mutex<Vec<String>>,
}

impl Subscriber for Watcher {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "marquetry"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut paths = self.paths.lock().unwrap();
        let name = span.metadata().name();
        let path = match IN.with_borrow(|inside| inside.last().copied()) {
            Some(parent) => format!("{}/{name}", paths[parent as usize - 1]),
            None => name.to_owned(),
        };
        paths.push(path);
        Id::from_u64(self.next.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn enter(&self, span: &Id) {
        IN.with_borrow_mut(|inside| inside.push(span.into_u64()));
    }

    fn exit(&self, span: &Id) {
        IN.with_borrow_mut(|inside| assert_eq!(inside.pop(), Some(span.into_u64())));
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
}

/// The different paths of the spans of `work`, in their order, and its result.
fn watched<T>(work: impl FnOnce() -> T) -> (Vec<String>, T) {
    let watcher = Arc::new(Watcher::default());
    let done = tracing::subscriber::with_default(watcher.clone(), work);
    let mut paths = std::mem::take(&mut *watcher.paths.lock().unwrap());
    paths.dedup();
    (paths, done)
}

/// Two row groups.
fn write() -> Bytes {
    let column = Arc::new(Int64Array::from_iter_values(0..1_000)) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("n", column)]).unwrap();
    // Uncompressed: these tests are run in builds without codecs, too.
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_max_row_group_row_count(Some(500))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap().into()
}

/// Whether anybody watches is asked once for all threads: a test that begins without a watcher would blind the other one.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[test]
fn writing_and_reading_are_seen() {
    let _turn = ONE_AT_A_TIME.lock();
    let (paths, file) = watched(write);
    assert_eq!(paths, ["encode", "write_row_group", "encode", "write_row_group", "finish"]);

    let (paths, rows) = watched(|| {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file.clone()).unwrap();
        let predicate = Predicate::parse("n >= 600").unwrap();
        let reader = builder.with_predicate(predicate).build().unwrap();
        reader.map(|batch| batch.unwrap().num_rows()).sum::<usize>()
    });
    assert_eq!(rows, 400);
    assert_eq!(paths[0], "open", "{paths:?}");
    let wanted = ["open/read", "batch", "batch/row_group", "batch/row_group/read"];
    assert!(wanted.iter().all(|wanted| paths.iter().any(|path| path == wanted)), "{paths:?}");
    assert!(paths.iter().all(|path| !path.contains("fetch")), "{paths:?}");
}

#[test]
fn streams_are_seen() {
    let _turn = ONE_AT_A_TIME.lock();
    let file = write();
    let (paths, rows) = watched(|| {
        let builder = futures::executor::block_on(ParquetRecordBatchStreamBuilder::new(file)).unwrap();
        block_on_stream(builder.build().unwrap()).map(|batch| batch.unwrap().num_rows()).sum::<usize>()
    });
    assert_eq!((rows, &*paths[0]), (1_000, "open"));
    // All of so small a file comes with its footer: nothing is fetched for a row group.
    let wanted = ["row_group", "batch"];
    assert!(wanted.iter().all(|wanted| paths.iter().any(|path| path == wanted)), "{paths:?}");
}
