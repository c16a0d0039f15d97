//! Streams of record batches: what they give, what they fetch, and what happens when the store fails.

mod corpus;
mod dataset;
mod encrypted;
mod equals_reader;
mod faults;
mod filtered;
mod random_options;
mod requests;
mod row_groups;
mod salvaged;
mod store;

use arrow_array::{
    ArrayRef, Float64Array, Int64Array, ListArray, RecordBatch, StringArray, types::Int32Type,
};
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use futures::{StreamExt, executor::block_on};
use marquetry_arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_arrow::async_reader::ParquetRecordBatchStream;
use marquetry_base::Result;
use marquetry_core::write::WriterProperties;
use std::sync::Arc;

/// Rows with a number that grows, a text that repeats, a float that does not, and a list.
fn rows(n: i64) -> RecordBatch {
    let list = (0..n).map(|i| (i % 5 > 0).then(|| (0..i % 4).map(move |j| Some((i + j) as i32))));
    let columns: [(&str, ArrayRef); 4] = [
        ("id", Arc::new(Int64Array::from_iter_values(0..n))),
        (
            "name",
            Arc::new(StringArray::from_iter((0..n).map(|i| (i % 7 > 0).then(|| format!("name {}", i % 50))))),
        ),
        ("price", Arc::new(Float64Array::from_iter_values((0..n).map(|i| (i * 7919 % 10007) as f64 * 0.37)))),
        ("list", Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(list))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn written(batch: &RecordBatch, properties: WriterProperties) -> Bytes {
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap().into()
}

/// A file of row groups of `group` rows and pages of `page` rows.
fn file(batch: &RecordBatch, group: usize, page: usize) -> Bytes {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(group))
        .set_data_page_row_count_limit(page)
        .set_write_batch_size(page);
    written(batch, properties.build())
}

fn builder(file: &Bytes) -> ParquetRecordBatchReaderBuilder<Bytes> {
    ParquetRecordBatchReaderBuilder::try_new(file.clone()).unwrap()
}

/// All batches, or the first error; after that a stream is over.
fn collect<T>(mut stream: ParquetRecordBatchStream<T>) -> Result<Vec<RecordBatch>> {
    block_on(async {
        let mut out = Vec::new();
        while let Some(batch) = stream.next().await {
            match batch {
                Ok(batch) => out.push(batch),
                Err(error) => {
                    assert!(stream.next().await.is_none(), "after an error a stream is over");
                    return Err(error);
                }
            }
        }
        assert!(stream.next().await.is_none());
        Ok(out)
    })
}

fn one(schema: &SchemaRef, batches: &[RecordBatch]) -> RecordBatch {
    concat_batches(schema, batches).unwrap()
}

fn read(mut reader: ParquetRecordBatchReader) -> Result<Vec<RecordBatch>> {
    std::iter::from_fn(|| reader.next_batch()).collect()
}
