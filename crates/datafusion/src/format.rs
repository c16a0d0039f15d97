//! The file format (`FileFormat`): what DataFusion plans reads and writes of Parquet with.

use crate::error::{of, of_file, refused};
use crate::extension_types::{with_shared_types, with_types_alone};
use crate::file_sequence::bounded_orders;
use crate::missing_fields::null_where_missing;
use crate::options::FormatOptions;
use crate::ordering::ordering;
use crate::output_options::OutputOptions;
use crate::schema::{table_schema, with_common_layout};
use crate::session::SessionParts;
use crate::sink::MarquetrySink;
use crate::source::MarquetrySource;
use crate::statistics::statistics;
use crate::store_file::StoreFile;
use crate::variant_storage::unshredded_where_they_differ;
use arrow_schema::{Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::parsers::CompressionTypeVariant;
use datafusion::common::{ColumnStatistics, Statistics, internal_datafusion_err};
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::file_format::{FileFormat, FileMeta};
use datafusion::datasource::physical_plan::{
    FileScanConfig, FileScanConfigBuilder, FileSinkConfig, FileSource,
};
use datafusion::datasource::sink::DataSinkExec;
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::physical_expr::{LexOrdering, LexRequirement};
use datafusion::physical_plan::ExecutionPlan;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, OnCorrupt};
use marquetry_base::Error;
use object_store::{ObjectMeta, ObjectStore};
use std::sync::Arc;

/// The `FileFormat` of Parquet files that Marquetry reads and writes.
#[derive(Debug, Clone, Default)]
pub struct MarquetryFormat {
    options: Arc<FormatOptions>,
    output: OutputOptions,
}

impl MarquetryFormat {
    /// Creates a format with these options.
    pub fn new(options: FormatOptions) -> Self {
        MarquetryFormat { options: Arc::new(options), output: OutputOptions::default() }
    }

    pub(crate) fn with_output(self, output: OutputOptions) -> Self {
        MarquetryFormat { output, ..self }
    }

    #[cfg(feature = "proto")]
    pub(crate) fn output(&self) -> &OutputOptions {
        &self.output
    }

    /// The options.
    pub fn options(&self) -> &FormatOptions {
        &self.options
    }

    async fn footer(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        object: &ObjectMeta,
    ) -> Result<ArrowReaderMetadata> {
        let file = StoreFile::new(store.clone(), object.clone());
        SessionParts::of(state.runtime_env()).footers.footer(&file, &self.options.reader_options()?).await
    }

    /// The sort order of a file's rows; `None` if it is ignored, or if rows of damaged pages may break it.
    fn ordering(&self, footer: &ArrowReaderMetadata, table: &Schema) -> Option<LexOrdering> {
        match self.options.ignore_sorting_columns || self.options.on_corrupt != OnCorrupt::Fail {
            true => None,
            false => ordering(footer, table),
        }
    }

    /// Fails if the file has nulls in a column that is not nullable in the table: the table was made of other files,
    /// and a plan made without nulls would lose rows.
    fn statistics(
        &self,
        footer: &ArrowReaderMetadata,
        table: &SchemaRef,
        object: &ObjectMeta,
    ) -> Result<Statistics> {
        let found = statistics(footer, table, self.options.on_corrupt != OnCorrupt::Fail);
        let columns = table.fields().iter().zip(&found.column_statistics);
        let has_nulls = |of: &ColumnStatistics| of.null_count.get_value().is_some_and(|count| *count > 0);
        match columns.into_iter().find(|(field, known)| !field.is_nullable() && has_nulls(known)) {
            Some((field, _)) => {
                let message =
                    "it has nulls, and none in the files that the table was made of: create the table again";
                Err(of_file(Error::argument(message).in_column(field.name().as_str()), &object.location))
            }
            None => Ok(found),
        }
    }
}

#[async_trait]
impl FileFormat for MarquetryFormat {
    fn get_ext(&self) -> String {
        EXTENSION.to_owned()
    }

    fn get_ext_with_compression(&self, compression: &FileCompressionType) -> Result<String> {
        match compression.get_variant() {
            CompressionTypeVariant::UNCOMPRESSED => Ok(self.get_ext()),
            _ => Err(refused(
                "a Parquet file is not compressed as a whole: OPTIONS ('compression' ..) compresses its pages",
            )),
        }
    }

    fn compression_type(&self) -> Option<FileCompressionType> {
        // So that a table of a folder takes its *.parquet files, by whatever name the statement calls the format.
        Some(FileCompressionType::UNCOMPRESSED)
    }

    async fn infer_schema(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        objects: &[ObjectMeta],
    ) -> Result<SchemaRef> {
        let at_once = state.config_options().execution.meta_fetch_concurrency.get();
        // In the order of their names: columns are ordered by the file in which they first appear.
        let mut objects = objects.to_vec();
        objects.sort_by(|a, b| a.location.cmp(&b.location));
        let footers = objects.iter().map(|object| self.footer(state, store, object).boxed());
        let footers: Vec<_> = footers.collect();
        let footers: Vec<ArrowReaderMetadata> = stream::iter(footers).buffered(at_once).try_collect().await?;
        let global = &self.options.parquet.global;
        let schemas: Vec<SchemaRef> = footers.iter().map(|footer| footer.schema().clone()).collect();
        let schemas = with_common_layout(unshredded_where_they_differ(&schemas));
        let schemas: Vec<Schema> = match global.skip_metadata {
            true => with_shared_types(schemas).iter().map(|schema| with_types_alone(schema)).collect(),
            false => schemas.iter().map(|schema| Schema::clone(schema)).collect(),
        };
        let common = null_where_missing(Schema::try_merge(schemas.clone())?, &schemas);
        Ok(Arc::new(table_schema(&common, global)))
    }

    async fn infer_stats(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        table_schema: SchemaRef,
        object: &ObjectMeta,
    ) -> Result<Statistics> {
        self.statistics(&self.footer(state, store, object).await?, &table_schema, object)
    }

    async fn infer_ordering(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        table_schema: SchemaRef,
        object: &ObjectMeta,
    ) -> Result<Option<LexOrdering>> {
        Ok(self.ordering(&self.footer(state, store, object).await?, &table_schema))
    }

    async fn infer_stats_and_ordering(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        table_schema: SchemaRef,
        object: &ObjectMeta,
    ) -> Result<FileMeta> {
        let footer = self.footer(state, store, object).await?;
        let statistics = self.statistics(&footer, &table_schema, object)?;
        Ok(FileMeta::new(statistics).with_ordering(self.ordering(&footer, &table_schema)))
    }

    async fn create_physical_plan(
        &self,
        state: &dyn Session,
        conf: FileScanConfig,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.options.reader_options()?;
        let source = conf.file_source().downcast_ref::<MarquetrySource>().cloned();
        let source = source.ok_or_else(|| internal_datafusion_err!("the source is of another format"))?;
        let virtual_columns = source.table_schema().virtual_columns().to_vec();
        self.options.reader_options()?.with_virtual_columns(virtual_columns).map_err(of)?;
        let source: Arc<dyn FileSource> =
            Arc::new(source.with_session(SessionParts::of(state.runtime_env())));
        let orders = bounded_orders(&conf);
        let preserves_order = conf.preserve_order && (conf.output_ordering.is_empty() || !orders.is_empty());
        let scan = FileScanConfigBuilder::from(conf).with_source(source).with_output_ordering(orders);
        Ok(DataSourceExec::from_data_source(scan.with_preserve_order(preserves_order).build()))
    }

    async fn create_writer_physical_plan(
        &self,
        input: Arc<dyn ExecutionPlan>,
        _state: &dyn Session,
        mut conf: FileSinkConfig,
        order_requirements: Option<LexRequirement>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if conf.insert_op != InsertOp::Append {
            return Err(refused("Parquet files are only added: a table of files is not overwritten"));
        }
        self.output.act_on(&mut conf);
        let sink = MarquetrySink::new(conf, self.options.clone(), order_requirements.as_ref())?;
        Ok(Arc::new(DataSinkExec::new(input, Arc::new(sink), order_requirements)))
    }

    fn file_source(&self, table_schema: TableSchema) -> Arc<dyn FileSource> {
        Arc::new(MarquetrySource::new(table_schema, self.options.clone()))
    }
}

/// The extension of files that are written, and of those that a table of a folder lists.
const EXTENSION: &str = "parquet";
