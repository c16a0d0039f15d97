//! Folders and patterns in object stores as tables, by the rules of datasets.

use crate::file_url::{has_wildcards, is_of_wildcards};
use crate::files_table::{listing, with_nulls};
use crate::lookup::{Lookup, Use, has_another_format, is_for_datasets, is_partitioned, of};
use datafusion::catalog::Session;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::object_store::{self, ObjectMeta, ObjectStore, ObjectStoreExt};
use futures::FutureExt;
use marquetry_arrow::async_reader::AsyncSource;
use marquetry_arrow::dataset::{Dataset, is_named_parquet};
use marquetry_base::{Error, ErrorKind, text_without_secrets, url_without_secrets};
use marquetry_datafusion::{DatasetTable, FilesInStore, FolderTable, MarquetryFormat};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// Looks up a URL. Tables that are sent to other processes are not datasets; of their paths, the first `skipped_dirs` directories
/// are never partition keys.
pub(crate) async fn in_store(
    url: &str,
    session: &dyn Session,
    format: Arc<dyn FileFormat>,
    use_of: Use,
    skipped_dirs: usize,
) -> Result<Lookup> {
    let runtime = session.runtime_env();
    let other = || Ok(Lookup::Other(url.to_owned()));
    let is_web = url.starts_with("http");
    // A query or fragment in the URL of a web server is not part of a name.
    let path = Path::new(if is_web { url.split(['?', '#']).next().unwrap_or(url) } else { url });
    let is_pattern = has_wildcards(path);
    let is_file = is_named_parquet(path) && !url.ends_with('/');
    let is_there = match (is_file, is_pattern) {
        (true, false) => check_file(url, runtime).await?,
        // A file of exactly that name precedes those that match the pattern. The listing reports other errors.
        (true, true) if !url.contains('?') => matches!(check_file(url, runtime).await, Ok(true)),
        _ => false,
    };
    if is_there || is_web {
        return other();
    }
    let listed = FilesInStore::list(url, runtime).await.map(|listed| listed.with_skipped_dirs(skipped_dirs));
    let (files, listed) = match listed.and_then(|listed| Ok((listed.dataset()?, listed))) {
        Ok(found) => found,
        Err(error) if has_no_such_file(&error) => {
            let is_file = !is_pattern && !url.ends_with('/') && check_file(url, runtime).await?;
            return if is_file { other() } else { Ok(Lookup::Nothing(error)) };
        }
        Err(error) => return Err(error),
    };
    let above = path.components().take_while(|part| !is_of_wildcards(*part)).count();
    // Paths of the dataset lack these directories and the root.
    let above = if skipped_dirs > 0 { above.saturating_sub(skipped_dirs + 1) } else { above };
    let is_partitioned = is_partitioned(above, &files);
    let is_other =
        !is_partitioned && !files.files().any(is_named_parquet) && files.files().any(has_another_format);
    if let (Use::Sent, false, Some(ours)) = (use_of, is_other, format.downcast_ref::<MarquetryFormat>()) {
        let table = FolderTable::try_new(&listed, is_partitioned, ours, session).await?;
        return Ok(Lookup::table(table));
    }
    let objects = listed.into_objects();
    if use_of == Use::Once && (is_partitioned || is_pattern) {
        return Ok(Lookup::table(union_by_name(files.partitions(is_partitioned)).await?));
    }
    let refresh = |partitions, seen| StoreRefresh {
        url: url.to_owned(),
        runtime: runtime.clone(),
        partitions,
        seen,
        made: Instant::now(),
        was_read: false,
    };
    if is_partitioned {
        return refresh(true, objects).union_by_name(files).await;
    }
    if is_other {
        return other();
    }
    // Keys in the URL that was named are not columns.
    let files = files.partitions(false);
    if is_pattern {
        return refresh(false, objects).union_by_name(files).await;
    }
    let folder = ListingTableUrl::parse(url)?;
    let store = runtime.object_store(folder.object_store())?;
    let Some(plain) = plain_folder(&folder, &*store, &files).await? else {
        return refresh(false, objects).union_by_name(files).await;
    };
    match format.infer_schema(session, &store, &plain).await {
        Ok(schema) => {
            let schema = if use_of == Use::Stays { with_nulls(&schema) } else { schema };
            Ok(Lookup::table(listing(vec![folder], &format.get_ext(), &format, schema)?))
        }
        Err(error) if is_for_datasets(&error) => refresh(false, objects).union_by_name(files).await,
        Err(error) => Err(error),
    }
}

/// The state of a table that lists its files again for each query.
struct StoreRefresh {
    url: String,
    runtime: Arc<RuntimeEnv>,
    /// Whether folders called `key=value` are partition columns.
    partitions: bool,
    /// The objects that the table was made of, and when it was made.
    seen: Vec<ObjectMeta>,
    made: Instant,
    was_read: bool,
}

impl StoreRefresh {
    /// A table with the columns of all files, which lists its files again when it is read.
    async fn union_by_name(mut self, files: Dataset<dyn AsyncSource>) -> Result<Lookup> {
        let table = union_by_name(files).await?;
        self.made = Instant::now();
        let state = Arc::new(Mutex::new(self));
        let look = move || {
            let state = state.clone();
            async move { state.lock().await.look().await }.boxed()
        };
        Ok(Lookup::table(table.with_refresh(look)))
    }

    async fn look(&mut self) -> Result<Option<DatasetTable>> {
        // PERF: a statement that names files makes a table and reads it at once. A bucket may have a million files: it
        // is not listed twice.
        if !std::mem::replace(&mut self.was_read, true) && self.made.elapsed() < JUST_MADE {
            return Ok(None);
        }
        let listed = FilesInStore::list(&self.url, &self.runtime).await?;
        if listed.objects() == self.seen {
            return Ok(None);
        }
        let table = union_by_name(listed.dataset()?.partitions(self.partitions)).await?;
        self.seen = listed.into_objects();
        Ok(Some(table))
    }
}

/// How long the files of a new table count as current when it is read for the first time.
const JUST_MADE: Duration = Duration::from_secs(1);

async fn union_by_name(files: Dataset<dyn AsyncSource>) -> Result<DatasetTable> {
    DatasetTable::try_new_async(files.union_by_name(true)).await
}

/// The objects in a folder, if DataFusion's listing has the same files as the dataset: it skips folders in it, and
/// files with `=` in their names, but not hidden files, nor, silently, empty ones.
async fn plain_folder(
    folder: &ListingTableUrl,
    store: &dyn ObjectStore,
    files: &Dataset<dyn AsyncSource>,
) -> Result<Option<Vec<ObjectMeta>>> {
    let mut listed = store.list_with_delimiter(Some(folder.prefix())).await?;
    // Some stores have an object for the folder itself.
    listed.objects.retain(|object| object.location != *folder.prefix());
    let names = |object: &ObjectMeta| object.location.filename().map(str::to_owned);
    let there: BTreeSet<_> = listed.objects.iter().map(names).collect();
    let wanted = files.files().map(|file| file.file_name().map(|name| name.to_string_lossy().into_owned()));
    let is_odd = |object: &ObjectMeta| {
        let name = object.location.as_ref();
        object.size == 0
            || !name.ends_with(".parquet")
            || object.location.filename().is_none_or(|name| name.contains('='))
    };
    let is_plain = files.files().len() == there.len()
        && wanted.collect::<BTreeSet<_>>() == there
        && !listed.objects.iter().any(is_odd)
        && listed.common_prefixes.is_empty();
    Ok(is_plain.then_some(listed.objects))
}

fn has_no_such_file(error: &DataFusionError) -> bool {
    let DataFusionError::External(error) = error else { return false };
    let error = error.downcast_ref::<Error>();
    error.is_some_and(|error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Argument))
}

/// Whether a store has a file; a folder may have that name, too. Fails if the store does not answer: DataFusion would
/// only say that there is no such table.
async fn check_file(url: &str, runtime: &RuntimeEnv) -> Result<bool> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder_tables::{folder_table, with_folder_tables};
    use datafusion::execution::object_store::ObjectStoreUrl;
    use datafusion::object_store::memory::InMemory;
    use datafusion::prelude::SessionContext;

    async fn session(files: &[&str]) -> SessionContext {
        let ctx = with_folder_tables(SessionContext::new());
        marquetry_datafusion::register(&ctx).unwrap();
        let wines =
            std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet")).unwrap();
        let store = InMemory::new();
        for name in files {
            let path = object_store::path::Path::parse(name).unwrap();
            store.put(&path, wines.clone().into()).await.unwrap();
        }
        ctx.register_object_store(ObjectStoreUrl::parse("s3://bucket").unwrap().as_ref(), Arc::new(store));
        ctx
    }

    async fn rows(ctx: &SessionContext, name: &str) -> Result<usize> {
        let frame = ctx.sql(&format!("select 1 from '{name}'")).await?;
        frame.count().await
    }

    #[tokio::test]
    async fn folders_of_stores_have_the_files_that_datasets_have() {
        let ctx = session(&[
            "plain/a.parquet",
            "plain/b.parquet",
            "odd/a.parquet",
            "odd/x=1.parquet",
            "odd/_hidden.parquet",
            "odd/in/c.parquet",
            "hidden/_a.parquet",
            "names/a[1].parquet",
            "names/a1.parquet",
            "run=1/a.parquet",
            "run=1/b/_c.parquet",
        ])
        .await;
        for (name, files) in [
            ("plain/", 2),
            ("plain", 2),
            ("plain/a.parquet", 1),
            ("p*/*.parquet", 2),
            ("odd/", 3),
            ("odd/*.parquet", 2),
            ("odd/x=*.parquet", 1),
            ("names/a[1].parquet", 1),
            ("names/*", 2),
            ("run=1/", 1),
        ] {
            assert_eq!(rows(&ctx, &format!("s3://bucket/{name}")).await.unwrap(), files * 200, "{name}");
        }
        for name in ["hidden/", "hidden", "none/", "none/*.parquet", "none.parquet"] {
            rows(&ctx, &format!("s3://bucket/{name}")).await.unwrap_err();
        }
        let Lookup::Table(table) = folder_table(&ctx, "s3://bucket/run=1/").await.unwrap() else {
            panic!("no table")
        };
        assert!(table.schema().index_of("run").is_err());
    }

    /// A table that outlives a statement has the files that there are when it is read.
    #[tokio::test]
    async fn tables_of_stores_are_refreshed() {
        for (pattern, added) in [("p/", "p/k=2/b.parquet"), ("q*/*.parquet", "q2/b.parquet")] {
            let ctx = session(&["p/k=1/a.parquet", "q/a.parquet"]).await;
            let url = format!("s3://bucket/{pattern}");
            let Lookup::Table(table) = folder_table(&ctx, &url).await.unwrap() else { panic!("no table") };
            ctx.register_table("t", table).unwrap();
            assert_eq!(rows(&ctx, "t").await.unwrap(), 200);
            let location = ListingTableUrl::parse(&url).unwrap();
            let store = ctx.runtime_env().object_store(location.object_store()).unwrap();
            let wines = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
            let added = object_store::path::Path::parse(added).unwrap();
            store.put(&added, std::fs::read(wines).unwrap().into()).await.unwrap();
            assert_eq!(rows(&ctx, "t").await.unwrap(), 400, "{url}");
            store.delete(&added).await.unwrap();
            assert_eq!(rows(&ctx, "t").await.unwrap(), 200, "{url}");
        }
    }
}
