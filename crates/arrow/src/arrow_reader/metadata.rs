//! A file's metadata, and the Arrow schema that it will be read as.

use super::options::ArrowReaderOptions;
use super::resolved_schema::{ResolvedFields, SchemaCache};
use super::statistics::{StatisticsConverter, find_in_file};
use super::{ChunkReader, ProjectionMask};
#[cfg(feature = "async")]
use crate::async_reader::{CachedTail, PageIndexCache};
use crate::schema::repair::may_change_values;
use arrow_schema::{Field, SchemaRef};
use marquetry_base::{ErrorKind, Limits, Result, Span};
use marquetry_core::checkpoint::{find_last_checkpoint, find_last_encrypted_checkpoint};
use marquetry_core::fetch::{CachedSource, CoalesceOptions, RangeCache, index_ranges};
use marquetry_core::io::{read_encrypted_metadata, read_metadata};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::page_index::PageIndex;
use marquetry_core::schema::{Schema, unknown_column};
use marquetry_core::source::Source;
use std::ops::Range;
use std::sync::Arc;

/// A file's footer and Arrow schema, as read when the file is opened. Cheap to clone, so that reopening a file needs no parsing.
#[derive(Debug, Clone)]
pub struct ArrowReaderMetadata {
    pub(crate) metadata: Arc<ParquetMetaData>,
    types: Arc<SchemaCache>,
    pub(crate) options: ArrowReaderOptions,
    recovered_end: Option<u64>,
    /// Page indexes as stored bytes.
    pub(crate) cached: Option<Arc<RangeCache>>,
    #[cfg(feature = "async")]
    pub(crate) known: Option<Arc<CachedTail>>,
    /// The cache in which streams keep page indexes, if there is one.
    #[cfg(feature = "async")]
    pub(crate) page_indexes: Option<PageIndexCache>,
}

impl ArrowReaderMetadata {
    /// Reads the footer from `reader`.
    pub fn load<T: ChunkReader>(reader: T, options: ArrowReaderOptions) -> Result<Self> {
        let source = reader.into_source()?;
        Self::read(&*source, options)
    }

    /// Uses metadata that was read before.
    ///
    /// Fails if the file has more rows than [`Limits::rows`], or if the schema that the options request does not fit.
    pub fn try_new(metadata: Arc<ParquetMetaData>, options: ArrowReaderOptions) -> Result<Self> {
        Limits::check("rows", metadata.num_rows(), options.limits.rows)?;
        let types = Arc::new(SchemaCache::new(&metadata, &options)?);
        Ok(ArrowReaderMetadata {
            metadata,
            types,
            options,
            recovered_end: None,
            cached: None,
            #[cfg(feature = "async")]
            known: None,
            #[cfg(feature = "async")]
            page_indexes: None,
        })
    }

    /// Returns the same file with other options, such as other limits or another schema. Cached bytes of the file are kept.
    ///
    /// Fails as [`try_new`](Self::try_new) does.
    pub fn with_options(&self, options: ArrowReaderOptions) -> Result<Self> {
        Limits::check("rows", self.metadata.num_rows(), options.limits.rows)?;
        let types = self.types.with_options(&self.metadata, &options)?;
        Ok(ArrowReaderMetadata { types, options, ..self.clone() })
    }

    pub(crate) fn read(source: &dyn Source, options: ArrowReaderOptions) -> Result<Self> {
        let read = || match &options.decryption {
            Some(decryption) => read_encrypted_metadata(source, &options.limits, decryption),
            None => read_metadata(source, &options.limits),
        };
        let error = match Span::open().in_scope(read) {
            Ok(footer) => return Self::try_new(Arc::new(footer.metadata), options),
            Err(error) => error,
        };
        let is_damage = matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Truncated);
        if !(options.checkpoint_recovery && is_damage) {
            return Err(error);
        }
        let found = match &options.decryption {
            Some(keys) => find_last_encrypted_checkpoint(source, &options.limits, keys),
            None => find_last_checkpoint(source, &options.limits),
        };
        let Some(found) = found? else { return Err(error) };
        let recovered = Self::try_new(Arc::new(found.metadata), options)?;
        Ok(ArrowReaderMetadata { recovered_end: Some(found.end), ..recovered })
    }

    /// Returns where the footer that was read ends, if that is not the end of the file. Nothing behind it is read. Set
    /// only with [`with_checkpoint_recovery`](ArrowReaderOptions::with_checkpoint_recovery).
    pub fn recovered_end(&self) -> Option<u64> {
        self.recovered_end
    }

    /// Returns the footer's metadata.
    pub fn metadata(&self) -> &Arc<ParquetMetaData> {
        &self.metadata
    }

    /// Returns the Arrow schema of all columns, virtual ones last. It is made at the first call, which takes
    /// time in a wide file: to read few of its columns, do without it.
    pub fn schema(&self) -> &SchemaRef {
        &self.whole().schema
    }

    /// Returns the statistics of a column as Arrow arrays. `column` is the name of a field, or the dotted path of a
    /// leaf. If the options repair values of the column as they are read, only row counts are known.
    ///
    /// Fails if there is no such column.
    pub fn statistics(&self, column: &str) -> Result<StatisticsConverter<'_>> {
        let found = find_in_file(column, self.whole(), self.parquet_schema())?;
        let found = found.ok_or_else(|| unknown_column(self.parquet_schema(), column))?;
        let converter = StatisticsConverter::of_found(found, self.parquet_schema())?;
        Ok(self.perhaps_repaired(converter))
    }

    /// Like [`statistics`](Self::statistics), with bounds as a table has them: as values of `field`, to which the
    /// column is promoted as by an [`Evolution`](crate::evolution::Evolution).
    ///
    /// If the file lacks the column, the arrays are all null.
    ///
    /// Fails if the column's values cannot become the field's type.
    ///
    /// ```
    /// use arrow_schema::{DataType, Field};
    /// # use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
    /// # let opened = ArrowReaderMetadata::load(std::fs::File::open(path)?, ArrowReaderOptions::new())?;
    /// let of_table = Field::new("year", DataType::Int64, true); // INT32 in the file
    /// let least = opened.statistics_as("year", &of_table)?.row_group_mins(opened.metadata().row_groups())?;
    /// assert_eq!(arrow_array::Array::data_type(&least), &DataType::Int64);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn statistics_as<'a>(&'a self, column: &str, field: &'a Field) -> Result<StatisticsConverter<'a>> {
        let found = find_in_file(column, self.whole(), self.parquet_schema()).ok().flatten();
        let converter = StatisticsConverter::promoted(found, field, self.parquet_schema())?;
        Ok(self.perhaps_repaired(converter))
    }

    /// Like [`statistics_as`](Self::statistics_as), of a leaf by its number, whose Arrow field is `field`. Saves the
    /// search by name for callers that need many columns.
    ///
    /// Fails if the leaf's values cannot become the field's type.
    ///
    /// # Panics
    /// If the file has no leaf of this number.
    pub fn leaf_statistics<'a>(&'a self, leaf: usize, field: &'a Field) -> Result<StatisticsConverter<'a>> {
        Ok(self.perhaps_repaired(StatisticsConverter::of_leaf(leaf, field, self.parquet_schema())?))
    }

    fn perhaps_repaired<'a>(&'a self, converter: StatisticsConverter<'a>) -> StatisticsConverter<'a> {
        let may_change =
            |number| may_change_values(self.parquet_schema().column(number), &self.options.types);
        let is_repaired = converter.parquet_column_index().is_some_and(may_change);
        converter.repaired(is_repaired)
    }

    /// Reads the page index of the chosen columns, in all row groups.
    ///
    /// Fails if `reader` fails, or if an index is damaged, encrypted or over the limits. A caller that only prunes by
    /// the index can go on without it.
    pub fn read_page_index<T: ChunkReader>(&self, reader: T, columns: &ProjectionMask) -> Result<PageIndex> {
        let source = self.with_cached_bytes(reader.into_source()?);
        let groups = 0..self.metadata.num_row_groups();
        PageIndex::read(&*source, &self.metadata, groups, &self.leaves(columns), &self.options.limits)
    }

    /// Reads the page index of the chosen columns, and keeps its stored bytes with the footer. Readers made from this
    /// metadata do not read it again. [`read_page_index`](Self::read_page_index) parses it.
    ///
    /// Fails if `reader` fails.
    ///
    /// ```
    /// use marquetry_arrow::arrow_reader::*;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
    /// # let file = || std::fs::File::open(path);
    /// let opened = ArrowReaderMetadata::load(file()?, ArrowReaderOptions::new())?;
    /// let opened = opened.with_cached_page_index(file()?, &ProjectionMask::all())?;
    /// for row_group in 0..opened.metadata().num_row_groups() {
    ///     let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file()?, opened.clone());
    ///     let rows: usize = builder.with_row_groups(vec![row_group]).build()?.map(|batch| batch.unwrap().num_rows()).sum();
    ///     assert_eq!(rows, 100);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_cached_page_index<T: ChunkReader>(self, reader: T, columns: &ProjectionMask) -> Result<Self> {
        let source = self.with_cached_bytes(reader.into_source()?);
        let cached = RangeCache::new(source.len());
        let leaves = self.leaves(columns);
        let groups = 0..self.metadata.num_row_groups();
        let ranges = groups.flat_map(|group| index_ranges(&self.metadata, group, &leaves));
        for range in CoalesceOptions::LOCAL.coalesce(ranges) {
            // The ranges of a damaged footer need not exist.
            let Some(range) = inside(range, source.len()) else { continue };
            cached.insert(range.start, source.read_at(range.start, (range.end - range.start) as usize)?);
        }
        if let Some(before) = &self.cached {
            cached.insert_all_of(before);
        }
        Ok(ArrowReaderMetadata { cached: Some(Arc::new(cached)), ..self })
    }

    /// Returns about how many bytes of memory this takes: the footer, the schemas made so far, and cached bytes of the
    /// file. Clones share them.
    pub fn memory_size(&self) -> usize {
        let cached = self.cached.as_ref().map_or(0, |cached| cached.bytes());
        #[cfg(feature = "async")]
        let cached = cached
            + self.known.as_ref().map_or(0, |known| known.bytes())
            + self.page_indexes.as_ref().map_or(0, PageIndexCache::bytes);
        let cached = usize::try_from(cached).unwrap_or(usize::MAX);
        self.metadata.memory_size().saturating_add(self.types.memory_size()).saturating_add(cached)
    }

    /// Returns `source`, with reads of cached bytes served from the cache.
    pub(super) fn with_cached_bytes(&self, source: Arc<dyn Source>) -> Arc<dyn Source> {
        match &self.cached {
            Some(cached) if cached.len() == source.len() => {
                Arc::new(CachedSource::new(cached.clone(), source))
            }
            _ => source,
        }
    }

    fn leaves(&self, columns: &ProjectionMask) -> Vec<usize> {
        (0..self.parquet_schema().num_columns()).filter(|&leaf| columns.leaf_included(leaf)).collect()
    }

    /// Returns the types that all fields are read as.
    pub(super) fn whole(&self) -> &ResolvedFields {
        self.types.whole(&self.metadata, &self.options)
    }

    /// Returns the types that the fields of these columns, and perhaps others, are read as.
    pub(super) fn resolve(&self, columns: &ProjectionMask) -> ResolvedFields {
        self.types.part(columns, &self.metadata, &self.options)
    }

    /// Returns the same file, with its fields read as those of `schema`.
    pub(super) fn with_schema(&self, schema: SchemaRef) -> Self {
        let fields = self.whole().fields.clone();
        ArrowReaderMetadata { types: Arc::new(SchemaCache::of_schema(fields, schema)), ..self.clone() }
    }

    /// Returns the Parquet schema.
    pub fn parquet_schema(&self) -> &Schema {
        self.metadata.schema()
    }
}

/// Clips a range to a file of `len` bytes; `None` if nothing is left.
fn inside(range: Range<u64>, len: u64) -> Option<Range<u64>> {
    let range = range.start..range.end.min(len);
    (!range.is_empty()).then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::StringLayout;
    use arrow_schema::{DataType, Schema as ArrowSchema};
    use marquetry_base::MemoryBudget;

    fn wines(options: ArrowReaderOptions) -> ArrowReaderMetadata {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
        ArrowReaderMetadata::load(std::fs::File::open(path).unwrap(), options).unwrap()
    }

    fn type_of_name(file: &ArrowReaderMetadata) -> &DataType {
        file.schema().field_with_name("name").unwrap().data_type()
    }

    #[test]
    fn a_schema_is_made_once_for_the_same_options() {
        let opened = wines(ArrowReaderOptions::new());
        let limits = Limits::default().with_memory(MemoryBudget::new(1 << 30));
        let same = opened.with_options(ArrowReaderOptions::new().with_limits(limits)).unwrap();
        assert!(Arc::ptr_eq(same.schema(), opened.schema()));
        let views = ArrowReaderOptions::new().with_text(StringLayout::Utf8View);
        let [first, second] = [(); 2].map(|()| opened.with_options(views.clone()).unwrap());
        assert_eq!(type_of_name(&first), &DataType::Utf8View);
        assert!(Arc::ptr_eq(first.schema(), second.schema()));
    }

    #[test]
    fn other_options_have_their_own_schema() {
        let opened = wines(ArrowReaderOptions::new());
        let views = ArrowReaderOptions::new().with_text(StringLayout::Utf8View);
        let as_views = opened.with_options(views.clone()).unwrap();
        let large = ArrowReaderOptions::new().with_text(StringLayout::LargeUtf8);
        let numbered = ArrowReaderOptions::new().with_row_numbers("row");
        for (options, expected) in [(&large, DataType::LargeUtf8), (&views, DataType::Utf8View)] {
            assert_eq!(type_of_name(&opened.with_options(options.clone()).unwrap()), &expected);
            assert_eq!(type_of_name(&as_views.with_options(options.clone()).unwrap()), &expected);
        }
        assert_eq!(type_of_name(&as_views.with_options(ArrowReaderOptions::new()).unwrap()), &DataType::Utf8);
        assert!(opened.with_options(numbered).unwrap().schema().field_with_name("row").is_ok());
        let wanted = ArrowSchema::new(vec![Field::new("name", DataType::Int64, true)]);
        assert!(opened.with_options(ArrowReaderOptions::new().with_schema(wanted.into())).is_err());
    }
}
