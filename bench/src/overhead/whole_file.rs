//! A reader of all that a file has.

use std::sync::Arc;

use marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry::file::Source;

use crate::error::Result;
use crate::row::BATCH_SIZE;

pub(super) type Builder = ParquetRecordBatchReaderBuilder<Arc<dyn Source>>;

/// A reader of all columns of a source.
pub(super) fn builder(source: Arc<dyn Source>, threads: usize) -> Result<Builder> {
    Ok(ParquetRecordBatchReaderBuilder::try_new(source)?.with_batch_size(BATCH_SIZE).with_threads(threads))
}
