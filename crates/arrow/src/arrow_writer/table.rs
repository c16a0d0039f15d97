//! Writes tables that are in memory already: whole row groups, column after column.

use super::ArrowWriter;
use super::batch_schema::check_batch;
use super::row_group::{ColumnSink, FinishedColumn};
use super::serialized::SerializedFileWriter;
use super::slice_size::batch_bytes;
use arrow_array::RecordBatch;
use marquetry_base::{Result, Span};
use marquetry_core::write::{CheckpointEvery, ChunkBytes, EncodingDecision};
use std::io::Write;
use std::ops::Range;

impl<W: Write + Send> ArrowWriter<W> {
    /// Ends the row group, if it has rows, and appends row groups of all rows of `batches`. Each has as many rows as
    /// the properties allow.
    ///
    /// The file equals, byte for byte, what [`write`](Self::write) of each batch and [`flush`](Self::flush) make, but
    /// writing it takes less memory. All rows of a row group are known, so a column's chunk is written as soon as those
    /// before it are, and page by page unless it has a dictionary. `write` must hold the chunks of all columns until
    /// the row group ends.
    ///
    /// Row group limits in bytes, checkpoints by bytes, and memory limits need all columns at a time. With any of
    /// these, it does what `write` does. After an error the writer cannot be used any more.
    ///
    /// ```
    /// use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    /// use marquetry_arrow::arrow_writer::ArrowWriter;
    /// use std::sync::Arc;
    ///
    /// let batch = RecordBatch::try_from_iter([("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef)])?;
    /// let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None)?;
    /// writer.write_table(&[batch.clone(), batch])?;
    /// let metadata = writer.close()?;
    /// assert_eq!((metadata.num_rows(), metadata.num_row_groups()), (6, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_table(&mut self, batches: &[RecordBatch]) -> Result<()> {
        self.flush()?;
        if self.needs_all_columns() {
            batches.iter().try_for_each(|batch| self.write(batch))?;
            return self.flush();
        }
        let shredded;
        let batches = match &self.shredder {
            Some(shredder) => {
                shredded = batches.iter().map(|batch| shredder.shred(batch)).collect::<Result<Vec<_>>>()?;
                &shredded
            }
            None => batches,
        };
        batches.iter().try_for_each(|batch| check_batch(&self.arrow_schema, batch))?;
        self.guarded(|writer| {
            let most = writer.properties.max_row_group_row_count().unwrap_or(usize::MAX);
            let (mut parts, mut rows) = (Vec::new(), 0);
            for batch in batches {
                let pass_rows = writer.pass_rows(batch_bytes(batch) / batch.num_rows().max(1));
                let mut from = 0;
                while from < batch.num_rows() {
                    let end = (from + most - rows).min(batch.num_rows());
                    // Splits rows into the passes that `write` would use, so that pages end at the same rows.
                    let passes = (from..end).step_by(pass_rows);
                    parts.extend(passes.map(|start| (batch.clone(), start..(start + pass_rows).min(end))));
                    rows += end - from;
                    from = end;
                    if rows == most {
                        writer.write_columns(std::mem::take(&mut parts), std::mem::take(&mut rows))?;
                    }
                }
            }
            if rows > 0 { writer.write_columns(parts, rows) } else { Ok(()) }
        })
    }

    /// Returns whether the end of a row group, or what to spill, depends on all columns at once.
    fn needs_all_columns(&self) -> bool {
        self.properties.is_memory_bounded()
            || self.properties.max_row_group_bytes().is_some()
            || matches!(self.properties.checkpoint_every(), Some(CheckpointEvery::Bytes(_)))
            || self.schema.num_columns() == 0
    }

    /// Writes a row group of these rows.
    fn write_columns(&mut self, parts: Vec<(RecordBatch, Range<usize>)>, rows: usize) -> Result<()> {
        let index = self.file.flushed_row_groups().len();
        let ArrowWriter { file, open, workspaces, choices, .. } = self;
        let mut columns = Columns { file, choices: choices.iter_mut(), rows: rows as u64 };
        let encode = || open.write_whole(parts, workspaces, &mut columns);
        Span::encode(rows).in_scope(encode).map_err(|error| error.in_row_group(index))?;
        self.file.finish_row_group(self.properties.sorting_columns().cloned())?;
        self.note_memory()?;
        self.checkpoint_if_due()
    }
}

/// Writes the columns of a row group to the file.
struct Columns<'a, W: Write + Send> {
    file: &'a mut SerializedFileWriter<W>,
    /// The places for the columns that are not written yet.
    choices: std::slice::IterMut<'a, EncodingDecision>,
    rows: u64,
}

impl<W: Write + Send> ColumnSink for Columns<'_, W> {
    fn takes_parts(&self) -> bool {
        self.file.takes_parts()
    }

    fn part(&mut self, pages: ChunkBytes) -> Result<()> {
        self.file.write_part(self.rows, pages)
    }

    fn chunk(&mut self, chunk: FinishedColumn) -> Result<()> {
        let (chunk, choice) = *chunk;
        if let Some(place) = self.choices.next() {
            *place = choice;
        }
        self.file.write_column(self.rows, chunk)
    }
}
