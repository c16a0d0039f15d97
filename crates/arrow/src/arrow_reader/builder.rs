//! Choosing what to read of a file.

use super::filtered::{Filtered, Wanted};
use super::loss::OnCorrupt;
use super::metadata::ArrowReaderMetadata;
use super::options::ArrowReaderOptions;
use super::reader::{ParquetRecordBatchReader, Plan};
use super::{ProjectionMask, RowFilter, RowSelection, int96};
use arrow_schema::SchemaRef;
use bytes::Bytes;
use marquetry_base::{Error, Result};
use marquetry_core::io::LocalFile;
use marquetry_core::meta::ParquetMetaData;
use marquetry_core::predicate::Predicate;
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
pub struct ParquetRecordBatchReaderBuilder<T> {
    source: Arc<dyn Source>,
    metadata: ArrowReaderMetadata,
    batch_size: usize,
    projection: ProjectionMask,
    row_groups: Option<Vec<usize>>,
    limit: Option<usize>,
    offset: usize,
    selection: Option<RowSelection>,
    predicate: Option<Predicate>,
    filter: Option<RowFilter>,
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
            selection: None,
            predicate: None,
            filter: None,
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

    /// Rows in a batch; the last batch may have fewer. Default 8,192. Batches go on from one row group to the next, unless
    /// there is a filter, a selection of rows or a virtual column: they end with row groups then.
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

    /// The rows to read, of those of all row groups that are read, in their order; the filter is asked about these alone.
    /// Default all.
    #[must_use]
    pub fn with_row_selection(mut self, selection: RowSelection) -> Self {
        self.selection = Some(selection);
        self
    }

    /// Only rows for which `predicate` is true. Row groups and pages that can have none are not read, as far as statistics
    /// and indexes tell; then its columns are read, and of all others only the rows that it wants. Default all.
    ///
    /// ```
    /// # use marquetry_arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    /// use marquetry_core::predicate::Predicate;
    /// # fn read(file: std::fs::File) -> marquetry_base::Result<()> {
    /// let reader = ParquetRecordBatchReaderBuilder::try_new(file)?
    ///     .with_predicate(Predicate::parse("country = 'DE' and amount > 100")?)
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_predicate(mut self, predicate: Predicate) -> Self {
        self.predicate = Some(predicate);
        self
    }

    /// Only rows that `filter` wants: its columns are read, and of all others only the rows that it wants. A
    /// [predicate](Self::with_predicate) says the same faster, where it can. With both, the filter is asked about rows that
    /// the predicate wants. Default all.
    #[must_use]
    pub fn with_row_filter(mut self, filter: RowFilter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Most rows to read, of those that are wanted. Default all.
    #[must_use]
    pub fn with_limit(mut self, rows: usize) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Rows to pass over before the first, of those that are wanted. Default 0.
    #[must_use]
    pub fn with_offset(mut self, rows: usize) -> Self {
        self.offset = rows;
        self
    }

    /// The reader. Fails if a row group does not exist, if the batch size is 0, if the predicate does not fit the schema,
    /// and if rows are to be chosen from a damaged file: which they are could not be told any more.
    pub fn build(mut self) -> Result<ParquetRecordBatchReader> {
        let (row_groups, options, schema) = self.fitted()?;
        let is_whole = self.selection.is_none() && self.predicate.is_none() && self.filter.is_none();
        if is_whole && options.virtual_columns.is_empty() {
            let (projection, offset, batch_size) = (self.projection, self.offset, self.batch_size);
            let limit = self.limit.unwrap_or(usize::MAX);
            let plan = Plan { row_groups, batch_size, projection, limit, offset };
            let (source, metadata, fields) = (self.source, self.metadata.metadata, &self.metadata.fields);
            return ParquetRecordBatchReader::new(source, metadata, fields, &schema, &options, plan);
        }
        let metadata = self.metadata.metadata.clone();
        Ok(ParquetRecordBatchReader::of_filtered(metadata, self.filtered(row_groups, &options, &schema)?))
    }

    /// Which rows of the row groups are wanted, by selection, predicate, filter, offset and limit. Nothing is read but what
    /// tells that: a later read [with this selection](Self::with_row_selection) of the same row groups, and without a
    /// filter, gives what [`build`](Self::build) would. Fails as that does, and as reading does.
    pub fn selected_rows(mut self) -> Result<RowSelection> {
        let (row_groups, options, schema) = self.fitted()?;
        self.projection = ProjectionMask::none(self.parquet_schema().num_columns());
        Ok(self.filtered(row_groups, &options, &schema)?.selected()?.into())
    }

    /// The row groups, and what the file is read as.
    fn fitted(&mut self) -> Result<(Vec<usize>, ArrowReaderOptions, SchemaRef)> {
        if self.batch_size == 0 {
            return Err(Error::argument("batches of 0 rows"));
        }
        let metadata = &self.metadata.metadata;
        let count = metadata.num_row_groups();
        let row_groups = self.row_groups.take().unwrap_or_else(|| (0..count).collect());
        if let Some(missing) = row_groups.iter().find(|&&row_group| row_group >= count) {
            return Err(Error::argument(format!("no row group {missing}, there are {count}")));
        }
        let mut options = self.metadata.options.clone();
        let schema = match int96::fit(&self.source, metadata, &row_groups, &self.projection, &mut options)? {
            true => ArrowReaderMetadata::try_new(metadata.clone(), options.clone())?.schema,
            false => self.metadata.schema.clone(),
        };
        Ok((row_groups, options, schema))
    }

    fn filtered(
        self,
        row_groups: Vec<usize>,
        options: &ArrowReaderOptions,
        schema: &SchemaRef,
    ) -> Result<Filtered> {
        if options.on_corrupt != OnCorrupt::Fail {
            return Err(Error::argument(
                "filters, selections of rows and virtual columns do not go with reading on where a file is damaged: \
                 read all rows, and filter the batches",
            ));
        }
        let metadata = &self.metadata.metadata;
        let wanted = Wanted {
            row_groups,
            batch_size: self.batch_size,
            projection: self.projection,
            limit: self.limit.unwrap_or(usize::MAX),
            offset: self.offset,
            selection: self.selection,
            predicate: self.predicate.map(|predicate| predicate.bind(metadata.schema())).transpose()?,
            filters: self.filter.map(RowFilter::into_predicates).unwrap_or_default(),
        };
        Filtered::new(&self.source, metadata, &self.metadata.fields, schema, options, wanted)
    }
}

/// Large enough that what is done once a batch costs nothing, small enough that a batch stays in the cache.
const BATCH_SIZE: usize = 8192;
