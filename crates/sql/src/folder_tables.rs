//! Folders whose files are in folders called `key=value`, as tables: with the columns that `marquetry cat` reads.
//!
//! QUIRK: DataFusion has the values of such keys as text, also those that are null, so that 10 comes before 9, and
//! `__HIVE_DEFAULT_PARTITION__` after both.

use datafusion::catalog::{DynamicFileCatalog, TableProvider, UrlTableFactory};
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::object_store::{self, ObjectStoreExt};
use datafusion::prelude::SessionContext;
use futures::FutureExt;
use futures::future::BoxFuture;
use marquetry_arrow::dataset::{Dataset, is_named_parquet, is_pattern};
use marquetry_base::{Error, ErrorKind, text_without_secrets, url_without_secrets};
use marquetry_datafusion::{DatasetTable, dataset_in_store};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// The session, in which names that are none of its tables are looked for among such folders. Each statement looks anew.
pub(crate) fn with_folder_tables(ctx: SessionContext) -> SessionContext {
    let state = ctx.state();
    let folders = Arc::new(FolderTables { runtime: state.runtime_env().clone() });
    let catalogs = Arc::new(DynamicFileCatalog::new(state.catalog_list().clone(), folders.clone()));
    let config = state.config().clone().with_extension(folders);
    ctx.into_state_builder().with_config(config).with_catalog_list(catalogs).build().into()
}

/// The table at a location, if it is such a folder, and the session is one that looks for them.
pub(crate) async fn folder_table(
    ctx: &SessionContext,
    location: &str,
) -> Result<Option<Arc<dyn TableProvider>>> {
    match ctx.state().config().get_extension::<FolderTables>() {
        Some(folders) => table(location, &folders.runtime).await,
        None => Ok(None),
    }
}

#[derive(Debug)]
struct FolderTables {
    runtime: Arc<RuntimeEnv>,
}

impl UrlTableFactory for FolderTables {
    fn try_new<'factory: 'made, 'name: 'made, 'made>(
        &'factory self,
        name: &'name str,
    ) -> BoxFuture<'made, Result<Option<Arc<dyn TableProvider>>>> {
        table(name, &self.runtime).boxed()
    }
}

/// The table of a folder or a pattern of Parquet files in folders called `key=value`; `None` if the name means something else.
async fn table(name: &str, runtime: &RuntimeEnv) -> Result<Option<Arc<dyn TableProvider>>> {
    let table = match (name.split_once("://"), local_path(name)) {
        (None, _) => table_on_disk(PathBuf::from(name)).await?,
        (Some(("file", _)), Some(path)) => table_on_disk(path).await?,
        (Some(("file", _)), None) => None,
        (Some(_), _) => table_in_store(name, runtime).await?,
    };
    Ok(table.map(|table| Arc::new(table) as Arc<dyn TableProvider>))
}

/// The path of this machine that a URL means.
fn local_path(url: &str) -> Option<PathBuf> {
    ListingTableUrl::parse(url).ok()?.get_url().to_file_path().ok()
}

async fn table_on_disk(path: PathBuf) -> Result<Option<DatasetTable>> {
    if !path.is_dir() && !is_pattern(&path) {
        return check_size(&path).map(|()| None);
    }
    let table = spawn_blocking(move || {
        let files = match Dataset::open([&path]) {
            Ok(files) if is_partitioned(&path, &files) => files,
            Err(error) if error.kind() == ErrorKind::Io => return Err(of(error)),
            Ok(files) => return files.files().try_for_each(check_size).map(|()| None),
            // What is no such folder has an error of its own.
            Err(_) => return Ok(None),
        };
        // As tables of several files are in SQL: with the columns of all.
        DatasetTable::try_new(files.union_by_name(true)).map(Some)
    });
    table.await.map_err(|error| DataFusionError::External(Box::new(error)))?
}

/// Fails if this is a Parquet file of no bytes, such as a writer leaves that has failed. DataFusion would pass over it.
fn check_size(path: &Path) -> Result<()> {
    let is_empty =
        is_named_parquet(path) && path.metadata().is_ok_and(|file| file.is_file() && file.len() == 0);
    match is_empty {
        true => Err(of(Error::truncated("not a Parquet file: 0 bytes").in_file(path.display().to_string()))),
        false => Ok(()),
    }
}

fn of(error: Error) -> DataFusionError {
    DataFusionError::External(error.into())
}

async fn table_in_store(url: &str, runtime: &RuntimeEnv) -> Result<Option<DatasetTable>> {
    let is_web = url.starts_with("http");
    // What is asked of a web server behind the path is no part of a name.
    let path = Path::new(if is_web { url.split(['?', '#']).next().unwrap_or(url) } else { url });
    let is_pattern = path.components().any(|part| has_wildcards(&part));
    let is_there = is_named_parquet(path) && !is_pattern && !url.ends_with('/');
    if is_there && check_file_in_store(url, runtime).await? || is_web {
        return Ok(None);
    }
    match dataset_in_store(url, runtime).await {
        Ok(files) if is_partitioned(path, &files) => {
            DatasetTable::try_new_async(files.union_by_name(true)).await.map(Some)
        }
        Ok(_) => Ok(None),
        // What is no such folder has an error of its own.
        Err(error) if has_no_such_file(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn has_no_such_file(error: &DataFusionError) -> bool {
    let DataFusionError::External(error) = error else { return false };
    let error = error.downcast_ref::<Error>();
    error.is_some_and(|error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Argument))
}

/// Whether a store has a file; it may have a folder of that name. Fails if it does not answer: DataFusion would say no more than that
/// there is no such table.
async fn check_file_in_store(url: &str, runtime: &RuntimeEnv) -> Result<bool> {
    let Ok(location) = ListingTableUrl::parse(url) else { return Ok(true) };
    let store = runtime.object_store(location.object_store())?;
    let shown = url_without_secrets(url).into_owned();
    match store.head(location.prefix()).await {
        Ok(file) if file.size == 0 => Err(of(Error::truncated("not a Parquet file: 0 bytes").in_file(shown))),
        Ok(_) => Ok(true),
        Err(object_store::Error::NotFound { .. }) if !url.starts_with("http") => Ok(false),
        Err(error) => {
            let said = text_without_secrets(&error.to_string()).into_owned();
            Err(of(Error::new(ErrorKind::Io, said).in_file(shown)))
        }
    }
}

/// Whether there are Parquet files in folders called `key=value` below `path`, or below what is before its wildcards.
fn is_partitioned<S: ?Sized>(path: &Path, dataset: &Dataset<S>) -> bool {
    let above = path.components().take_while(|part| !has_wildcards(part)).count();
    let is_in_partition = |file: &Path| {
        let folders = file.parent().into_iter().flat_map(Path::components).skip(above);
        folders.into_iter().any(|folder| folder.as_os_str().to_string_lossy().contains('='))
    };
    dataset.files().any(is_in_partition) && !dataset.files().all(has_another_format)
}

fn has_wildcards(part: &Component<'_>) -> bool {
    part.as_os_str().to_string_lossy().contains(['*', '?', '['])
}

/// Whether the name of a file says that it is of another of the formats that there are.
fn has_another_format(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    let name = [".gz", ".bz2", ".xz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    [".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".arrow"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_formats() {
        for (name, is_other) in
            [("a.CSV", true), ("b.json.gz", true), ("c.parquet", false), ("part-0", false)]
        {
            assert_eq!(has_another_format(Path::new(name)), is_other, "{name}");
        }
    }

    #[tokio::test]
    async fn names_of_no_such_folders_are_left_to_others() {
        let src = concat!("file://", env!("CARGO_MANIFEST_DIR"), "/src/");
        for name in ["wines", "no-such.parquet", "no-such-*.parquet", "src", "src/*.rs", src] {
            assert!(table(name, &RuntimeEnv::default()).await.unwrap().is_none(), "{name}");
        }
        let unknown = table("s3://bucket/*.parquet", &RuntimeEnv::default()).await.unwrap_err().to_string();
        assert!(unknown.contains("No suitable object store"), "{unknown}");
    }
}
