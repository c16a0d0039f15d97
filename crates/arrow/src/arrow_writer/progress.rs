//! Progress of a writer: rows, bytes, buffered memory, and cost.

use super::ArrowWriter;
use marquetry_core::metrics::{WriteCounters, WriteMetrics};
use marquetry_core::write::{CheckpointCost, EncodingDecision, Workspace};
use marquetry_format::RowGroup;
use std::io::Write;
use std::sync::Arc;

impl<W: Write + Send> ArrowWriter<W> {
    /// Returns about how many bytes the current row group would have in the file. Rows that are not encoded yet count
    /// by their size in memory.
    pub fn in_progress_size(&self) -> usize {
        self.open.estimated_size() as usize + self.pending.bytes
    }

    /// Returns how many rows the current row group has.
    pub fn in_progress_rows(&self) -> usize {
        self.open.rows + self.pending.rows
    }

    /// Returns how many bytes the writer holds in memory: pages, dictionaries, buffered batches, and buffers kept for
    /// the next row group.
    ///
    /// Without a [memory limit](marquetry_core::write::WriterProperties::memory_limit) it keeps as much as the largest
    /// row group so far took.
    pub fn memory_size(&self) -> usize {
        self.open.memory_size()
            + self.pending.bytes
            + Workspace::memory_size(&self.workspaces)
            + self.file.sink_memory()
    }

    /// Returns how many bytes were written to the sink.
    pub fn bytes_written(&self) -> u64 {
        self.file.bytes_written()
    }

    /// Returns the row groups that were written to the sink.
    pub fn flushed_row_groups(&self) -> &[RowGroup] {
        self.file.flushed_row_groups()
    }

    /// Returns for each column how the encoding of its latest chunk was chosen.
    pub fn choices(&self) -> &[EncodingDecision] {
        &self.choices
    }

    /// Returns how many bytes checkpoints take in the file. `rewrite` removes them.
    pub fn checkpoint_bytes(&self) -> u64 {
        self.checkpoint_cost().bytes
    }

    /// Returns how many checkpoints there are.
    pub fn checkpoints(&self) -> usize {
        self.checkpoint_cost().count
    }

    /// Returns what checkpoints have cost so far, or in total once the file is [finished](Self::finish).
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
        self.file.checkpoint_cost()
    }

    /// Returns how many rows are before the last checkpoint.
    pub fn checkpointed_rows(&self) -> u64 {
        self.file.checkpointed_rows()
    }

    /// Returns what writing has cost so far: bytes, pages, times, memory. Includes the column writers of the
    /// [factory](Self::row_group_writer_factory).
    ///
    /// ```
    /// # use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    /// # use marquetry_arrow::arrow_writer::ArrowWriter;
    /// # use std::sync::Arc;
    /// # let batch = RecordBatch::try_from_iter([("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef)])?;
    /// let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None)?;
    /// writer.write(&batch)?;
    /// writer.finish()?;
    /// let metrics = writer.metrics();
    /// assert_eq!((metrics.row_groups, metrics.rows), (1, 3));
    /// assert_eq!(metrics.bytes_written, writer.into_sink().len() as u64);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn metrics(&self) -> WriteMetrics {
        self.file.metrics()
    }

    /// Returns the counters behind [`metrics`](Self::metrics), which outlive the writer.
    pub fn counters(&self) -> &Arc<WriteCounters> {
        self.file.counters()
    }
}
