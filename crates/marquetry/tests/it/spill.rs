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

/// The requests to a store.
#[derive(Debug, Default)]
struct Asked {
    files: AtomicUsize,
    open: AtomicUsize,
    written: AtomicU64,
    read: AtomicU64,
    fails: AtomicBool,
    /// Whether one bit of everything that is read is changed.
    changes: AtomicBool,
    /// All bytes that were written to any file.
    seen: Mutex<Vec<u8>>,
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
        self.asked.seen.lock().unwrap().extend_from_slice(bytes);
        Ok(())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        buffer.copy_from_slice(&self.bytes.lock().unwrap()[offset as usize..][..buffer.len()]);
        self.asked.read.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        if self.asked.changes.load(Ordering::Relaxed) && !buffer.is_empty() {
            buffer[0] ^= 1;
        }
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
        // Everything but what fits is written once and read once.
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

#[cfg(feature = "encryption")]
mod encrypted {
    use super::*;
    use arrow_array::StringArray;
    use marquetry::arrow::arrow_reader::{
        ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
    };
    use marquetry::arrow::arrow_writer::compute_leaves;
    use marquetry::file::encryption::{FileDecryptionProperties, FileEncryptionProperties};

    const KEY: &[u8] = b"0123456789012345";
    const SECRET: &[u8] = b"a secret of row ";

    /// 8 MiB of secrets.
    fn secrets() -> RecordBatch {
        let text =
            StringArray::from_iter_values((0..1 << 18).map(|row| format!("a secret of row {row:>16}")));
        RecordBatch::try_from_iter([("s", Arc::new(text) as ArrayRef)]).unwrap()
    }

    fn limited(asked: &Arc<Asked>, is_encrypted: bool) -> WriterProperties {
        let builder = properties()
            .set_memory_limit(Some(1 << 20))
            .set_spill_store(Some(Arc::new(Store(asked.clone()))));
        let encryption = FileEncryptionProperties::builder(KEY.to_vec()).build().unwrap();
        match is_encrypted {
            true => builder.with_file_encryption_properties(encryption).build(),
            false => builder.build(),
        }
    }

    fn write(properties: WriterProperties) -> Result<Vec<u8>> {
        let batch = secrets();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))?;
        for first in (0..batch.num_rows()).step_by(1 << 14) {
            writer.write(&batch.slice(first, 1 << 14))?;
        }
        writer.into_inner()
    }

    fn read(file: Vec<u8>) -> RecordBatch {
        let keys = FileDecryptionProperties::builder(KEY.to_vec()).build().unwrap();
        let options = ArrowReaderOptions::new().with_file_decryption_properties(keys);
        let bytes = bytes::Bytes::from(file);
        let metadata = ArrowReaderMetadata::load(bytes.clone(), options).unwrap();
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, metadata);
        let mut reader = builder.with_batch_size(1 << 18).build().unwrap();
        reader.next().unwrap().unwrap()
    }

    fn holds_secrets(asked: &Asked) -> bool {
        let seen = asked.seen.lock().unwrap();
        assert!(seen.len() > 4 << 20, "{} bytes were spilled", seen.len());
        seen.windows(SECRET.len()).any(|bytes| bytes == SECRET)
    }

    #[test]
    fn pages_of_an_encrypted_file_wait_encrypted() {
        let (open, sealed) = (Arc::<Asked>::default(), Arc::<Asked>::default());
        write(limited(&open, false)).unwrap();
        assert!(holds_secrets(&open), "pages of a file that is not are as they were");
        let file = write(limited(&sealed, true)).unwrap();
        assert!(!holds_secrets(&sealed));
        assert!(read(file) == secrets());
        let [written, read] = [&sealed.written, &sealed.read].map(|bytes| bytes.load(Ordering::Relaxed));
        assert_eq!(written, read, "each block is read once");
    }

    #[test]
    fn columns_of_a_host_wait_encrypted() {
        let (asked, batch) = (Arc::<Asked>::default(), secrets());
        let properties = limited(&asked, true);
        let writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
        let (mut file, factory) = writer.into_serialized_writer().unwrap();
        let mut columns = factory.create_column_writers(0).unwrap();
        for leaf in compute_leaves(batch.schema().field(0), batch.column(0)).unwrap() {
            columns[0].write(&leaf).unwrap();
        }
        columns[0].spill().unwrap();
        let mut group = file.next_row_group().unwrap();
        for column in columns {
            column.close().unwrap().append_to_row_group(&mut group).unwrap();
        }
        group.close().unwrap();
        assert!(!holds_secrets(&asked));
        assert!(read(file.into_inner().unwrap()) == batch);
    }

    #[test]
    fn a_page_that_was_changed_while_it_waited_is_an_error() {
        let asked = Arc::<Asked>::default();
        asked.changes.store(true, Ordering::Relaxed);
        let error = write(limited(&asked, true)).unwrap_err();
        assert!(error.to_string().contains("somebody changed what was written"), "{error}");
    }
}
