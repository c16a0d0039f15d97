//! Files: the magic, row groups one after the other, the indexes, the footer.
//!
//! ```text
//! PAR1
//! row group 0:  chunk of column 0, chunk of column 1, ...  bloom filters
//! checkpoint, if asked for: the footer of a file that ended here
//! row group 1:  ...
//! column indexes, offset indexes
//! footer, its length, PAR1
//! ```

use super::checkpoint::{CheckpointCost, CheckpointEvery, Durable, Schedule};
use super::chunk_bytes::{ChunkBytes, unwritten};
use crate::checkpoint::frame;
use crate::metadata::ParquetMetaData;
use crate::page::plain_pages_are_believed;
use marquetry_base::{Error, ErrorKind, Limits, Result};
use marquetry_format as format;
use std::io::{self, Write};
use std::time::Instant;

/// What is said about a file as a whole.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FileSettings {
    /// The writer's name.
    pub created_by: Option<String>,
    /// How bounds are ordered, one for each column.
    pub column_orders: Option<Vec<format::ColumnOrder>>,
    /// Key-value metadata.
    pub key_values: Vec<format::KeyValue>,
    /// Whether bloom filters are all before the footer, and not each behind its row group.
    pub filters_at_end: bool,
    /// Whether offset indexes are left out.
    pub leave_out_offset_index: bool,
    /// When checkpoints are left in the file.
    pub checkpoint_every: Option<CheckpointEvery>,
}

/// A column chunk that is ready to go into a file. All offsets in it count from its first byte.
#[derive(Debug)]
pub struct EncodedChunk {
    /// Its pages.
    pub bytes: ChunkBytes,
    /// What the footer says of it.
    pub metadata: format::ColumnMetaData,
    /// The bounds of its pages.
    pub column_index: Option<format::ColumnIndex>,
    /// The places of its pages.
    pub offset_index: Option<format::OffsetIndex>,
    /// Its bloom filter: header and bits.
    pub bloom_filter: Option<Vec<u8>>,
}

/// Writes a file front to back.
///
/// After an error nothing more can be written: what the sink has by then is no Parquet file, for it lacks a footer. Its
/// checkpoints are whole, and [found](crate::checkpoint::find_last_checkpoint).
#[derive(Debug)]
pub struct FileWriter<W> {
    pub(super) sink: W,
    pub(super) position: u64,
    /// The number that the footer has for the format's version.
    pub(super) version: i32,
    pub(super) schema: Vec<format::SchemaElement>,
    pub(super) settings: FileSettings,
    pub(super) row_groups: Vec<format::RowGroup>,
    /// The indexes of each chunk of each row group; they go before the footer.
    pub(super) indexes: Vec<Vec<Indexes>>,
    pub(super) schedule: Schedule,
    /// Makes what was written safe.
    pub(super) sync: fn(&mut W) -> io::Result<()>,
    /// Begins to, while the next row group is made.
    pub(super) sync_soon: fn(&mut W) -> io::Result<()>,
    /// Whether there is a file before it that must not be lost: its new end is written when all before that is safe.
    pub(super) grows: bool,
    pub(super) failed: bool,
}

#[derive(Debug, Default)]
pub(super) struct Indexes {
    column: Option<format::ColumnIndex>,
    offset: Option<format::OffsetIndex>,
    bloom_filter: Option<Vec<u8>>,
}

impl<W: Write> FileWriter<W> {
    /// Begins a file of this schema, whose first element is the root. Checkpoints are flushed, which for most sinks does
    /// not mean that they survive a crash of the machine: see [`new_durable`](Self::new_durable).
    pub fn new(sink: W, schema: Vec<format::SchemaElement>, settings: FileSettings) -> Result<Self> {
        Self::begin(sink, schema, settings, W::flush, |_| Ok(()))
    }

    /// As [`new`](Self::new); checkpoints are synced.
    pub fn new_durable(sink: W, schema: Vec<format::SchemaElement>, settings: FileSettings) -> Result<Self>
    where
        W: Durable,
    {
        Self::begin(sink, schema, settings, W::sync, W::sync_soon)
    }

    fn begin(
        sink: W,
        schema: Vec<format::SchemaElement>,
        settings: FileSettings,
        sync: fn(&mut W) -> io::Result<()>,
        sync_soon: fn(&mut W) -> io::Result<()>,
    ) -> Result<Self> {
        let mut writer = FileWriter {
            sink,
            position: 0,
            // SPEC: FileMetaData.version: writers should write 1.
            version: 1,
            schema,
            schedule: Schedule::new(settings.checkpoint_every),
            settings,
            row_groups: Vec::new(),
            indexes: Vec::new(),
            sync,
            sync_soon,
            grows: false,
            failed: false,
        };
        writer.write(&format::PAR1)?;
        Ok(writer)
    }

    /// How many bytes were written.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The row groups that were written.
    pub fn row_groups(&self) -> &[format::RowGroup] {
        &self.row_groups
    }

    /// What the bytes go into. Writing to it spoils the file.
    pub fn sink(&self) -> &W {
        &self.sink
    }

    /// What the bytes go into. Writing to it spoils the file.
    pub fn sink_mut(&mut self) -> &mut W {
        &mut self.sink
    }

    /// Gives the file up, as it is, without a footer.
    pub fn into_sink(self) -> W {
        self.sink
    }

    /// Adds to the file's key-value metadata.
    pub fn add_key_value(&mut self, pair: format::KeyValue) {
        self.settings.key_values.push(pair);
    }

    /// Appends a row group of `num_rows` rows: one chunk for each column, in the order of the schema's leaves.
    pub fn write_row_group(
        &mut self,
        num_rows: u64,
        chunks: Vec<EncodedChunk>,
        sorting_columns: Option<Vec<format::SortingColumn>>,
    ) -> Result<()> {
        self.check()?;
        if self.grows && !plain_pages_are_believed(self.settings.created_by.as_deref()) {
            return Err(Error::unsupported(
                "by the name of its writer, readers take all V2 pages of this file to be compressed: nothing is added to \
                 it; rewrite it first",
            ));
        }
        let ordinal = self.row_groups.len();
        let place = |error: Error, column: &[String]| error.in_row_group(ordinal).in_column(column.join("."));
        let start = self.position;
        let (mut columns, mut indexes) = (Vec::new(), Vec::new());
        for chunk in chunks {
            let offset = self.position;
            let done = chunk.bytes.copy_to(&mut self.sink);
            self.note(done).map_err(|error| place(error, &chunk.metadata.path_in_schema))?;
            self.position += chunk.bytes.len();
            columns.push(placed(chunk.metadata, offset));
            indexes.push(Indexes {
                column: chunk.column_index,
                offset: chunk.offset_index.map(|index| placed_pages(index, offset)),
                bloom_filter: chunk.bloom_filter,
            });
        }
        if !self.settings.filters_at_end {
            self.write_bloom_filters(&mut columns, &mut indexes)?;
        }
        let total = |size: fn(&format::ColumnMetaData) -> i64| {
            columns.iter().filter_map(|column| column.meta_data.as_ref()).map(size).sum::<i64>()
        };
        let row_group = format::RowGroup {
            total_byte_size: total(|meta| meta.total_uncompressed_size),
            num_rows: num_rows as i64,
            sorting_columns: sorting_columns.filter(|columns| !columns.is_empty()),
            file_offset: Some(start as i64),
            total_compressed_size: Some(total(|meta| meta.total_compressed_size)),
            ordinal: i16::try_from(ordinal).ok(),
            columns,
        };
        self.row_groups.push(row_group);
        self.indexes.push(indexes);
        if self.schedule.every.is_some() {
            let begun = (self.sync_soon)(&mut self.sink).map_err(unwritten);
            self.note(begun)?;
        }
        Ok(())
    }

    /// Whether [`FileSettings::checkpoint_every`] asks for a checkpoint behind the last row group. `filling` are the
    /// bytes of one that could be ended for it.
    pub fn is_checkpoint_due(&self, filling: u64) -> bool {
        self.schedule.is_due(self.position, self.row_groups.len(), self.columns(), filling)
    }

    /// Whether the row group that is being filled is to be ended for a checkpoint that is due.
    pub fn ends_row_groups_for_checkpoints(&self) -> bool {
        self.schedule.ends_row_groups()
    }

    /// Writes a checkpoint: a footer of all row groups so far, and makes it safe. The file could end here, but for the
    /// indexes, and the bloom filters where they are to be at the end. The footer that [`finish`](Self::finish) writes
    /// does not refer to these bytes.
    ///
    /// Once this has returned, the rows before it are found whatever happens to the writer.
    pub fn write_checkpoint(&mut self) -> Result<()> {
        self.check()?;
        let start = Instant::now();
        let thrift = self.take_thrift();
        let footer = bytes_of(&thrift);
        self.put_thrift(thrift);
        let checkpoint = frame(self.position, &footer)?;
        self.write(&checkpoint)?;
        self.make_safe()?;
        let (row_groups, columns) = (self.row_groups.len(), self.columns());
        self.schedule.done(start, checkpoint.len() as u64, self.position, row_groups, columns);
        Ok(())
    }

    /// How many checkpoints there are in the file, and what they have cost.
    pub fn checkpoints(&self) -> CheckpointCost {
        self.schedule.cost
    }

    fn columns(&self) -> usize {
        self.row_groups.last().map_or(0, |group| group.columns.len())
    }

    /// Writes the indexes and the footer, flushes, and gives the sink back.
    pub fn finish(mut self) -> Result<(W, ParquetMetaData)> {
        self.check()?;
        self.write_indexes()?;
        let start = self.position;
        let thrift = self.take_thrift();
        let footer = bytes_of(&thrift);
        let len = u32::try_from(footer.len()).map_err(|_| too_long("footer"))?;
        self.write(&footer)?;
        if self.grows {
            self.make_safe()?;
        }
        let [a, b, c, d] = len.to_le_bytes();
        let [p, q, r, s] = format::PAR1;
        self.write(&[a, b, c, d, p, q, r, s])?;
        if self.grows {
            self.make_safe()?;
        }
        let done = self.sink.flush().map_err(unwritten);
        self.note(done)?;
        let metadata = ParquetMetaData::written(footer, &Limits::default())?;
        Ok((self.sink, metadata.with_data_end(start)))
    }

    /// The footer; what it is made of is moved there, for row groups may be many.
    fn take_thrift(&mut self) -> format::FileMetaData {
        let settings = &mut self.settings;
        format::FileMetaData {
            version: self.version,
            schema: std::mem::take(&mut self.schema),
            num_rows: self.row_groups.iter().map(|group| group.num_rows).fold(0, i64::saturating_add),
            row_groups: std::mem::take(&mut self.row_groups),
            key_value_metadata: Some(std::mem::take(&mut settings.key_values))
                .filter(|pairs| !pairs.is_empty()),
            created_by: settings.created_by.take(),
            column_orders: settings.column_orders.take(),
            encryption_algorithm: None,
            footer_signing_key_metadata: None,
        }
    }

    fn put_thrift(&mut self, thrift: format::FileMetaData) {
        (self.schema, self.row_groups) = (thrift.schema, thrift.row_groups);
        self.settings.key_values = thrift.key_value_metadata.unwrap_or_default();
        (self.settings.created_by, self.settings.column_orders) = (thrift.created_by, thrift.column_orders);
    }

    pub(super) fn make_safe(&mut self) -> Result<()> {
        let done = (self.sync)(&mut self.sink).map_err(unwritten);
        self.note(done)
    }

    /// Writes the bloom filters of some chunks, and forgets them.
    fn write_bloom_filters(
        &mut self,
        columns: &mut [format::ColumnChunk],
        indexes: &mut [Indexes],
    ) -> Result<()> {
        for (column, indexes) in columns.iter_mut().zip(indexes) {
            let (Some(filter), Some(meta)) = (indexes.bloom_filter.take(), &mut column.meta_data) else {
                continue;
            };
            meta.bloom_filter_offset = Some(self.position as i64);
            meta.bloom_filter_length = Some(length(filter.len())?);
            self.write(&filter)?;
        }
        Ok(())
    }

    /// Column indexes of all chunks, then offset indexes of all chunks: a reader that prunes wants the former together.
    fn write_indexes(&mut self) -> Result<()> {
        let mut row_groups = std::mem::take(&mut self.row_groups);
        let mut indexes = std::mem::take(&mut self.indexes);
        for (row_group, indexes) in row_groups.iter_mut().zip(&mut indexes) {
            self.write_bloom_filters(&mut row_group.columns, indexes)?;
        }
        let chunks = || indexes.iter().flatten();
        for (column, indexes) in row_groups.iter_mut().flat_map(|group| &mut group.columns).zip(chunks()) {
            let Some(index) = &indexes.column else { continue };
            let (offset, len) = self.write_index(|w| index.write(w))?;
            (column.column_index_offset, column.column_index_length) = (Some(offset), Some(len));
        }
        for (column, indexes) in row_groups.iter_mut().flat_map(|group| &mut group.columns).zip(chunks()) {
            let Some(index) = indexes.offset.as_ref().filter(|_| !self.settings.leave_out_offset_index)
            else {
                continue;
            };
            let (offset, len) = self.write_index(|w| index.write(w))?;
            (column.offset_index_offset, column.offset_index_length) = (Some(offset), Some(len));
        }
        self.row_groups = row_groups;
        Ok(())
    }

    fn write_index(&mut self, write: impl FnOnce(&mut format::Writer)) -> Result<(i64, i32)> {
        let mut index = format::Writer::new();
        write(&mut index);
        let (index, offset) = (index.finish(), self.position as i64);
        self.write(&index)?;
        Ok((offset, length(index.len())?))
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let done = self.sink.write_all(bytes).map_err(unwritten);
        self.note(done)?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    fn note<T>(&mut self, done: Result<T>) -> Result<T> {
        self.failed |= done.is_err();
        done
    }

    pub(super) fn check(&self) -> Result<()> {
        match self.failed {
            true => Err(Error::new(ErrorKind::Io, "writing failed before; the file cannot be finished")),
            false => Ok(()),
        }
    }
}

fn bytes_of(thrift: &format::FileMetaData) -> Vec<u8> {
    let mut footer = format::Writer::new();
    thrift.write(&mut footer);
    footer.finish()
}

/// The chunk's metadata with offsets that count from the file's first byte.
fn placed(mut meta: format::ColumnMetaData, offset: u64) -> format::ColumnChunk {
    let offset = offset as i64;
    meta.data_page_offset += offset;
    meta.dictionary_page_offset = meta.dictionary_page_offset.map(|at| at + offset);
    meta.index_page_offset = meta.index_page_offset.map(|at| at + offset);
    format::ColumnChunk {
        file_path: None,
        // SPEC: ColumnChunk.file_offset: deprecated, 0.
        file_offset: 0,
        meta_data: Some(meta),
        offset_index_offset: None,
        offset_index_length: None,
        column_index_offset: None,
        column_index_length: None,
        crypto_metadata: None,
        encrypted_column_metadata: None,
    }
}

fn placed_pages(mut index: format::OffsetIndex, offset: u64) -> format::OffsetIndex {
    index.page_locations.iter_mut().for_each(|page| page.offset += offset as i64);
    index
}

fn length(len: usize) -> Result<i32> {
    i32::try_from(len).map_err(|_| too_long("index"))
}

#[cold]
fn too_long(what: &str) -> Error {
    Error::argument(format!("the {what} is too long for the format"))
}
