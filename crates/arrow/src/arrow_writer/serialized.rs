//! A file whose column chunks are made elsewhere, under the names of the `parquet` crate.

use super::column_chunk::ArrowColumnChunk;
use super::copied_types::{check_page_types, page_types};
use super::held_memory::HeldMemory;
use crate::schema::copied::PageTypes;
use marquetry_base::{Error, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::metrics::{WriteCounters, WriteMetrics};
use marquetry_core::schema::Schema;
use marquetry_core::source::Source;
use marquetry_core::write::copy::copy_row_group;
use marquetry_core::write::{
    CheckpointCost, ChunkBytes, EncodedChunk, EncodingDecision, FileWriter, KeyValue, SortingColumn,
};
use marquetry_format::{ColumnOrder, RowGroup};
use std::io::Write;
use std::sync::Arc;

/// A file that takes finished column chunks, the layer below [`ArrowWriter`](super::ArrowWriter).
///
/// Returned by [`ArrowWriter::into_serialized_writer`](super::ArrowWriter::into_serialized_writer); see the example at
/// [`ArrowColumnWriter`](super::ArrowColumnWriter).
///
/// The file is complete once [`close`](Self::close) has returned. After an error nothing more can be written.
#[must_use = "the file is complete once the writer is closed"]
pub struct SerializedFileWriter<W: Write + Send> {
    file: FileWriter<W>,
    schema: Arc<Schema>,
    orders: Vec<ColumnOrder>,
    sorting: Option<Vec<SortingColumn>>,
    /// Rows before the last checkpoint.
    safe_rows: u64,
    /// How the encoding of each column's latest chunk was chosen.
    decisions: Vec<EncodingDecision>,
    /// The types that copied pages are read as, once there are some.
    page_types: Option<PageTypes>,
    failed: bool,
}

impl<W: Write + Send> SerializedFileWriter<W> {
    pub(super) fn new(
        file: FileWriter<W>,
        schema: Arc<Schema>,
        orders: Vec<ColumnOrder>,
        sorting: Option<Vec<SortingColumn>>,
    ) -> Self {
        let decisions = vec![EncodingDecision::default(); schema.columns().len()];
        let (page_types, failed) = (None, false);
        SerializedFileWriter { file, schema, orders, sorting, safe_rows: 0, decisions, page_types, failed }
    }

    /// Returns the Parquet schema of the file.
    pub fn parquet_schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Begins a row group. Its chunks are written when it is [closed](SerializedRowGroupWriter::close). If it is
    /// dropped before that, the file is unchanged.
    pub fn next_row_group(&mut self) -> Result<SerializedRowGroupWriter<'_, W>> {
        self.check_usable()?;
        let (chunks, decisions, memory) = Default::default();
        Ok(SerializedRowGroupWriter { file: self, rows: None, chunks, decisions, memory })
    }

    /// Appends a row group of these chunks: one for each column, in the order of the schema's leaves. Writes a
    /// checkpoint if the properties have one due.
    ///
    /// Fails, and writes nothing, if the number of chunks is wrong, if a chunk belongs to another column, or if the
    /// chunks differ in their number of rows.
    pub fn append_row_group(&mut self, chunks: Vec<ArrowColumnChunk>) -> Result<()> {
        let mut row_group = self.next_row_group()?;
        chunks.into_iter().try_for_each(|chunk| row_group.append_column(chunk))?;
        row_group.close().map(drop)
    }

    /// Appends a row group of another file without decoding it.
    ///
    /// Copies pages as they are, and statistics, indexes and bloom filters as far as they can be trusted. `metadata` is
    /// the footer of `source`, and `row_group` a number in it.
    ///
    /// Fails if
    ///
    /// - the other file has another schema, or its columns in another order,
    /// - the stored Arrow schema of this file would change the values, as [`check_copied`](super::check_copied) says,
    /// - a chunk is encrypted, or damaged in a part that must be read,
    /// - there is no such row group.
    ///
    /// ```
    /// use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    /// use marquetry_arrow::arrow_writer::ArrowWriter;
    /// use marquetry_core::source::Source;
    /// use std::sync::Arc;
    ///
    /// let batch = RecordBatch::try_from_iter([("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef)])?;
    /// let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None)?;
    /// writer.write(&batch)?;
    /// let (old, footer) = writer.into_parts()?;
    ///
    /// let source: Arc<dyn Source> = Arc::new(bytes::Bytes::from(old));
    /// let (mut file, _) = ArrowWriter::try_new(Vec::new(), batch.schema(), None)?.into_serialized_writer()?;
    /// file.append_copied(&source, &footer, 0)?;
    /// file.append_copied(&source, &footer, 0)?;
    /// assert_eq!(file.close()?.num_rows(), 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append_copied(
        &mut self,
        source: &Arc<dyn Source>,
        metadata: &ParquetMetaData,
        row_group: usize,
    ) -> Result<()> {
        self.check_usable()?;
        let copied = copy_row_group(source, metadata, row_group, &self.schema, Some(&self.orders))?;
        let types = match &mut self.page_types {
            Some(types) => types,
            none => none.insert(page_types(&self.schema, self.file.key_values())?),
        };
        check_page_types(types, metadata)?;
        self.write_row_group(copied.rows, copied.chunks, Some(copied.sorting))?;
        self.checkpoint_if_due()
    }

    pub(super) fn write_row_group(
        &mut self,
        rows: u64,
        chunks: Vec<EncodedChunk>,
        sorting: Option<Vec<SortingColumn>>,
    ) -> Result<()> {
        self.failed = true;
        self.file.write_row_group(rows, chunks, sorting)?;
        self.failed = false;
        Ok(())
    }

    /// Writes the chunk of the next column of a row group of `rows` rows. [`finish_row_group`](Self::finish_row_group)
    /// ends the row group.
    pub(super) fn write_column(&mut self, rows: u64, chunk: EncodedChunk) -> Result<()> {
        self.failed = true;
        self.file.append_column(rows, chunk)?;
        self.failed = false;
        Ok(())
    }

    /// Returns whether a chunk may be written in parts.
    pub(super) fn takes_parts(&self) -> bool {
        self.file.takes_parts()
    }

    /// Writes pages of the next column.
    pub(super) fn write_part(&mut self, rows: u64, bytes: ChunkBytes) -> Result<()> {
        self.failed = true;
        self.file.append_part(rows, bytes)?;
        self.failed = false;
        Ok(())
    }

    pub(super) fn finish_row_group(&mut self, sorting: Option<Vec<SortingColumn>>) -> Result<()> {
        self.failed = true;
        self.file.finish_row_group(sorting)?;
        self.failed = false;
        Ok(())
    }

    /// Returns whether a checkpoint is due, given that a row group of `filling` bytes could be ended for it.
    pub(super) fn is_checkpoint_due(&self, filling: u64) -> bool {
        self.file.is_checkpoint_due(filling)
    }

    /// Returns whether a due checkpoint ends the row group that is being filled.
    pub(super) fn ends_row_groups_for_checkpoints(&self) -> bool {
        self.file.ends_row_groups_for_checkpoints()
    }

    fn checkpoint_if_due(&mut self) -> Result<()> {
        if self.is_checkpoint_due(0) { self.checkpoint() } else { Ok(()) }
    }

    /// Writes a checkpoint, whatever the properties say. All row groups so far can then be recovered, whatever happens.
    pub fn checkpoint(&mut self) -> Result<()> {
        self.check_usable()?;
        self.failed = true;
        self.file.write_checkpoint()?;
        self.safe_rows = self.file.row_groups().iter().map(|group| group.num_rows as u64).sum();
        self.failed = false;
        Ok(())
    }

    /// Returns how many rows are before the last checkpoint.
    pub fn checkpointed_rows(&self) -> u64 {
        self.safe_rows
    }

    /// Returns what checkpoints have cost so far.
    pub fn checkpoint_cost(&self) -> CheckpointCost {
        self.file.checkpoints()
    }

    /// Adds a pair to the file's key-value metadata.
    pub fn append_key_value_metadata(&mut self, pair: KeyValue) {
        self.page_types = None;
        self.file.add_key_value(pair);
    }

    /// Returns the row groups that were written to the sink.
    pub fn flushed_row_groups(&self) -> &[RowGroup] {
        self.file.row_groups()
    }

    /// Returns how many bytes were written to the sink.
    pub fn bytes_written(&self) -> u64 {
        self.file.position()
    }

    /// Returns for each column how the encoding of its latest chunk was chosen.
    pub fn decisions(&self) -> &[EncodingDecision] {
        &self.decisions
    }

    /// Returns the sink.
    pub fn inner(&self) -> &W {
        self.file.sink()
    }

    #[cfg(feature = "async")]
    pub(super) fn sink_mut(&mut self) -> &mut W {
        self.file.sink_mut()
    }

    /// Returns how many bytes the sink itself holds in memory, if it is a queue.
    pub(super) fn sink_memory(&self) -> usize {
        self.file.sink_memory()
    }

    /// Returns what writing has cost so far, including column writers.
    pub fn metrics(&self) -> WriteMetrics {
        self.counters().snapshot()
    }

    /// Returns the counters behind [`metrics`](Self::metrics), which outlive the writer.
    pub fn counters(&self) -> &Arc<WriteCounters> {
        self.file.counters()
    }

    /// Returns whether the file is finished.
    pub fn is_finished(&self) -> bool {
        self.file.is_finished()
    }

    /// Writes the indexes and the footer, and returns the footer's metadata.
    pub fn close(mut self) -> Result<ParquetMetaData> {
        self.finish()
    }

    /// Like [`close`](Self::close), but keeps the writer, so that its metrics can be read. The sink can be
    /// [taken](Self::into_sink) even after an error. Nothing more can be written.
    pub fn finish(&mut self) -> Result<ParquetMetaData> {
        self.check_usable()?;
        self.failed = true;
        let metadata = self.file.finish_in_place()?;
        self.failed = false;
        Ok(metadata)
    }

    /// Like [`close`](Self::close), but returns the sink as well.
    pub fn into_parts(mut self) -> Result<(W, ParquetMetaData)> {
        let metadata = self.finish()?;
        Ok((self.into_sink(), metadata))
    }

    /// Like [`close`](Self::close), but returns the sink, which is lost if an error occurs. To keep it in any case,
    /// call [`finish`](Self::finish), then [`into_sink`](Self::into_sink).
    pub fn into_inner(self) -> Result<W> {
        self.into_parts().map(|(sink, _)| sink)
    }

    /// Returns the sink, with the whole file if it is [finished](Self::finish). Otherwise it holds what was written so far.
    pub fn into_sink(self) -> W {
        self.file.into_sink()
    }

    pub(super) fn check_usable(&self) -> Result<()> {
        match (self.failed, self.is_finished()) {
            (true, _) => Err(Error::argument("writing failed before; the file cannot be finished")),
            (false, true) => Err(Error::argument("the file is finished")),
            (false, false) => Ok(()),
        }
    }
}

impl<W: Write + Send> std::fmt::Debug for SerializedFileWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SerializedFileWriter")
            .field("row_groups", &self.file.row_groups().len())
            .finish_non_exhaustive()
    }
}

/// A row group that takes its chunks in the order of the schema's leaves.
#[must_use = "a row group is written when it is closed"]
pub struct SerializedRowGroupWriter<'a, W: Write + Send> {
    file: &'a mut SerializedFileWriter<W>,
    /// The number of rows of the first chunk.
    rows: Option<u64>,
    chunks: Vec<EncodedChunk>,
    decisions: Vec<EncodingDecision>,
    /// The memory of the chunks, held until they are in the file.
    memory: Vec<HeldMemory>,
}

impl<W: Write + Send> SerializedRowGroupWriter<'_, W> {
    /// Appends the chunk of the next column.
    ///
    /// Fails if all columns have one, if the chunk belongs to another column, if it was made for a column of another
    /// type or with other levels, or if its number of rows differs from the earlier chunks.
    pub fn append_column(&mut self, chunk: ArrowColumnChunk) -> Result<()> {
        let row_group = self.file.file.row_groups().len();
        let Some(leaf) = self.file.schema.columns().get(self.chunks.len()) else {
            let message = format!("a chunk too many: the file has {} columns", self.chunks.len());
            return Err(Error::argument(message).in_row_group(row_group));
        };
        let place = |message: String| {
            Err(Error::argument(message).in_column(leaf.dotted().clone()).in_row_group(row_group))
        };
        if chunk.metadata().path_in_schema != leaf.path_in_schema() {
            return place("the chunk is of another column".to_owned());
        }
        if !chunk.fits(leaf) {
            return place(
                "the chunk was made for a column of another type, or with other nulls or lists".to_owned(),
            );
        }
        let rows = chunk.rows();
        match self.rows {
            Some(before) if before != rows => {
                return place(format!("{rows} rows, the chunks before have {before}"));
            }
            _ => self.rows = Some(rows),
        }
        let (chunk, decision, memory) = chunk.into_all();
        self.chunks.push(chunk);
        self.decisions.push(decision);
        self.memory.extend(memory);
        Ok(())
    }

    /// Writes the row group, and a checkpoint if the properties have one due. A row group without rows leaves no trace.
    /// Returns the metadata of the last row group that was written, if there is one.
    ///
    /// Fails, and writes nothing, if the chunk of a column is missing.
    pub fn close(self) -> Result<Option<RowGroup>> {
        let SerializedRowGroupWriter { file, rows, chunks, decisions, memory } = self;
        let wanted = file.schema.columns().len();
        if chunks.len() < wanted {
            let message = format!("{} chunks for a file of {wanted} columns", chunks.len());
            return Err(Error::argument(message).in_row_group(file.file.row_groups().len()));
        }
        let rows = rows.unwrap_or(0);
        if rows > 0 {
            file.write_row_group(rows, chunks, file.sorting.clone())?;
            drop(memory);
            file.decisions = decisions;
            file.checkpoint_if_due()?;
        }
        Ok(file.file.row_groups().last().cloned())
    }
}

impl ArrowColumnChunk {
    /// Appends it to a row group, as [`SerializedRowGroupWriter::append_column`] does.
    pub fn append_to_row_group<W: Write + Send>(
        self,
        row_group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<()> {
        row_group.append_column(self)
    }
}

impl<W: Write + Send> std::fmt::Debug for SerializedRowGroupWriter<'_, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SerializedRowGroupWriter").field("chunks", &self.chunks.len()).finish_non_exhaustive()
    }
}
