//! A file's metadata, and the Arrow schema that it will be read as.

use super::options::ArrowReaderOptions;
use super::resolved_schema::{ResolvedFields, SchemaCache};
use super::{ChunkReader, ProjectionMask};
#[cfg(feature = "async")]
use crate::async_reader::CachedTail;
use arrow_schema::SchemaRef;
use marquetry_base::{ErrorKind, Limits, Result};
use marquetry_core::checkpoint::find_last_checkpoint;
use marquetry_core::io::read_metadata;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::schema::Schema;
use marquetry_core::source::Source;
use std::sync::Arc;

/// What opening a file gives: cheap to clone, so that a file that is opened again need not be parsed again.
#[derive(Debug, Clone)]
pub struct ArrowReaderMetadata {
    pub(crate) metadata: Arc<ParquetMetaData>,
    types: Arc<SchemaCache>,
    pub(crate) options: ArrowReaderOptions,
    recovered_end: Option<u64>,
    #[cfg(feature = "async")]
    pub(crate) known: Option<Arc<CachedTail>>,
}

impl ArrowReaderMetadata {
    /// Reads the footer of `reader`.
    pub fn load<T: ChunkReader>(reader: T, options: ArrowReaderOptions) -> Result<Self> {
        let source = reader.into_source()?;
        Self::read(&*source, options)
    }

    /// Takes metadata that was read before.
    ///
    /// Fails if the file has more rows than [`Limits::rows`], or if the schema that the options ask for does not fit.
    pub fn try_new(metadata: Arc<ParquetMetaData>, options: ArrowReaderOptions) -> Result<Self> {
        Limits::check("rows", metadata.num_rows(), options.limits.rows)?;
        let types = Arc::new(SchemaCache::new(&metadata, &options)?);
        Ok(ArrowReaderMetadata {
            metadata,
            types,
            options,
            recovered_end: None,
            #[cfg(feature = "async")]
            known: None,
        })
    }

    /// The same file, read otherwise. Fails if the wanted schema does not fit it.
    pub(crate) fn with_options(&self, options: ArrowReaderOptions) -> Result<Self> {
        let other = Self::try_new(self.metadata.clone(), options)?;
        Ok(ArrowReaderMetadata {
            recovered_end: self.recovered_end,
            #[cfg(feature = "async")]
            known: self.known.clone(),
            ..other
        })
    }

    pub(crate) fn read(source: &dyn Source, options: ArrowReaderOptions) -> Result<Self> {
        let error = match read_metadata(source, &options.limits) {
            Ok(footer) => return Self::try_new(Arc::new(footer.metadata), options),
            Err(error) => error,
        };
        let is_damage = matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Truncated);
        if !(options.checkpoint_recovery && is_damage) {
            return Err(error);
        }
        let Some(found) = find_last_checkpoint(source, &options.limits)? else { return Err(error) };
        let recovered = Self::try_new(Arc::new(found.metadata), options)?;
        Ok(ArrowReaderMetadata { recovered_end: Some(found.end), ..recovered })
    }

    /// Where the footer that was read ends, if that is not the end of the file: nothing from there on is read. Only with
    /// [`with_checkpoint_recovery`](ArrowReaderOptions::with_checkpoint_recovery).
    pub fn recovered_end(&self) -> Option<u64> {
        self.recovered_end
    }

    /// The footer.
    pub fn metadata(&self) -> &Arc<ParquetMetaData> {
        &self.metadata
    }

    /// The Arrow schema of all columns, virtual ones last. It is made when it is asked for: who reads few columns of many need
    /// not ask.
    pub fn schema(&self) -> &SchemaRef {
        &self.whole().schema
    }

    /// What all fields are read as.
    pub(super) fn whole(&self) -> &ResolvedFields {
        self.types.whole(&self.metadata, &self.options)
    }

    /// What at least the fields of these columns are read as.
    pub(super) fn resolve(&self, columns: &ProjectionMask) -> ResolvedFields {
        self.types.part(columns, &self.metadata, &self.options)
    }

    /// The same file, its fields read as those of `schema`.
    pub(super) fn with_schema(&self, schema: SchemaRef) -> Self {
        let fields = self.whole().fields.clone();
        ArrowReaderMetadata { types: Arc::new(SchemaCache::of_schema(fields, schema)), ..self.clone() }
    }

    /// The Parquet schema.
    pub fn parquet_schema(&self) -> &Schema {
        self.metadata.schema()
    }
}
