//! Writing record batches: names and behaviour as the `parquet` crate has them.
//!
//! ```text
//! write ──► batches that wait ──► pass: each column of all of them is shredded and encoded ──► chunks ──► row group
//! ```
//!
//! Batches are buffered until there is enough work to be worth starting threads. The output depends only on the rows
//! and the properties, not on the number of threads.

mod batch_schema;
mod column_chunk;
mod column_writer;
mod copied_types;
mod dictionary_compat;
mod file_setup;
mod held_memory;
mod passes;
mod pending_batches;
mod progress;
mod row_group;
mod serialized;
mod slice_size;
mod table;

pub use column_chunk::ArrowColumnChunk;
pub use column_writer::{ArrowColumnWriter, ArrowLeafColumn, ArrowRowGroupWriterFactory, compute_leaves};
pub use copied_types::check_copied;
pub use serialized::{SerializedFileWriter, SerializedRowGroupWriter};

use crate::variant::{BatchShredder, Shreddings};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use batch_schema::check_batch;
use file_setup::FileSetup;
use held_memory::HeldMemory;
use marquetry_base::{Error, Result, Span};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::schema::Schema;
use marquetry_core::source::Source;
use marquetry_core::write::{
    ColumnSettings, Durable, EncodingDecision, FileSettings, FileWriter, KeyValue, SpillStore, Workspace,
    WriterProperties,
};
use marquetry_format::SchemaElement;
use pending_batches::PendingBatches;
use row_group::OpenRowGroup;
use std::io::Write;
use std::sync::Arc;

/// Writes record batches as a Parquet file.
///
/// The file is complete once [`close`](Self::close) or [`finish`](Self::finish) has returned. Before that, and after an
/// error, the sink holds no Parquet file, because the footer is missing. With
/// [checkpoints](marquetry_core::write::WriterPropertiesBuilder::set_checkpoint_every), the rows before the last one
/// can still be recovered.
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
#[must_use = "the file is complete once the writer is closed"]
pub struct ArrowWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    arrow_schema: SchemaRef,
    /// Set if columns of VARIANT are shredded before they are written.
    shredder: Option<BatchShredder>,
    schema: Arc<Schema>,
    properties: WriterProperties,
    columns: Arc<[ColumnSettings]>,
    spill_store: Arc<dyn SpillStore>,
    open: OpenRowGroup,
    workspaces: Vec<Workspace>,
    pending: PendingBatches,
    choices: Vec<EncodingDecision>,
    memory: HeldMemory,
    failed: bool,
}

#[cfg(feature = "async")]
impl ArrowWriter<marquetry_core::write::ByteQueue> {
    /// Creates a file whose bytes go to a queue, from which they are taken as they come.
    pub(crate) fn queued(arrow_schema: SchemaRef, properties: Option<WriterProperties>) -> Result<Self> {
        Self::begin(Default::default(), arrow_schema, properties, |_, elements, settings| {
            FileWriter::new_queued(elements, settings)
        })
    }
}

impl<W: Write + Send> ArrowWriter<W> {
    /// Creates a file in `sink` for batches of `arrow_schema`. Without `properties` it has the default ones.
    ///
    /// Checkpoints are flushed. For most sinks this does not mean that they are on a disk: see
    /// [`try_new_durable`](Self::try_new_durable).
    ///
    /// Fails if Parquet cannot store a column, or if a property does not fit the schema.
    pub fn try_new(sink: W, arrow_schema: SchemaRef, properties: Option<WriterProperties>) -> Result<Self> {
        Self::begin(sink, arrow_schema, properties, FileWriter::new)
    }

    /// Like [`try_new`](Self::try_new), but syncs checkpoints to the disk.
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

    /// Like [`try_new`](Self::try_new), but shreds columns of VARIANT as batches are written. Batches have
    /// `arrow_schema`. The file and this writer's column writers have the columns of the shredded shapes.
    ///
    /// Also fails if a path does not lead to a column of VARIANT, or if a shape is not possible.
    ///
    /// ```
    /// use marquetry_arrow::arrow_writer::ArrowWriter;
    /// use marquetry_arrow::variant::Shreddings;
    /// # use arrow_array::{ArrayRef, BinaryArray, RecordBatch, StructArray};
    /// # use arrow_schema::{DataType, Field, Schema};
    /// # let bytes = |name: &str| Field::new(name, DataType::Binary, false);
    /// # let storage = DataType::Struct(vec![bytes("metadata"), bytes("value")].into());
    /// # let extension = std::collections::HashMap::from([("ARROW:extension:name".to_owned(), "arrow.parquet.variant".to_owned())]);
    /// # let schema = std::sync::Arc::new(Schema::new(vec![Field::new("event", storage, true).with_metadata(extension)]));
    /// # let (metadata, value) = marquetry_variant::json::parse(r#"{"kind": "click", "x": 7}"#)?;
    /// # let binary = |bytes: &[u8]| std::sync::Arc::new(BinaryArray::from_vec(vec![bytes])) as ArrayRef;
    /// # let DataType::Struct(fields) = schema.field(0).data_type().clone() else { unreachable!() };
    /// # let column = StructArray::new(fields, vec![binary(&metadata), binary(&value)], None);
    /// # let batch = RecordBatch::try_new(schema, vec![std::sync::Arc::new(column)])?;
    /// // `batch` has a column `event` of VARIANT.
    /// let shreddings = Shreddings::new().with_column("event", "{kind: string}".parse()?);
    /// let mut writer = ArrowWriter::try_new_shredded(Vec::new(), batch.schema(), None, &shreddings)?;
    /// writer.write(&batch)?;
    /// assert_eq!(writer.close()?.schema().num_columns(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_new_shredded(
        sink: W,
        arrow_schema: SchemaRef,
        properties: Option<WriterProperties>,
        shreddings: &Shreddings,
    ) -> Result<Self> {
        let shredder = BatchShredder::new(arrow_schema, shreddings)?;
        let mut writer = Self::try_new(sink, shredder.schema().clone(), properties)?;
        writer.shredder = Some(shredder);
        Ok(writer)
    }

    /// Returns the sink.
    #[cfg(feature = "async")]
    pub(crate) fn sink_mut(&mut self) -> &mut W {
        self.file.sink_mut()
    }

    fn begin(
        sink: W,
        arrow_schema: SchemaRef,
        properties: Option<WriterProperties>,
        begin_file: fn(W, Vec<SchemaElement>, FileSettings) -> Result<FileWriter<W>>,
    ) -> Result<Self> {
        let properties = properties.unwrap_or_default();
        let FileSetup { schema, elements, columns, orders, settings } =
            FileSetup::new(&arrow_schema, &properties)?;
        let executor = properties.executor().or_threads("marquetry-write");
        let open = OpenRowGroup::new(&arrow_schema, &schema, &columns, executor)?;
        let file = begin_file(sink, elements, settings)?;
        let sorting = properties.sorting_columns().cloned();
        let counters = file.counters();
        let keeps_memory = !properties.is_memory_bounded();
        Ok(ArrowWriter {
            workspaces: Workspace::several(properties.threads(), keeps_memory, counters),
            memory: HeldMemory::new(counters, properties.memory()),
            file: SerializedFileWriter::new(file, schema.clone(), orders, sorting),
            choices: vec![EncodingDecision::default(); columns.len()],
            pending: PendingBatches::default(),
            spill_store: properties.page_store(),
            arrow_schema,
            shredder: None,
            schema,
            properties,
            columns,
            open,
            failed: false,
        })
    }

    /// Returns the Parquet schema of the file.
    pub fn parquet_schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Appends the rows of `batch`, whose columns must be those of the schema. A row group ends when it has as many
    /// rows or bytes as the properties allow.
    ///
    /// The batch's memory is held until there are enough rows to encode. After an error the writer cannot be used any more.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.check_usable()?;
        let shredded = self.shredder.as_ref().map(|shredder| shredder.shred(batch)).transpose()?;
        let batch = shredded.as_ref().unwrap_or(batch);
        check_batch(&self.arrow_schema, batch)?;
        self.guarded(|writer| writer.write_rows(batch))
    }

    /// Ends the row group, if it has rows, and writes a checkpoint if one is due.
    pub fn flush(&mut self) -> Result<()> {
        self.guarded(|writer| writer.end_row_group().and_then(|()| writer.checkpoint_if_due()))
    }

    /// Ends the row group, if it has rows, and writes a checkpoint, whatever the properties say. Once this returns, all
    /// rows written so far can be recovered, whatever happens.
    pub fn checkpoint(&mut self) -> Result<()> {
        self.guarded(|writer| {
            writer.end_row_group()?;
            writer.file.checkpoint()
        })
    }

    /// Returns a factory of column writers, for row groups that the host fills on any thread while this writer writes.
    ///
    /// [Append](Self::append_row_group) their chunks. If nothing else is written,
    /// [`into_serialized_writer`](Self::into_serialized_writer) is simpler.
    pub fn row_group_writer_factory(&self) -> ArrowRowGroupWriterFactory {
        let (arrow_schema, schema) = (self.arrow_schema.clone(), self.schema.clone());
        let (columns, counters) = (self.columns.clone(), self.file.counters());
        ArrowRowGroupWriterFactory::new(arrow_schema, schema, columns, &self.properties, counters)
    }

    /// Ends the row group, if it has rows, and returns the column writers of the next one: one for each column of the
    /// Parquet schema.
    pub fn get_column_writers(&mut self) -> Result<Vec<ArrowColumnWriter>> {
        self.flush()?;
        self.row_group_writer_factory().create_column_writers(self.flushed_row_groups().len())
    }

    /// Ends the row group, if it has rows, and appends a row group of these chunks: one for each column, in the order
    /// of the Parquet schema. Writes a checkpoint if one is due.
    ///
    /// Fails, and appends nothing, if the number of chunks is wrong, if a chunk belongs to another column, or if the
    /// chunks differ in their number of rows. The writer can still be used after such an error.
    ///
    /// ```
    /// # use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    /// # use marquetry_arrow::arrow_writer::{ArrowWriter, compute_leaves};
    /// # use std::sync::Arc;
    /// # let batch = RecordBatch::try_from_iter([("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef)])?;
    /// let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None)?;
    /// let mut columns = writer.get_column_writers()?;
    /// let mut leaves = Vec::new();
    /// for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
    ///     leaves.extend(compute_leaves(field, array)?);
    /// }
    /// // On any thread:
    /// for (column, leaf) in columns.iter_mut().zip(&leaves) {
    ///     column.write(leaf)?;
    /// }
    /// let chunks = columns.into_iter().map(|column| column.close()).collect::<Result<_, _>>()?;
    /// writer.append_row_group(chunks)?;
    /// assert_eq!(writer.close()?.num_rows(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append_row_group(&mut self, chunks: Vec<ArrowColumnChunk>) -> Result<()> {
        self.flush()?;
        self.file.append_row_group(chunks)?;
        self.choices = self.file.decisions().to_vec();
        Ok(())
    }

    /// Ends the row group, if it has rows, and appends one of another file without decoding it, as
    /// [`SerializedFileWriter::append_copied`] does.
    pub fn append_copied(
        &mut self,
        source: &Arc<dyn Source>,
        metadata: &ParquetMetaData,
        row_group: usize,
    ) -> Result<()> {
        self.flush()?;
        self.file.append_copied(source, metadata, row_group)
    }

    /// Ends the row group, if it has rows, and returns the file and a factory of column writers, for a host that makes
    /// all other chunks itself. See the example at [`ArrowColumnWriter`].
    pub fn into_serialized_writer(mut self) -> Result<(SerializedFileWriter<W>, ArrowRowGroupWriterFactory)> {
        self.flush()?;
        let factory = self.row_group_writer_factory();
        Ok((self.file, factory))
    }

    /// Writes the remaining rows and the footer, and returns the footer's metadata.
    pub fn close(mut self) -> Result<ParquetMetaData> {
        self.finish()
    }

    /// Like [`close`](Self::close), but keeps the writer, so that its metrics can be read. The sink can be
    /// [taken](Self::into_sink) even after an error. Nothing more can be written.
    pub fn finish(&mut self) -> Result<ParquetMetaData> {
        self.guarded(|writer| {
            // The footer follows at once: no checkpoint.
            writer.end_row_group()?;
            Span::finish().in_scope(|| writer.file.finish())
        })
    }

    /// Like [`close`](Self::close), but returns the sink, which is lost if an error occurs. To keep it in any case,
    /// call [`finish`](Self::finish), then [`into_sink`](Self::into_sink).
    ///
    /// ```
    /// # use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    /// # use marquetry_arrow::arrow_writer::ArrowWriter;
    /// # use std::sync::Arc;
    /// # let batch = RecordBatch::try_from_iter([("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef)])?;
    /// // A sink that is full before the file is.
    /// let mut writer = ArrowWriter::try_new(std::io::Cursor::new([0; 10]), batch.schema(), None)?;
    /// writer.write(&batch)?;
    /// assert!(writer.finish().is_err());
    /// assert!(writer.into_sink().into_inner().starts_with(b"PAR1"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn into_inner(self) -> Result<W> {
        self.into_parts().map(|(sink, _)| sink)
    }

    /// Like [`close`](Self::close), but returns the sink as well.
    pub fn into_parts(mut self) -> Result<(W, ParquetMetaData)> {
        let metadata = self.finish()?;
        Ok((self.into_sink(), metadata))
    }

    /// Returns the sink, with the whole file if it is [finished](Self::finish). Otherwise it holds what was written so
    /// far, such as checkpoints.
    pub fn into_sink(self) -> W {
        self.file.into_sink()
    }

    /// Adds a pair to the file's key-value metadata. Fails once the file is finished.
    pub fn append_key_value_metadata(&mut self, pair: KeyValue) -> Result<()> {
        if self.file.is_finished() {
            return Err(closed());
        }
        self.file.append_key_value_metadata(pair);
        Ok(())
    }

    /// Frees the memory that is kept for the next row group, which then takes somewhat longer to write. Useful after
    /// [`flush`](Self::flush), for a writer that is idle.
    ///
    /// ```
    /// # use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    /// # use marquetry_arrow::arrow_writer::ArrowWriter;
    /// # use std::sync::Arc;
    /// # let numbers = Int64Array::from_iter_values((0..500_000).map(|i| i * 7_919 % 500_009));
    /// # let batch = RecordBatch::try_from_iter([("id", Arc::new(numbers) as ArrayRef)])?;
    /// let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None)?;
    /// writer.write(&batch)?;
    /// writer.flush()?;
    /// let kept = writer.memory_size();
    /// writer.shrink();
    /// assert!(kept > 100_000 && writer.memory_size() < kept / 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shrink(&mut self) {
        self.workspaces.iter_mut().for_each(Workspace::shrink);
    }

    /// Does work after which the writer cannot be used any more if it fails or panics.
    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.check_usable()?;
        self.failed = true;
        let done = work(self);
        self.failed = done.is_err();
        done
    }

    fn check_usable(&self) -> Result<()> {
        match self.failed {
            true => Err(Error::argument("writing failed before; the file cannot be finished")),
            false => self.file.check_usable(),
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
