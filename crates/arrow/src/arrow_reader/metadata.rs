//! A file's metadata, and the Arrow schema that it will be read as.

use super::options::ArrowReaderOptions;
use super::{ChunkReader, Int96};
#[cfg(feature = "async")]
use crate::async_reader::Known;
use crate::schema::{TypeOptions, to_arrow, to_arrow_as};
use arrow_schema::{Schema as ArrowSchema, SchemaRef};
use marquetry_base::{Kind, Limits, Result};
use marquetry_core::checkpoint::find_last_checkpoint;
use marquetry_core::io::read_metadata;
use marquetry_core::meta::ParquetMetaData;
use marquetry_core::nesting::Field;
use marquetry_core::schema::Schema;
use marquetry_core::source::Source;
use std::collections::HashMap;
use std::sync::Arc;

/// What opening a file gives: cheap to clone, so that a file that is opened again need not be parsed again.
#[derive(Debug, Clone)]
pub struct ArrowReaderMetadata {
    pub(crate) metadata: Arc<ParquetMetaData>,
    pub(super) fields: Arc<[Field]>,
    pub(super) schema: SchemaRef,
    pub(crate) options: ArrowReaderOptions,
    recovered_end: Option<u64>,
    #[cfg(feature = "async")]
    pub(crate) known: Option<Arc<Known>>,
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
        let fields: Arc<[Field]> = Field::from_schema(metadata.schema()).into();
        let types = match options.int96 {
            Int96::Unit(unit) => TypeOptions { int96_unit: Some(unit), ..options.types.clone() },
            Int96::Nanoseconds | Int96::Fitting => options.types.clone(),
        };
        let schema = match &options.schema {
            Some(wanted) => to_arrow_as(&fields, metadata.schema(), wanted)?,
            None => to_arrow(&fields, metadata.schema(), &key_values(&metadata), &types),
        };
        let schema = match options.virtual_columns.is_empty() {
            true => schema,
            false => {
                let own = schema.fields().iter().chain(&options.virtual_columns).cloned();
                ArrowSchema::new_with_metadata(own.collect::<Vec<_>>(), schema.metadata().clone())
            }
        };
        Ok(ArrowReaderMetadata {
            metadata,
            fields,
            schema: Arc::new(schema),
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
        let is_damage = matches!(error.kind(), Kind::Corrupt | Kind::Truncated);
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

    /// The Arrow schema of all columns, virtual ones last.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The Parquet schema.
    pub fn parquet_schema(&self) -> &Schema {
        self.metadata.schema()
    }
}

/// The file's key-value metadata; the first of equal keys wins, a key without a value has an empty one.
pub(super) fn key_values(metadata: &ParquetMetaData) -> HashMap<String, String> {
    let mut out = HashMap::new();
    for pair in metadata.key_value_metadata() {
        out.entry(pair.key.clone()).or_insert_with(|| pair.value.clone().unwrap_or_default());
    }
    out
}
