//! Rows of a file, and files made of them.

use crate::reencode::ColumnSource;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{FieldRef, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use marquetry_arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, Int96Unit, ParquetRecordBatchReaderBuilder, ProjectionMask,
};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_base::{Error, ErrorKind, Limits, Result, Stopwatch};
use marquetry_codec::Codec;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::source::Source;
use marquetry_core::write::{Compression, WriterProperties, WriterPropertiesBuilder};
use std::ops::Range;
use std::sync::Arc;

/// Rows of a file: all, or stretches of it that are spread evenly, in the order of the file.
pub(super) struct Sample {
    pub(super) batch: RecordBatch,
    /// Rows of the file.
    pub(super) of: u64,
}

/// A file that was written to be measured.
pub(super) struct MeasuredFile {
    pub(super) source: Arc<dyn Source>,
    pub(super) metadata: Arc<ParquetMetaData>,
}

/// How Arrow sees the file.
pub(super) fn arrow_metadata(input: &ColumnSource) -> Result<ArrowReaderMetadata> {
    let options = ArrowReaderOptions::new().with_int96(Int96Unit::Nanoseconds);
    ArrowReaderMetadata::try_new(input.metadata.clone(), options)
}

/// A reader of the columns of `mask` in some rows.
pub(super) fn rows_reader(
    input: &ColumnSource,
    arrow: &ArrowReaderMetadata,
    mask: ProjectionMask,
    rows: Range<u64>,
) -> Result<marquetry_arrow::arrow_reader::ParquetRecordBatchReader> {
    let (mut groups, mut first, mut start) = (Vec::new(), 0, None);
    for group in input.metadata.row_groups() {
        let end = first + group.num_rows();
        if first < rows.end && rows.start < end {
            groups.push(group.index());
            start.get_or_insert(first);
        }
        first = end;
    }
    let builder = ParquetRecordBatchReaderBuilder::<Arc<dyn Source>>::try_new_with_metadata(
        input.source.clone(),
        arrow.clone(),
    )?;
    builder
        .with_projection(mask)
        .with_row_groups(groups)
        .with_offset((rows.start - start.unwrap_or(rows.start)) as usize)
        .with_limit((rows.end - rows.start) as usize)
        .with_threads(1)
        .build()
}

impl Sample {
    /// Reads up to `most` rows.
    pub(super) fn read(input: &ColumnSource, mask: &ProjectionMask, most: u64) -> Result<Self> {
        let arrow = arrow_metadata(input)?;
        let rows = input.metadata.num_rows();
        let (mut batches, mut schema): (Vec<RecordBatch>, Option<SchemaRef>) = (Vec::new(), None);
        for stretch in stretches(rows, most) {
            let mut reader = rows_reader(input, &arrow, mask.clone(), stretch)?;
            schema.get_or_insert_with(|| reader.schema());
            while let Some(batch) = reader.next_batch() {
                batches.push(batch?);
            }
        }
        let schema = schema.unwrap_or_else(|| arrow.schema().clone());
        let batch = concat_batches(&schema, &batches).map_err(wrong)?;
        Ok(Sample { batch, of: rows })
    }

    pub(super) fn rows(&self) -> u64 {
        self.batch.num_rows() as u64
    }

    /// What `bytes` of the sample are in the whole file, of which the same part has `stored`.
    pub(super) fn scaled(&self, value: f64) -> f64 {
        value * self.of as f64 / self.rows().max(1) as f64
    }

    /// The sample as a file.
    pub(super) fn write(&self, properties: WriterProperties) -> Result<MeasuredFile> {
        MeasuredFile::write(&self.batch, properties)
    }
}

impl MeasuredFile {
    /// The rows as a file in memory.
    pub(super) fn write(batch: &RecordBatch, properties: WriterProperties) -> Result<Self> {
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))?;
        writer.write(batch)?;
        let (bytes, metadata) = writer.into_parts()?;
        Ok(MeasuredFile { source: Arc::new(Bytes::from(bytes)), metadata: Arc::new(metadata) })
    }

    /// A column as a file in memory, written as `input` is.
    pub(super) fn of_column(input: &ColumnSource, field: FieldRef, array: ArrayRef) -> Result<Self> {
        let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).map_err(wrong)?;
        MeasuredFile::write(&batch, like(&input.metadata)?.build())
    }

    /// All its bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.source.len()
    }

    /// Seconds that it takes to decode it on one thread: the best of three times.
    pub(super) fn decode_seconds(&self) -> Result<f64> {
        let arrow = ArrowReaderMetadata::try_new(self.metadata.clone(), ArrowReaderOptions::new())?;
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            let builder = ParquetRecordBatchReaderBuilder::<Arc<dyn Source>>::try_new_with_metadata(
                self.source.clone(),
                arrow.clone(),
            )?;
            let mut reader = builder.with_threads(1).build()?;
            let watch = Stopwatch::start();
            while let Some(batch) = reader.next_batch() {
                batch?;
            }
            best = best.min(watch.elapsed().as_secs_f64());
        }
        Ok(best)
    }
}

/// Stretches of up to `most` rows together, spread evenly.
fn stretches(rows: u64, most: u64) -> Vec<Range<u64>> {
    if rows <= most {
        return (rows > 0).then_some(0..rows).into_iter().collect();
    }
    let each = (most / STRETCHES).max(1);
    let first = |i: u64| (rows - each) / (STRETCHES - 1) * i;
    (0..STRETCHES).map(|i| first(i)..first(i) + each).collect()
}

/// Rows that a sample of a file may have, so that it takes no more than 64 MiB.
pub(super) fn sample_rows(metadata: &ParquetMetaData) -> u64 {
    let bytes = metadata
        .row_groups()
        .fold(0u64, |sum, group| sum.saturating_add(u64::try_from(group.total_byte_size()).unwrap_or(0)));
    // Dictionaries make rows look small: none has less than 8 bytes a column.
    let columns = metadata.schema().num_columns() as u64;
    let row = (bytes / metadata.num_rows().max(1)).max(8 * columns);
    (SAMPLE_BYTES / row.max(1)).clamp(1, SAMPLE_ROWS)
}

/// Writes as the file is: its most used codec, no Arrow schema.
pub(super) fn like(metadata: &ParquetMetaData) -> Result<WriterPropertiesBuilder> {
    let compression = main_codec(metadata)?;
    let codec = match compression {
        Codec::Lzo => Codec::Snappy,
        Codec::Lz4 => Codec::Lz4Raw,
        codec => codec,
    };
    let compression: Compression = codec.to_string().parse()?;
    Ok(WriterProperties::builder().set_compression(compression))
}

/// The codec that most bytes of a file have.
fn main_codec(metadata: &ParquetMetaData) -> Result<Codec> {
    let mut sums: Vec<(Codec, u64)> = Vec::new();
    for group in metadata.row_groups().take(LOOKED_AT) {
        for chunk in group.columns() {
            let chunk = chunk?;
            let (codec, bytes) = (chunk.codec()?, u64::try_from(chunk.compressed_size()).unwrap_or(0));
            match sums.iter_mut().find(|(known, _)| *known == codec) {
                Some((_, sum)) => *sum = sum.saturating_add(bytes),
                None => sums.push((codec, bytes)),
            }
        }
    }
    Ok(sums.into_iter().max_by_key(|(_, bytes)| *bytes).map_or(Codec::Uncompressed, |(codec, _)| codec))
}

/// The limits that hold for what is looked at beside the rows.
pub(super) fn limits() -> Arc<Limits> {
    Arc::default()
}

pub(super) fn wrong(error: arrow_schema::ArrowError) -> Error {
    Error::caused_by(ErrorKind::Unsupported, "a sample of the rows", error)
}

/// Rows of the largest sample.
const SAMPLE_ROWS: u64 = 1 << 18;
const SAMPLE_BYTES: u64 = 64 << 20;
/// Parts of a sample.
const STRETCHES: u64 = 8;
/// Row groups whose codecs are looked at.
const LOOKED_AT: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_spread_and_do_not_overlap() {
        assert!(stretches(0, 10).is_empty());
        assert_eq!(stretches(10, 10), [0..10]);
        let many = stretches(1_000, 80);
        assert_eq!(many.len(), 8);
        assert!(many.windows(2).all(|pair| pair[0].end <= pair[1].start));
        assert_eq!((many[0].start, many[7].end), (0, 10 + 990 / 7 * 7));
    }
}
