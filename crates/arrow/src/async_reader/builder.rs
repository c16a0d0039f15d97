//! Choosing what to read of a file whose bytes come late.

use super::row_group::{Job, Scan};
use super::source::AsyncSource;
use super::stream::ParquetRecordBatchStream;
use crate::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, Int96, OnCorrupt, ParquetRecordBatchReaderBuilder,
    ProjectionMask,
};
use arrow_array::RecordBatchReader;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use marquetry_base::{Error, Result};
use marquetry_core::meta::ParquetMetaData;
use marquetry_core::scan::{RequestCost, chunk_ranges};
use marquetry_core::schema::Schema;
use marquetry_encoding::Physical;
use std::marker::PhantomData;
use std::sync::Arc;

/// Chooses what to read, then builds a stream of record batches. As
/// [`ParquetRecordBatchReaderBuilder`](crate::arrow_reader::ParquetRecordBatchReaderBuilder), for a file whose bytes
/// come late.
///
/// The type parameter is what was opened, and is only there so that its name in ported code stays good.
#[derive(Clone)]
pub struct ParquetRecordBatchStreamBuilder<T> {
    source: Arc<dyn AsyncSource>,
    metadata: ArrowReaderMetadata,
    batch_size: usize,
    projection: ProjectionMask,
    row_groups: Option<Vec<usize>>,
    limit: Option<usize>,
    offset: usize,
    prefetch: u64,
    cost: RequestCost,
    opened: PhantomData<fn() -> T>,
}

impl<T: AsyncSource + 'static> ParquetRecordBatchStreamBuilder<T> {
    /// Reads the footer, see [`ArrowReaderMetadata::load_async`].
    ///
    /// Fails if the file is none, is damaged there, or is encrypted, or if the source fails.
    pub async fn new(input: T) -> Result<Self> {
        Self::new_with_options(input, ArrowReaderOptions::default()).await
    }

    /// [`new`](Self::new) with options; fails also if the wanted schema does not fit the file.
    pub async fn new_with_options(input: T, options: ArrowReaderOptions) -> Result<Self> {
        let metadata = ArrowReaderMetadata::load_async(&input, options).await?;
        Ok(Self::new_with_metadata(input, metadata))
    }

    /// Takes metadata that was loaded before. If it knows which version of the file it is of, reading fails if there is
    /// another one now; else the file must be the same.
    pub fn new_with_metadata(input: T, metadata: ArrowReaderMetadata) -> Self {
        ParquetRecordBatchStreamBuilder {
            source: Arc::new(input),
            metadata,
            batch_size: BATCH_SIZE,
            projection: ProjectionMask::all(),
            row_groups: None,
            limit: None,
            offset: 0,
            prefetch: PREFETCH,
            cost: RequestCost::OBJECT_STORE,
            opened: PhantomData,
        }
    }
}

impl<T> ParquetRecordBatchStreamBuilder<T> {
    /// The footer.
    pub fn metadata(&self) -> &Arc<ParquetMetaData> {
        self.metadata.metadata()
    }

    /// The Arrow schema of all columns.
    pub fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    /// The Parquet schema.
    pub fn parquet_schema(&self) -> &Schema {
        self.metadata.parquet_schema()
    }

    /// Most rows in a batch. Default 8,192. A batch ends where its row group does.
    #[must_use]
    pub fn with_batch_size(mut self, rows: usize) -> Self {
        self.batch_size = rows;
        self
    }

    /// The columns to read. Default all.
    #[must_use]
    pub fn with_projection(mut self, mask: ProjectionMask) -> Self {
        self.projection = mask;
        self
    }

    /// The row groups to read, in this order. Default all.
    #[must_use]
    pub fn with_row_groups(mut self, row_groups: Vec<usize>) -> Self {
        self.row_groups = Some(row_groups);
        self
    }

    /// Most rows to read. Default all.
    #[must_use]
    pub fn with_limit(mut self, rows: usize) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Rows to pass over before the first. Default 0. Row groups that are passed over as a whole are not fetched.
    #[must_use]
    pub fn with_offset(mut self, rows: usize) -> Self {
        self.offset = rows;
        self
    }

    /// How many bytes of the file are fetched at most for row groups after the one that is decoded; 0 fetches none
    /// ahead. The row group that is decoded is in memory besides, as far as its columns are read. Default 32 MiB.
    #[must_use]
    pub fn with_prefetch(mut self, bytes: u64) -> Self {
        self.prefetch = bytes;
        self
    }

    /// Which ranges are fetched together. Default [`RequestCost::OBJECT_STORE`].
    #[must_use]
    pub fn with_request_cost(mut self, cost: RequestCost) -> Self {
        self.cost = cost;
        self
    }

    /// The stream. Nothing is fetched before it is polled.
    ///
    /// Fails if a row group does not exist or the batch size is 0; if [`Int96::Fitting`] is asked for where an INT96
    /// column is read, which takes reading it twice; and with another [`OnCorrupt`] than `Fail`.
    pub fn build(self) -> Result<ParquetRecordBatchStream<T>> {
        let options = &self.metadata.options;
        if options.on_corrupt != OnCorrupt::Fail {
            return Err(Error::argument("what is damaged is not skipped in a stream: read the file at once"));
        }
        let columns = self.metadata.metadata().schema().columns();
        let leaves: Vec<usize> =
            (0..columns.len()).filter(|&leaf| self.projection.leaf_included(leaf)).collect();
        let is_int96 = |leaf: &usize| columns[*leaf].physical() == Physical::Int96;
        if options.int96 == Int96::Fitting && leaves.iter().any(is_int96) {
            return Err(Error::argument("a unit that fits INT96 is only known after reading: choose one"));
        }
        let jobs = self.jobs(&leaves)?;
        // A reader of nothing knows the schema.
        let schema = ParquetRecordBatchReaderBuilder::new_with_metadata(Bytes::new(), self.metadata.clone())
            .with_projection(self.projection.clone())
            .with_row_groups(Vec::new())
            .with_batch_size(self.batch_size)
            .build()?
            .schema();
        let scan = Scan {
            source: self.source,
            metadata: self.metadata,
            projection: self.projection,
            leaves,
            batch_size: self.batch_size,
            cost: self.cost,
        };
        Ok(ParquetRecordBatchStream::new(schema, scan, jobs, self.prefetch))
    }

    /// The row groups with rows to read, and which rows.
    fn jobs(&self, leaves: &[usize]) -> Result<Vec<Job>> {
        let metadata = self.metadata.metadata();
        let count = metadata.num_row_groups();
        let row_groups = self.row_groups.clone().unwrap_or_else(|| (0..count).collect());
        let (mut offset, mut left) = (self.offset, self.limit.unwrap_or(usize::MAX));
        let mut jobs = Vec::new();
        for row_group in row_groups {
            if row_group >= count {
                return Err(Error::argument(format!("no row group {row_group}, there are {count}")));
            }
            let rows = usize::try_from(metadata.row_group(row_group).num_rows()).unwrap_or(usize::MAX);
            let first = offset.min(rows);
            let last = first.saturating_add(left).min(rows);
            (offset, left) = (offset - first, left - (last - first));
            if first < last {
                let ranges = chunk_ranges(metadata, row_group, leaves);
                let bytes =
                    ranges.iter().fold(0, |sum: u64, range| sum.saturating_add(range.end - range.start));
                jobs.push(Job { row_group, rows: first..last, bytes });
            }
        }
        Ok(jobs)
    }
}

/// As that of the reader that does not wait.
const BATCH_SIZE: usize = 8192;
/// Some hundred milliseconds of a fast connection, and little memory.
const PREFETCH: u64 = 32 << 20;
