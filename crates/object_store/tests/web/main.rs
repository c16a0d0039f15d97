//! Files on a web server, read by a stream and by who does not wait.

mod hostile;
mod server;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use futures::TryStreamExt;
use marquetry_arrow::arrow_reader::{ParquetRecordBatchReaderBuilder, ProjectionMask};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_arrow::async_reader::{CoalesceOptions, ParquetRecordBatchStreamBuilder};
use marquetry_base::{Error, ErrorKind};
use marquetry_core::source::Source;
use marquetry_core::write::WriterProperties;
use marquetry_object_store::object_store::http::HttpBuilder;
use marquetry_object_store::object_store::path::Path;
use marquetry_object_store::object_store::{BackoffConfig, ClientOptions, RetryConfig};
use marquetry_object_store::{ObjectFile, StoreRegistry};
use server::{Faults, Server};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn rows() -> RecordBatch {
    let id = Arc::new(Int64Array::from_iter_values(0..200_000)) as ArrayRef;
    let price = Float64Array::from_iter_values((0..200_000).map(|i| (i * 7919 % 100_003) as f64 * 0.37));
    RecordBatch::try_from_iter([("id", id), ("price", Arc::new(price) as ArrayRef)]).unwrap()
}

/// Four row groups, some hundred KB each.
fn file() -> Vec<u8> {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(50_000)).build();
    let rows = rows();
    let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties)).unwrap();
    writer.write(&rows).unwrap();
    writer.into_inner().unwrap()
}

/// A file of a store that retries quickly.
fn object(server: &Server) -> ObjectFile {
    let _ = StoreRegistry::new().unwrap();
    let (least, most) = (Duration::from_millis(1), Duration::from_millis(5));
    let backoff = BackoffConfig { init_backoff: least, max_backoff: most, base: 2. };
    let retry = RetryConfig { backoff, max_retries: 3, retry_timeout: Duration::from_secs(20) };
    let url = server.url();
    let (host, _) = url.split_once("/data").unwrap();
    let store = HttpBuilder::new().with_url(host).with_retry(retry);
    let store = store.with_client_options(ClientOptions::new().with_allow_http(true)).build().unwrap();
    ObjectFile::new(Arc::new(store), Path::from_url_path("data/file%201.parquet").unwrap())
}

fn streamed(server: &Server) -> Result<Vec<RecordBatch>, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let object = object(server);
    runtime.block_on(async {
        let builder = ParquetRecordBatchStreamBuilder::new(object).await?;
        builder
            .with_batch_size(50_000)
            .with_request_cost(CoalesceOptions::new(0, 100_000))
            .build()?
            .try_collect()
            .await
    })
}

fn is_all(batches: &[RecordBatch]) {
    let rows = rows();
    assert_eq!(batches.len(), 4);
    for (i, batch) in batches.iter().enumerate() {
        assert_eq!(batch, &rows.slice(i * 50_000, 50_000));
    }
}

#[test]
fn a_stream_gives_the_rows() {
    for faults in [
        Faults::default(),
        Faults { latency: Duration::from_millis(5), ..Faults::default() },
        Faults { has_no_tags: true, ..Faults::default() },
        Faults { knows_no_suffix: true, ..Faults::default() },
    ] {
        let server = Server::start(file(), faults);
        is_all(&streamed(&server).unwrap());
        assert!(server.take_answers().len() > 4);
    }
}

#[test]
fn retries_are_the_stores() {
    for i in 0..6 {
        let server = Server::start(file(), Faults { busy: Some((i, i + 2)), ..Faults::default() });
        is_all(&streamed(&server).unwrap());
        let server = Server::start(file(), Faults { cut: Some((i, i + 1)), ..Faults::default() });
        is_all(&streamed(&server).unwrap());
    }
    let server = Server::start(file(), Faults { busy: Some((3, usize::MAX)), ..Faults::default() });
    let error = streamed(&server).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("503"), "{error}");
}

/// Parts of two files are never mixed, whether the server evaluates the condition or only states what it returns.
#[test]
fn a_file_that_changes_is_an_error() {
    for changes in 1..5 {
        for (is_careless, has_no_tags) in [(false, false), (true, false), (true, true)] {
            let faults = Faults { changes: Some(changes), is_careless, has_no_tags, ..Faults::default() };
            let error = streamed(&Server::start(file(), faults)).unwrap_err();
            assert_eq!(error.message(), "the file has changed since it was opened");
        }
    }
}

#[test]
fn servers_without_ranges_are_refused() {
    let server = Server::start(file(), Faults { knows_no_ranges: true, ..Faults::default() });
    let error = streamed(&server).unwrap_err();
    assert!(error.to_string().contains("Range request not supported"), "{error}");
    // An empty file is an answer, though.
    let error = streamed(&Server::start(Vec::new(), Faults::default())).unwrap_err();
    assert!(error.message().contains("not a Parquet file"), "{error}");
}

#[test]
fn who_does_not_wait_reads_by_url() {
    let stores = StoreRegistry::new().unwrap();
    let file = file();
    let server = Server::start(file.clone(), Faults::default());
    let source: Arc<dyn Source> = Arc::new(stores.open(&server.url()).unwrap());
    assert_eq!(server.take_answers().len(), 1);
    let builder = ParquetRecordBatchReaderBuilder::try_new(source.clone()).unwrap().with_batch_size(50_000);
    let mask = ProjectionMask::columns(builder.parquet_schema(), ["price"]);
    let rows: Vec<_> = builder.with_projection(mask).build().unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[2].column(0), &super_rows(2));
    // All row groups of the column together.
    assert_eq!(server.take_answers().len(), 1);
    // Announced ranges are fetched once, and together.
    source.prefetch(&[]).unwrap();
    source.prefetch(&[1000..2000, 5000..6000, 100_000..100_100, 5_000_000_000..6_000_000_000]).unwrap();
    assert_eq!(server.take_answers().iter().map(|answer| answer.bytes).collect::<Vec<_>>(), [99_100]);
    assert_eq!(source.read_at(5500, 500).unwrap(), &file[5500..6000]);
    source.prefetch(&[5000..5500, 5500..6000]).unwrap();
    assert_eq!(source.read_at(5000, 1000).unwrap(), &file[5000..6000]);
    assert_eq!(server.take_answers(), []);
    assert_eq!(source.read_at(1000, 10).unwrap(), &file[1000..1010]);
    assert_eq!(server.take_answers().len(), 1);
    assert_eq!(source.read_at(source.len() - 1, 2).unwrap_err().kind(), ErrorKind::Truncated);
    let missing = server.url().replace("data", "none");
    let error = stores.open(&missing).err().unwrap();
    assert!(error.to_string().contains("there is no object none/file 1.parquet"), "{error}");
    assert!(stores.files(&server.url().replace("file", "*")).unwrap_err().message().contains("web server"));
}

/// Ranges that are far apart are separate requests, which are in flight at the same time: an asynchronous reader pays
/// one latency for all of them, also for a range that is too large for one request.
#[test]
fn ranges_are_fetched_at_the_same_time() {
    let latency = Duration::from_millis(200);
    let file: Vec<u8> = (0..24u32 << 20).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
    let server = Server::start(file.clone(), Faults { latency, ..Faults::default() });
    let source = StoreRegistry::new().unwrap().open(&server.url()).unwrap();
    server.take_answers();
    server.take_rounds();
    let ranges: Vec<_> = (0..12u64).map(|i| i << 20..(i << 20) + 1000).collect();
    let start = Instant::now();
    source.prefetch(&ranges).unwrap();
    let all = start.elapsed();
    assert_eq!((server.take_answers().len(), server.take_rounds()), (12, 1));
    for range in &ranges {
        let read = source.read_at(range.start, 1000).unwrap();
        assert_eq!(read, &file[range.start as usize..range.end as usize]);
    }
    assert_eq!(server.take_answers(), []);
    let start = Instant::now();
    let large = 13 << 20..23 << 20;
    assert_eq!(source.read_at(13 << 20, 10 << 20).unwrap(), &file[large]);
    let one = start.elapsed();
    assert_eq!((server.take_answers().len(), server.take_rounds()), (2, 1));
    eprintln!("12 ranges in {all:?}, 10 MiB in {one:?}, with a latency of {latency:?}");
}

fn super_rows(group: usize) -> ArrayRef {
    rows().column(1).slice(group * 50_000, 50_000)
}
