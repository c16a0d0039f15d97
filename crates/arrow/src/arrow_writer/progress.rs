//! Progress of a writer: rows, bytes, buffered memory, and cost.

use super::ArrowWriter;
use marquetry_core::metrics::{WriteCounters, WriteMetrics};
use marquetry_core::write::{CheckpointCost, EncodingDecision, Workspace};
use marquetry_format::RowGroup;
use std::io::Write;
use std::sync::Arc;

impl<W: Write + Send> ArrowWriter<W> {
    /// About how many bytes the row group that is being filled would have in the file. Rows that are not encoded yet
    /// count as they are in memory.
    pub fn in_progress_size(&self) -> usize {
        self.open.estimated_size() as usize + self.pending.bytes
    }

    /// How many rows the row group that is being filled has.
    pub fn in_progress_rows(&self) -> usize {
        self.open.rows + self.pending.rows
    }

    /// How many bytes the writer holds in memory: pages, dictionaries, batches that wait, and what it keeps for the next row
    /// group, which without a [memory limit](marquetry_core::write::WriterProperties::memory_limit) is as much as the largest one so far took.
    pub fn memory_size(&self) -> usize {
        self.open.memory_size()
            + self.pending.bytes
            + Workspace::memory_size(&self.workspaces)
            + self.file.sink_memory()
    }

    /// How many bytes were given to the sink.
    pub fn bytes_written(&self) -> u64 {
        self.file.bytes_written()
    }

    /// The row groups that are in the sink.
    pub fn flushed_row_groups(&self) -> &[RowGroup] {
        self.file.flushed_row_groups()
    }

    /// For each column, how the encoding of its latest chunk was chosen.
    pub fn choices(&self) -> &[EncodingDecision] {
        &self.choices
    }

    /// Bytes that checkpoints take in the file. `rewrite` leaves them out.
    pub fn checkpoint_bytes(&self) -> u64 {
        self.checkpoint_cost().bytes
    }

    /// How many checkpoints there are.
    pub fn checkpoints(&self) -> usize {
        self.checkpoint_cost().count
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
        self.file.checkpoint_cost()
    }

    /// How many rows are before the last checkpoint.
    pub fn checkpointed_rows(&self) -> u64 {
        self.file.checkpointed_rows()
    }

    /// What writing has cost so far: bytes, pages, times, memory. The [factory's](Self::row_group_writer_factory) column writers
    /// count, too.
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

    /// Where that is counted: for who asks when the writer is gone.
    pub fn counters(&self) -> &Arc<WriteCounters> {
        self.file.counters()
    }
}
