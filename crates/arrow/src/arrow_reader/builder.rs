//! Choosing what to read of a file.

use super::metadata::ArrowReaderMetadata;
use super::options::ArrowReaderOptions;
use super::reader::{ParquetRecordBatchReader, Plan};
use super::{ProjectionMask, int96};
use arrow_schema::SchemaRef;
use bytes::Bytes;
use marquetry_base::{Error, Result};
use marquetry_core::io::LocalFile;
use marquetry_core::meta::ParquetMetaData;
use marquetry_core::schema::Schema;
use marquetry_core::source::Source;
use std::fs::File;
use std::marker::PhantomData;
use std::sync::Arc;

/// What a file can be read from: a [`File`], [`Bytes`], or any [`Source`] in an `Arc`.
pub trait ChunkReader {
    /// The source that is read from.
    fn into_source(self) -> Result<Arc<dyn Source>>;
}

impl ChunkReader for File {
    fn into_source(self) -> Result<Arc<dyn Source>> {
        Ok(Arc::new(LocalFile::new(self)?))
    }
}

impl ChunkReader for Bytes {
    fn into_source(self) -> Result<Arc<dyn Source>> {
        Ok(Arc::new(self))
    }
}

impl ChunkReader for Arc<dyn Source> {
    fn into_source(self) -> Result<Arc<dyn Source>> {
        Ok(self)
    }
}

/// Chooses what to read, then builds a reader of record batches.
///
/// The type parameter is what was opened. It has no effect; it is there so that the type's name in ported code
/// (`ParquetRecordBatchReaderBuilder<File>`) stays good.
#[derive(Clone)]
pub struct ParquetRecordBatchReaderBuilder<T> {
    source: Arc<dyn Source>,
    metadata: ArrowReaderMetadata,
    batch_size: usize,
    projection: ProjectionMask,
    row_groups: Option<Vec<usize>>,
    limit: Option<usize>,
    offset: usize,
    opened: PhantomData<fn() -> T>,
}

impl<T: ChunkReader> ParquetRecordBatchReaderBuilder<T> {
    /// Reads the footer. Fails if the file is none, is damaged there, or is encrypted.
    pub fn try_new(reader: T) -> Result<Self> {
        Self::try_new_with_options(reader, ArrowReaderOptions::default())
    }

    /// [`try_new`](Self::try_new) with options; fails also if the wanted schema does not fit the file.
    pub fn try_new_with_options(reader: T, options: ArrowReaderOptions) -> Result<Self> {
        let source = reader.into_source()?;
        let metadata = ArrowReaderMetadata::read(&*source, options)?;
        Ok(Self::with_source(source, metadata))
    }

    /// Takes metadata that was loaded before; the file must be the same.
    ///
    /// # Panics
    /// If the file cannot be asked for its length.
    pub fn new_with_metadata(reader: T, metadata: ArrowReaderMetadata) -> Self {
        let source = reader.into_source().expect("an open file has a length");
        Self::with_source(source, metadata)
    }

    fn with_source(source: Arc<dyn Source>, metadata: ArrowReaderMetadata) -> Self {
        ParquetRecordBatchReaderBuilder {
            source,
            metadata,
            batch_size: BATCH_SIZE,
            projection: ProjectionMask::all(),
            row_groups: None,
            limit: None,
            offset: 0,
            opened: PhantomData,
        }
    }
}

impl<T> ParquetRecordBatchReaderBuilder<T> {
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

    /// Rows in a batch; the last batch may have fewer. Default 8,192. Batches go on from one row group to the next.
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

    /// Rows to pass over before the first. Default 0.
    #[must_use]
    pub fn with_offset(mut self, rows: usize) -> Self {
        self.offset = rows;
        self
    }

    /// The reader. Fails if a row group does not exist, or the batch size is 0.
    pub fn build(self) -> Result<ParquetRecordBatchReader> {
        if self.batch_size == 0 {
            return Err(Error::argument("batches of 0 rows"));
        }
        let metadata = self.metadata.metadata;
        let count = metadata.num_row_groups();
        let row_groups = self.row_groups.unwrap_or_else(|| (0..count).collect());
        if let Some(missing) = row_groups.iter().find(|&&row_group| row_group >= count) {
            return Err(Error::argument(format!("no row group {missing}, there are {count}")));
        }
        let mut options = self.metadata.options;
        let schema = match int96::fit(&self.source, &metadata, &row_groups, &self.projection, &mut options)? {
            true => ArrowReaderMetadata::try_new(metadata.clone(), options.clone())?.schema,
            false => self.metadata.schema,
        };
        ParquetRecordBatchReader::new(
            self.source,
            metadata,
            &self.metadata.fields,
            &schema,
            &options,
            Plan {
                row_groups,
                batch_size: self.batch_size,
                projection: self.projection,
                limit: self.limit.unwrap_or(usize::MAX),
                offset: self.offset,
            },
        )
    }
}

/// Large enough that what is done once a batch costs nothing, small enough that a batch stays in the cache.
const BATCH_SIZE: usize = 8192;
