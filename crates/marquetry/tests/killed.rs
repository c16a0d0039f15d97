//! A process that is killed while it writes leaves the old file or the new one, whole, under the final name.

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// The variable that tells this test, when it runs again as a child, what to do.
const TARGET: &str = "MARQUETRY_TEST_WRITE_TO";

/// A file of version `version`: many rows of that number.
fn write(path: &Path, version: i64) {
    let numbers = Arc::new(Int64Array::from(vec![version; 20_000])) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("version", numbers)]).unwrap();
    let mut file = marquetry::create(path, batch.schema()).unwrap();
    for _ in 0..5 {
        file.write(&batch).unwrap();
        file.writer().flush().unwrap();
    }
    file.close().unwrap();
}

#[test]
fn a_killed_writer_leaves_a_whole_file() {
    if let Some(path) = std::env::var_os(TARGET) {
        (1..=100_000).for_each(|version| write(Path::new(&path), version));
    }
    let folder = folder();
    let path = folder.join("versions.parquet");
    write(&path, 0);
    let mut last = 0;
    for round in 0..30u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_killed_writer_leaves_a_whole_file"])
            .env(TARGET, &path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(20_000 + round * 7_919 % 60_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut rows = 0;
        let mut versions = Vec::new();
        for batch in marquetry::open(&path).unwrap().batches().unwrap() {
            let batch = batch.unwrap();
            let numbers = batch.column(0).as_any().downcast_ref::<Int64Array>().unwrap();
            rows += numbers.len();
            versions.extend(numbers.values().iter().copied());
        }
        versions.dedup();
        assert_eq!((rows, versions.len()), (100_000, 1), "round {round}: {versions:?}");
        last = last.max(versions[0]);
    }
    assert!(last > 0, "no child came as far as a whole file");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_dropped_writer_leaves_what_was_there() {
    let folder = folder().join("dropped");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("file.parquet");
    let batch = RecordBatch::try_from_iter([("a", Arc::new(Int64Array::from(vec![1])) as ArrayRef)]).unwrap();
    let mut file = marquetry::create(&path, batch.schema()).unwrap();
    file.write(&batch).unwrap();
    drop(file);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    write(&path, 7);
    let before = std::fs::read(&path).unwrap();
    let mut file = marquetry::create(&path, batch.schema()).unwrap();
    file.write(&batch).unwrap();
    drop(file);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    std::fs::remove_dir_all(folder).unwrap();
}

fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("marquetry-killed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
