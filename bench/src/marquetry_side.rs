//! Our side: Marquetry on Arrow 59.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use marquetry::arrow::arrow_reader::{ArrowReaderOptions, ChunkReader, ParquetRecordBatchReaderBuilder};

use crate::error::Result;

/// Opens the file for a full read of every column, in batches of `batch_size` rows, on `threads` threads. As `schema`, or as we
/// read it when we are not told.
pub(crate) fn open<T: ChunkReader>(
    file: T,
    schema: Option<&SchemaRef>,
    batch_size: usize,
    threads: usize,
) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<T>> {
    let options = match schema {
        Some(schema) => ArrowReaderOptions::new().with_schema(SchemaRef::clone(schema)),
        None => ArrowReaderOptions::new(),
    };
    let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)?
        .with_batch_size(batch_size)
        .with_threads(threads)
        .build()?;
    Ok(reader.map(|batch| Ok(batch?)))
}
