//! Files in emulators of Azure and GCS on this machine. `MARQUETRY_STORES` are URLs of a container and a bucket,
//! `MARQUETRY_GCS` is the address of the latter's server, and the usual environment variables tell the rest;
//! `.ci/remote/run.sh` starts emulators and sets them. Without, the test is skipped.

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use futures::TryStreamExt;
use marquetry_arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_arrow::async_reader::ParquetRecordBatchStreamBuilder;
use marquetry_arrow::dataset::Dataset;
use marquetry_core::predicate::Predicate;
use marquetry_core::source::Source;
use marquetry_object_store::object_store::azure::MicrosoftAzureBuilder;
use marquetry_object_store::object_store::gcp::GoogleCloudStorageBuilder;
use marquetry_object_store::object_store::path::Path;
use marquetry_object_store::object_store::{ObjectStore, ObjectStoreExt};
use marquetry_object_store::{ObjectFile, StoreRegistry, dataset};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

/// Puts a file into a store.
async fn put(store: &dyn ObjectStore, key: &str, bytes: Vec<u8>) {
    if !store.to_string().contains("GoogleCloudStorage") {
        store.put(&Path::from(key), bytes.into()).await.unwrap();
        return;
    }
    // The emulator accepts files by another interface than the one by which the crate reads them.
    let server = std::env::var("MARQUETRY_GCS").unwrap();
    let host = server.strip_prefix("http://").unwrap();
    let (name, length) = (key.replace('/', "%2F").replace('=', "%3D"), bytes.len());
    let mut stream = TcpStream::connect(host).unwrap();
    let path = format!("/upload/storage/v1/b/marquetry/o?uploadType=media&name={name}");
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/octet-stream\r\n\
         content-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&bytes).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

fn connected(url: &str) -> Arc<dyn ObjectStore> {
    match url.starts_with("gs") {
        true => Arc::new(GoogleCloudStorageBuilder::from_env().with_url(url).build().unwrap()),
        false => Arc::new(MicrosoftAzureBuilder::from_env().with_url(url).build().unwrap()),
    }
}

/// 100,000 rows in one row group, larger than what is fetched with the footer.
fn file(part: i64) -> (RecordBatch, Vec<u8>) {
    let id = Int64Array::from_iter_values(part * 100_000..(part + 1) * 100_000);
    let noise =
        Int64Array::from_iter_values(id.values().iter().map(|id| id.wrapping_mul(0x5851_f42d_4c95_7f2d)));
    let columns: [(&str, ArrayRef); 2] = [("id", Arc::new(id)), ("noise", Arc::new(noise))];
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    (rows, writer.into_inner().unwrap())
}

#[test]
fn files_of_each_store() {
    let Ok(urls) = std::env::var("MARQUETRY_STORES") else {
        eprintln!("skipped: no servers, MARQUETRY_STORES is not set");
        return;
    };
    let stores = StoreRegistry::new().unwrap();
    for url in urls.split_whitespace() {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let store = connected(url);
        let parts: Vec<_> = (0..3).map(file).collect();
        runtime.block_on(async {
            for (part, (_, bytes)) in parts.iter().enumerate() {
                put(&*store, &format!("t/part={part}/x.parquet"), bytes.clone()).await;
            }
            put(&*store, "t/_SUCCESS", Vec::new()).await;
            one_file(store.clone(), &parts).await;
            all_files(store.clone()).await;
        });
        // By URL, as the command line reads.
        let files = stores.files(&format!("{url}t/")).unwrap();
        assert_eq!(files, [0, 1, 2].map(|part| format!("{url}t/part={part}/x.parquet")));
        assert_eq!(stores.files(&format!("{url}t/part=[01]/*.parquet")).unwrap(), files[..2]);
        let source: Arc<dyn Source> = Arc::new(stores.open(&files[1]).unwrap());
        let reader = ParquetRecordBatchReaderBuilder::try_new(source).unwrap().with_batch_size(100_000);
        assert_eq!(reader.build().unwrap().map(Result::unwrap).collect::<Vec<_>>(), [parts[1].0.clone()]);
        let error = stores.open(&format!("{url}none.parquet")).err().unwrap();
        assert!(error.to_string().contains("there is no object none.parquet"), "{error}");
        eprintln!("{url}: read by streams, tables and readers that do not wait");
    }
}

async fn one_file(store: Arc<dyn ObjectStore>, parts: &[(RecordBatch, Vec<u8>)]) {
    let key = Path::from("changes.parquet");
    put(&*store, "changes.parquet", parts[0].1.clone()).await;
    let open = async || {
        let file = ObjectFile::new(store.clone(), key.clone());
        ParquetRecordBatchStreamBuilder::new(file).await.unwrap().with_batch_size(100_000).build().unwrap()
    };
    let rows: Vec<_> = open().await.try_collect().await.unwrap();
    assert_eq!(rows, [parts[0].0.clone()]);
    // Parts of two files are never mixed.
    let changed = open().await;
    put(&*store, "changes.parquet", parts[1].1.clone()).await;
    let error = changed.try_collect::<Vec<_>>().await.unwrap_err();
    assert_eq!(error.message(), "the file has changed since it was opened");
}

async fn all_files(store: Arc<dyn ObjectStore>) {
    let rows = async |table: Dataset<_>| -> usize {
        let batches: Vec<_> = table.stream().await.unwrap().try_collect().await.unwrap();
        batches.iter().map(RecordBatch::num_rows).sum()
    };
    let table = dataset(store, "t/").await.unwrap();
    assert_eq!(table.num_rows().await.unwrap(), 300_000);
    assert_eq!(rows(table.clone()).await, 300_000);
    let predicate = Predicate::parse("part >= 1 and id between 199990 and 200009").unwrap();
    assert_eq!(rows(table.filter(predicate)).await, 20);
}
