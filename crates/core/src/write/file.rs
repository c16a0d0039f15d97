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
//!
//! In an encrypted file, each of these is [encrypted](super::file_encryptor) when its place is known, and the magic is
//! PARE unless the footer is only signed.

use super::byte_queue::ByteQueue;
use super::checkpoint::{CheckpointCost, Durable, Schedule};
use super::chunk_bytes::{ChunkBytes, unwritten};
use super::chunk_encryptor::ChunkEncryptor;
use super::file_encryptor::FileEncryptor;
use super::file_settings::FileSettings;
use super::partial_row_group::{Indexes, PartialRowGroup};
use crate::checkpoint::frame;
use crate::metadata::ParquetMetaData;
use crate::metrics::WriteCounters;
use crate::schema::Schema;
use bytes::Bytes;
use marquetry_base::{CancelToken, Error, ErrorKind, Limits, Result, Stopwatch};
use marquetry_format as format;
use std::io::{self, Write};
use std::sync::Arc;

/// A writer of a file, front to back.
///
/// After an error or a panic in the sink, nothing more can be written. The sink then has no Parquet file, because the
/// footer is missing. Its checkpoints are complete, and can be [found](crate::checkpoint::find_last_checkpoint).
#[derive(Debug)]
#[must_use = "the file is complete once the writer is finished"]
pub struct FileWriter<W> {
    pub(super) sink: W,
    pub(super) position: u64,
    /// The format version in the footer.
    pub(super) version: i32,
    pub(super) schema: Vec<format::SchemaElement>,
    /// The schema as a tree; chunks are checked against its columns.
    pub(super) tree: Schema,
    pub(super) settings: FileSettings,
    pub(super) encryptor: Option<FileEncryptor>,
    pub(super) row_groups: Vec<format::RowGroup>,
    /// The indexes of each chunk of each row group, to be written before the footer.
    pub(super) indexes: Vec<Vec<Indexes>>,
    /// The row group of which only some chunks were written.
    pub(super) partial: Option<PartialRowGroup>,
    pub(super) schedule: Schedule,
    /// Makes the written bytes durable.
    pub(super) sync: fn(&mut W) -> io::Result<()>,
    /// Starts making them durable, while the next row group is made.
    pub(super) sync_soon: fn(&mut W) -> io::Result<()>,
    /// Writes the bytes of a chunk to the sink.
    pub(super) take: fn(&CancelToken, &mut W, ChunkBytes) -> Result<()>,
    /// Returns how many bytes the sink itself holds in memory.
    pub(super) held: fn(&W) -> usize,
    /// Whether an existing file is appended to, which must not be lost: its new end is written when everything before
    /// is durable.
    pub(super) grows: bool,
    pub(super) failed: bool,
    pub(super) is_finished: bool,
    pub(super) counters: Arc<WriteCounters>,
}

impl FileWriter<ByteQueue> {
    /// Like [`new`](Self::new), into a queue: pages are moved there, not copied.
    pub fn new_queued(schema: Vec<format::SchemaElement>, settings: FileSettings) -> Result<Self> {
        let mut writer = FileWriter::new(ByteQueue::default(), schema, settings)?;
        writer.take = |cancel, queue, bytes| cancel.check().and_then(|()| queue.take_chunk(bytes));
        writer.held = ByteQueue::held;
        Ok(writer)
    }
}

impl<W: Write> FileWriter<W> {
    /// Begins a file with this schema, whose first element is the root. Checkpoints are only flushed, so with most
    /// sinks they may not survive a crash of the machine: see [`new_durable`](Self::new_durable).
    ///
    /// Fails if the elements are not a schema, if the file cannot be encrypted as the settings want, or if the sink
    /// fails.
    pub fn new(sink: W, schema: Vec<format::SchemaElement>, settings: FileSettings) -> Result<Self> {
        Self::begin(sink, schema, settings, W::flush, |_| Ok(()))
    }

    /// Like [`new`](Self::new), with checkpoints that are synced.
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
        let tree = tree_of(&schema)?;
        let encryptor =
            settings.encryption.as_deref().map(|encryption| FileEncryptor::new(encryption, &tree));
        let encryptor = encryptor.transpose()?;
        let mut writer = FileWriter {
            sink,
            position: 0,
            // SPEC: FileMetaData.version: writers should write 1.
            version: settings.format_version.unwrap_or(1),
            tree,
            encryptor,
            schema,
            schedule: Schedule::new(settings.checkpoint_every),
            settings,
            row_groups: Vec::new(),
            indexes: Vec::new(),
            partial: None,
            sync,
            sync_soon,
            take: |cancel, sink, bytes| bytes.copy_unless(cancel, sink),
            held: |_| 0,
            grows: false,
            failed: false,
            is_finished: false,
            counters: Arc::default(),
        };
        let magic = writer.magic();
        writer.write(&magic)?;
        Ok(writer)
    }

    fn magic(&self) -> [u8; 4] {
        self.encryptor.as_ref().map_or(format::PAR1, FileEncryptor::magic)
    }

    /// Returns the number of bytes written.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the row groups written so far.
    pub fn row_groups(&self) -> &[format::RowGroup] {
        &self.row_groups
    }

    /// Returns the sink. Writing to it corrupts the file.
    pub fn sink(&self) -> &W {
        &self.sink
    }

    /// Returns the sink. Writing to it corrupts the file.
    pub fn sink_mut(&mut self) -> &mut W {
        &mut self.sink
    }

    /// Returns the sink: with a file if it is [finished](Self::finish_in_place), else with an incomplete one.
    pub fn into_sink(self) -> W {
        self.sink
    }

    /// Returns the counters of written bytes.
    pub fn counters(&self) -> &Arc<WriteCounters> {
        &self.counters
    }

    /// Whether the file is finished.
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Returns how many bytes the sink itself holds in memory, if it is a [`ByteQueue`]; else 0.
    pub fn sink_memory(&self) -> usize {
        (self.held)(&self.sink)
    }

    /// Adds a pair to the file's key-value metadata.
    pub fn add_key_value(&mut self, pair: format::KeyValue) {
        self.settings.key_values.push(pair);
    }

    /// Returns the file's key-value metadata so far.
    pub fn key_values(&self) -> &[format::KeyValue] {
        &self.settings.key_values
    }

    /// Whether [`FileSettings::checkpoint_every`] calls for a checkpoint after the last row group. `filling` is the
    /// number of bytes in the open row group, which could be ended for it.
    pub fn is_checkpoint_due(&self, filling: u64) -> bool {
        self.schedule.is_due(self.position, self.row_groups.len(), self.columns(), filling)
    }

    /// Whether the open row group is to be ended when a checkpoint is due.
    pub fn ends_row_groups_for_checkpoints(&self) -> bool {
        self.schedule.ends_row_groups()
    }

    /// Writes a checkpoint, which is a footer of all row groups so far, and makes it durable. The file could end here,
    /// except that it has no indexes, and no bloom filters if they belong at the end. The footer that
    /// [`finish`](Self::finish) writes does not refer to these bytes.
    ///
    /// Once this returns, the rows before it can be found whatever happens to the writer.
    ///
    /// In an encrypted file, the footer of each checkpoint is encrypted or signed. An attacker who can truncate such a
    /// file can truncate it here: the rest is a complete file, and its keys fit.
    pub fn write_checkpoint(&mut self) -> Result<()> {
        self.check_between_row_groups()?;
        let start = Stopwatch::start();
        let thrift = self.take_thrift();
        let footer = self.stored_footer(&thrift);
        self.put_thrift(thrift);
        let checkpoint = frame(self.position, &footer?, self.magic())?;
        self.write(&checkpoint)?;
        self.make_safe()?;
        let (row_groups, columns) = (self.row_groups.len(), self.columns());
        self.schedule.done(start, checkpoint.len() as u64, self.position, row_groups, columns);
        Ok(())
    }

    /// Returns the number and the cost of checkpoints in the file.
    pub fn checkpoints(&self) -> CheckpointCost {
        self.schedule.cost
    }

    fn columns(&self) -> usize {
        self.row_groups.last().map_or(0, |group| group.columns.len())
    }

    /// Writes the indexes and the footer, flushes, and returns the sink.
    pub fn finish(mut self) -> Result<(W, ParquetMetaData)> {
        let metadata = self.finish_in_place()?;
        Ok((self.sink, metadata))
    }

    /// Like [`finish`](Self::finish), but keeps the sink, which [`into_sink`](Self::into_sink) returns whether this
    /// fails or not. Nothing more can be written.
    pub fn finish_in_place(&mut self) -> Result<ParquetMetaData> {
        self.finish_if(|| Ok(()))
    }

    /// Like [`finish_in_place`](Self::finish_in_place), but calls `is_wanted` last, before the eight bytes that
    /// complete the footer. If that fails, they are not written. If a file is appended to, nothing fails once they are
    /// durable.
    pub(crate) fn finish_if(&mut self, is_wanted: impl FnOnce() -> Result<()>) -> Result<ParquetMetaData> {
        self.check_between_row_groups()?;
        // Cleared once everything is written.
        self.failed = true;
        self.write_indexes()?;
        let start = self.position;
        let thrift = self.take_thrift();
        let plain = Bytes::from(bytes_of(&thrift));
        let footer = match &self.encryptor {
            Some(_) => self.stored_footer(&thrift).map(Bytes::from),
            None => Ok(plain.clone()),
        };
        self.put_thrift(thrift);
        let footer = footer?;
        let len = u32::try_from(footer.len()).map_err(|_| too_long("footer"))?;
        // A footer that readers would refuse must not end a file.
        let metadata = ParquetMetaData::written(plain, &Limits::default())?.with_data_end(start);
        self.write(&footer)?;
        if self.grows {
            self.make_safe()?;
        }
        is_wanted()?;
        let [a, b, c, d] = len.to_le_bytes();
        let [p, q, r, s] = self.magic();
        self.write(&[a, b, c, d, p, q, r, s])?;
        match self.grows {
            true => self.make_safe()?,
            false => self.sink.flush().map_err(unwritten)?,
        }
        (self.failed, self.is_finished) = (false, true);
        Ok(metadata)
    }

    /// Returns the footer as it is stored in the file: encrypted or signed, if the file is encrypted.
    fn stored_footer(&self, thrift: &format::FileMetaData) -> Result<Vec<u8>> {
        match &self.encryptor {
            Some(encryptor) => encryptor.footer(thrift.clone(), &self.tree),
            None => Ok(bytes_of(thrift)),
        }
    }

    /// Returns the footer. Its parts are moved there, because there may be many row groups.
    fn take_thrift(&mut self) -> format::FileMetaData {
        let settings = &mut self.settings;
        if let Some(encryptor) = &self.encryptor {
            encryptor.hide_derived(&mut settings.key_values, &self.tree);
        }
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
        let start = Stopwatch::start();
        self.guarded(|writer| (writer.sync)(&mut writer.sink).map_err(unwritten))?;
        self.counters.synced(start);
        Ok(())
    }

    pub(super) fn encryptor_of(&self, row_group: usize, column: usize) -> Option<ChunkEncryptor<'_>> {
        self.encryptor.as_ref()?.chunk(row_group, column)
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let start = Stopwatch::start();
        self.guarded(|writer| writer.sink.write_all(bytes).map_err(unwritten))?;
        self.position += bytes.len() as u64;
        self.counters.written(bytes.len() as u64, start);
        Ok(())
    }

    /// Calls `work`. If that fails or panics, the file cannot be finished.
    pub(super) fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let failed = std::mem::replace(&mut self.failed, true);
        let done = work(self);
        self.failed = failed || done.is_err();
        done
    }

    pub(super) fn check(&self) -> Result<()> {
        match (self.failed, self.is_finished) {
            (true, _) => Err(Error::new(ErrorKind::Io, "writing failed before; the file cannot be finished")),
            (false, true) => Err(Error::argument("the file is finished")),
            (false, false) => Ok(()),
        }
    }

    /// Like [`check`](Self::check), and fails inside a row group.
    pub(super) fn check_between_row_groups(&self) -> Result<()> {
        self.check()?;
        match &self.partial {
            Some(partial) => Err(partial.unfinished(self.row_groups.len())),
            None => Ok(()),
        }
    }
}

/// Returns the tree of a schema to be written, which may exceed the limits for files that are read.
pub(super) fn tree_of(schema: &[format::SchemaElement]) -> Result<Schema> {
    let limits = Limits::default()
        .with_schema_nodes(usize::MAX)
        .with_schema_path_bytes(usize::MAX)
        .with_schema_depth(usize::MAX);
    Schema::from_thrift(schema, &limits)
}

fn bytes_of(thrift: &format::FileMetaData) -> Vec<u8> {
    let mut footer = format::Writer::new();
    thrift.write(&mut footer);
    footer.finish()
}

#[cold]
pub(super) fn too_long(what: &str) -> Error {
    Error::argument(format!("the {what} is too long for the format"))
}
