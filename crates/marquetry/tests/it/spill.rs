//! Pages that memory has no room for wait where the host says: in a folder, or in a store of its own.

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use marquetry::arrow::ArrowWriter;
use marquetry::basic::Compression;
use marquetry::errors::{ErrorKind, Result};
use marquetry::file::properties::{WriterProperties, WriterPropertiesBuilder};
use marquetry::low_level::{SpillFile, SpillStore};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const ROWS: u64 = 1 << 20;

/// 16 MiB that do not compress.
fn rows() -> RecordBatch {
    let column = |seed: u64| {
        let numbers = (0..ROWS).map(|i| (i ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) as i64);
        Arc::new(Int64Array::from_iter_values(numbers)) as ArrayRef
    };
    RecordBatch::try_from_iter([("a", column(1)), ("b", column(2))]).unwrap()
}

fn properties() -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_max_row_group_row_count(Some(ROWS as usize))
}

fn written(properties: WriterPropertiesBuilder) -> Result<Vec<u8>> {
    let batch = rows();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties.build()))?;
    for first in (0..ROWS as usize).step_by(1 << 16) {
        writer.write(&batch.slice(first, 1 << 16))?;
    }
    writer.into_inner()
}

/// What a store was asked for.
#[derive(Debug, Default)]
struct Asked {
    files: AtomicUsize,
    open: AtomicUsize,
    written: AtomicU64,
    read: AtomicU64,
    fails: AtomicBool,
}

#[derive(Debug, Default)]
struct Store(Arc<Asked>);

#[derive(Debug)]
struct Pages {
    asked: Arc<Asked>,
    bytes: Mutex<Vec<u8>>,
}

impl SpillStore for Store {
    fn create(&self) -> io::Result<Box<dyn SpillFile>> {
        self.0.files.fetch_add(1, Ordering::Relaxed);
        self.0.open.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Pages { asked: self.0.clone(), bytes: Mutex::default() }))
    }
}

impl SpillFile for Pages {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if self.asked.fails.load(Ordering::Relaxed) {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "the store is full"));
        }
        let (mut pages, end) = (self.bytes.lock().unwrap(), offset as usize + bytes.len());
        let len = pages.len().max(end);
        pages.resize(len, 0);
        pages[offset as usize..end].copy_from_slice(bytes);
        self.asked.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        buffer.copy_from_slice(&self.bytes.lock().unwrap()[offset as usize..][..buffer.len()]);
        self.asked.read.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.asked.open.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn a_store_of_the_host_has_what_memory_has_not() {
    let expected = written(properties()).unwrap();
    for threads in [1, 3] {
        let store = Store::default();
        let asked = store.0.clone();
        let limited = properties()
            .set_memory_limit(Some(4 << 20))
            .set_spill_store(Some(Arc::new(store)))
            .set_threads(threads);
        assert!(written(limited).unwrap() == expected, "{threads} threads");
        let [written, read] = [&asked.written, &asked.read].map(|bytes| bytes.load(Ordering::Relaxed));
        // All but what fits, once each way.
        assert!(written > 8 << 20 && written < 17 << 20 && read == written, "{written} written, {read} read");
        assert!(asked.files.load(Ordering::Relaxed) > 0);
        assert_eq!(asked.open.load(Ordering::Relaxed), 0, "nothing is left of them");
    }
}

#[test]
fn a_store_that_fails_ends_the_file() {
    let store = Store::default();
    let asked = store.0.clone();
    asked.fails.store(true, Ordering::Relaxed);
    let limited = properties().set_memory_limit(Some(4 << 20)).set_spill_store(Some(Arc::new(store)));
    let error = written(limited).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    assert!(error.to_string().contains("the store is full"), "{error}");
    assert_eq!(asked.open.load(Ordering::Relaxed), 0);
}

#[cfg(feature = "fs")]
#[test]
fn the_folder_is_the_one_that_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let limited = || properties().set_memory_limit(Some(4 << 20));
    let expected = written(properties()).unwrap();
    assert!(written(limited().set_spill_dir(folder.path())).unwrap() == expected);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing stays behind");
    let error = written(limited().set_spill_dir(folder.path().join("none"))).unwrap_err();
    assert!(error.to_string().contains("none"), "{error}");
}
