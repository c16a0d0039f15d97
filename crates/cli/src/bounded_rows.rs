//! Batches of a Parquet file, bounded by bytes as well as by rows.

use crate::args::{OnCorruptArg, Selection};
use crate::memory::batch_limits;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use marquetry::OpenFile;
use marquetry::arrow::ProjectionMask;
use marquetry::arrow::arrow_reader::{LossReport, ParquetRecordBatchReader};
use marquetry::errors::{Error, ErrorKind, Limits, Result};
use marquetry::file::metadata::ParquetMetaData;
use marquetry::metrics::ReadMetrics;

/// Reads the chosen rows of a file in batches of limited rows. Batches of long values have fewer rows: their number
/// first follows the sizes in the footer, and a batch that exceeds a limit nevertheless is read again in smaller ones.
pub(crate) struct BoundedRows {
    /// The file, with its choice of columns and rows.
    file: OpenFile,
    reader: ParquetRecordBatchReader,
    /// Metrics of the readers before that one.
    metrics_before: ReadMetrics,
    batch_rows: usize,
    /// Number of selected rows before the first that is wanted.
    offset: usize,
    /// Number of rows that are still wanted.
    left: Option<usize>,
    /// Whether reading may be repeated from where it stopped.
    may_read_again: bool,
    /// Whether batches of one row have exceeded the limits, so that only those of a file count.
    is_one_row: bool,
}

impl BoundedRows {
    pub(crate) fn new(
        file: OpenFile,
        selection: &Selection,
        limit: Option<usize>,
        batch_rows: usize,
    ) -> Result<Self> {
        let file = selection.of(file).limits(batch_limits());
        let batch_rows = rows_of_bytes(file.metadata(), selection, batch_rows.max(1));
        let offset = selection.offset;
        let reader = open(&file, batch_rows, offset, limit)?;
        // Reading twice would count losses twice.
        let may_read_again = selection.on_corrupt == OnCorruptArg::Fail;
        Ok(BoundedRows {
            file,
            reader,
            metrics_before: ReadMetrics::default(),
            batch_rows,
            offset,
            left: limit,
            may_read_again,
            is_one_row: false,
        })
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        arrow_array::RecordBatchReader::schema(&self.reader)
    }

    pub(crate) fn loss_report(&self) -> LossReport {
        self.reader.loss_report()
    }

    /// The cost of reading so far.
    pub(crate) fn metrics(&self) -> ReadMetrics {
        let mut all = self.metrics_before;
        all += self.reader.metrics();
        all
    }

    /// The next batch.
    pub(crate) fn next_batch(&mut self) -> Option<Result<RecordBatch>> {
        loop {
            match self.reader.next_batch()? {
                Ok(batch) => {
                    self.offset += batch.num_rows();
                    self.left = self.left.map(|left| left.saturating_sub(batch.num_rows()));
                    return Some(Ok(batch));
                }
                Err(error) if is_too_large(&error) && self.may_read_again && !self.is_one_row => {
                    if let Err(error) = self.read_again() {
                        return Some(Err(error));
                    }
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Reads the batch that exceeded a limit again, with fewer rows in it.
    fn read_again(&mut self) -> Result<()> {
        let rows = usize::try_from(self.file.metadata().num_rows()).unwrap_or(usize::MAX);
        match self.batch_rows.min(rows) {
            ..=1 => {
                self.is_one_row = true;
                self.file = self.file.clone().limits(Limits::default());
                self.batch_rows = 1;
            }
            rows => self.batch_rows = (rows / FEWER_ROWS).max(1),
        }
        self.metrics_before = self.metrics();
        self.reader = open(&self.file, self.batch_rows, self.offset, self.left)?;
        Ok(())
    }
}

fn open(
    file: &OpenFile,
    batch_rows: usize,
    offset: usize,
    limit: Option<usize>,
) -> Result<ParquetRecordBatchReader> {
    let file = file.clone().batch_size(batch_rows).offset(offset);
    match limit {
        Some(limit) => file.limit(limit).batches(),
        None => file.batches(),
    }
}

/// The number of rows that take about [`BATCH_BYTES`] in any of the sampled row groups, and at most `most`.
fn rows_of_bytes(metadata: &ParquetMetaData, selection: &Selection, most: usize) -> usize {
    let mask = selection.columns().map(|columns| {
        let names = columns.iter().map(String::as_str);
        // The reader reports a wrong name.
        ProjectionMask::existing_columns(metadata.schema(), names).unwrap_or_else(|_| ProjectionMask::all())
    });
    let step = metadata.num_row_groups().div_ceil(LOOKED_AT).max(1);
    let rows_of = |row_group: usize| {
        let group = metadata.row_group(row_group);
        let rows = group.num_rows().max(1);
        let all = u64::try_from(group.total_byte_size()).unwrap_or(0);
        // PERF: if rows are short as a whole, their columns are not looked at.
        if all / rows < BATCH_BYTES / most as u64 {
            return most;
        }
        let columns = group.columns().enumerate();
        let wanted = columns.filter(|(i, _)| mask.as_ref().is_none_or(|mask| mask.leaf_included(*i)));
        let sizes = wanted.filter_map(|(_, chunk)| u64::try_from(chunk.ok()?.uncompressed_size()).ok());
        let bytes = sizes.fold(0, u64::saturating_add);
        usize::try_from(BATCH_BYTES / (bytes / rows).max(1)).unwrap_or(most)
    };
    (0..metadata.num_row_groups()).step_by(step).map(rows_of).min().unwrap_or(most).clamp(1, most)
}

/// Whether smaller batches may help.
fn is_too_large(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Limit | ErrorKind::Memory)
}

/// Largest size of a batch, by the sizes in the footer.
const BATCH_BYTES: u64 = 64 << 20;
/// Row groups whose size is sampled.
const LOOKED_AT: usize = 64;
/// A batch that exceeds a limit is read again with one row in this many.
const FEWER_ROWS: usize = 32;
