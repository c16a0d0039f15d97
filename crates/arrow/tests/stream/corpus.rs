//! Files of other writers. They stand beside the repository, or where `MARQUETRY_CORPUS` says; without them the test is
//! skipped, except with `CI` set.

use super::store::{Faults, Store};
use super::{collect, one, read};
use bytes::Bytes;
use futures::executor::block_on;
use marquetry_arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry_arrow::async_reader::{ParquetRecordBatchStreamBuilder, RequestCost};
use std::path::PathBuf;

#[test]
fn streams_give_what_readers_give() {
    let root = match std::env::var_os("MARQUETRY_CORPUS") {
        Some(root) => PathBuf::from(root),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
    };
    let Ok(entries) = std::fs::read_dir(root.join("parquet-testing/data")) else {
        assert!(std::env::var_os("CI").is_none(), "no files in {}", root.display());
        eprintln!("skipped: no files in {}", root.display());
        return;
    };
    let mut compared = 0;
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.extension().is_none_or(|extension| extension != "parquet") {
            continue;
        }
        let file = Bytes::from(std::fs::read(&path).unwrap());
        let store = Store::with(file.clone(), Faults { latency: 1, ..Faults::default() });
        let expected = ParquetRecordBatchReaderBuilder::try_new(file);
        let stream = block_on(ParquetRecordBatchStreamBuilder::new(store));
        let (expected, stream) = match (expected, stream) {
            (Ok(expected), Ok(stream)) => (expected, stream),
            (expected, stream) => {
                let (expected, stream) = (expected.err().unwrap(), stream.err().unwrap());
                assert_eq!(expected.to_string(), stream.to_string(), "{}", path.display());
                continue;
            }
        };
        let expected = read(expected.build().unwrap());
        let stream = stream.with_request_cost(RequestCost { gap: 0, largest: 1 << 20 });
        let stream = stream.build().unwrap();
        let schema = stream.schema().clone();
        match (expected, collect(stream)) {
            (Ok(expected), Ok(given)) => {
                assert_eq!(one(&schema, &given), one(&schema, &expected), "{}", path.display());
                compared += 1;
            }
            (Err(expected), Err(given)) => {
                assert_eq!(expected.to_string(), given.to_string(), "{}", path.display());
            }
            (expected, given) => panic!("{}: {:?}, {:?}", path.display(), expected.err(), given.err()),
        }
    }
    assert!(compared > 40, "{compared} files were compared");
}
