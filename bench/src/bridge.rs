//! From one Arrow major to the other, through the IPC format: what one writes into memory, the other reads and validates.
//! So every type is carried that both know, with its metadata.

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::SchemaRef;
use arrow60_array::RecordBatch as RecordBatch60;
use arrow60_ipc::reader::StreamReader as StreamReader60;
use arrow60_ipc::writer::StreamWriter as StreamWriter60;
use arrow60_schema::Schema as Schema60;

use crate::error::Result;

/// The same schema in Arrow 59.
pub(crate) fn schema(from: &Schema60) -> Result<SchemaRef> {
    let mut bytes = Vec::new();
    StreamWriter60::try_new(&mut bytes, from)?.finish()?;
    Ok(StreamReader::try_new(&bytes[..], None)?.schema())
}

/// The same rows in Arrow 60, with the fields of `schema`, which may differ from the batch's in names and metadata of nested
/// fields, not in types. Buffers are copied and fully validated: offsets, UTF-8, keys, views.
pub(crate) fn batch_60(from: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch60> {
    let options =
        RecordBatchOptions::new().with_match_field_names(false).with_row_count(Some(from.num_rows()));
    let columns = from.columns().to_vec();
    let from = RecordBatch::try_new_with_options(SchemaRef::clone(schema), columns, &options)?;
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, schema)?;
    writer.write(&from)?;
    writer.finish()?;
    StreamReader60::try_new(&bytes[..], None)?.next().ok_or("a stream without a batch")?.map_err(Into::into)
}

/// The same rows in Arrow 59. Buffers are copied and fully validated.
pub(crate) fn batch_59(from: &RecordBatch60) -> Result<RecordBatch> {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter60::try_new(&mut bytes, &from.schema())?;
    writer.write(from)?;
    writer.finish()?;
    StreamReader::try_new(&bytes[..], None)?.next().ok_or("a stream without a batch")?.map_err(Into::into)
}
