//! Datasets in a session's object stores.

use crate::error::of;
use crate::store_file::{StoreFile, failed};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnv;
use futures::TryStreamExt;
use marquetry_arrow::async_reader::AsyncSource;
use marquetry_arrow::dataset::{Dataset, files_among};
use marquetry_base::{Error, ErrorKind, url_without_secrets};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The files below a folder of a store of this session, or those that match a pattern of `*`, `**`, `?` and `[]`, as a
/// dataset: [`DatasetTable::try_new_async`](crate::DatasetTable::try_new_async) makes a table of it. `url` is that of
/// the folder, such as `s3://bucket/wines/`. Folders called `key=value` are partitions, and files that writers leave
/// beside their data are ignored, as [on a disk](marquetry_arrow::dataset). Each file must stay as it was when it was
/// listed.
///
/// Fails if the session does not know the store, if the store cannot list its files, if the pattern is invalid, or if
/// no file matches.
///
/// ```
/// use datafusion::prelude::SessionContext;
/// use marquetry_datafusion::{DatasetTable, dataset_in_store};
/// use std::sync::Arc;
/// # use datafusion::execution::object_store::ObjectStoreUrl;
/// # use object_store::{ObjectStoreExt, memory::InMemory, path::Path};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let ctx = SessionContext::new();
/// # let store = InMemory::new();
/// # for shelf in [9, 10] {
/// #     store.put(&Path::from(format!("wines/shelf={shelf}/0.parquet")), std::fs::read(path)?.into()).await?;
/// # }
/// # ctx.register_object_store(ObjectStoreUrl::parse("s3://bucket")?.as_ref(), Arc::new(store));
/// // wines/shelf=9/0.parquet, wines/shelf=10/0.parquet
/// let wines = dataset_in_store("s3://bucket/wines/", &ctx.runtime_env()).await?;
/// ctx.register_table("wines", Arc::new(DatasetTable::try_new_async(wines).await?))?;
/// let batches = ctx.sql("select max(shelf) from wines").await?.collect().await?;
/// assert_eq!(*batches[0].column(0).as_ref(), arrow_array::Int64Array::from(vec![10]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn dataset_in_store(url: &str, runtime: &RuntimeEnv) -> Result<Dataset<dyn AsyncSource>> {
    FilesInStore::list(url, runtime).await?.dataset()
}

/// The objects that a store lists for a URL, as [`dataset_in_store`] takes it: for owners of a table who want to know
/// whether its files have changed.
///
/// ```
/// use datafusion::prelude::SessionContext;
/// use marquetry_datafusion::FilesInStore;
/// # use datafusion::execution::object_store::ObjectStoreUrl;
/// # use object_store::{ObjectStoreExt, memory::InMemory, path::Path};
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let ctx = SessionContext::new();
/// # let store = std::sync::Arc::new(InMemory::new());
/// # store.put(&Path::from("wines/0.parquet"), std::fs::read(path)?.into()).await?;
/// # ctx.register_object_store(ObjectStoreUrl::parse("s3://bucket")?.as_ref(), store.clone());
/// let before = FilesInStore::list("s3://bucket/wines/", &ctx.runtime_env()).await?;
/// assert_eq!(before.dataset()?.files().len(), 1);
/// # store.put(&Path::from("wines/1.parquet"), std::fs::read(path)?.into()).await?;
/// // Someone writes wines/1.parquet.
/// let now = FilesInStore::list("s3://bucket/wines/", &ctx.runtime_env()).await?;
/// assert_ne!(now.objects(), before.objects());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FilesInStore {
    store: Arc<dyn ObjectStore>,
    root: String,
    path: Path,
    url: String,
    /// The URL without passwords.
    shown: String,
    objects: Vec<ObjectMeta>,
    /// Number of leading directories of all paths that are never partition keys, whatever their names.
    skipped_dirs: usize,
}

impl FilesInStore {
    /// Lists the objects below the folder of a URL, or below the longest prefix of a pattern without wildcards.
    ///
    /// Fails if the session does not know the store, or if the store cannot list its files.
    pub async fn list(url: &str, runtime: &RuntimeEnv) -> Result<Self> {
        let (root, path) = split_url(url)?;
        let shown = url_without_secrets(url).into_owned();
        let store = runtime.object_store(&ObjectStoreUrl::parse(root)?)?;
        let path = Path::from_url_path(path).map_err(|error| DataFusionError::External(Box::new(error)))?;
        let objects =
            listed(&*store, &path).await.map_err(|error| of(failed(error).in_file(shown.clone())))?;
        Ok(FilesInStore {
            store,
            root: root.to_owned(),
            path,
            url: url.to_owned(),
            shown,
            objects,
            skipped_dirs: 0,
        })
    }

    /// Sets how many leading directories of all paths are never partition keys, whatever their names: those of the working
    /// directory, for a relative path. Paths in the dataset go without them. Default: 0.
    #[must_use]
    pub fn with_skipped_dirs(self, folders: usize) -> Self {
        FilesInStore { skipped_dirs: folders, ..self }
    }

    /// All listed objects, sorted by name, including files that are not part of the dataset.
    pub fn objects(&self) -> &[ObjectMeta] {
        &self.objects
    }

    /// As [`objects`](Self::objects), by value.
    pub fn into_objects(self) -> Vec<ObjectMeta> {
        self.objects
    }

    /// The files that match, as a dataset.
    ///
    /// Fails if the pattern is invalid, or if no file matches.
    pub fn dataset(&self) -> Result<Dataset<dyn AsyncSource>> {
        let listed = self.files()?.into_iter().map(|meta| (self.name(meta), meta.clone()));
        let listed: Vec<(String, ObjectMeta)> = listed.collect();
        let files: Vec<String> = listed.iter().map(|(name, _)| name.clone()).collect();
        let listed: HashMap<String, ObjectMeta> = listed.into_iter().collect();
        let store = self.store.clone();
        let open = move |path: &std::path::Path| {
            let meta = path.to_str().and_then(|path| listed.get(path));
            let meta = meta.ok_or_else(|| Error::new(ErrorKind::NotFound, "no file that was listed"))?;
            Ok(Arc::new(StoreFile::new(store.clone(), meta.clone())) as Arc<dyn AsyncSource>)
        };
        Dataset::from_async_files(files, open).map_err(of)
    }

    /// Returns the files of the [dataset](Self::dataset), in its order.
    pub(crate) fn files(&self) -> Result<Vec<&ObjectMeta>> {
        let names = self.objects.iter().map(|meta| meta.location.as_ref());
        let names = files_among(self.path.as_ref(), names).map_err(of)?;
        if names.is_empty() {
            let error = Error::new(ErrorKind::NotFound, "there is no such file");
            return Err(of(error.in_file(self.shown.clone())));
        }
        let listed: HashMap<&str, &ObjectMeta> =
            self.objects.iter().map(|meta| (meta.location.as_ref(), meta)).collect();
        Ok(names.into_iter().filter_map(|name| listed.get(name).copied()).collect())
    }

    pub(crate) fn store(&self) -> &Arc<dyn ObjectStore> {
        &self.store
    }

    pub(crate) fn store_url(&self) -> Result<ObjectStoreUrl> {
        ObjectStoreUrl::parse(&self.root)
    }

    /// The URL that was listed.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn skipped_dirs(&self) -> usize {
        self.skipped_dirs
    }

    /// Returns the path of a file in the dataset.
    fn name(&self, file: &ObjectMeta) -> String {
        match self.skipped_dirs {
            0 => format!("{}/{}", self.root, file.location),
            skipped_dirs => {
                file.location.as_ref().splitn(skipped_dirs + 1, '/').last().unwrap_or_default().to_owned()
            }
        }
    }
}

impl fmt::Debug for FilesInStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("FilesInStore");
        shown.field("url", &self.shown).field("objects", &self.objects).finish_non_exhaustive()
    }
}

/// `scheme://authority`, and the path without the slash between them.
fn split_url(url: &str) -> Result<(&str, &str)> {
    let no_url = || DataFusionError::Plan(format!("{url} is not a URL of a folder in a store"));
    let (scheme, rest) = url.split_once("://").ok_or_else(no_url)?;
    let authority = rest.find('/').unwrap_or(rest.len());
    let root = scheme.len() + "://".len() + authority;
    Ok((&url[..root], url[root..].trim_start_matches('/')))
}

/// All objects that may match, sorted by name.
async fn listed(store: &dyn ObjectStore, path: &Path) -> object_store::Result<Vec<ObjectMeta>> {
    let is_literal = |part: &object_store::path::PathPart<'_>| !part.as_ref().contains(['*', '?', '[']);
    let folder: Path = path.parts().take_while(is_literal).collect();
    let mut objects: Vec<ObjectMeta> = store.list(Some(&folder)).try_collect().await?;
    objects.sort_by(|a, b| a.location.cmp(&b.location));
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        assert_eq!(split_url("s3://bucket/a/b*/").unwrap(), ("s3://bucket", "a/b*/"));
        assert_eq!(split_url("gs://bucket").unwrap(), ("gs://bucket", ""));
        assert_eq!(split_url("file:///a").unwrap(), ("file://", "a"));
        assert!(split_url("a/b").is_err());
    }
}
