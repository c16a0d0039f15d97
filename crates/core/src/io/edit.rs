//! Changing a local file in place, so that a crash leaves the old file or the new one to be found.

use super::file::regular;
use super::{LocalFile, read_metadata};
use crate::checkpoint::{Evidence, find_last_checkpoint};
use crate::metadata::{ColumnChunk, ParquetMetaData};
use crate::page_index::read_bloom_filter_header;
use crate::source::Source;
use crate::write::{EncodedChunk, FileWriter};
use marquetry_base::{Error, ErrorKind, Limits, Result};
use marquetry_format::{FooterTail, KeyValue, SortingColumn, Writer};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufWriter, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// A finished file that is being changed.
///
/// What is new goes behind its last byte, and a new footer behind that; the old one stays, and so do the bytes that only
/// it refers to. [`finish`](Self::finish) returns when the new footer is on the disk. After an error, and dropped before
/// that, the file is cut to what it was.
///
/// If the process dies in between, the file has no footer at its end, so that readers refuse it; but the old footer is in
/// it, and [`find_last_checkpoint`] finds it. Nothing of the old file is lost at any moment. Readers that have the old
/// footer in memory can go on reading.
///
/// The file is locked against others who change it this way. The lock is advisory: others who write to it are not kept
/// from it.
#[derive(Debug)]
pub struct FileEdit {
    /// `None` once it is finished or given up.
    writer: Option<FileWriter<BufWriter<File>>>,
    /// The same open file, which has the lock.
    file: File,
    metadata: ParquetMetaData,
    len: u64,
    name: String,
}

/// What an edit made of a file.
#[derive(Debug, Clone)]
pub struct Edited {
    /// The new footer.
    pub metadata: ParquetMetaData,
    /// Bytes of the file.
    pub len: u64,
    /// Bytes that nothing refers to.
    pub unreferenced: u64,
}

impl FileEdit {
    /// Opens and locks the file at `path`.
    ///
    /// Fails, naming the file, if it cannot be written to, if another process changes it, if it is no Parquet file, or if
    /// anything in it is encrypted. A file that an earlier change did not finish is refused as well; the error says
    /// where it may be cut off.
    pub fn open(path: impl AsRef<Path>, limits: &Limits) -> Result<Self> {
        let name = path.as_ref().display().to_string();
        Self::begin(path.as_ref(), &name, limits).map_err(|error| error.in_file(name))
    }

    fn begin(path: &Path, name: &str, limits: &Limits) -> Result<Self> {
        let cannot = |error| Error::caused_by(ErrorKind::Io, "cannot open the file for a change", error);
        regular(&std::fs::metadata(path).map_err(cannot)?)?;
        let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(cannot)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::new(ErrorKind::Io, "another process is changing the file"));
            }
            Err(TryLockError::Error(error)) => {
                return Err(Error::caused_by(ErrorKind::Io, "cannot lock the file", error));
            }
        }
        let source = LocalFile::new(file.try_clone().map_err(cannot)?)?;
        let metadata = match read_metadata(&source, limits) {
            Ok(read) => read.metadata,
            Err(error) => return Err(unfinished(&source, limits).unwrap_or(error)),
        };
        let len = source.len();
        file.seek(SeekFrom::Start(len)).map_err(cannot)?;
        let mut edit = FileEdit { writer: None, file, metadata, len, name: name.to_owned() };
        let sink = BufWriter::with_capacity(BUFFER, edit.file.try_clone().map_err(cannot)?);
        // From here on, dropping the edit cuts off what was written.
        edit.writer = Some(FileWriter::grow(sink, len, &edit.metadata).inspect_err(|_| edit.cut())?);
        Ok(edit)
    }

    /// The footer that the file had when it was opened.
    pub fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }

    /// How many bytes the file had when it was opened.
    #[expect(clippy::len_without_is_empty, reason = "a Parquet file is never empty")]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// How many row groups there are now.
    pub fn num_row_groups(&self) -> usize {
        self.writer.as_ref().map_or(0, |writer| writer.row_groups().len())
    }

    /// Appends a row group, as [`FileWriter::write_row_group`] does.
    pub fn write_row_group(
        &mut self,
        num_rows: u64,
        chunks: Vec<EncodedChunk>,
        sorting_columns: Option<Vec<SortingColumn>>,
    ) -> Result<()> {
        self.with(|writer| writer.write_row_group(num_rows, chunks, sorting_columns))
    }

    /// Gives a key of the file's metadata this value.
    pub fn set_key_value(&mut self, pair: KeyValue) -> Result<()> {
        self.with(|writer| {
            writer.set_key_value(pair);
            Ok(())
        })
    }

    /// Takes a key out of the file's metadata. Returns whether it was there.
    pub fn remove_key_value(&mut self, key: &str) -> Result<bool> {
        self.with(|writer| Ok(writer.remove_key_value(key)))
    }

    /// Leaves a row group out of the new footer, numbered as the row groups are now.
    pub fn drop_row_group(&mut self, index: usize) -> Result<()> {
        self.with(|writer| writer.drop_row_group(index))
    }

    fn with<T>(&mut self, change: impl FnOnce(&mut FileWriter<BufWriter<File>>) -> Result<T>) -> Result<T> {
        let changed = match &mut self.writer {
            Some(writer) => change(writer),
            None => Err(Error::argument("the change is finished")),
        };
        changed.map_err(|error| error.in_file(self.name.as_str()))
    }

    /// Writes the new footer, and returns when it is on the disk.
    pub fn finish(mut self) -> Result<Edited> {
        let finished = self.end();
        if finished.is_err() {
            self.cut();
        }
        finished.map_err(|error| error.in_file(self.name.as_str()))
    }

    fn end(&mut self) -> Result<Edited> {
        let writer = self.writer.take().ok_or_else(|| Error::argument("the change is finished"))?;
        let (_, metadata) = writer.finish()?;
        let source = LocalFile::new(self.file.try_clone()?)?;
        let len = source.len();
        let unreferenced = unreferenced_bytes(&source, &metadata);
        Ok(Edited { metadata, len, unreferenced })
    }

    /// Makes the file what it was. If that fails, too, the old footer is found all the same.
    fn cut(&self) {
        let _ = self.file.set_len(self.len).and_then(|()| self.file.sync_all());
    }
}

impl Drop for FileEdit {
    fn drop(&mut self) {
        if let Some(writer) = self.writer.take() {
            // What the buffer still has is written when it is dropped, and must not come after the cut.
            drop(writer);
            self.cut();
        }
    }
}

/// The error for a file whose end is an unfinished change, if it is one.
fn unfinished(source: &dyn Source, limits: &Limits) -> Option<Error> {
    let found = find_last_checkpoint(source, limits).ok().flatten()?;
    let what = match found.evidence {
        Evidence::Append => "an earlier change of the file was not finished: what it was",
        _ => "the file was not finished: its last checkpoint",
    };
    Some(
        Error::corrupt(format!("{what} is its first {} bytes, and recover brings it back", found.end))
            .at(found.end),
    )
}

/// How many bytes of a file nothing refers to: neither its footer nor its form. `rewrite` leaves them behind.
pub fn unreferenced_bytes(source: &dyn Source, metadata: &ParquetMetaData) -> u64 {
    let len = source.len();
    let tail = len.checked_sub(8).and_then(|tail| source.read_at(tail, 8).ok());
    let tail = tail.and_then(|bytes| FooterTail::parse(bytes.first_chunk()?).ok());
    let footer = tail.map_or(0, |tail| u64::from(tail.metadata_len()) + 8);
    let chunks = metadata.row_groups().flat_map(|group| group.columns()).flatten();
    let mut ranges: Vec<Range<u64>> = chunks.flat_map(|chunk| of_chunk(source, chunk)).collect();
    ranges.push(0..4);
    ranges.push(len.saturating_sub(footer)..len);
    ranges.sort_by_key(|range| range.start);
    let (mut free, mut at) = (0, 0);
    for range in ranges {
        free += range.start.min(len).saturating_sub(at);
        at = at.max(range.end);
    }
    free
}

/// What belongs to a chunk: pages, indexes, bloom filter.
fn of_chunk(source: &dyn Source, chunk: ColumnChunk<'_>) -> Vec<Range<u64>> {
    let bloom = chunk.bloom_filter_offset().map(|start| {
        let len = chunk.bloom_filter_length().map(i64::from);
        let len = len.or_else(|| bloom_len(source, chunk)).and_then(|len| u64::try_from(len).ok());
        start..start.saturating_add(len.unwrap_or(0))
    });
    let ranges = [chunk.byte_range().ok(), chunk.column_index_range(), chunk.offset_index_range(), bloom];
    ranges.into_iter().flatten().collect()
}

/// Header and bits.
fn bloom_len(source: &dyn Source, chunk: ColumnChunk<'_>) -> Option<i64> {
    let header = read_bloom_filter_header(source, chunk, &Limits::default()).ok()??;
    let mut writer = Writer::new();
    header.write(&mut writer);
    Some(writer.finish().len() as i64 + i64::from(header.num_bytes))
}

/// As [`AtomicFile`](super::AtomicFile) has it.
const BUFFER: usize = 64 << 10;
