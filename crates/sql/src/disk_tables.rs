//! Local files, folders and patterns as tables, by the rules of datasets.

use crate::file_url::{exact_name, is_of_wildcards};
use crate::files_table::FilesTable;
use crate::lookup::{Lookup, Use, has_another_format, is_for_datasets, is_partitioned, of};
use datafusion::catalog::Session;
use datafusion::datasource::file_format::FileFormat;
use datafusion::error::{DataFusionError, Result};
use futures::FutureExt;
use marquetry_arrow::dataset::{Dataset, is_named_parquet, is_pattern};
use marquetry_base::{Error, ErrorKind};
use marquetry_datafusion::DatasetTable;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use tokio::task::{JoinError, spawn_blocking};

/// Looks up a local path; `name` is what the statement calls it.
pub(crate) async fn on_disk(
    name: &str,
    path: PathBuf,
    session: &dyn Session,
    format: Arc<dyn FileFormat>,
    use_of: Use,
) -> Result<Lookup> {
    let is_ours = path.is_dir() || is_pattern(&path) || path.is_file() && is_named_parquet(&path);
    if !is_ours {
        return Ok(Lookup::Other(exact_name(name)));
    }
    let listed = {
        let path = path.clone();
        spawn_blocking(move || listed(&path, use_of)).await.map_err(joined)??
    };
    match listed {
        Listed::Files => {}
        Listed::Partitioned(table) => return Ok(Lookup::table(*table)),
        Listed::Other => return Ok(Lookup::Other(name.to_owned())),
        Listed::Nothing(why) => return Ok(Lookup::Nothing(DataFusionError::Plan(format!("{name}: {why}")))),
    }
    match FilesTable::try_new(path.clone(), files_at, format, session, use_of).await {
        Ok(table) => Ok(Lookup::table(table)),
        Err(error) if is_for_datasets(&error) => {
            // Keys in the path that was named are not columns, as in the table above.
            let files = move || Ok(Dataset::open([&path]).map_err(of)?.partitions(false));
            let table = spawn_blocking(move || union_for(use_of, files)).await.map_err(joined)??;
            Ok(Lookup::table(table))
        }
        Err(error) => Err(error),
    }
}

/// A table with the columns of all files, united by name.
fn union_by_name(files: Dataset) -> Result<DatasetTable> {
    DatasetTable::try_new(files.union_by_name(true))
}

/// As [`union_by_name`], of the files that `list` returns. If the table outlives its statement, each query lists them again.
fn union_for(
    use_of: Use,
    list: impl Fn() -> Result<Dataset> + Send + Sync + 'static,
) -> Result<DatasetTable> {
    match use_of {
        Use::Once => union_by_name(list()?),
        _ => refreshed_union(list),
    }
}

/// As [`union_by_name`], but each query lists the files again.
fn refreshed_union(list: impl Fn() -> Result<Dataset> + Send + Sync + 'static) -> Result<DatasetTable> {
    let files = list()?;
    let seen = Arc::new(Mutex::new(Arc::new(states(&files))));
    let list = Arc::new(list);
    let look = move || {
        let (list, seen) = (list.clone(), seen.clone());
        async move {
            let before = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let found = spawn_blocking(move || changed_union(list()?, &before)).await.map_err(joined)??;
            let Some((table, now)) = found else { return Ok(None) };
            // Not earlier: a query that is cancelled meanwhile has no table of them.
            *seen.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(now);
            Ok(Some(table))
        }
        .boxed()
    };
    Ok(union_by_name(files)?.with_refresh(look))
}

/// The table of these files, and their states, if these differ from `before`.
fn changed_union(files: Dataset, before: &States) -> Result<Option<(DatasetTable, States)>> {
    let now = states(&files);
    if *before == now {
        return Ok(None);
    }
    Ok(Some((union_by_name(files)?, now)))
}

/// Files, with the size and the time of last change by which a change is noticed.
type States = Vec<(PathBuf, Option<(u64, SystemTime)>)>;

fn states(files: &Dataset) -> States {
    let state = |path: &Path| {
        let metadata = path.metadata().ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    };
    files.files().map(|path| (path.to_owned(), state(path))).collect()
}

/// What a path refers to.
enum Listed {
    Files,
    /// Files in folders called `key=value`.
    Partitioned(Box<DatasetTable>),
    /// Files of other formats.
    Other,
    Nothing(String),
}

fn listed(path: &Path, use_of: Use) -> Result<Listed> {
    if path.is_file() {
        return check_size(path).map(|()| Listed::Files);
    }
    let files = match Dataset::open([path]) {
        Ok(files) => files,
        Err(error) if error.kind() == ErrorKind::Io => return Err(of(error)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let what = if is_pattern(path) { "fits the pattern" } else { "is in the folder" };
            return Ok(Listed::Nothing(format!(
                "no file {what}; files whose names begin with . or _ are skipped"
            )));
        }
        Err(error) => return Ok(Listed::Nothing(error.to_string())),
    };
    // The part before the wildcards may have any names.
    let above = match is_pattern(path) {
        true => path.components().take_while(|part| !is_of_wildcards(*part)).count(),
        false => path.components().count(),
    };
    if is_partitioned(above, &files) {
        let path = path.to_owned();
        let table = union_for(use_of, move || Dataset::open([&path]).map_err(of))?;
        return Ok(Listed::Partitioned(Box::new(table)));
    }
    files.files().try_for_each(check_size)?;
    if files.files().any(is_named_parquet) {
        return Ok(Listed::Files);
    }
    match files.files().next() {
        _ if files.files().any(has_another_format) => Ok(Listed::Other),
        Some(first) if begins_as_parquet(first) => Ok(Listed::Files),
        _ => Ok(Listed::Nothing("no file there is called as Parquet files are".to_owned())),
    }
}

/// The files that a path refers to now.
fn files_at(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_file() {
        return check_size(path).map(|()| vec![path.to_owned()]);
    }
    let files = Dataset::open([path]).map_err(of)?;
    files.files().try_for_each(check_size)?;
    Ok(files.files().map(Path::to_owned).collect())
}

/// Fails at a Parquet file of zero bytes, such as a failed writer leaves. DataFusion would skip it.
fn check_size(path: &Path) -> Result<()> {
    let is_empty =
        is_named_parquet(path) && path.metadata().is_ok_and(|file| file.is_file() && file.len() == 0);
    match is_empty {
        true => Err(of(Error::truncated("not a Parquet file: 0 bytes").in_file(path.display().to_string()))),
        false => Ok(()),
    }
}

fn begins_as_parquet(path: &Path) -> bool {
    let mut begin = [0; 4];
    File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == *b"PAR1"
}

fn joined(error: JoinError) -> DataFusionError {
    DataFusionError::ExecutionJoin(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::prelude::SessionContext;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    /// A query that is cancelled while files are listed leaves them to the next one.
    #[tokio::test]
    async fn files_are_found_though_a_query_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let wines = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
        let put = |name: &str| std::fs::copy(wines, folder.path().join(name)).unwrap();
        put("a.parquet");
        let (path, looks) = (folder.path().to_owned(), Arc::new(AtomicUsize::new(0)));
        let gate = Arc::new(Mutex::new(()));
        let (count, opened) = (looks.clone(), gate.clone());
        let list = move || {
            count.fetch_add(1, Ordering::SeqCst);
            let _open = opened.lock().unwrap();
            Dataset::open([&path]).map_err(of)
        };
        let table = refreshed_union(list).unwrap();
        let ctx = SessionContext::new();
        ctx.register_table("t", Arc::new(table)).unwrap();
        put("b.parquet");
        let query = async || ctx.sql("select 1 from t").await.unwrap().count().await.unwrap();
        {
            // However quick the machine, the query is cancelled before its files are listed.
            let _closed = gate.lock().unwrap();
            assert!(query().now_or_never().is_none());
        }
        // The listing of the cancelled query goes on: wait until it has ended, however long a busy machine takes.
        let started = Instant::now();
        while looks.load(Ordering::SeqCst) < 2 {
            assert!(started.elapsed() < Duration::from_secs(60), "nobody looks");
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(looks.load(Ordering::SeqCst), 2);
        assert_eq!(query().await, 400);
    }
}
