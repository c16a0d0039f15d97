//! A store that refuses Parquet files of zero bytes, such as failed writers leave.
//!
//! QUIRK: DataFusion's listings skip files of zero bytes, so that rows are missing silently.

use bytes::Bytes;
use datafusion::object_store::local::LocalFileSystem;
use datafusion::object_store::path::Path;
use datafusion::object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result,
};
use futures::future::BoxFuture;
use futures::stream::{BoxStream, Peekable};
use futures::{FutureExt, StreamExt, stream};
use marquetry_arrow::dataset::{files_among, is_named_parquet};
use std::fmt;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;

/// A store whose listings fail at an empty Parquet file that a dataset would read.
#[derive(Debug)]
pub(crate) struct RefuseEmptyFiles {
    store: Arc<dyn ObjectStore>,
    /// The part of a URL before the path.
    root: String,
}

impl RefuseEmptyFiles {
    pub(crate) fn new(store: Arc<dyn ObjectStore>, root: &str) -> Self {
        RefuseEmptyFiles { store, root: root.to_owned() }
    }
}

/// The store of local files.
pub(crate) fn disk() -> Arc<dyn ObjectStore> {
    Arc::new(RefuseEmptyFiles::new(Arc::new(LocalFileSystem::new()), ""))
}

impl fmt::Display for RefuseEmptyFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

/// The next object that is listed below `folder`.
async fn next(
    mut listed: Peekable<BoxStream<'static, Result<ObjectMeta>>>,
    root: String,
    folder: Option<Path>,
) -> Option<(Result<ObjectMeta>, (Peekable<BoxStream<'static, Result<ObjectMeta>>>, String, Option<Path>))> {
    let object = match listed.next().await? {
        Ok(object) if is_empty(&object) && is_taken(&object.location, folder.as_ref()) => {
            // Some stores have an object for a folder, listed before the folder's contents.
            match Pin::new(&mut listed).peek().await {
                Some(Ok(after)) if after.location.prefix_matches(&object.location) => Ok(object),
                _ => Err(no_file(&root, &object.location)),
            }
        }
        object => object,
    };
    Some((object, (listed, root, folder)))
}

fn is_empty(object: &ObjectMeta) -> bool {
    object.size == 0 && is_named_parquet(object.location.as_ref())
}

/// Whether a dataset of the folder would read this file.
fn is_taken(file: &Path, folder: Option<&Path>) -> bool {
    let Some(parts) = file.prefix_match(folder.unwrap_or(&Path::default())) else { return false };
    let below: Path = parts.collect();
    files_among("", [below.as_ref()]).is_ok_and(|files| !files.is_empty())
}

fn no_file(root: &str, path: &Path) -> Error {
    let error = marquetry_base::Error::truncated("not a Parquet file: 0 bytes");
    Error::Generic { store: "files", source: error.in_file(format!("{root}/{path}")).into() }
}

// With signatures as `async_trait` expands them; all methods but two are the store's.
impl ObjectStore for RefuseEmptyFiles {
    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let listed = self.store.list(prefix).peekable();
        let start = (listed, self.root.clone(), prefix.cloned());
        stream::unfold(start, |(listed, root, folder)| next(listed, root, folder)).boxed()
    }

    fn get_opts<'store: 'got, 'path: 'got, 'got>(
        &'store self,
        location: &'path Path,
        options: GetOptions,
    ) -> BoxFuture<'got, Result<GetResult>> {
        let is_head = options.head;
        let got = self.store.get_opts(location, options);
        async move {
            match got.await {
                Ok(file) if is_head && is_empty(&file.meta) => Err(no_file(&self.root, location)),
                got => got,
            }
        }
        .boxed()
    }

    fn put_opts<'store: 'put, 'path: 'put, 'put>(
        &'store self,
        location: &'path Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> BoxFuture<'put, Result<PutResult>> {
        self.store.put_opts(location, payload, options)
    }

    fn put_multipart_opts<'store: 'put, 'path: 'put, 'put>(
        &'store self,
        location: &'path Path,
        options: PutMultipartOptions,
    ) -> BoxFuture<'put, Result<Box<dyn MultipartUpload>>> {
        self.store.put_multipart_opts(location, options)
    }

    fn get_ranges<'store: 'got, 'path: 'got, 'ranges: 'got, 'got>(
        &'store self,
        location: &'path Path,
        ranges: &'ranges [Range<u64>],
    ) -> BoxFuture<'got, Result<Vec<Bytes>>> {
        self.store.get_ranges(location, ranges)
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.store.delete_stream(locations)
    }

    fn list_with_delimiter<'store: 'listed, 'folder: 'listed, 'listed>(
        &'store self,
        prefix: Option<&'folder Path>,
    ) -> BoxFuture<'listed, Result<ListResult>> {
        self.store.list_with_delimiter(prefix)
    }

    fn copy_opts<'store: 'made, 'from: 'made, 'to: 'made, 'made>(
        &'store self,
        from: &'from Path,
        to: &'to Path,
        options: CopyOptions,
    ) -> BoxFuture<'made, Result<()>> {
        self.store.copy_opts(from, to, options)
    }

    fn rename_opts<'store: 'made, 'from: 'made, 'to: 'made, 'made>(
        &'store self,
        from: &'from Path,
        to: &'to Path,
        options: RenameOptions,
    ) -> BoxFuture<'made, Result<()>> {
        self.store.rename_opts(from, to, options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::object_store::ObjectStoreExt;
    use datafusion::object_store::memory::InMemory;
    use futures::TryStreamExt;

    async fn listed(names: &[&str], folder: &str) -> std::result::Result<usize, String> {
        let store = InMemory::new();
        for name in names {
            let bytes =
                if name.contains("full") { PutPayload::from_static(b"PAR1") } else { PutPayload::new() };
            store.put(&Path::from(*name), bytes).await.unwrap();
        }
        let store = RefuseEmptyFiles::new(Arc::new(store), "s3://bucket");
        let listed: Result<Vec<ObjectMeta>> = store.list(Some(&Path::from(folder))).try_collect().await;
        listed.map(|listed| listed.len()).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn files_of_no_bytes_are_told_of() {
        for names in
            [&["t/a.parquet"][..], &["t/a.parquet", "t/b/full.parquet"], &["t/k=1/a.pq", "t/k=1/full"]]
        {
            let error = listed(names, "t").await.unwrap_err();
            assert!(error.contains("not a Parquet file: 0 bytes, in file s3://bucket/t/"), "{error}");
        }
        for names in [
            &["t/a.csv", "t/_SUCCESS", "t/full.parquet"][..],
            &["t/_temporary/0/a.parquet", "t/.a.parquet", "t/full.parquet"],
            // The object of a folder.
            &["t/a.parquet", "t/a.parquet/full.parquet", "t/b"],
        ] {
            assert_eq!(listed(names, "t").await, Ok(3), "{names:?}");
        }
        assert_eq!(listed(&["t.parquet", "t.parquet/full.parquet"], "t.parquet").await, Ok(1));
    }
}
