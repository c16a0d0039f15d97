//! Writing record batches: names and behaviour as the `parquet` crate has them.
//!
//! ```text
//! write ──► batches that wait ──► pass: each column of all of them is shredded and encoded ──► chunks ──► row group
//! ```
//!
//! Batches wait until there is work for a while, so that threads are worth starting. What is written depends on the rows
//! and the properties only, not on the number of threads.

mod batch_schema;
mod dictionary_compat;
mod pending_batches;
mod row_group;
mod slice_size;

use crate::schema::{ARROW_SCHEMA_KEY, FromArrowOptions, from_arrow, ipc};
use arrow_array::RecordBatch;
use arrow_schema::{Schema as ArrowSchema, SchemaRef};
use batch_schema::check_batch;
use dictionary_compat::keep_dictionaries_readable;
use marquetry_base::{Error, Limits, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::schema::Schema;
use marquetry_core::sort_order::SortOrder;
use marquetry_core::write::{
    BloomFilterPosition, CheckpointCost, CheckpointEvery, Choice, ColumnSettings, Durable, FileSettings,
    FileWriter, KeyValue, Workspace, WriterProperties,
};
use marquetry_format::{RowGroup, SchemaElement};
use pending_batches::PendingBatches;
use row_group::OpenRowGroup;
use slice_size::batch_bytes;
use std::io::Write;
use std::sync::Arc;

/// Writes record batches as a Parquet file.
///
/// The file is complete once [`close`](Self::close) or [`finish`](Self::finish) has returned; before that, and after an
/// error, what the sink has is no Parquet file, because it lacks the footer. With
/// [checkpoints](marquetry_core::write::WriterPropertiesBuilder::set_checkpoint_every) the rows before the last of them
/// are not lost then.
///
/// ```
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
/// use marquetry_arrow::arrow_writer::ArrowWriter;
/// use std::sync::Arc;
///
/// let batch = RecordBatch::try_from_iter([
///     ("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef),
///     ("name", Arc::new(StringArray::from(vec![Some("a"), None, Some("c")])) as ArrayRef),
/// ])?;
/// let mut file = Vec::new();
/// let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), None)?;
/// writer.write(&batch)?;
/// let metadata = writer.close()?;
/// assert_eq!(metadata.num_rows(), 3);
/// assert!(file.ends_with(b"PAR1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ArrowWriter<W: Write + Send> {
    /// `None` once the file is finished.
    file: Option<FileWriter<W>>,
    arrow_schema: SchemaRef,
    schema: Arc<Schema>,
    properties: WriterProperties,
    columns: Vec<ColumnSettings>,
    open: OpenRowGroup,
    workspaces: Vec<Workspace>,
    pending: PendingBatches,
    choices: Vec<Choice>,
    /// Rows before the last checkpoint.
    safe_rows: u64,
    /// What checkpoints have cost, also of a file that is finished.
    checkpoints: CheckpointCost,
    failed: bool,
}

impl<W: Write + Send> ArrowWriter<W> {
    /// Begins a file of batches of `arrow_schema` in `sink`; without `properties` with the default ones.
    ///
    /// Checkpoints are flushed, which for most sinks does not mean that they are on a disk: see
    /// [`try_new_durable`](Self::try_new_durable).
    ///
    /// Fails if Parquet cannot store a column, or a property does not fit the schema.
    pub fn try_new(sink: W, arrow_schema: SchemaRef, properties: Option<WriterProperties>) -> Result<Self> {
        Self::begin(sink, arrow_schema, properties, FileWriter::new)
    }

    /// As [`try_new`](Self::try_new); checkpoints are synced.
    ///
    /// ```
    /// use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    /// use marquetry_arrow::arrow_writer::ArrowWriter;
    /// use marquetry_core::write::{CheckpointEvery, WriterProperties};
    /// use std::sync::Arc;
    ///
    /// let batch = RecordBatch::try_from_iter([("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef)])?;
    /// let every = Some(CheckpointEvery::RowGroups(1));
    /// let properties = WriterProperties::builder().set_checkpoint_every(every).build();
    /// let mut file = Vec::new();
    /// let mut writer = ArrowWriter::try_new_durable(&mut file, batch.schema(), Some(properties))?;
    /// writer.write(&batch)?;
    /// writer.flush()?;
    /// assert_eq!(writer.checkpointed_rows(), 3);
    /// // What there is by now is a Parquet file, though the writer never came to its end.
    /// drop(writer);
    /// assert!(file.ends_with(b"PAR1"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_new_durable(
        sink: W,
        arrow_schema: SchemaRef,
        properties: Option<WriterProperties>,
    ) -> Result<Self>
    where
        W: Durable,
    {
        Self::begin(sink, arrow_schema, properties, FileWriter::new_durable)
    }

    fn begin(
        sink: W,
        arrow_schema: SchemaRef,
        properties: Option<WriterProperties>,
        begin_file: fn(W, Vec<SchemaElement>, FileSettings) -> Result<FileWriter<W>>,
    ) -> Result<Self> {
        let properties = properties.unwrap_or_default();
        let options = FromArrowOptions { coerce_types: properties.coerce_types() };
        let elements = from_arrow(&arrow_schema, &options)?;
        let schema = Arc::new(Schema::from_thrift(&elements, &Limits::default())?);
        properties.check(&schema)?;
        let mut columns: Vec<_> =
            schema.columns().iter().map(|leaf| properties.column_settings(leaf)).collect::<Result<_>>()?;
        keep_dictionaries_readable(&arrow_schema, &mut columns);
        let orders = schema.columns().iter().zip(&columns);
        let orders =
            orders.map(|(leaf, settings)| SortOrder::for_writing(leaf, settings.total_order).1).collect();
        let settings = FileSettings {
            created_by: Some(properties.created_by().to_owned()),
            column_orders: Some(orders),
            key_values: key_values(&arrow_schema, &properties),
            filters_at_end: properties.bloom_filter_position() == BloomFilterPosition::End,
            leave_out_offset_index: properties.offset_index_disabled(),
            checkpoint_every: properties.checkpoint_every(),
        };
        let open = OpenRowGroup::new(&arrow_schema, &schema, &columns)?;
        Ok(ArrowWriter {
            file: Some(begin_file(sink, elements, settings)?),
            workspaces: Workspace::several(properties.threads(), properties.memory_limit().is_none()),
            choices: vec![Choice::default(); columns.len()],
            pending: PendingBatches::default(),
            arrow_schema,
            schema,
            properties,
            columns,
            open,
            safe_rows: 0,
            checkpoints: CheckpointCost::default(),
            failed: false,
        })
    }

    /// The Parquet schema of the file.
    pub fn parquet_schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Appends the rows of `batch`, whose columns must be those of the schema. Row groups end by themselves when they
    /// have as many rows or bytes as the properties say.
    ///
    /// The batch's memory is held until enough rows have come together to be encoded. After an error the writer is of no
    /// further use.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.check_usable()?;
        check_batch(&self.arrow_schema, batch)?;
        self.guarded(|writer| writer.write_rows(batch))
    }

    fn write_rows(&mut self, batch: &RecordBatch) -> Result<()> {
        let most = self.properties.max_row_group_row_count().unwrap_or(usize::MAX);
        let bytes_per_row = batch_bytes(batch) / batch.num_rows().max(1);
        let mut from = 0;
        while from < batch.num_rows() {
            let room = most - self.in_progress_rows();
            let of_a_pass = (self.pass_bytes() / bytes_per_row.max(1)).clamp(1, PASS_ROWS);
            let n = (batch.num_rows() - from).min(room).min(of_a_pass);
            self.pending.batches.push((batch.clone(), from..from + n));
            self.pending.rows += n;
            self.pending.bytes += n * bytes_per_row;
            from += n;
            if self.pending.rows >= PASS_ROWS || self.pending.bytes >= self.pass_bytes() {
                self.pass()?;
            }
            let is_full = self
                .properties
                .max_row_group_bytes()
                .is_some_and(|most| self.open.estimated_size() >= most as u64);
            if self.must_end_for_checkpoint() {
                self.end_row_group()?;
                // Its bytes may turn out to be fewer than was thought.
                self.write_checkpoint()?;
            } else if is_full || self.in_progress_rows() >= most {
                self.end_row_group()?;
                self.checkpoint_if_due()?;
            }
        }
        Ok(())
    }

    /// Ends the row group, if it has rows. A checkpoint follows, if one is due.
    pub fn flush(&mut self) -> Result<()> {
        self.guarded(|writer| writer.end_row_group().and_then(|()| writer.checkpoint_if_due()))
    }

    /// Ends the row group, if it has rows, and leaves a checkpoint behind it, whatever the properties say. When this
    /// returns, all rows that were written are found again, come what may.
    pub fn checkpoint(&mut self) -> Result<()> {
        self.guarded(|writer| {
            writer.end_row_group()?;
            writer.write_checkpoint()
        })
    }

    /// Bytes that checkpoints take in the file. `rewrite` leaves them out.
    pub fn checkpoint_bytes(&self) -> u64 {
        self.checkpoints.bytes
    }

    /// How many checkpoints there are.
    pub fn checkpoints(&self) -> usize {
        self.checkpoints.count
    }

    /// What checkpoints have cost so far, or in all once the file is [finished](Self::finish).
    ///
    /// ```
    /// # use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    /// # use marquetry_arrow::arrow_writer::ArrowWriter;
    /// # use std::sync::Arc;
    /// # let batch = RecordBatch::try_from_iter([("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef)])?;
    /// let mut writer = ArrowWriter::try_new_durable(Vec::new(), batch.schema(), None)?;
    /// writer.write(&batch)?;
    /// writer.checkpoint()?;
    /// writer.finish()?;
    /// let cost = writer.checkpoint_cost();
    /// println!("{} checkpoints of {} bytes took {:?}", cost.count, cost.bytes, cost.time);
    /// assert_eq!(cost.count, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn checkpoint_cost(&self) -> CheckpointCost {
        self.checkpoints
    }

    /// How many rows are before the last checkpoint.
    pub fn checkpointed_rows(&self) -> u64 {
        self.safe_rows
    }

    /// Writes what is left and the footer, and says what the footer says.
    pub fn close(mut self) -> Result<ParquetMetaData> {
        self.finish()
    }

    /// As [`close`](Self::close), for a writer that is asked something afterwards. Nothing more can be written.
    pub fn finish(&mut self) -> Result<ParquetMetaData> {
        self.end_file().map(|(_, metadata)| metadata)
    }

    /// As [`close`](Self::close), but gives the sink back.
    pub fn into_inner(self) -> Result<W> {
        self.into_parts().map(|(sink, _)| sink)
    }

    /// As [`close`](Self::close), but gives the sink back as well.
    pub fn into_parts(mut self) -> Result<(W, ParquetMetaData)> {
        self.end_file()
    }

    /// Gives the file up, and the sink back with what is in it: checkpoints, perhaps, but no end. `None` if the file is
    /// finished.
    pub fn abandon(self) -> Option<W> {
        self.file.map(FileWriter::into_sink)
    }

    fn end_file(&mut self) -> Result<(W, ParquetMetaData)> {
        // The footer follows at once: no checkpoint.
        self.guarded(Self::end_row_group)?;
        self.failed = true;
        match self.file.take() {
            Some(file) => file.finish(),
            None => Err(closed()),
        }
    }

    /// Adds a pair to the file's key-value metadata.
    pub fn append_key_value_metadata(&mut self, pair: KeyValue) {
        if let Some(file) = &mut self.file {
            file.add_key_value(pair);
        }
    }

    /// About how many bytes the row group that is being filled would have in the file. Rows that are not encoded yet
    /// count as they are in memory.
    pub fn in_progress_size(&self) -> usize {
        self.open.estimated_size() as usize + self.pending.bytes
    }

    /// How many rows the row group that is being filled has.
    pub fn in_progress_rows(&self) -> usize {
        self.open.rows + self.pending.rows
    }

    /// How many bytes the writer holds in memory: pages, dictionaries, and batches that wait.
    pub fn memory_size(&self) -> usize {
        self.open.memory_size() + self.pending.bytes
    }

    /// How many bytes were given to the sink.
    pub fn bytes_written(&self) -> usize {
        self.file.as_ref().map_or(0, |file| file.position() as usize)
    }

    /// The row groups that are in the sink.
    pub fn flushed_row_groups(&self) -> &[RowGroup] {
        self.file.as_ref().map_or(&[], FileWriter::row_groups)
    }

    /// For each column, how the encoding of its latest chunk was chosen.
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// Has all columns take what waits.
    fn pass(&mut self) -> Result<()> {
        let pending = std::mem::take(&mut self.pending);
        self.open.write(&pending.batches, pending.rows, &mut self.workspaces)?;
        match self.properties.memory_limit() {
            Some(limit) if self.open.memory_size() > limit => {
                self.open.spill(limit / 2, &mut self.workspaces[0])
            }
            _ => Ok(()),
        }
    }

    fn end_row_group(&mut self) -> Result<()> {
        self.pass()?;
        if self.open.rows == 0 {
            return Ok(());
        }
        let file = self.file.as_mut().ok_or_else(closed)?;
        let (rows, chunks) = self
            .open
            .finish(&self.columns, &mut self.workspaces)
            .map_err(|error| error.in_row_group(file.row_groups().len()))?;
        let mut encoded = Vec::with_capacity(chunks.len());
        for ((chunk, choice), kept) in chunks.into_iter().zip(&mut self.choices) {
            *kept = choice;
            encoded.push(chunk);
        }
        file.write_row_group(rows as u64, encoded, self.properties.sorting_columns().cloned())
    }

    /// Whether a checkpoint is due that does not wait for the row group to fill.
    fn must_end_for_checkpoint(&self) -> bool {
        let filling = self.open.estimated_size();
        self.in_progress_rows() > 0
            && self
                .file
                .as_ref()
                .is_some_and(|file| file.ends_row_groups_for_checkpoints() && file.is_checkpoint_due(filling))
    }

    fn checkpoint_if_due(&mut self) -> Result<()> {
        match self.file.as_ref().is_some_and(|file| file.is_checkpoint_due(0)) {
            true => self.write_checkpoint(),
            false => Ok(()),
        }
    }

    fn write_checkpoint(&mut self) -> Result<()> {
        let file = self.file.as_mut().ok_or_else(closed)?;
        file.write_checkpoint()?;
        self.checkpoints = file.checkpoints();
        self.safe_rows = file.row_groups().iter().map(|group| group.num_rows as u64).sum();
        Ok(())
    }

    /// Does something after which, if it fails, the writer is of no further use.
    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.check_usable()?;
        let done = work(self);
        self.failed |= done.is_err();
        done
    }

    /// Bytes that may wait.
    fn pass_bytes(&self) -> usize {
        let of_checkpoint = match self.properties.checkpoint_every() {
            Some(CheckpointEvery::Bytes(bytes)) => usize::try_from(bytes).ok(),
            _ => None,
        };
        let limits = [self.properties.max_row_group_bytes(), self.properties.memory_limit(), of_checkpoint];
        limits.into_iter().flatten().map(|limit| limit / 4).fold(PASS_BYTES, usize::min).max(1)
    }

    fn check_usable(&self) -> Result<()> {
        match (self.failed, &self.file) {
            (false, Some(_)) => Ok(()),
            (true, Some(_)) => Err(Error::argument("writing failed before; the file cannot be finished")),
            (_, None) => Err(closed()),
        }
    }
}

impl<W: Write + Send> std::fmt::Debug for ArrowWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArrowWriter")
            .field("in_progress_rows", &self.in_progress_rows())
            .finish_non_exhaustive()
    }
}

#[cold]
fn closed() -> Error {
    Error::argument("the file is finished")
}

/// The caller's pairs, then the Arrow schema.
fn key_values(arrow_schema: &ArrowSchema, properties: &WriterProperties) -> Vec<KeyValue> {
    let mut pairs = properties.key_value_metadata().cloned().unwrap_or_default();
    if properties.arrow_schema() && pairs.iter().all(|pair| pair.key != ARROW_SCHEMA_KEY) {
        pairs.push(KeyValue { key: ARROW_SCHEMA_KEY.to_owned(), value: Some(ipc::encode(arrow_schema)) });
    }
    pairs
}

/// Rows that wait for a pass.
const PASS_ROWS: usize = 64 << 10;
/// Bytes that wait for a pass.
const PASS_BYTES: usize = 64 << 20;
