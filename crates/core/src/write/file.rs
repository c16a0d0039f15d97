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
//! Of an encrypted file each of these is [encrypted](super::file_encryptor) as it gets its place, and the magic is PARE unless its
//! footer is only signed.

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

/// Writes a file front to back.
///
/// After an error of the sink, or a panic in it, nothing more can be written: what the sink has by then is no Parquet file,
/// for it lacks a footer. Its checkpoints are whole, and [found](crate::checkpoint::find_last_checkpoint).
#[derive(Debug)]
#[must_use = "the file is complete once the writer is finished"]
pub struct FileWriter<W> {
    pub(super) sink: W,
    pub(super) position: u64,
    /// The number that the footer has for the format's version.
    pub(super) version: i32,
    pub(super) schema: Vec<format::SchemaElement>,
    /// The same as a tree: chunks are held against its columns.
    pub(super) tree: Schema,
    pub(super) settings: FileSettings,
    pub(super) encryptor: Option<FileEncryptor>,
    pub(super) row_groups: Vec<format::RowGroup>,
    /// The indexes of each chunk of each row group; they go before the footer.
    pub(super) indexes: Vec<Vec<Indexes>>,
    /// The row group that has only some of its chunks.
    pub(super) partial: Option<PartialRowGroup>,
    pub(super) schedule: Schedule,
    /// Makes what was written safe.
    pub(super) sync: fn(&mut W) -> io::Result<()>,
    /// Begins to, while the next row group is made.
    pub(super) sync_soon: fn(&mut W) -> io::Result<()>,
    /// Takes the bytes of a chunk.
    pub(super) take: fn(&CancelToken, &mut W, ChunkBytes) -> Result<()>,
    /// How many bytes the sink itself holds in memory.
    pub(super) held: fn(&W) -> usize,
    /// Whether there is a file before it that must not be lost: its new end is written when all before that is safe.
    pub(super) grows: bool,
    pub(super) failed: bool,
    pub(super) is_finished: bool,
    pub(super) counters: Arc<WriteCounters>,
}

impl FileWriter<ByteQueue> {
    /// As [`new`](Self::new), into a queue: pages are moved there, wherever they are.
    pub fn new_queued(schema: Vec<format::SchemaElement>, settings: FileSettings) -> Result<Self> {
        let mut writer = FileWriter::new(ByteQueue::default(), schema, settings)?;
        writer.take = |cancel, queue, bytes| cancel.check().and_then(|()| queue.take_chunk(bytes));
        writer.held = ByteQueue::held;
        Ok(writer)
    }
}

impl<W: Write> FileWriter<W> {
    /// Begins a file of this schema, whose first element is the root. Checkpoints are flushed, which for most sinks does
    /// not mean that they survive a crash of the machine: see [`new_durable`](Self::new_durable).
    ///
    /// Fails if the elements are no schema, if the file cannot be encrypted as it is to be, or if the sink fails.
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

    /// Gives the sink back: with a file if it is [finished](Self::finish_in_place), else with what there is of one.
    pub fn into_sink(self) -> W {
        self.sink
    }

    /// Where what is written is counted.
    pub fn counters(&self) -> &Arc<WriteCounters> {
        &self.counters
    }

    /// Whether the file has its end.
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// How many bytes the sink itself holds in memory, if it is a [`ByteQueue`]; else 0.
    pub fn sink_memory(&self) -> usize {
        (self.held)(&self.sink)
    }

    /// Adds to the file's key-value metadata.
    pub fn add_key_value(&mut self, pair: format::KeyValue) {
        self.settings.key_values.push(pair);
    }

    /// The file's key-value metadata so far.
    pub fn key_values(&self) -> &[format::KeyValue] {
        &self.settings.key_values
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
    ///
    /// The footer of an encrypted file is encrypted, or signed, anew for each. Who can cut such a file can cut it here: what is left is
    /// a whole file, and its keys fit.
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

    /// How many checkpoints there are in the file, and what they have cost.
    pub fn checkpoints(&self) -> CheckpointCost {
        self.schedule.cost
    }

    fn columns(&self) -> usize {
        self.row_groups.last().map_or(0, |group| group.columns.len())
    }

    /// Writes the indexes and the footer, flushes, and gives the sink back.
    pub fn finish(mut self) -> Result<(W, ParquetMetaData)> {
        let metadata = self.finish_in_place()?;
        Ok((self.sink, metadata))
    }

    /// As [`finish`](Self::finish); the sink can be [had](Self::into_sink) whether that fails or not. Nothing more can be
    /// written.
    pub fn finish_in_place(&mut self) -> Result<ParquetMetaData> {
        self.finish_if(|| Ok(()))
    }

    /// The same; `is_wanted` is asked last of all, before the eight bytes that make the footer one. When it fails, they are not
    /// written. Where a file grows, nothing fails once they are safe.
    pub(crate) fn finish_if(&mut self, is_wanted: impl FnOnce() -> Result<()>) -> Result<ParquetMetaData> {
        self.check_between_row_groups()?;
        // Until all of it is written.
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
        // What readers would refuse is no end of a file.
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

    /// A footer as it goes into the file: encrypted, if the file is.
    fn stored_footer(&self, thrift: &format::FileMetaData) -> Result<Vec<u8>> {
        match &self.encryptor {
            Some(encryptor) => encryptor.footer(thrift.clone(), &self.tree),
            None => Ok(bytes_of(thrift)),
        }
    }

    /// The footer; what it is made of is moved there, for row groups may be many.
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

    /// Does something after which, if it fails or panics, the file cannot be finished.
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

    /// The same, between two row groups.
    pub(super) fn check_between_row_groups(&self) -> Result<()> {
        self.check()?;
        match &self.partial {
            Some(partial) => Err(partial.unfinished(self.row_groups.len())),
            None => Ok(()),
        }
    }
}

/// The tree of a schema that is written: it may be larger than what is read from others.
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
