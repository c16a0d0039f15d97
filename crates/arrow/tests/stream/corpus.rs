//! Files of other writers. They stand beside the repository, or where `MARQUETRY_CORPUS` says; without them the test is
//! skipped, except with `CI` set.

use super::store::{Faults, Store};
use super::{collect, one, read};
use arrow_array::RecordBatchReader;
use bytes::Bytes;
use futures::executor::block_on;
use marquetry_arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, Int96Unit, OnCorrupt, ParquetRecordBatchReaderBuilder,
};
use marquetry_arrow::async_reader::{CoalesceOptions, ParquetRecordBatchStreamBuilder};
use std::path::{Path, PathBuf};

/// Where files of other writers are.
fn root() -> PathBuf {
    match std::env::var_os("MARQUETRY_CORPUS") {
        Some(root) => PathBuf::from(root),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
    }
}

/// One of them; `None` if it is not there.
pub(super) fn file(path: &str) -> Option<Bytes> {
    let path = root().join(path);
    let bytes = std::fs::read(&path).ok();
    if bytes.is_none() {
        assert!(std::env::var_os("CI").is_none(), "no file {}", path.display());
        eprintln!("skipped: no file {}", path.display());
    }
    bytes.map(Bytes::from)
}

/// What is in a folder of them; nothing if it is not there.
pub(super) fn entries(folder: &str) -> Vec<PathBuf> {
    let folder = root().join(folder);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        assert!(std::env::var_os("CI").is_none(), "no files in {}", folder.display());
        eprintln!("skipped: no files in {}", folder.display());
        return Vec::new();
    };
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "parquet")
}

/// The Parquet files of a folder of them; none if it is not there.
fn files(folder: &str) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| is_parquet(path)).collect()
}

/// The Parquet files of a folder and of those in it.
pub(super) fn files_below(folder: &str) -> Vec<PathBuf> {
    let (mut files, mut left) = (Vec::new(), entries(folder));
    while let Some(path) = left.pop() {
        match path.is_dir() {
            true => left.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path())),
            false => files.push(path),
        }
    }
    files.retain(|path| is_parquet(path));
    files
}

/// Whether a stream gives what a reader gives, and not an error.
fn compare(path: &Path, options: &ArrowReaderOptions) -> bool {
    let name = path.display();
    let file = Bytes::from(std::fs::read(path).unwrap());
    let store = Store::with(file.clone(), Faults { latency: 1, ..Faults::default() });
    let expected = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options.clone());
    let metadata = block_on(ArrowReaderMetadata::load_async(&store, options.clone()));
    let (expected, metadata) = match (expected, metadata) {
        (Ok(expected), Ok(metadata)) => (expected, metadata),
        (expected, metadata) => {
            let (expected, metadata) = (expected.err().unwrap(), metadata.err().unwrap());
            assert_eq!(expected.to_string(), metadata.to_string(), "{name}");
            return false;
        }
    };
    let stream = ParquetRecordBatchStreamBuilder::new_with_metadata(store, metadata)
        .with_request_cost(CoalesceOptions::new(0, 1 << 20))
        .with_prefetch(1000);
    let (expected, stream) = match (expected.build(), block_on(stream.build_fitting())) {
        (Ok(expected), Ok(stream)) => (expected, stream),
        (Err(expected), Err(given)) => {
            assert_eq!(expected.to_string(), given.to_string(), "{name}");
            return false;
        }
        (expected, given) => panic!("{name}: {:?}, {:?}", expected.err(), given.err()),
    };
    let schema = stream.schema().clone();
    assert_eq!(RecordBatchReader::schema(&expected), schema, "{name}");
    match (read(expected), collect(stream)) {
        (Ok(expected), Ok(given)) => {
            assert_eq!(one(&schema, &given), one(&schema, &expected), "{name}");
            true
        }
        (Err(expected), Err(given)) => {
            assert_eq!(expected.to_string(), given.to_string(), "{name}");
            false
        }
        (expected, given) => panic!("{name}: {:?}, {:?}", expected.err(), given.err()),
    }
}

#[test]
fn streams_give_what_readers_give() {
    let files = files("parquet-testing/data");
    let options = ArrowReaderOptions::new();
    let compared = files.iter().filter(|path| compare(path, &options)).count();
    assert!(files.is_empty() || compared > 40, "{compared} files were compared");
}

/// Units of INT96 that fit, and files with damage.
#[test]
fn streams_fit_and_salvage_as_readers_do() {
    let (mut good, bad) = (files("parquet-testing/data"), files("parquet-testing/bad_data"));
    // Gigabytes of text, which the other test reads.
    good.retain(|path| !path.ends_with("large_string_map.brotli.parquet"));
    let fitting = ArrowReaderOptions::new().with_int96(Int96Unit::Auto);
    let int96 = |path: &&PathBuf| path.to_string_lossy().contains("int96");
    let compared = good.iter().filter(int96).filter(|path| compare(path, &fitting)).count();
    assert!(good.is_empty() || compared > 0, "no file with INT96");
    for on_corrupt in [OnCorrupt::SkipPage, OnCorrupt::NullPage, OnCorrupt::SkipRowGroup] {
        let options = fitting.clone().with_on_corrupt(on_corrupt);
        let compared = good.iter().chain(&bad).filter(|path| compare(path, &options)).count();
        assert!(good.is_empty() || compared > 40, "{compared} files were compared");
    }
}
