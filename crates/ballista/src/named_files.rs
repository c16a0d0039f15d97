//! Tables by file name: `FROM 'file.parquet'`.
//!
//! QUIRK: where a store cannot list a location, for whatever reason, DataFusion says that there is no such table.

use async_trait::async_trait;
use datafusion::catalog::{DynamicFileCatalog, TableProvider, UrlTableFactory};
use datafusion::datasource::dynamic_file::DynamicListTableFactory;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::error::Result;
use datafusion::execution::SessionState;
use datafusion::prelude::SessionContext;
use marquetry_datafusion::FilesInStore;
use std::sync::Arc;

/// The session with files as tables, as [`SessionContext::enable_url_table`] has them, and with the errors of their stores.
pub(crate) fn with_named_files(ctx: SessionContext) -> SessionContext {
    let files = Arc::new(NamedFiles::default());
    let catalogs = Arc::new(DynamicFileCatalog::new(ctx.state().catalog_list().clone(), files.clone()));
    let session_id = ctx.session_id();
    let builder = ctx.into_state_builder().with_session_id(session_id);
    let ctx: SessionContext = builder.with_catalog_list(catalogs).build().into();
    files.tables.session_store().with_state(ctx.state_weak_ref());
    ctx
}

#[derive(Debug, Default)]
struct NamedFiles {
    tables: DynamicListTableFactory,
}

#[async_trait]
impl UrlTableFactory for NamedFiles {
    async fn try_new(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let table = self.tables.try_new(name).await?;
        let session = self.tables.session_store().get_session().upgrade();
        let state =
            session.and_then(|session| session.read().as_any().downcast_ref::<SessionState>().cloned());
        // No table that is about to be created has such a name.
        let is_path = name.contains(std::path::is_separator);
        if let (None, true, Ok(url), Some(state)) = (&table, is_path, ListingTableUrl::parse(name), state) {
            FilesInStore::list(url.as_str(), state.runtime_env()).await?;
        }
        Ok(table)
    }
}
