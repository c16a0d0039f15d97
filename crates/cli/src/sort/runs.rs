//! Sorted rows in temporary files, and merging those.

use super::merge::Merge;
use super::{Budget, Keys};
use crate::convert::compact;
use crate::failure::Failure;
use crate::inputs::Batches;
use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::SchemaRef;
use std::fs::File;
use std::io::{BufReader, BufWriter, Seek};
use std::sync::Arc;

/// Sorted sequences of rows, in the order in which their rows came, each an Arrow stream in a file without a name.
pub(super) struct Runs {
    schema: SchemaRef,
    budget: Budget,
    files: Vec<File>,
    /// Rows in the batches of the runs.
    batch_rows: usize,
}

impl Runs {
    pub(super) fn new(schema: SchemaRef, budget: Budget) -> Self {
        Runs { schema, budget, files: Vec::new(), batch_rows: budget.batch_rows }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Adds a run of sorted rows, which come in batches of at most `batch_rows`.
    pub(super) fn push(
        &mut self,
        sorted: impl Iterator<Item = Result<RecordBatch, Failure>>,
        batch_rows: usize,
    ) -> Result<(), Failure> {
        self.batch_rows = self.batch_rows.min(batch_rows);
        let file = self.write(sorted)?;
        self.files.push(file);
        Ok(())
    }

    fn write(&self, sorted: impl Iterator<Item = Result<RecordBatch, Failure>>) -> Result<File, Failure> {
        let file = BufWriter::with_capacity(BUFFER, tempfile::tempfile()?);
        let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME))?;
        let mut writer = StreamWriter::try_new_with_options(file, &self.schema, options)?;
        for batch in sorted {
            // The views of gathered rows point into the buffers of all batches.
            writer.write(&compact(&batch?)?)?;
        }
        let file = writer.into_inner()?;
        file.into_inner().map_err(|error| Failure::from(error.into_error()))
    }

    /// All rows in order.
    pub(super) fn merged(mut self, keys: Keys) -> Result<Batches, Failure> {
        let keys = Arc::new(keys);
        let fan_in = self.budget.fan_in.max(2);
        while self.files.len() > fan_in {
            let mut longer = Vec::with_capacity(self.files.len().div_ceil(fan_in));
            let mut files = std::mem::take(&mut self.files).into_iter();
            // Neighbours, so that equal rows keep their order.
            loop {
                let group: Vec<File> = files.by_ref().take(fan_in).collect();
                if group.is_empty() {
                    break;
                }
                longer.push(self.write(merge(group, keys.clone(), self.batch_rows)?)?);
            }
            self.files = longer;
        }
        Ok(Box::new(merge(self.files, keys, self.budget.batch_rows)?))
    }
}

fn merge(files: Vec<File>, keys: Arc<Keys>, batch_rows: usize) -> Result<Merge, Failure> {
    let sequences = files.into_iter().map(read).collect::<Result<_, _>>()?;
    Merge::new(sequences, keys, batch_rows)
}

fn read(mut file: File) -> Result<Batches, Failure> {
    file.rewind()?;
    let reader = StreamReader::try_new(BufReader::with_capacity(BUFFER, file), None)?;
    Ok(Box::new(reader.map(|batch| batch.map_err(Failure::from))))
}

const BUFFER: usize = 64 << 10;
