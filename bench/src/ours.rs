//! Our side: Marquetry on Arrow 59.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use marquetry::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

use crate::Result;

/// Opens the file for a full read of every column as `schema`, in batches of `batch_size` rows.
pub(crate) fn open(
    file: &Bytes,
    schema: &SchemaRef,
    batch_size: usize,
) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
    let options = ArrowReaderOptions::new().with_schema(SchemaRef::clone(schema));
    let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options)?
        .with_batch_size(batch_size)
        .build()?;
    Ok(reader.map(|batch| Ok(batch?)))
}
