//! Files, folders and patterns as tables, by the rules of datasets: with the rows and the columns that `marquetry cat` reads.
//!
//! QUIRK: DataFusion reads partition values as text, nulls included, so that 10 comes before 9, and
//! `__HIVE_DEFAULT_PARTITION__` after both. It reads hidden files, but not those with `=` in their names; and patterns
//! only below a folder without wildcards.

use crate::disk_tables::on_disk;
use crate::file_url::{exact_name, url_of_files};
use crate::files_table::listing_with_nulls;
use crate::lookup::{Lookup, Use, has_another_format};
use crate::store_tables::in_store;
use datafusion::catalog::{DynamicFileCatalog, Session, TableProvider, UrlTableFactory};
use datafusion::common::TableReference;
use datafusion::datasource::dynamic_file::DynamicListTableFactory;
use datafusion::datasource::listing::{ListingTable, ListingTableUrl};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionState;
use datafusion::prelude::SessionContext;
use futures::FutureExt;
use futures::future::BoxFuture;
use marquetry_arrow::dataset::is_named_parquet;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A session that looks up names among files if none of its tables has them. Each statement looks again.
///
/// It takes the place of [`SessionContext::enable_url_table`].
pub(crate) fn with_folder_tables(ctx: SessionContext) -> SessionContext {
    with_tables(ctx, FolderTables::default())
}

/// Like the tables of one process, with the same rows and columns, for a session that sends all its plans to other processes.
pub fn with_sent_folder_tables(ctx: SessionContext) -> SessionContext {
    with_tables(ctx, FolderTables { are_sent: true, ..FolderTables::default() })
}

fn with_tables(ctx: SessionContext, folders: FolderTables) -> SessionContext {
    let state = ctx.state();
    let folders = Arc::new(folders);
    let catalogs = Arc::new(DynamicFileCatalog::new(state.catalog_list().clone(), folders.clone()));
    let config = state.config().clone().with_extension(folders.clone());
    let session_id = ctx.session_id();
    let builder = ctx.into_state_builder().with_session_id(session_id).with_config(config);
    let ctx: SessionContext = builder.with_catalog_list(catalogs).build().into();
    folders.others.session_store().with_state(ctx.state_weak_ref());
    ctx
}

/// Looks up a location, if the session looks for tables among files.
pub(crate) async fn folder_table(ctx: &SessionContext, location: &str) -> Result<Lookup> {
    let state = ctx.state();
    match state.config().get_extension::<FolderTables>() {
        Some(folders) => found(location, state, folders.use_of(true)).await,
        None => Ok(Lookup::Other(exact_name(location))),
    }
}

#[derive(Debug, Default)]
struct FolderTables {
    /// DataFusion's tables of files.
    others: DynamicListTableFactory,
    are_sent: bool,
    /// Whether the tables of the statement that is planned outlive it.
    stays: AtomicBool,
}

impl FolderTables {
    fn use_of(&self, stays: bool) -> Use {
        match (self.are_sent, stays) {
            (true, _) => Use::Sent,
            (false, true) => Use::Stays,
            (false, false) => Use::Once,
        }
    }
}

/// Sets whether the tables of the next statement outlive it, as those of a view do.
pub(crate) fn next_stays(state: &SessionState, stays: bool) {
    if let Some(folders) = state.config().get_extension::<FolderTables>() {
        folders.stays.store(stays, Ordering::Relaxed);
    }
}

impl UrlTableFactory for FolderTables {
    fn try_new<'factory: 'made, 'name: 'made, 'made>(
        &'factory self,
        name: &'name str,
    ) -> BoxFuture<'made, Result<Option<Arc<dyn TableProvider>>>> {
        let session = self.others.session_store().get_session().upgrade();
        let state =
            session.and_then(|session| session.read().as_any().downcast_ref::<SessionState>().cloned());
        async move {
            let Some(state) = state else {
                return Err(DataFusionError::Plan(format!("{name}: the session has ended")));
            };
            let use_of = self.use_of(self.stays.load(Ordering::Relaxed));
            match found(name, state, use_of).await? {
                Lookup::Table(table) => Ok(Some(table)),
                Lookup::Other(name) => {
                    let table = self.others.try_new(&name).await?;
                    let listing = table.as_ref().and_then(|table| table.downcast_ref::<ListingTable>());
                    match listing.filter(|_| use_of == Use::Stays) {
                        Some(listing) => Ok(Some(Arc::new(listing_with_nulls(listing)?))),
                        None => Ok(table),
                    }
                }
                // It may be the name of a table that is about to be created.
                Lookup::Nothing(_) if !is_like_path(name) => Ok(None),
                Lookup::Nothing(error) => Err(error),
            }
        }
        .boxed()
    }
}

/// Whether a name looks like that of a file rather than a table.
fn is_like_path(name: &str) -> bool {
    let is_named_as_file = is_named_parquet(name) || has_another_format(Path::new(name));
    name.contains(std::path::is_separator) || is_named_as_file
}

/// Whether a name is that of a local file or folder that does not exist.
fn is_missing(name: &str) -> bool {
    let path = match name.contains("://") {
        true => local_path(name),
        false => Some(PathBuf::from(name)),
    };
    path.is_some_and(|path| path.try_exists().is_ok_and(|exists| !exists))
}

/// The error of a statement that reads these tables: if the missing one looks like a file, that there is no such file.
pub(crate) fn of_missing_file(tables: &[TableReference], error: DataFusionError) -> DataFusionError {
    let said = error.to_string();
    let is_meant =
        |name: &&str| said.contains(&format!("{name}' not found")) && is_like_path(name) && is_missing(name);
    match tables.iter().map(|table| table.table()).find(is_meant) {
        Some(name) => {
            DataFusionError::Plan(format!("{name}: there is no such file, nor a table of this name"))
        }
        None => error,
    }
}

async fn found(name: &str, state: SessionState, use_of: Use) -> Result<Lookup> {
    let Some(format) = state.get_file_format_factory("parquet") else {
        return Ok(Lookup::Other(name.to_owned()));
    };
    let format = format.create(&state, &HashMap::new())?;
    let session: Box<dyn Session> = Box::new(state);
    if use_of == Use::Sent && !name.contains("://") {
        let found = match url_of_files(Path::new(name)) {
            Some((url, skipped_dirs)) => in_store(&url, &*session, format, use_of, skipped_dirs).await?,
            None => Lookup::Other(exact_name(name)),
        };
        // DataFusion takes no pattern in a URL.
        return Ok(match found {
            Lookup::Other(_) => Lookup::Other(exact_name(name)),
            found => found,
        });
    }
    match (name.split_once("://"), local_path(name)) {
        (None, _) => on_disk(name, PathBuf::from(name), &*session, format, use_of).await,
        (Some(("file", _)), Some(path)) if use_of != Use::Sent => {
            on_disk(name, path, &*session, format, use_of).await
        }
        (Some(("file", _)), None) => Ok(Lookup::Other(name.to_owned())),
        (Some(_), _) => in_store(name, &*session, format, use_of, 0).await,
    }
}

/// The local path of a URL.
fn local_path(url: &str) -> Option<PathBuf> {
    ListingTableUrl::parse(url).ok()?.get_url().to_file_path().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::CommandLine;
    use clap::Parser;

    fn session() -> SessionContext {
        let ctx = with_folder_tables(SessionContext::new());
        marquetry_datafusion::register(&ctx).unwrap();
        ctx
    }

    async fn error(ctx: &SessionContext, sql: &str) -> String {
        let args = CommandLine::parse_from(["marquetry-sql"]);
        crate::script::run(ctx, sql, &args).await.expect_err("no file").to_string()
    }

    #[tokio::test]
    async fn names_of_no_tables_are_left_to_others() {
        let ctx = session();
        for name in ["wines", "no-such.parquet", "/no-such/a.csv"] {
            assert!(matches!(folder_table(&ctx, name).await.unwrap(), Lookup::Other(_)), "{name}");
        }
        let src = concat!("file://", env!("CARGO_MANIFEST_DIR"), "/src/");
        for name in ["no-such-*.parquet", "src", "src/*.rs", src] {
            assert!(matches!(folder_table(&ctx, name).await.unwrap(), Lookup::Nothing(_)), "{name}");
        }
        let unknown = folder_table(&ctx, "s3://bucket/*.parquet").await.err().unwrap().to_string();
        assert!(unknown.contains("No suitable object store"), "{unknown}");
        for name in ["no-such.parquet", "/no-such/a.csv", "no-such.JSON", "file:///no-such/a.parquet"] {
            let error = error(&ctx, &format!("select * from '{name}'")).await;
            assert!(error.contains(&format!("{name}: there is no such file")), "{error}");
        }
        let error = error(&ctx, "select * from wines").await;
        assert!(error.contains("table 'datafusion.public.wines' not found"), "{error}");
        // A table may have the name of a folder or of a pattern.
        for name in ["src", "a[1]", "x.csv", "x.parquet"] {
            let made = ctx.sql(&format!("create table \"{name}\" as select 1 as i")).await;
            made.unwrap().collect().await.unwrap();
        }
    }
}
