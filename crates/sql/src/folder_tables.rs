//! Folders of this machine whose files are in folders called `key=value`, as tables: with the columns that `marquetry cat` reads.
//!
//! QUIRK: DataFusion has the values of such keys as text, also those that are null, so that 10 comes before 9, and
//! `__HIVE_DEFAULT_PARTITION__` after both.

use datafusion::catalog::{DynamicFileCatalog, TableProvider, UrlTableFactory};
use datafusion::error::{DataFusionError, Result};
use datafusion::prelude::SessionContext;
use futures::FutureExt;
use futures::future::BoxFuture;
use marquetry_arrow::dataset::{Dataset, is_pattern};
use marquetry_datafusion::DatasetTable;
use std::path::{Component, Path};
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// The session, in which names that are none of its tables are looked for among such folders. Each statement looks anew.
pub(crate) fn with_folder_tables(ctx: SessionContext) -> SessionContext {
    let inner = ctx.state().catalog_list().clone();
    let catalogs = DynamicFileCatalog::new(inner, Arc::new(FolderTables));
    ctx.into_state_builder().with_catalog_list(Arc::new(catalogs)).build().into()
}

#[derive(Debug)]
struct FolderTables;

impl UrlTableFactory for FolderTables {
    fn try_new<'factory: 'made, 'name: 'made, 'made>(
        &'factory self,
        name: &'name str,
    ) -> BoxFuture<'made, Result<Option<Arc<dyn TableProvider>>>> {
        let name = name.to_owned();
        async move {
            let table = spawn_blocking(move || table(&name)).await;
            table.map_err(|error| DataFusionError::External(Box::new(error)))?
        }
        .boxed()
    }
}

/// The table of a folder or a pattern of Parquet files in folders called `key=value`; `None` if the name means something else.
fn table(name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
    let path = Path::new(name);
    if name.contains("://") || !path.is_dir() && !is_pattern(path) {
        return Ok(None);
    }
    // What is no such folder has an error of its own.
    let Ok(files) = Dataset::open([path]) else { return Ok(None) };
    let above = path.components().take_while(|part| !has_wildcards(part)).count();
    let is_partitioned = |file: &Path| {
        let folders = file.parent().into_iter().flat_map(Path::components).skip(above);
        folders.into_iter().any(|folder| folder.as_os_str().to_string_lossy().contains('='))
    };
    if !files.files().any(is_partitioned) || files.files().all(has_another_format) {
        return Ok(None);
    }
    // As tables of several files are in SQL: with the columns of all.
    Ok(Some(Arc::new(DatasetTable::try_new(files.union_by_name(true))?)))
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

    #[test]
    fn names_of_no_such_folders_are_left_to_others() {
        for name in
            ["wines", "no-such.parquet", "no-such-*.parquet", "s3://bucket/*.parquet", "src", "src/*.rs"]
        {
            assert!(table(name).unwrap().is_none(), "{name}");
        }
    }
}
