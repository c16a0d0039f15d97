//! The peer's writer. It has no threads of its own; for two, its columns are shared out here, as its documentation shows.

use std::sync::{Arc, Mutex};

use arrow60_array::RecordBatch;
use arrow60_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, compute_leaves};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::columns::DICTIONARY_LIMIT;
use crate::error::Result;
use crate::sink::Sink;

/// The peer's properties.
pub(crate) type Properties = WriterProperties;

/// All defaults, but for the codec.
pub(crate) fn defaults(codec: &str) -> Result<Properties> {
    let compression = match codec {
        "uncompressed" => Compression::UNCOMPRESSED,
        "snappy" => Compression::SNAPPY,
        "zstd" => Compression::ZSTD(ZstdLevel::default()),
        other => return Err(format!("no codec {other}").into()),
    };
    Ok(WriterProperties::builder().set_compression(compression).build())
}

/// Uncompressed, every page in this encoding.
pub(crate) fn with_encoding(encoding: Encoding) -> Properties {
    let builder = WriterProperties::builder();
    match encoding {
        Encoding::RLE_DICTIONARY => {
            builder.set_dictionary_enabled(true).set_dictionary_page_size_limit(DICTIONARY_LIMIT)
        }
        plain => builder.set_dictionary_enabled(false).set_encoding(plain),
    }
    .build()
}

/// Writes all batches.
pub(crate) fn write(
    batches: &[RecordBatch],
    schema: &SchemaRef,
    properties: &Properties,
    threads: usize,
    sink: &mut dyn Sink,
) -> Result<()> {
    let mut writer = ArrowWriter::try_new(sink, SchemaRef::clone(schema), Some(properties.clone()))?;
    if threads == 1 {
        for batch in batches {
            writer.write(batch)?;
        }
        writer.close()?;
        return Ok(());
    }
    let (mut file, factory) = writer.into_serialized_writer()?;
    let most = properties.max_row_group_row_count().unwrap_or(usize::MAX);
    for (number, row_group) in row_groups(batches, most).iter().enumerate() {
        let columns = factory.create_column_writers(number)?;
        let mut chunks: Vec<Option<Result<ArrowColumnChunk>>> = columns.iter().map(|_| None).collect();
        let queue = Mutex::new(columns.into_iter().zip(&mut chunks).enumerate());
        let next = || queue.lock().ok()?.next();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some((i, (column, chunk))) = next() {
                        *chunk = Some(write_column(column, row_group, i));
                    }
                });
            }
        });
        drop(queue);
        let mut out = file.next_row_group()?;
        for chunk in chunks.into_iter().flatten() {
            chunk?.append_to_row_group(&mut out)?;
        }
        out.close()?;
    }
    file.close()?;
    Ok(())
}

/// Encodes a flat column of one row group.
fn write_column(
    mut writer: ArrowColumnWriter,
    batches: &[RecordBatch],
    i: usize,
) -> Result<ArrowColumnChunk> {
    for batch in batches {
        let field = Arc::clone(&batch.schema().fields()[i]);
        for leaf in compute_leaves(&field, batch.column(i))? {
            writer.write(&leaf)?;
        }
    }
    Ok(writer.close()?)
}

/// Splits the batches into groups of `most` rows.
fn row_groups(batches: &[RecordBatch], most: usize) -> Vec<Vec<RecordBatch>> {
    let mut groups = Vec::new();
    let (mut group, mut room) = (Vec::new(), most);
    for batch in batches {
        let mut from = 0;
        while from < batch.num_rows() {
            let rows = room.min(batch.num_rows() - from);
            group.push(batch.slice(from, rows));
            (from, room) = (from + rows, room - rows);
            if room == 0 {
                groups.push(std::mem::take(&mut group));
                room = most;
            }
        }
    }
    if !group.is_empty() {
        groups.push(group);
    }
    groups
}
