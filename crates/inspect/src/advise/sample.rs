//! Rows of a file, and files made of them.

use super::finding::Confidence;
use super::measure::column_bytes;
use super::sampled_columns::SampledColumns;
use super::time_left::TimeLeft;
use crate::columns::with_wide_keys;
use crate::reencode::ColumnSource;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_data::ArrayData;
use arrow_schema::{DataType, FieldRef, Schema, SchemaRef, TimeUnit};
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use marquetry_arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, Int96Unit, ParquetRecordBatchReaderBuilder, ProjectionMask,
};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_arrow::schema::StringLayout;
use marquetry_base::{Error, ErrorKind, Limits, Result, Stopwatch};
use marquetry_codec::Codec;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::source::Source;
use marquetry_core::write::{Compression, WriterProperties, WriterPropertiesBuilder};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Rows of a file: all, or stretches that are spread evenly, in the order of the file. It has all columns, or some.
pub(super) struct Sample {
    /// The rows. Byte strings are views, so that repeated values are stored once.
    pub(super) batch: RecordBatch,
    /// The columns of the table that it has.
    pub(super) columns: SampledColumns,
    /// Number of rows of the file.
    pub(super) of: u64,
    /// Number of rows that are read at once, so that they have few bytes.
    pub(super) batch_rows: usize,
    /// The Arrow metadata of the file.
    pub(super) arrow: ArrowReaderMetadata,
}

/// A file that was written to be measured.
pub(super) struct MeasuredFile {
    pub(super) source: Arc<dyn Source>,
    pub(super) metadata: Arc<ParquetMetaData>,
}

/// Returns the Arrow metadata of the file, with this unit for INT96 timestamps.
fn arrow_metadata(input: &ColumnSource, int96: Int96Unit) -> Result<ArrowReaderMetadata> {
    let options = ArrowReaderOptions::new().with_int96(int96).with_text(StringLayout::Utf8View);
    // Rows of several batches become one batch.
    let metadata = ArrowReaderMetadata::try_new(input.metadata.clone(), options.clone())?;
    Ok(with_wide_keys(metadata, &options)?.0)
}

/// Returns a reader of the columns of `mask` in some rows, `batch_rows` at once.
pub(super) fn rows_reader(
    input: &ColumnSource,
    arrow: &ArrowReaderMetadata,
    mask: ProjectionMask,
    rows: Range<u64>,
    batch_rows: usize,
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
        .with_batch_size(batch_rows)
        .with_threads(1)
        .build()
}

impl Sample {
    /// Reads up to `most` rows with up to `most_bytes` bytes, fewer if there is no time for them, but at least one.
    ///
    /// A few rows are read first to find their size: with a dictionary, rows of any size have few bytes in the file.
    ///
    /// Fails if a row has more than `most_bytes`.
    pub(super) fn read(
        input: &ColumnSource,
        columns: &SampledColumns,
        (most, most_bytes): (u64, u64),
        time: TimeLeft,
    ) -> Result<Self> {
        let read = |int96| Sample::read_in(input, columns, (most, most_bytes), time, int96);
        match read(Int96Unit::Nanoseconds) {
            // INT96 timestamps that do not fit in nanoseconds.
            Err(error) if error.kind() == ErrorKind::Limit => read(Int96Unit::Unit(TimeUnit::Microsecond)),
            read => read,
        }
    }

    fn read_in(
        input: &ColumnSource,
        columns: &SampledColumns,
        (most, most_bytes): (u64, u64),
        time: TimeLeft,
        int96: Int96Unit,
    ) -> Result<Self> {
        let arrow = arrow_metadata(input, int96)?;
        let mask = ProjectionMask::roots(input.metadata.schema(), columns.roots.iter().copied());
        let rows = input.metadata.num_rows();
        let look = stretches(rows.min(FIRST_LOOK), FIRST_LOOK);
        let (mut looked_at, mut bytes) = (0, 0u64);
        for stretch in look {
            let mut reader = rows_reader(input, &arrow, mask.clone(), stretch, FIRST_BATCH)?;
            while let Some(batch) = reader.next_batch() {
                let batch = batch?;
                looked_at += batch.num_rows() as u64;
                bytes = bytes.saturating_add(logical_bytes(&batch));
                if bytes > most_bytes || time.is_over() {
                    break;
                }
            }
        }
        let row_bytes = (bytes / looked_at.max(1)).max(1);
        if row_bytes > most_bytes {
            return Err(Error::argument(format!("of {row_bytes} bytes are too large to be tried")));
        }
        let most = most.min(most_bytes / row_bytes).max(1);
        let batch_rows = (BATCH_BYTES / row_bytes).clamp(1, MOST_AT_ONCE) as usize;
        let (mut batches, mut schema): (Vec<RecordBatch>, Option<SchemaRef>) = (Vec::new(), None);
        let mut room = most_bytes;
        'stretches: for stretch in stretches(rows, most) {
            let mut reader = rows_reader(input, &arrow, mask.clone(), stretch, batch_rows)?;
            schema.get_or_insert_with(|| reader.schema());
            while let Some(batch) = reader.next_batch() {
                let (batch, bytes) = fitting(batch?, room);
                room = room.saturating_sub(bytes);
                batches.push(batch);
                if room == 0 || time.is_over() {
                    break 'stretches;
                }
            }
        }
        let schema = schema.unwrap_or_else(|| arrow.schema().clone());
        let batch = concat_batches(&schema, &batches).map_err(wrong)?;
        Ok(Sample { batch, columns: columns.clone(), of: rows, batch_rows, arrow })
    }

    /// Returns its first rows, as a sample of the file.
    pub(super) fn first(&self, rows: u64) -> Self {
        let rows = usize::try_from(rows).unwrap_or(usize::MAX).min(self.batch.num_rows());
        let (batch, columns, arrow) = (self.batch.slice(0, rows), self.columns.clone(), self.arrow.clone());
        Sample { batch, columns, of: self.of, batch_rows: self.batch_rows, arrow }
    }

    pub(super) fn rows(&self) -> u64 {
        self.batch.num_rows() as u64
    }

    /// Scales a figure of its rows to all rows.
    pub(super) fn scaled(&self, value: f64) -> f64 {
        value * self.of as f64 / self.rows().max(1) as f64
    }

    /// Scales a figure of its rows and columns to the whole file.
    pub(super) fn in_file(&self, value: f64) -> f64 {
        self.scaled(value) / self.columns.share
    }

    /// Returns the confidence in a result from the whole sample.
    pub(super) fn confidence(&self) -> Confidence {
        match Confidence::of(self.rows(), self.of) {
            Confidence::Certain if self.columns.share >= 1.0 => Confidence::Certain,
            of_rows => Confidence::Sample(of_rows.share() * self.columns.share),
        }
    }

    /// Returns the bytes of a file that the sample was written as, each column weighted by those that it stands for.
    pub(super) fn weighed(&self, file: &MeasuredFile) -> Result<u64> {
        let Some(weights) = &self.columns.weights else { return Ok(file.bytes()) };
        let schema = file.metadata.schema();
        let mut bytes = 0.0;
        for (root, weight) in weights.iter().enumerate() {
            for leaf in schema.columns_of(root) {
                bytes += column_bytes(&file.metadata, leaf)? as f64 * weight;
            }
        }
        Ok(bytes as u64)
    }

    /// Writes the sample as a file.
    pub(super) fn write(&self, properties: WriterProperties) -> Result<MeasuredFile> {
        MeasuredFile::write(&self.batch, properties)
    }
}

impl MeasuredFile {
    /// Writes the rows as a file in memory.
    pub(super) fn write(batch: &RecordBatch, properties: WriterProperties) -> Result<Self> {
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))?;
        writer.write(batch)?;
        let (bytes, metadata) = writer.into_parts()?;
        Ok(MeasuredFile { source: Arc::new(Bytes::from(bytes)), metadata: Arc::new(metadata) })
    }

    /// Writes a column as a file in memory, with the properties of `input`.
    pub(super) fn of_column(input: &ColumnSource, field: FieldRef, array: ArrayRef) -> Result<Self> {
        MeasuredFile::of_column_with(field, array, like(&input.metadata)?)
    }

    /// Writes a column as a file in memory, with these properties.
    pub(super) fn of_column_with(
        field: FieldRef,
        array: ArrayRef,
        properties: WriterPropertiesBuilder,
    ) -> Result<Self> {
        let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).map_err(wrong)?;
        MeasuredFile::write(&batch, properties.build())
    }

    /// Returns its size in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.source.len()
    }

    /// Returns the seconds that it takes to decode on one thread: the best of three rounds, or of more if they are so
    /// short that other processes would decide the result.
    pub(super) fn decode_seconds(&self) -> Result<f64> {
        let arrow = ArrowReaderMetadata::try_new(self.metadata.clone(), ArrowReaderOptions::new())?;
        let (mut best, mut all, mut rounds) = (f64::INFINITY, 0.0, 0);
        while rounds < 3 || (rounds < MOST_ROUNDS && all < LEAST_SECONDS) {
            let builder = ParquetRecordBatchReaderBuilder::<Arc<dyn Source>>::try_new_with_metadata(
                self.source.clone(),
                arrow.clone(),
            )?;
            let mut reader = builder.with_threads(1).build()?;
            let watch = Stopwatch::start();
            while let Some(batch) = reader.next_batch() {
                batch?;
            }
            let seconds = watch.elapsed().as_secs_f64();
            (best, all, rounds) = (best.min(seconds), all + seconds, rounds + 1);
        }
        Ok(best)
    }
}

/// Returns stretches of up to `most` rows together, spread evenly.
fn stretches(rows: u64, most: u64) -> Vec<Range<u64>> {
    if rows <= most {
        return (rows > 0).then_some(0..rows).into_iter().collect();
    }
    let each = (most / STRETCHES).max(1);
    let first = |i: u64| (rows - each) / (STRETCHES - 1) * i;
    (0..STRETCHES).map(|i| first(i)..first(i) + each).collect()
}

/// Returns as many rows of a batch as have up to `most` bytes, but at least one, and their bytes.
fn fitting(mut batch: RecordBatch, most: u64) -> (RecordBatch, u64) {
    loop {
        let bytes = logical_bytes(&batch);
        if bytes <= most || batch.num_rows() <= 1 {
            return (batch, bytes);
        }
        batch = batch.slice(0, batch.num_rows() / 2);
    }
}

/// Returns the bytes of all values, each counted as often as it occurs.
fn logical_bytes(batch: &RecordBatch) -> u64 {
    batch.columns().iter().fold(0, |sum, array| sum.saturating_add(array_bytes(&array.to_data())))
}

fn array_bytes(data: &ArrayData) -> u64 {
    match data.data_type() {
        DataType::Utf8View | DataType::BinaryView => {
            // A view begins with the length of its value.
            let views = data.buffers()[0].typed_data::<u128>();
            let views = &views[data.offset()..data.offset() + data.len()];
            views.iter().fold(0, |sum, view| sum.saturating_add(16 + u64::from(*view as u32)))
        }
        DataType::Struct(_) => data
            .child_data()
            .iter()
            .fold(0, |sum, child| sum.saturating_add(array_bytes(&child.slice(data.offset(), data.len())))),
        DataType::List(_) | DataType::Map(..) => {
            let offsets = data.buffers()[0].typed_data::<i32>();
            let (first, last) =
                (offsets[data.offset()] as usize, offsets[data.offset() + data.len()] as usize);
            let values = array_bytes(&data.child_data()[0].slice(first, last - first));
            values.saturating_add(4 * data.len() as u64)
        }
        _ => data.get_slice_memory_size().map_or(0, |bytes| bytes as u64),
    }
}

/// Returns the maximum bytes of a sample, so that anything that is done with it takes a small part of the budget.
pub(super) fn sample_bytes(budget: Duration) -> u64 {
    ((budget.as_secs_f64() * BYTES_A_SECOND) as u64).clamp(FEWEST_BYTES, SAMPLE_BYTES)
}

/// Returns properties like those of the file: its most used codec, no Arrow schema.
pub(super) fn like(metadata: &ParquetMetaData) -> Result<WriterPropertiesBuilder> {
    let compression = main_codec(metadata)?;
    let codec = match compression {
        Codec::Lzo => Codec::Snappy,
        Codec::Lz4 => Codec::Lz4Raw,
        codec => codec,
    };
    let compression: Compression = codec.to_string().parse()?;
    Ok(WriterProperties::builder().set_compression(compression).set_arrow_schema(false))
}

/// Returns the codec of most bytes of a file.
///
/// Fails if the footer is wrong.
pub fn main_codec(metadata: &ParquetMetaData) -> Result<Codec> {
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

/// Returns the limits for reading other parts than the rows.
pub(super) fn limits() -> Arc<Limits> {
    Arc::default()
}

pub(super) fn wrong(error: arrow_schema::ArrowError) -> Error {
    Error::caused_by(ErrorKind::Unsupported, "a sample of the rows", error)
}

/// Maximum number of rows of a sample.
pub(super) const SAMPLE_ROWS: u64 = 1 << 18;
const SAMPLE_BYTES: u64 = 64 << 20;
const FEWEST_BYTES: u64 = 1 << 20;
/// Maximum number of rounds of a short measurement, and the seconds that they must take together.
const MOST_ROUNDS: usize = 100;
const LEAST_SECONDS: f64 = 2e-3;
/// Assumed speed. A sample is written and read some dozen times.
const BYTES_A_SECOND: f64 = 6.4e6;
/// Number of rows that show how large rows are.
const FIRST_LOOK: u64 = 64;
const FIRST_BATCH: usize = 8;
/// Maximum bytes and rows that are decoded at once.
const BATCH_BYTES: u64 = 4 << 20;
const MOST_AT_ONCE: u64 = 8_192;
/// Number of stretches of a sample.
const STRETCHES: u64 = 8;
/// Number of row groups whose codecs are counted.
const LOOKED_AT: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_repeat_count_each_time() {
        let long = "x".repeat(1_000);
        let mut texts = arrow_array::builder::StringViewBuilder::new();
        let block = texts.append_block(long.as_bytes().into());
        (0..100).for_each(|_| texts.try_append_view(block, 0, 1_000).unwrap());
        let texts: ArrayRef = Arc::new(texts.finish());
        let batch = RecordBatch::try_from_iter([("text", texts)]).unwrap();
        assert_eq!(logical_bytes(&batch), 100 * 1_016);
        let (some, bytes) = fitting(batch.slice(10, 90), 30_000);
        assert_eq!((some.num_rows(), bytes), (22, 22 * 1_016));
        assert_eq!(fitting(batch, 0).0.num_rows(), 1);
    }

    #[test]
    fn stretches_are_spread_and_do_not_overlap() {
        assert!(stretches(0, 10).is_empty());
        assert!(stretches(10, 10).into_iter().eq(std::iter::once(0..10)));
        let many = stretches(1_000, 80);
        assert_eq!(many.len(), 8);
        assert!(many.windows(2).all(|pair| pair[0].end <= pair[1].start));
        assert_eq!((many[0].start, many[7].end), (0, 10 + 990 / 7 * 7));
    }
}
