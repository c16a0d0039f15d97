//! Lists the files of a store that a path, prefix or pattern means.

use crate::ObjectFile;
use crate::store_error::store_failed;
use futures::TryStreamExt;
use marquetry_arrow::async_reader::AsyncSource;
use marquetry_arrow::dataset::{Dataset, files_among, is_named_parquet};
use marquetry_base::{Error, ErrorKind, Result};
use object_store::ObjectStore;
use object_store::path::Path;
use std::sync::Arc;

/// Opens files of a store as one table, to be read as a [stream](Dataset::stream). `path` means files as [`files`]
/// finds them; the path of a `_metadata` file means those that it names. Directories called `key=value` are partitions,
/// as on a disk.
///
/// Fails if the path or the pattern is invalid, if the store cannot list its files or read the summary, if no file is
/// found, or if a summary names files outside of its folder.
///
/// ```
/// use futures::TryStreamExt;
/// # use object_store::{ObjectStore, ObjectStoreExt, memory::InMemory, path::Path};
/// # use std::sync::Arc;
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// # futures::executor::block_on(async {
/// # let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
/// # for shelf in 1..3 {
/// #     store.put(&Path::from(format!("wines/shelf={shelf}/0.parquet")), std::fs::read(path)?.into()).await?;
/// # }
/// let wines = marquetry_object_store::dataset(store, "wines/").await?;
/// let mut batches = wines.columns(["name", "shelf"]).stream().await?;
/// while let Some(batch) = batches.try_next().await? {
///     println!("{} rows", batch.num_rows());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn dataset(store: Arc<dyn ObjectStore>, path: &str) -> Result<Dataset<dyn AsyncSource>> {
    let opened = store.clone();
    let open = move |path: &std::path::Path| {
        let key = path.to_str().ok_or_else(|| Error::argument("a path that is not UTF-8"))?;
        let file = ObjectFile::new(opened.clone(), parsed(key)?);
        Ok(Arc::new(file) as Arc<dyn AsyncSource>)
    };
    match is_summary(path) {
        true => Dataset::from_async_summary(path, open).await,
        false => Dataset::from_async_files(files(&*store, path).await?, open),
    }
}

/// Finds the files that `path` means in a store, and returns their paths in alphabetical order. A path with a pattern
/// of `*`, `?`, `[...]` and `**` means the files that match it. A path that ends with a slash, or that does not have
/// the name of a Parquet file, means the files below it, if there are any. Any other path means itself. Files that
/// writers leave beside theirs, such as `_SUCCESS`, are skipped.
///
/// Fails if the path or the pattern is invalid, if the store cannot list its files, or if no file is found.
pub async fn files(store: &dyn ObjectStore, path: &str) -> Result<Vec<String>> {
    let is_pattern = path.contains(WILDCARDS);
    let is_folder = path.is_empty() || path.ends_with('/');
    if !is_pattern && !is_folder && (is_named_parquet(path) || is_summary(path)) {
        return Ok(vec![path.to_owned()]);
    }
    let names = listed(store, path, is_pattern).await?;
    let files = files_among(path, names.iter().map(String::as_str))?;
    match files.is_empty() {
        true if is_pattern || is_folder => Err(Error::new(ErrorKind::NotFound, "no file has such a name")),
        true => Ok(vec![path.to_owned()]),
        false => Ok(files.into_iter().map(str::to_owned).collect()),
    }
}

/// Lists the paths of files that may match.
async fn listed(store: &dyn ObjectStore, path: &str, is_pattern: bool) -> Result<Vec<String>> {
    let (folder, rest) = folder(path);
    let folder = parsed(folder)?;
    // If only the last part is a pattern, and no folder is meant, files in subfolders need not be listed.
    let is_flat = is_pattern && is_named_parquet(rest) && !rest.contains('/');
    let listed = match is_flat {
        true => store.list_with_delimiter(Some(&folder)).await.map(|listed| listed.objects),
        false => store.list(Some(&folder)).try_collect::<Vec<_>>().await,
    };
    let listed = listed.map_err(|error| store_failed(&error))?;
    Ok(listed.into_iter().map(|meta| meta.location.into()).collect())
}

/// Splits a path into the folder to list and the rest. A path without wildcards is a folder itself.
fn folder(path: &str) -> (&str, &str) {
    let fixed = path.find(WILDCARDS).unwrap_or(path.len());
    match path[..fixed].rfind('/') {
        _ if fixed == path.len() => (path.trim_end_matches('/'), ""),
        Some(end) => (&path[..end], &path[end + 1..]),
        None => ("", path),
    }
}

/// Whether this is the path of a summary file.
fn is_summary(path: &str) -> bool {
    path.rsplit('/').next() == Some("_metadata")
}

fn parsed(key: &str) -> Result<Path> {
    Path::parse(key)
        .map_err(|error| Error::caused_by(ErrorKind::Argument, "no path of a file in a store", error))
}

pub(crate) const WILDCARDS: [char; 3] = ['*', '?', '['];

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::ObjectStoreExt;
    use object_store::memory::InMemory;

    #[test]
    fn folders() {
        for (path, (in_folder, rest)) in [
            ("a/b/*.parquet", ("a/b", "*.parquet")),
            ("a*/c", ("", "a*/c")),
            ("a/b/", ("a/b", "")),
            ("a/b", ("a/b", "")),
            ("", ("", "")),
        ] {
            assert_eq!(folder(path), (in_folder, rest));
        }
    }

    #[test]
    fn paths_become_files() {
        let store = InMemory::new();
        futures::executor::block_on(async {
            let keys =
                ["t/a=1/x.parquet", "t/a=2/y.parquet", "t/z.parquet", "t/_metadata", "t/_SUCCESS", "u.csv"];
            for key in keys {
                store.put(&Path::from(key), "".into()).await.unwrap();
            }
            let files = async |path| files(&store, path).await.map_err(|error| error.to_string());
            let all = Ok(["t/a=1/x.parquet", "t/a=2/y.parquet", "t/z.parquet"].map(str::to_owned).to_vec());
            for path in ["t/", "t", "", "t/**/*.parquet"] {
                assert_eq!(files(path).await, all, "{path}");
            }
            assert_eq!(files("t/*.parquet").await, Ok(vec!["t/z.parquet".to_owned()]));
            // Named files are not looked for.
            for path in ["t/_metadata", "none.parquet", "none"] {
                assert_eq!(files(path).await, Ok(vec![path.to_owned()]));
            }
            assert!(files("none/").await.unwrap_err().contains("no file has such a name"));
            assert!(files("a[").await.unwrap_err().contains("wrong pattern"));
        });
    }
}
