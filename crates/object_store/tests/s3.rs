//! Files in an S3-compatible server on this machine: `MARQUETRY_S3` is its address, `MARQUETRY_S3_LOG` the file that it
//! logs requests to. `.ci/remote/run.sh` starts one and sets both; without them the tests are skipped.

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use bytes::Bytes;
use futures::TryStreamExt;
use marquetry_arrow::arrow_reader::{ParquetRecordBatchReaderBuilder, ProjectionMask};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_arrow::async_reader::ParquetRecordBatchStreamBuilder;
use marquetry_base::Limits;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::page_index::read_offset_index;
use marquetry_core::predicate::Predicate;
use marquetry_core::source::Source;
use marquetry_core::write::WriterProperties;
use marquetry_object_store::object_store::aws::AmazonS3Builder;
use marquetry_object_store::object_store::path::Path;
use marquetry_object_store::object_store::{ObjectStore, ObjectStoreExt};
use marquetry_object_store::{ObjectFile, StoreRegistry};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

const BUCKET: &str = "marquetry";

/// The bucket; `None` if the test is to be skipped.
fn bucket() -> Option<Arc<dyn ObjectStore>> {
    let Some(endpoint) = std::env::var("MARQUETRY_S3").ok() else {
        eprintln!("skipped: no server, MARQUETRY_S3 is not set");
        return None;
    };
    let _ = StoreRegistry::new().unwrap();
    let store = AmazonS3Builder::new()
        .with_bucket_name(BUCKET)
        .with_endpoint(endpoint)
        .with_allow_http(true)
        .with_region("us-east-1")
        .with_access_key_id("test")
        .with_secret_access_key("test")
        .build();
    Some(Arc::new(store.unwrap()))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// The bytes of each answer about `key`, from the first request on.
fn answers(key: &str) -> Vec<usize> {
    let log = std::fs::read_to_string(std::env::var("MARQUETRY_S3_LOG").unwrap()).unwrap();
    let of_key =
        log.lines().filter(|line| !line.starts_with("PUT") && line.contains(&format!(" /{BUCKET}/{key} ")));
    of_key.map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect()
}

fn rows() -> RecordBatch {
    let id = Arc::new(Int64Array::from_iter_values(0..400_000)) as ArrayRef;
    let name = StringArray::from_iter_values(
        (0..400_000u64).map(|i| format!("{:x}", i.wrapping_mul(0x9e37_79b9_7f4a_7c15))),
    );
    RecordBatch::try_from_iter([("id", id), ("name", Arc::new(name) as ArrayRef)]).unwrap()
}

fn file() -> Vec<u8> {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(200_000)).build();
    let rows = rows();
    let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties)).unwrap();
    writer.write(&rows).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn a_stream_takes_few_requests() {
    let Some(store) = bucket() else { return };
    let path = Path::from("stream.parquet");
    runtime().block_on(async {
        store.put(&path, file().into()).await.unwrap();
        let builder = ParquetRecordBatchStreamBuilder::new(ObjectFile::new(store, path)).await.unwrap();
        let column =
            builder.metadata().row_groups().map(|group| group.column(0).unwrap().compressed_size() as usize);
        let least: usize = column.sum();
        let mask = ProjectionMask::columns(builder.parquet_schema(), ["id"]);
        let stream = builder.with_projection(mask).with_batch_size(200_000).build().unwrap();
        let batches: Vec<RecordBatch> = stream.try_collect().await.unwrap();
        assert_eq!(batches.len(), 2);
        assert_eq!(batches[1].column(0), &rows().column(0).slice(200_000, 200_000));
        // The footer, and each row group's column.
        let answers = answers("stream.parquet");
        assert_eq!((answers.len(), answers[0]), (3, 64 << 10));
        let fetched: usize = answers[1..].iter().sum();
        assert!((least..least + 1000).contains(&fetched), "{fetched} bytes for {least}");
    });
}

#[test]
fn a_file_that_is_written_over_is_an_error() {
    let Some(store) = bucket() else { return };
    let path = Path::from("changes.parquet");
    runtime().block_on(async {
        store.put(&path, file().into()).await.unwrap();
        let file = ObjectFile::new(store.clone(), path.clone());
        let mut stream =
            ParquetRecordBatchStreamBuilder::new(file).await.unwrap().with_prefetch(0).build().unwrap();
        stream.try_next().await.unwrap().unwrap();
        let mut other = self::file();
        other[100_000] ^= 1;
        store.put(&path, other.into()).await.unwrap();
        let error = loop {
            match stream.try_next().await {
                Ok(batch) => assert!(batch.is_some(), "the change was not seen"),
                Err(error) => break error,
            }
        };
        assert_eq!(error.message(), "the file has changed since it was opened");
    });
}

/// The server's answer to an unsigned request.
fn asked(what: &str) -> String {
    let endpoint = std::env::var("MARQUETRY_S3").unwrap();
    let host = endpoint.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let who = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request";
    write!(
        stream,
        "GET {what} HTTP/1.1\r\nhost: {host}\r\nauthorization: {who}\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    answer
}

/// How many uploads were begun, and neither completed nor aborted.
fn uploads() -> usize {
    asked(&format!("/{BUCKET}?uploads")).matches("<UploadId>").count()
}

/// A file is written by URL, from threads that block: whole, or not at all.
#[test]
fn an_object_is_written_in_parts_or_not_at_all() {
    let Some(store) = bucket() else { return };
    let url = format!("s3://{BUCKET}/written/noise.bin");
    let noise: Vec<u8> =
        (0..6_000_000u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let stores = StoreRegistry::new().unwrap();
    let there = |store: &Arc<dyn ObjectStore>| {
        runtime().block_on(async {
            match store.get(&Path::from("written/noise.bin")).await {
                Ok(answer) => Some(answer.bytes().await.unwrap()),
                Err(_) => None,
            }
        })
    };
    let mut file = stores.create(&url, false).unwrap();
    for piece in noise.chunks(333_333) {
        file.write_all(piece).unwrap();
        assert!(there(&store).is_none());
    }
    assert_eq!(uploads(), 1);
    file.finish().unwrap();
    assert!(there(&store).unwrap() == noise);
    assert_eq!(uploads(), 0);
    // It is not replaced without overwriting, nor by a write that is given up.
    let error = stores.create(&url, false).unwrap_err();
    assert!(error.to_string().contains("an object of this name already exists"), "{error}");
    assert!(error.to_string().contains(&url), "{error}");
    let mut file = stores.create(&url, true).unwrap();
    file.write_all(&noise[1..]).unwrap();
    assert_eq!(uploads(), 1);
    drop(file);
    assert_eq!(uploads(), 0);
    assert!(there(&store).unwrap() == noise);
    // A short file is one request, with a condition.
    let mut file = stores.create(&format!("s3://{BUCKET}/written/short"), false).unwrap();
    file.write_all(b"short").unwrap();
    let mut other = stores.create(&format!("s3://{BUCKET}/written/short"), false).unwrap();
    other.write_all(b"other").unwrap();
    other.finish().unwrap();
    let error = file.finish().unwrap_err();
    assert!(error.to_string().contains("an object of this name already exists"), "{error}");
    assert_eq!(uploads(), 0);
    for wrong in ["s3://marquetry/folder/", "https://example.org/x", "ftp://x/y"] {
        assert!(stores.create(wrong, true).is_err(), "{wrong}");
    }
}

/// As the command line reads: by URL, with the usual environment variables. `.ci/remote/run.sh` sets them.
#[test]
fn files_are_found_by_url_and_pattern() {
    let Some(store) = bucket() else { return };
    let file = file();
    runtime().block_on(async {
        for key in [
            "events/b.parquet",
            "events/a.parquet",
            "events/deep/c.parquet",
            "events/d.csv",
            "eventful.parquet",
        ] {
            store.put(&Path::from(key), file.clone().into()).await.unwrap();
        }
    });
    let stores = StoreRegistry::new().unwrap();
    let matching = |pattern: &str| stores.files(&format!("s3://{BUCKET}/{pattern}"));
    let url = |key: &str| format!("s3://{BUCKET}/{key}");
    assert_eq!(matching("events/*.parquet").unwrap(), [url("events/a.parquet"), url("events/b.parquet")]);
    assert_eq!(matching("event*.parquet").unwrap(), [url("eventful.parquet")]);
    for all in ["events/**/*.parquet", "events/", "events", "even*s"] {
        assert_eq!(matching(all).unwrap().len(), 3, "{all}");
    }
    assert_eq!(matching("events/a.parquet").unwrap(), [url("events/a.parquet")]);
    assert_eq!(matching("none").unwrap(), [url("none")]);
    for none in ["none/*", "none/"] {
        assert!(matching(none).unwrap_err().message().contains("no file has such a name"));
    }
    let source: Arc<dyn Source> = Arc::new(stores.open(&url("events/a.parquet")).unwrap());
    let reader = ParquetRecordBatchReaderBuilder::try_new(source).unwrap().with_batch_size(500_000);
    let batches: Vec<_> = reader.build().unwrap().map(Result::unwrap).collect();
    assert_eq!(batches, [rows()]);
    // The end of the file, and all row groups together.
    let answers = answers("events/a.parquet");
    assert_eq!(answers.len(), 2, "{answers:?}");
    assert!(answers.iter().sum::<usize>() < file.len() + 1000);
}

/// A file of 10,000 columns of which one is read: the footer, and that column of each row group.
#[test]
fn one_column_of_ten_thousand() {
    let Some(store) = bucket() else { return };
    let column = |i: i64| Arc::new(Int64Array::from_iter_values((0..100).map(|row| row * i))) as ArrayRef;
    let rows = RecordBatch::try_from_iter((0..10_000).map(|i| (format!("column {i}"), column(i)))).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(50)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties)).unwrap();
    writer.write(&rows).unwrap();
    let file = writer.into_inner().unwrap();
    let path = Path::from("wide.parquet");
    runtime().block_on(async {
        store.put(&path, file.clone().into()).await.unwrap();
        let start = Instant::now();
        let stream = ParquetRecordBatchStreamBuilder::new(ObjectFile::new(store, path)).await.unwrap();
        let mask = ProjectionMask::columns(stream.parquet_schema(), ["column 4711"]);
        let footer = file.len() as u64 - stream.metadata().data_end().unwrap();
        let stream = stream.with_projection(mask).build().unwrap();
        let batches: Vec<_> = stream.try_collect().await.unwrap();
        let elapsed = start.elapsed();
        assert_eq!(batches[0].column(0), &column(4711).slice(0, 50));
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 100);
        let answers = answers("wide.parquet");
        let bytes: usize = answers.iter().sum();
        eprintln!(
            "one of 10,000 columns: {} requests, {bytes} bytes of {}, {footer} of them footer, {elapsed:?}",
            answers.len(),
            file.len()
        );
        assert_eq!(answers.len(), 4);
        assert!((bytes as u64) < footer + (64 << 10));
    });
}

/// One column of 1 % of the rows, which lie together: at most 1.2 times the pages, indexes and footer that it takes.
#[test]
fn a_percent_of_clustered_rows() {
    let Some(store) = bucket() else { return };
    let n = 2_000_000i64;
    let random = |i: i64| i.wrapping_mul(0x5851_f42d_4c95_7f2d);
    let columns: [(&str, ArrayRef); 3] = [
        ("key", Arc::new(Int64Array::from_iter_values((0..n).map(|i| i * 3 + i % 3)))),
        ("value", Arc::new(Int64Array::from_iter_values((0..n).map(random)))),
        ("other", Arc::new(Int64Array::from_iter_values((0..n).map(|i| random(i * 31 + 7))))),
    ];
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    let file = Bytes::from(writer.into_inner().unwrap());
    let path = Path::from("clustered.parquet");
    let (first, last) = (1_200_000usize, 1_220_000usize);
    let predicate = format!("key >= {} and key < {}", first * 3 + first % 3, last * 3 + last % 3);
    runtime().block_on(async {
        store.put(&path, file.clone().into()).await.unwrap();
        let stream = ParquetRecordBatchStreamBuilder::new(ObjectFile::new(store, path)).await.unwrap();
        let mask = ProjectionMask::columns(stream.parquet_schema(), ["value"]);
        let least = least(&file, stream.metadata(), first as i64..last as i64);
        let stream = stream.with_projection(mask).with_predicate(Predicate::parse(&predicate).unwrap());
        let batches: Vec<_> = stream.build().unwrap().try_collect().await.unwrap();
        let read = arrow_select::concat::concat_batches(&batches[0].schema(), &batches).unwrap();
        assert_eq!(read.column(0), &rows.column(1).slice(first, last - first));
        let answers = answers("clustered.parquet");
        let bytes: usize = answers.iter().sum();
        let ratio = bytes as f64 / least as f64;
        eprintln!(
            "1 % of clustered rows: {} requests, {bytes} bytes of {}, {ratio:.2} of the least",
            answers.len(),
            file.len()
        );
        assert!(answers.len() <= 4 && ratio <= 1.2, "{answers:?}, {ratio}");
    });
}

/// The minimum bytes for a key and a value of these rows: the footer, their indexes, and the pages that have any of
/// them.
fn least(file: &Bytes, metadata: &ParquetMetaData, rows: Range<i64>) -> u64 {
    let mut least = file.len() as u64 - metadata.data_end().unwrap();
    let mut before = 0;
    for group in metadata.row_groups() {
        let (start, len) = (before, group.num_rows() as i64);
        before += len;
        if rows.start >= before || rows.end <= start {
            continue;
        }
        for column in [0, 1] {
            let chunk = group.column(column).unwrap();
            let bounds = chunk.column_index_range().filter(|_| column == 0);
            let places = chunk.offset_index_range().unwrap();
            least += places.end - places.start + bounds.map_or(0, |bounds| bounds.end - bounds.start);
            let index = read_offset_index(file, chunk, &Limits::default()).unwrap().unwrap();
            for (i, page) in index.page_locations.iter().enumerate() {
                let next = index.page_locations.get(i + 1).map_or(len, |next| next.first_row_index);
                if start + page.first_row_index < rows.end && start + next > rows.start {
                    least += page.compressed_page_size as u64;
                }
            }
        }
    }
    least
}
