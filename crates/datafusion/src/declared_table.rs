//! Tables of `CREATE EXTERNAL TABLE`.
//!
//! QUIRK: DataFusion 55 relies on `NOT NULL`, and on columns that the first files require: `IS NULL` of such a column finds no row, and `count`
//! of it counts all rows. No file is checked against that, least of all those that come later. So all columns that are read are nullable
//! here, partition keys too; what is inserted is checked.

use crate::error::of_file;
use crate::format::MarquetryFormat;
use crate::partition_keys::PartitionKeys;
use crate::required_columns::nullable;
use arrow_schema::{Field, Fields, Schema, SchemaRef};
use datafusion::catalog::{ScanArgs, ScanResult, Session, TableProvider};
use datafusion::common::{SchemaExt, plan_err, project_schema};
use datafusion::datasource::TableType;
use datafusion::datasource::listing::{ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::datasource::physical_plan::{FileGroup, FileOutputMode, FileSinkConfig};
use datafusion::error::Result;
use datafusion::execution::cache::TableScopedPath;
use datafusion::execution::cache::cache_manager::CacheManager;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use futures::FutureExt;
use futures::future::BoxFuture;
use marquetry_arrow::dataset::is_named_parquet;
use marquetry_base::{Error, ErrorKind};
use std::sync::Arc;

/// A listing table that is written with its declared schema, and read with all columns nullable.
#[derive(Debug, Clone)]
pub(crate) struct DeclaredTable {
    declared: ListingTable,
    /// Partition columns that are declared `NOT NULL`.
    required_keys: Vec<String>,
    /// The table that is scanned, with partition columns as text.
    read: ListingTable,
    keys: PartitionKeys,
}

impl DeclaredTable {
    /// `caches` has the file statistics of the session.
    pub(crate) fn try_new(
        declared: &ListingTable,
        required_keys: Vec<String>,
        caches: &CacheManager,
    ) -> Result<Self> {
        let files = fields_of_files(declared);
        let files = nullable(&Schema::new_with_metadata(files, declared.schema().metadata().clone()));
        let keys = PartitionKeys::new(files.clone(), &declared.options().table_partition_cols);
        let options = declared.options().clone().with_table_partition_cols(keys.as_text());
        let config = ListingTableConfig::new_with_multi_paths(declared.table_paths().clone())
            .with_listing_options(options)
            .with_schema(files);
        let read = ListingTable::try_new(config)?.with_cache(caches.get_file_statistic_cache());
        Ok(DeclaredTable { declared: declared.clone(), required_keys, read, keys })
    }

    /// The listing table as the statement declares it.
    #[cfg(feature = "proto")]
    pub(crate) fn declared(&self) -> &ListingTable {
        &self.declared
    }

    #[cfg(feature = "proto")]
    pub(crate) fn required_keys(&self) -> &[String] {
        &self.required_keys
    }

    /// The listing table for a process that knows only DataFusion's tables: the text for null keys is not a null there.
    #[cfg(feature = "proto")]
    pub(crate) fn listed(&self) -> Result<ListingTable> {
        if self.keys.fields().is_empty() {
            return Ok(self.read.clone());
        }
        let declared = self.declared.options();
        let options = self.read.options().clone();
        let config = ListingTableConfig::new_with_multi_paths(self.read.table_paths().clone())
            .with_listing_options(options.with_table_partition_cols(declared.table_partition_cols.clone()))
            .with_schema(self.keys.files().clone());
        ListingTable::try_new(config)
    }

    /// This table, scanned as `read` is.
    #[cfg(feature = "proto")]
    pub(crate) fn read_as(self, read: DeclaredTable) -> Self {
        DeclaredTable { declared: self.declared, required_keys: self.required_keys, ..read }
    }

    /// The configuration of an insert's sink.
    fn sink(&self, session: &dyn Session, input: &Schema, insert_op: InsertOp) -> Result<FileSinkConfig> {
        self.keys.table().logically_equivalent_names_and_types(input)?;
        let (paths, options) = (self.declared.table_paths(), self.declared.options());
        let Some(path) = paths.first().filter(|path| path.is_collection()) else {
            return plan_err!(
                "rows are inserted into a folder, whose name ends with a slash, not into a file"
            );
        };
        forget_files(path, &session.runtime_env().cache_manager);
        Ok(FileSinkConfig {
            original_url: String::new(),
            object_store_url: path.object_store(),
            table_paths: paths.clone(),
            file_group: FileGroup::default(),
            output_schema: Arc::new(self.written_schema()),
            table_partition_cols: options.table_partition_cols.clone(),
            insert_op,
            keep_partition_by_columns: session.config_options().execution.keep_partition_by_columns,
            file_extension: options.format.get_ext(),
            file_output_mode: FileOutputMode::Automatic,
        })
    }

    /// Fails if the table is of one file that does not exist: DataFusion takes it for an empty folder.
    fn check_file(&self, scan: &Arc<dyn ExecutionPlan>) -> Result<()> {
        let [path] = self.read.table_paths().as_slice() else { return Ok(()) };
        let is_file =
            !path.is_collection() && path.get_glob().is_none() && is_named_parquet(path.prefix().as_ref());
        match is_file && self.is_ours() && scan.is::<EmptyExec>() {
            true => Err(of_file(Error::new(ErrorKind::NotFound, "there is no such file"), path.prefix())),
            false => Ok(()),
        }
    }

    fn is_ours(&self) -> bool {
        self.declared.options().format.downcast_ref::<MarquetryFormat>().is_some()
    }

    /// The schema of inserted rows. Formats other than ours have no folder for null keys.
    fn written_schema(&self) -> Schema {
        let is_ours = self.is_ours();
        let may_be_null = |key: &Field| is_ours && !self.required_keys.contains(key.name());
        let keys = self.keys.fields().iter();
        let keys = keys.map(|key| Arc::new(Field::clone(key).with_nullable(may_be_null(key))));
        let files = fields_of_files(&self.declared);
        let fields: Fields = files.iter().cloned().chain(keys).collect();
        Schema::new_with_metadata(fields, self.declared.schema().metadata().clone())
    }
}

/// The columns of the files, without partition columns.
fn fields_of_files(table: &ListingTable) -> Fields {
    let (schema, keys) = (table.schema(), table.options().table_partition_cols.len());
    schema.fields().iter().take(schema.fields().len().saturating_sub(keys)).cloned().collect()
}

/// Removes the file list of a table from the session's cache, so that its files are listed again.
fn forget_files(path: &ListingTableUrl, caches: &CacheManager) {
    if let Some(listed) = caches.get_list_files_cache() {
        let key = TableScopedPath { table: path.get_table_ref().clone(), path: path.prefix().clone() };
        listed.remove(&key);
    }
}

// Futures of listing tables are passed on as trait objects, see `MarquetryTable`.
impl TableProvider for DeclaredTable {
    fn schema(&self) -> SchemaRef {
        self.keys.table().clone()
    }

    fn table_type(&self) -> TableType {
        self.read.table_type()
    }

    fn get_table_definition(&self) -> Option<&str> {
        self.declared.get_table_definition()
    }

    fn get_column_default(&self, column: &str) -> Option<&Expr> {
        self.declared.get_column_default(column)
    }

    fn scan<'table: 'scan, 'state: 'scan, 'columns: 'scan, 'filters: 'scan, 'scan>(
        &'table self,
        state: &'state dyn Session,
        projection: Option<&'columns Vec<usize>>,
        filters: &'filters [Expr],
        limit: Option<usize>,
    ) -> BoxFuture<'scan, Result<Arc<dyn ExecutionPlan>>> {
        let args = ScanArgs::default()
            .with_projection(projection.map(Vec::as_slice))
            .with_filters(Some(filters))
            .with_limit(limit);
        self.scan_with_args(state, args).map(|scan| Ok(scan?.into_inner())).boxed()
    }

    fn scan_with_args<'args: 'scan, 'table: 'scan, 'state: 'scan, 'scan>(
        &'table self,
        state: &'state dyn Session,
        args: ScanArgs<'args>,
    ) -> BoxFuture<'scan, Result<ScanResult>> {
        let read: &dyn TableProvider = &self.read;
        if self.keys.fields().is_empty() {
            let limit = args.limit();
            let scan = read.scan_with_args(state, args);
            return async move {
                let scan = scan.await?;
                if limit != Some(0) {
                    self.check_file(scan.plan())?;
                }
                Ok(scan)
            }
            .boxed();
        }
        let (projection, limit) = (args.projection().map(<[_]>::to_vec), args.limit());
        let conditions = self.keys.of_text(args.filters().unwrap_or_default());
        let (keys, format) = (self.keys.clone(), self.read.options().format.clone());
        async move {
            let conditions = conditions?;
            let args = ScanArgs::default().with_filters(Some(conditions.all())).with_limit(limit);
            let listed = read.scan_with_args(state, args);
            let listed = listed.await?.into_inner();
            let plan = match keys.scan(&listed, format.as_ref(), projection.clone())? {
                Some(scan) => format.create_physical_plan(state, scan).await?,
                None => Arc::new(EmptyExec::new(project_schema(keys.table(), projection.as_ref())?)),
            };
            Ok(ScanResult::new(plan))
        }
        .boxed()
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        self.read.supports_filters_pushdown(filters)
    }

    fn insert_into<'table: 'plan, 'state: 'plan, 'plan>(
        &'table self,
        state: &'state dyn Session,
        input: Arc<dyn ExecutionPlan>,
        insert_op: InsertOp,
    ) -> BoxFuture<'plan, Result<Arc<dyn ExecutionPlan>>> {
        let declared: &dyn TableProvider = &self.declared;
        if self.keys.fields().is_empty() {
            return declared.insert_into(state, input, insert_op);
        }
        // A listing table's own `insert_into` would parse the keys of existing folders as numbers.
        let sink = self.sink(state, &input.schema(), insert_op);
        let orders = self.declared.try_create_output_ordering(state.execution_props(), &[]);
        let format = self.declared.options().format.clone();
        async move {
            let order = orders?.into_iter().next().map(Into::into);
            format.create_writer_physical_plan(input, state, sink?, order).await
        }
        .boxed()
    }
}
