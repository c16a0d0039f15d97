//! A table of a store's folder or of a pattern, whose scans can be serialized and sent to other processes.
//!
//! It has the same files, partition columns and types as a dataset. Each query lists the files when it is planned.

use crate::error::of;
use crate::format::MarquetryFormat;
use crate::nested_layout::without_nested_views;
use crate::partition_keys::{Conditions, PartitionKeys};
use crate::required_columns::nullable;
use crate::schema::table_schema;
use crate::store_dataset::FilesInStore;
use arrow_schema::{DataType, FieldRef, Fields, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{DFSchema, ScalarValue, not_impl_err, project_schema};
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::listing::helpers::{expr_applicable_for_cols, filter_partitioned_file};
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl, PartitionedFile,
};
use datafusion::datasource::physical_plan::FileGroup;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::expr_rewriter::unnormalize_col;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use marquetry_base::url_without_secrets;
use object_store::ObjectMeta;
use std::fmt;
use std::sync::Arc;

/// A table of the files that [`dataset_in_store`](crate::dataset_in_store) finds in a folder or by a pattern: their columns, and
/// then a partition column for each key of folders called `key=value`, with the types and nulls of a dataset.
///
/// Each query reads the files that exist when it is planned. All columns are nullable, because later files may have nulls
/// where the first ones require values. Unlike a [`DatasetTable`](crate::DatasetTable), it can be sent to another process.
#[derive(Clone)]
pub struct FolderTable {
    url: String,
    skipped_dirs: usize,
    /// The schema of files that `INSERT INTO` adds: that of the existing files, with their required columns.
    written: SchemaRef,
    keys: PartitionKeys,
    format: MarquetryFormat,
}

impl FolderTable {
    /// Creates a table of the listed files.
    ///
    /// Fails as [`FilesInStore::dataset`] does, if a footer cannot be read, or if columns of one name have no common type.
    pub async fn try_new(
        listed: &FilesInStore,
        has_keys: bool,
        format: &MarquetryFormat,
        session: &dyn Session,
    ) -> Result<Self> {
        let dataset = listed.dataset()?.partitions(has_keys).union_by_name(true);
        let keys = dataset.partition_fields().map_err(of)?;
        let objects: Vec<ObjectMeta> = listed.files()?.into_iter().cloned().collect();
        let found = match format.infer_schema(session, listed.store(), &objects).await {
            Ok(schema) => schema,
            // Files have different types for a column.
            Err(DataFusionError::ArrowError(..)) => {
                let options = format.options().reader_options()?;
                let found = dataset.options(options).schema().await.map_err(of)?;
                Arc::new(table_schema(&without_nested_views(&found), &format.options().parquet.global))
            }
            Err(error) => return Err(error),
        };
        let is_key = |field: &FieldRef| keys.find(field.name()).is_some();
        let files: Fields = found.fields().iter().filter(|field| !is_key(field)).cloned().collect();
        let written = Arc::new(Schema::new_with_metadata(files, found.metadata().clone()));
        let has_views = format.options().parquet.global.schema_force_view_types;
        let keys = keys.iter().map(|key| {
            let is_text = *key.data_type() == DataType::Utf8View && !has_views;
            (key.name().clone(), if is_text { DataType::Utf8 } else { key.data_type().clone() })
        });
        Ok(FolderTable::new(
            listed.url().to_owned(),
            listed.skipped_dirs(),
            written,
            &keys.collect::<Vec<_>>(),
            format.clone(),
        ))
    }

    /// Creates a table from its parts, without reading anything.
    pub(crate) fn new(
        url: String,
        skipped_dirs: usize,
        written: SchemaRef,
        keys: &[(String, DataType)],
        format: MarquetryFormat,
    ) -> Self {
        let keys = PartitionKeys::new(nullable(&written), keys);
        FolderTable { url, skipped_dirs, written, keys, format }
    }

    #[cfg(feature = "proto")]
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    #[cfg(feature = "proto")]
    pub(crate) fn skipped_dirs(&self) -> usize {
        self.skipped_dirs
    }

    #[cfg(feature = "proto")]
    pub(crate) fn written(&self) -> &SchemaRef {
        &self.written
    }

    #[cfg(feature = "proto")]
    pub(crate) fn keys(&self) -> &Fields {
        self.keys.fields()
    }

    #[cfg(feature = "proto")]
    pub(crate) fn format(&self) -> &MarquetryFormat {
        &self.format
    }

    /// Whether a condition is on partition columns alone.
    fn is_of_keys(&self, condition: &Expr) -> bool {
        let names: Vec<&str> = self.keys.fields().iter().map(|key| key.name().as_str()).collect();
        !names.is_empty() && expr_applicable_for_cols(&names, condition) && !has_subquery(condition)
    }

    /// Returns the files whose partition values match the conditions, as one file group for each partition of the scan.
    async fn groups(
        &self,
        listed: &FilesInStore,
        conditions: &Conditions,
        session: &dyn Session,
    ) -> Result<Vec<FileGroup>> {
        let dataset = listed.dataset()?.partitions(!self.keys.fields().is_empty());
        let keys = self.keys.fields();
        let mut texts: Vec<_> = keys.iter().map(|key| dataset.partition_texts(key.name())).collect();
        let files = listed.files()?.into_iter().map(|object| {
            let mut file = PartitionedFile::from(object.clone());
            let values = texts.iter_mut().map(|texts| texts.next().flatten());
            file.partition_values = values.map(|text| ScalarValue::Utf8(text.map(str::to_owned))).collect();
            file
        });
        let files = self.keys.typed(&FileGroup::new(files.collect()))?.into_inner();
        let wanted = DFSchema::from_unqualified_fields(keys.clone(), Default::default())?;
        let files = files.into_iter().filter_map(|file| match conditions.all() {
            [] => Some(Ok(file)),
            all => filter_partitioned_file(file, all, &wanted).transpose(),
        });
        let mut files = files.collect::<Result<Vec<_>>>()?;
        if session.config().collect_statistics() {
            let at_once = session.config_options().execution.meta_fetch_concurrency.get();
            let known = files.into_iter().map(|file| self.with_statistics(file, listed, session).boxed());
            files = stream::iter(known.collect::<Vec<_>>()).buffered(at_once).try_collect().await?;
        }
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let groups = FileGroup::new(files).split_files(session.config().target_partitions());
        groups.iter().map(|group| self.keys.typed(group)).collect()
    }

    async fn with_statistics(
        &self,
        file: PartitionedFile,
        listed: &FilesInStore,
        session: &dyn Session,
    ) -> Result<PartitionedFile> {
        let (store, columns) = (listed.store(), self.keys.files().clone());
        let known = self.format.infer_stats(session, store, columns, &file.object_meta).await?;
        Ok(file.with_statistics(Arc::new(known)))
    }
}

impl fmt::Debug for FolderTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FolderTable").field("url", &url_without_secrets(&self.url)).finish_non_exhaustive()
    }
}

/// Whether a condition has a subquery, which only a join can evaluate.
fn has_subquery(condition: &Expr) -> bool {
    let is_subquery =
        |expr: &Expr| Ok(matches!(expr, Expr::InSubquery(_) | Expr::Exists(_) | Expr::ScalarSubquery(_)));
    condition.exists(is_subquery).unwrap_or(true)
}

// Boxed futures instead of `async fn`: these would hold the filters, see `DatasetTable`.
impl TableProvider for FolderTable {
    fn schema(&self) -> SchemaRef {
        self.keys.table().clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn scan<'table: 'scan, 'state: 'scan, 'columns: 'scan, 'filters: 'scan, 'scan>(
        &'table self,
        state: &'state dyn Session,
        projection: Option<&'columns Vec<usize>>,
        filters: &'filters [Expr],
        limit: Option<usize>,
    ) -> BoxFuture<'scan, Result<Arc<dyn ExecutionPlan>>> {
        let of_keys = filters.iter().filter(|condition| self.is_of_keys(condition));
        // `IS TRUE` makes NULL false: `filter_partitioned_file` would look below the NULL otherwise.
        let of_keys = of_keys.map(|condition| unnormalize_col(condition.clone()).is_true());
        let (conditions, projection) = (Conditions::new(of_keys.collect()), projection.cloned());
        async move {
            let listed = FilesInStore::list(&self.url, state.runtime_env())
                .await?
                .with_skipped_dirs(self.skipped_dirs);
            let groups = self.groups(&listed, &conditions, state).await?;
            if groups.is_empty() {
                let columns = project_schema(self.keys.table(), projection.as_ref())?;
                return Ok(Arc::new(EmptyExec::new(columns)) as Arc<dyn ExecutionPlan>);
            }
            let known = self.keys.merged(groups.iter().filter_map(|group| group.file_statistics(None)))?;
            let scan = self
                .keys
                .scan_of(groups, &listed.store_url()?, &self.format)
                .with_statistics(known)
                .with_projection_indices(projection)?
                .with_limit(limit);
            self.format.create_physical_plan(state, scan.build()).await
        }
        .boxed()
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let answers = filters.iter().map(|condition| match self.is_of_keys(condition) {
            true => TableProviderFilterPushDown::Exact,
            false if has_subquery(condition) => TableProviderFilterPushDown::Unsupported,
            false => TableProviderFilterPushDown::Inexact,
        });
        Ok(answers.collect())
    }

    fn insert_into<'table: 'plan, 'state: 'plan, 'plan>(
        &'table self,
        state: &'state dyn Session,
        input: Arc<dyn ExecutionPlan>,
        insert_op: InsertOp,
    ) -> BoxFuture<'plan, Result<Arc<dyn ExecutionPlan>>> {
        async move {
            let url = ListingTableUrl::parse(&self.url)?;
            if !self.keys.fields().is_empty() || !url.is_collection() || url.get_glob().is_some() {
                return not_impl_err!(
                    "{} is only read: to write into a folder, declare it, with its keys, as in CREATE EXTERNAL TABLE t (id BIGINT, \
                     year BIGINT) STORED AS PARQUET PARTITIONED BY (year) LOCATION 'folder/', or COPY the rows to it",
                    url_without_secrets(&self.url)
                );
            }
            let options = ListingOptions::new(Arc::new(self.format.clone()))
                .with_file_extension(self.format.get_ext());
            let config = ListingTableConfig::new(url)
                .with_listing_options(options)
                .with_schema(self.written.clone());
            let written: Arc<dyn TableProvider> = Arc::new(ListingTable::try_new(config)?);
            written.insert_into(state, input, insert_op).await
        }
        .boxed()
    }
}
