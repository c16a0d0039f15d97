//! A table that scans an exact list of local files.
//!
//! QUIRK: the listings of DataFusion leave out files with `=` in their names, which they take for partitions.

use crate::file_url::{url_of_file, url_of_folder};
use crate::lookup::Use;
use datafusion::arrow::datatypes::{Field, Fields, Schema, SchemaRef};
use datafusion::catalog::{ScanArgs, ScanResult, Session, TableProvider};
use datafusion::datasource::TableType;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::object_store::path::Path as ObjectPath;
use datafusion::object_store::{ObjectMeta, ObjectStoreExt};
use datafusion::physical_plan::ExecutionPlan;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use marquetry_base::{Error, ErrorKind};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A function that lists the files that a path refers to.
pub(crate) type List = fn(&Path) -> Result<Vec<PathBuf>>;

/// A table of the files at a path; each scan lists them again.
#[derive(Debug)]
pub(crate) struct FilesTable {
    path: PathBuf,
    list: List,
    format: Arc<dyn FileFormat>,
    first: Listed,
    /// The table that rows are inserted into, if the path is a folder.
    folder: Option<ListingTable>,
}

/// The files at some time. A scan borrows them from the table, so that later lists are kept beside these.
#[derive(Debug)]
struct Listed {
    files: Vec<PathBuf>,
    listing: ListingTable,
    next: OnceLock<Box<Listed>>,
}

impl Listed {
    fn new(files: Vec<PathBuf>, format: &Arc<dyn FileFormat>, schema: SchemaRef) -> Result<Self> {
        let listing = listing(urls(&files)?, "", format, schema)?;
        Ok(Listed { files, listing, next: OnceLock::new() })
    }
}

impl FilesTable {
    /// Creates a table of the files at `path`. Fails with an [error of Arrow](DataFusionError::ArrowError) if the
    /// columns of the files have no common types, and with one of the kind [`Unsupported`](ErrorKind::Unsupported) if
    /// no URL can have such a name.
    pub(crate) async fn try_new(
        path: PathBuf,
        list: List,
        format: Arc<dyn FileFormat>,
        session: &dyn Session,
        use_of: Use,
    ) -> Result<Self> {
        let files = list(&path)?;
        let urls = urls(&files)?;
        let Some(url) = urls.first() else {
            return Err(DataFusionError::Plan(format!("{}: there is no file", path.display())));
        };
        let store = session.runtime_env().object_store(url)?;
        let at_once = session.config_options().execution.meta_fetch_concurrency.get();
        let objects = urls.iter().map(|url| store.head(url.prefix()).boxed()).collect::<Vec<_>>();
        let objects: Vec<ObjectMeta> = stream::iter(objects).buffered(at_once).try_collect().await?;
        let schema = format.infer_schema(session, &store, &objects).await?;
        let folder = match url_of_folder(&path).filter(|_| path.is_dir()) {
            Some(url) => Some(listing(vec![url], &format.get_ext(), &format, schema.clone())?),
            None => None,
        };
        let schema = if use_of == Use::Stays { with_nulls(&schema) } else { schema };
        Ok(FilesTable { list, first: Listed::new(files, &format, schema)?, path, format, folder })
    }

    /// Returns the listing of the current files.
    fn now(&self) -> Result<&Listed> {
        let files = (self.list)(&self.path)?;
        let mut listed = &self.first;
        while listed.files != files {
            listed = match listed.next.get() {
                Some(next) => next,
                None => {
                    let next = Listed::new(files.clone(), &self.format, self.schema())?;
                    listed.next.get_or_init(|| Box::new(next))
                }
            };
        }
        Ok(listed)
    }
}

impl Listed {
    /// Fails if the plan lacks one of the files: DataFusion skips files that were removed meanwhile.
    fn check(&self, plan: &Arc<dyn ExecutionPlan>, limit: Option<usize>) -> Result<()> {
        let scan = plan.downcast_ref::<DataSourceExec>();
        let scan = scan.and_then(|scan| scan.data_source().downcast_ref::<FileScanConfig>());
        let files = scan.iter().flat_map(|scan| &scan.file_groups).flat_map(FileGroup::iter);
        let found: HashSet<&ObjectPath> = files.map(|file| &file.object_meta.location).collect();
        // With a limit, some of the files may suffice.
        if limit == Some(0) || limit.is_some() && !found.is_empty() {
            return Ok(());
        }
        let mut urls = self.listing.table_paths().iter().zip(&self.files);
        match urls.find(|(url, _)| !found.contains(url.prefix())) {
            Some((_, gone)) => {
                let error = Error::new(ErrorKind::NotFound, "the file is gone since it was listed");
                Err(DataFusionError::External(error.in_file(gone.display().to_string()).into()))
            }
            None => Ok(()),
        }
    }
}

/// Returns the schema with all columns nullable.
pub(crate) fn with_nulls(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| Arc::new(Field::clone(field).with_nullable(true)));
    Arc::new(Schema::new_with_metadata(fields.collect::<Fields>(), schema.metadata().clone()))
}

/// Returns a listing table with all columns nullable.
pub(crate) fn listing_with_nulls(listing: &ListingTable) -> Result<ListingTable> {
    let (schema, keys) = (listing.schema(), listing.options().table_partition_cols.len());
    let columns: Vec<usize> = (0..schema.fields().len().saturating_sub(keys)).collect();
    let config = ListingTableConfig::new_with_multi_paths(listing.table_paths().clone())
        .with_listing_options(listing.options().clone());
    ListingTable::try_new(config.with_schema(with_nulls(&schema.project(&columns)?)))
}

fn urls(files: &[PathBuf]) -> Result<Vec<ListingTableUrl>> {
    let url = |path: &PathBuf| {
        url_of_file(path).ok_or_else(|| {
            let error = Error::new(ErrorKind::Unsupported, "no URL has such a name");
            DataFusionError::External(error.in_file(path.display().to_string()).into())
        })
    };
    files.iter().map(url).collect()
}

/// A listing table of files at these URLs whose names end with `end`.
pub(crate) fn listing(
    urls: Vec<ListingTableUrl>,
    end: &str,
    format: &Arc<dyn FileFormat>,
    schema: SchemaRef,
) -> Result<ListingTable> {
    let options = ListingOptions::new(format.clone()).with_file_extension(end);
    let config = ListingTableConfig::new_with_multi_paths(urls).with_listing_options(options);
    ListingTable::try_new(config.with_schema(schema))
}

// Futures of the listing table are passed on: an `async fn` would hold the filters, see `DatasetTable`.
impl TableProvider for FilesTable {
    fn schema(&self) -> SchemaRef {
        self.first.listing.schema()
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
        let scan = self.now().map(|listed| {
            let table: &dyn TableProvider = &listed.listing;
            (table.scan(state, projection, filters, limit), listed)
        });
        async move {
            let (scan, listed) = scan?;
            let plan = scan.await?;
            listed.check(&plan, limit)?;
            Ok(plan)
        }
        .boxed()
    }

    fn scan_with_args<'args: 'scan, 'table: 'scan, 'state: 'scan, 'scan>(
        &'table self,
        state: &'state dyn Session,
        args: ScanArgs<'args>,
    ) -> BoxFuture<'scan, Result<ScanResult>> {
        let limit = args.limit();
        let scan = self.now().map(|listed| {
            let table: &dyn TableProvider = &listed.listing;
            (table.scan_with_args(state, args), listed)
        });
        async move {
            let (scan, listed) = scan?;
            let found = scan.await?.into_inner();
            listed.check(&found, limit)?;
            Ok(ScanResult::new(found))
        }
        .boxed()
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        self.first.listing.supports_filters_pushdown(filters)
    }

    fn insert_into<'table: 'plan, 'state: 'plan, 'plan>(
        &'table self,
        state: &'state dyn Session,
        input: Arc<dyn ExecutionPlan>,
        insert_op: InsertOp,
    ) -> BoxFuture<'plan, Result<Arc<dyn ExecutionPlan>>> {
        let folder: Option<&dyn TableProvider> = self.folder.as_ref().map(|folder| folder as _);
        if let Some(folder) = folder {
            return folder.insert_into(state, input, insert_op);
        }
        let message = format!(
            "{} is not a folder: rows are added to a folder, as new files, or written to a file by COPY (..) TO",
            self.path.display()
        );
        async move { Err(DataFusionError::Plan(message)) }.boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::prelude::SessionContext;

    /// Like a file that is removed after the files were listed, and before DataFusion opens them.
    #[tokio::test]
    async fn files_that_are_gone_are_told_of() {
        let folder = tempfile::tempdir().unwrap();
        let wines = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
        let list: List = |path| Ok(["a.parquet", "b.parquet"].map(|name| path.join(name)).to_vec());
        for file in list(folder.path()).unwrap() {
            std::fs::copy(wines, file).unwrap();
        }
        let ctx = SessionContext::new();
        marquetry_datafusion::register(&ctx).unwrap();
        let format = ctx.state().get_file_format_factory("parquet").unwrap().default();
        let state = ctx.state();
        let table = FilesTable::try_new(folder.path().to_owned(), list, format, &state, Use::Stays);
        ctx.register_table("t", Arc::new(table.await.unwrap())).unwrap();
        let count = async |limit: &str| {
            let frame = ctx.sql(&format!("select year from t {limit}")).await.unwrap();
            frame.count().await.map_err(|error| error.to_string())
        };
        assert_eq!((count("").await, count("limit 3").await), (Ok(400), Ok(3)));
        for gone in ["a.parquet", "b.parquet"] {
            std::fs::remove_file(folder.path().join(gone)).unwrap();
            let error = count("").await.unwrap_err();
            assert!(error.contains("a.parquet") && error.contains("is gone since it was listed"), "{error}");
        }
        count("limit 3").await.unwrap_err();
    }
}
