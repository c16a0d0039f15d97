//! Changes a local file, in place or as a copy that replaces it, so that after a crash either the old file or the new
//! one can be found.

use super::file_identity::is_at;
use super::file_regions::unreferenced_bytes;
use super::grown_file::GrownFile;
use super::local_file::regular;
use super::{AtomicFile, LocalFile, read_encrypted_metadata, read_metadata};
use crate::checkpoint::{Evidence, find_last_checkpoint, find_last_encrypted_checkpoint};
use crate::metadata::ParquetMetaData;
use crate::source::Source;
use crate::write::copy::copy_row_group;
use crate::write::{Durable, EncodedChunk, FileWriter};
use marquetry_base::{Error, ErrorKind, Limits, Result};
use marquetry_crypto::FileDecryptionProperties;
use marquetry_format::{KeyValue, SortingColumn};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A finished file that is being changed.
///
/// New parts are appended, and a new footer behind them; the old footer stays, and so do the bytes that only it refers
/// to. [`finish`](Self::finish) returns when the new footer is on the disk. After an error, or dropped before that, the
/// file is truncated to what it was.
///
/// If the process dies in between, the file has no footer at its end, so that readers refuse it; but the old footer is
/// in it, and [`find_last_checkpoint`] finds it. At no moment is anything of the old file lost. Readers that have the
/// old footer in memory can continue reading.
///
/// [`open_copy`](Self::open_copy) changes a copy beside the file, which replaces it in one step when it is finished:
/// until then, and after a crash, the old file is under the name. That costs the time and the space of writing the
/// whole file once more.
///
/// In either case the file is locked against other changes. The lock is advisory: other processes can still write to the
/// file. On Unix, another file that is put under its name meanwhile is detected. The change then fails, because its result
/// would be in a file without a name, or replace the new file.
#[must_use = "nothing is changed until the edit is finished"]
#[derive(Debug)]
pub struct FileEdit {
    /// `None` once the edit is finished or given up. If it is dropped before, the file stays as it was.
    writer: Option<FileWriter<EditSink>>,
    /// The open file, which holds the lock.
    file: File,
    metadata: ParquetMetaData,
    len: u64,
    /// The absolute path with which it was opened.
    path: PathBuf,
    name: String,
}

/// The sink of the bytes behind those of the file.
#[derive(Debug)]
enum EditSink {
    InPlace(BufWriter<GrownFile>),
    Copy(AtomicFile),
}

impl Write for EditSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            EditSink::InPlace(file) => file.write(bytes),
            EditSink::Copy(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            EditSink::InPlace(file) => file.flush(),
            EditSink::Copy(file) => file.flush(),
        }
    }
}

impl Durable for EditSink {
    fn sync(&mut self) -> io::Result<()> {
        match self {
            EditSink::InPlace(file) => file.sync(),
            // Nobody reads the copy before it is finished, and then it is synced to the disk.
            EditSink::Copy(file) => file.flush(),
        }
    }
}

/// The result of an edit.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Edited {
    /// The new footer.
    pub metadata: ParquetMetaData,
    /// Length of the file in bytes.
    pub len: u64,
    /// Number of bytes in the file that nothing refers to.
    pub unreferenced: u64,
}

impl FileEdit {
    /// Opens and locks the file at `path`.
    ///
    /// Fails, naming the file, if it is not writable, if another process is changing it, if it is not a Parquet file,
    /// or if anything in it is encrypted. Also fails if an earlier change was not finished; the error then states where
    /// the file may be truncated.
    pub fn open(path: impl AsRef<Path>, limits: &Limits) -> Result<Self> {
        Self::begin(path.as_ref(), limits, None, true)
    }

    /// Opens and locks the file at `path`, and copies it to a file beside it that is changed instead.
    ///
    /// Fails like [`open`](Self::open), and if there is no space for the copy.
    pub fn open_copy(path: impl AsRef<Path>, limits: &Limits) -> Result<Self> {
        Self::begin(path.as_ref(), limits, None, false)
    }

    /// Opens an encrypted file with its keys, like [`open`](Self::open), or like [`open_copy`](Self::open_copy) with
    /// `in_copy`. Added parts are encrypted like the same columns in existing row groups.
    ///
    /// Also fails if a key is missing, even for a column that is only appended to.
    pub fn open_encrypted(
        path: impl AsRef<Path>,
        limits: &Limits,
        keys: &Arc<FileDecryptionProperties>,
        in_copy: bool,
    ) -> Result<Self> {
        Self::begin(path.as_ref(), limits, Some(keys), !in_copy)
    }

    fn begin(
        path: &Path,
        limits: &Limits,
        keys: Option<&Arc<FileDecryptionProperties>>,
        is_in_place: bool,
    ) -> Result<Self> {
        let name = path.display().to_string();
        Self::begin_at(path, &name, limits, keys, is_in_place).map_err(|error| error.in_file(name))
    }

    fn begin_at(
        path: &Path,
        name: &str,
        limits: &Limits,
        keys: Option<&Arc<FileDecryptionProperties>>,
        is_in_place: bool,
    ) -> Result<Self> {
        let path = std::path::absolute(path).map_err(cannot)?;
        let mut file = open_locked(&path)?;
        let source = LocalFile::new(file.try_clone().map_err(cannot)?)?;
        let read = match keys {
            None => read_metadata(&source, limits),
            Some(keys) => read_encrypted_metadata(&source, limits, keys),
        };
        let metadata = match read {
            Ok(read) => read.metadata,
            Err(error) => return Err(unfinished(&source, limits, keys).unwrap_or(error)),
        };
        let len = source.len();
        let sink = match is_in_place {
            true => {
                file.seek(SeekFrom::Start(len)).map_err(cannot)?;
                let grown = file.try_clone().and_then(|file| GrownFile::new(file, len)).map_err(cannot)?;
                EditSink::InPlace(BufWriter::with_capacity(BUFFER, grown))
            }
            false => EditSink::Copy(copied(&path, name, file.try_clone().map_err(cannot)?)?),
        };
        let name = name.to_owned();
        let writer = Some(FileWriter::append_to(sink, len, &metadata)?);
        Ok(FileEdit { writer, file, path, metadata, len, name })
    }

    /// Returns the footer that the file had when it was opened.
    pub fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }

    /// The length of the file in bytes when it was opened.
    #[expect(clippy::len_without_is_empty, reason = "a Parquet file is never empty")]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// The current number of row groups.
    pub fn num_row_groups(&self) -> usize {
        self.writer.as_ref().map_or(0, |writer| writer.row_groups().len())
    }

    /// Appends a row group, like [`FileWriter::write_row_group`].
    pub fn write_row_group(
        &mut self,
        num_rows: u64,
        chunks: Vec<EncodedChunk>,
        sorting_columns: Option<Vec<SortingColumn>>,
    ) -> Result<()> {
        self.with(|writer| writer.write_row_group(num_rows, chunks, sorting_columns))
    }

    /// Appends a row group of another file without decoding it: pages are copied unchanged, and statistics, indexes and
    /// bloom filters are copied as far as they can be trusted. `metadata` is the footer of `source`, `row_group` a
    /// number in it.
    ///
    /// Fails if the other file has another schema, or its columns in another order; if a chunk is encrypted without a
    /// key, or damaged where it must be inspected; and if there is no such row group.
    ///
    /// Only Parquet schemas are compared: the Arrow types that files store beside them are not, and those of this file
    /// stay. If the other file has other Arrow types, such as durations in another unit, its values would be misread:
    /// check that first with `check_copied` of `marquetry_arrow::arrow_writer`, with [`metadata`](Self::metadata) and
    /// the other footer.
    ///
    /// ```
    /// use marquetry_base::Limits;
    /// use marquetry_core::io::{FileEdit, LocalFile, read_metadata};
    /// use marquetry_core::source::Source;
    /// use std::sync::Arc;
    /// # let wines = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
    /// # let path = tempfile::tempdir()?.keep().join("wines.parquet");
    /// # std::fs::copy(wines, &path)?;
    /// let source: Arc<dyn Source> = Arc::new(LocalFile::open(wines)?);
    /// let metadata = read_metadata(&*source, &Limits::default())?.metadata;
    /// let mut edit = FileEdit::open(&path, &Limits::default())?;
    /// edit.append_copied(&source, &metadata, 0)?;
    /// assert_eq!(edit.finish()?.metadata.num_rows(), 200 + 100);
    /// # std::fs::remove_dir_all(path.parent().unwrap())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append_copied(
        &mut self,
        source: &Arc<dyn Source>,
        metadata: &ParquetMetaData,
        row_group: usize,
    ) -> Result<()> {
        let (schema, orders) = (self.metadata.schema(), self.metadata.column_orders());
        let copied = copy_row_group(source, metadata, row_group, schema, orders)?;
        self.write_row_group(copied.rows, copied.chunks, Some(copied.sorting))
    }

    /// Sets the value of a key in the file's metadata.
    pub fn set_key_value(&mut self, pair: KeyValue) -> Result<()> {
        self.with(|writer| {
            writer.set_key_value(pair);
            Ok(())
        })
    }

    /// Removes a key from the file's metadata. Returns whether it was there.
    pub fn remove_key_value(&mut self, key: &str) -> Result<bool> {
        self.with(|writer| Ok(writer.remove_key_value(key)))
    }

    /// Drops a row group from the new footer. `index` is its current number.
    pub fn drop_row_group(&mut self, index: usize) -> Result<()> {
        self.with(|writer| writer.drop_row_group(index))
    }

    fn with<T>(&mut self, change: impl FnOnce(&mut FileWriter<EditSink>) -> Result<T>) -> Result<T> {
        let changed = match &mut self.writer {
            Some(writer) => change(writer),
            None => Err(Error::argument("the change is finished")),
        };
        changed.map_err(|error| error.in_file(self.name.as_str()))
    }

    /// Writes the new footer, and returns when it is on the disk.
    pub fn finish(mut self) -> Result<Edited> {
        self.end().map_err(|error| error.in_file(self.name.as_str()))
    }

    fn end(&mut self) -> Result<Edited> {
        let file = self.file.try_clone().map_err(cannot)?;
        let mut writer = self.writer.take().ok_or_else(|| Error::argument("the change is finished"))?;
        let is_wanted = || match is_at(&self.file, &self.path).map_err(cannot)? {
            true => Ok(()),
            false => Err(replaced()),
        };
        let metadata = writer.finish_if(is_wanted)?;
        let (len, sink) = (writer.position(), writer.into_sink());
        // Once the new file is on the disk, readers may have it: from then on nothing fails.
        let unreferenced = match sink {
            EditSink::InPlace(grown) => {
                grown.get_ref().keep();
                LocalFile::of_len(file, len).map_or(0, |file| unreferenced_bytes(&file, &metadata))
            }
            EditSink::Copy(copy) => {
                is_wanted()?;
                copy.finish()?;
                LocalFile::open(&self.path).map_or(0, |file| unreferenced_bytes(&file, &metadata))
            }
        };
        Ok(Edited { metadata, len, unreferenced })
    }
}

/// Copies the file to a file beside it. `name` is the name in errors, because `path` is absolute, unlike the caller's.
fn copied(path: &Path, name: &str, mut file: File) -> Result<AtomicFile> {
    let mut copy = AtomicFile::create_named(path, name)?;
    file.rewind()?;
    let done = io::copy(&mut BufReader::with_capacity(COPIED_AT_ONCE, file), &mut copy);
    done.map_err(|error| Error::io("cannot copy the file", error))?;
    Ok(copy)
}

/// Opens and locks the file at `path`. Tries again if it was replaced between the two.
fn open_locked(path: &Path) -> Result<File> {
    for _ in 0..MAX_TRIES {
        regular(&std::fs::metadata(path).map_err(cannot)?)?;
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(cannot)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::new(ErrorKind::Io, "another process is changing the file"));
            }
            Err(TryLockError::Error(error)) => {
                return Err(Error::io("cannot lock the file", error));
            }
        }
        if is_at(&file, path).map_err(cannot)? {
            return Ok(file);
        }
    }
    Err(replaced())
}

#[cold]
fn cannot(error: std::io::Error) -> Error {
    Error::io("cannot open the file for a change", error)
}

#[cold]
fn replaced() -> Error {
    Error::new(
        ErrorKind::Changed,
        "was replaced by another file meanwhile: that one is there, unchanged; try again",
    )
}

/// Returns the error for a file that ends with an unfinished change, if it does.
fn unfinished(
    source: &dyn Source,
    limits: &Limits,
    keys: Option<&Arc<FileDecryptionProperties>>,
) -> Option<Error> {
    let found = match keys {
        None => find_last_checkpoint(source, limits),
        Some(keys) => find_last_encrypted_checkpoint(source, limits, keys),
    };
    let found = found.ok().flatten()?;
    let what = match found.evidence {
        Evidence::Append => "an earlier change of the file was not finished: what it was",
        _ => "the file was not finished: its last checkpoint",
    };
    Some(
        Error::corrupt(format!("{what} is its first {} bytes, and recover brings it back", found.end))
            .at(found.end),
    )
}

/// Maximum number of times that a file may be replaced while it is opened.
const MAX_TRIES: usize = 100;
/// The same as that of [`AtomicFile`](super::AtomicFile).
const BUFFER: usize = 64 << 10;
const COPIED_AT_ONCE: usize = 1 << 20;
