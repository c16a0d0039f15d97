//! The table factory: makes tables of `CREATE EXTERNAL TABLE`.
//!
//! QUIRK: DataFusion 55 trusts `PRIMARY KEY` and `UNIQUE`, and drops what makes rows distinct. Nothing enforces them in
//! files. For `NOT NULL` and partition columns see `DeclaredTable`.

use crate::declared_table::DeclaredTable;
use datafusion::catalog::{Session, TableProvider, TableProviderFactory};
use datafusion::common::Constraints;
use datafusion::datasource::listing::ListingTable;
use datafusion::error::Result;
use datafusion::logical_expr::CreateExternalTable;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::collections::HashMap;
use std::sync::Arc;

/// Hides the constraints of tables that `CREATE EXTERNAL TABLE` makes of files from the planner: `PRIMARY KEY` and
/// `UNIQUE` are parsed, but not relied on, and `NOT NULL` is only enforced for inserted rows.
/// [`register`](crate::register) does that for all formats of a session.
pub fn without_constraints(factories: &mut HashMap<String, Arc<dyn TableProviderFactory>>) {
    for factory in factories.values_mut() {
        *factory = Arc::new(TableFactory { made_by: factory.clone() });
    }
}

#[derive(Debug)]
struct TableFactory {
    made_by: Arc<dyn TableProviderFactory>,
}

impl TableProviderFactory for TableFactory {
    // An `async fn` would hold the statement, see `DatasetTable`.
    fn create<'factory: 'made, 'state: 'made, 'statement: 'made, 'made>(
        &'factory self,
        state: &'state dyn Session,
        statement: &'statement CreateExternalTable,
    ) -> BoxFuture<'made, Result<Arc<dyn TableProvider>>> {
        let (columns, keys) = (statement.schema.fields().iter(), &statement.table_partition_cols);
        let required = columns.filter(|column| !column.is_nullable() && keys.contains(column.name()));
        let required = required.map(|column| column.name().clone()).collect();
        let made = self.made_by.create(state, statement);
        made.map(move |made| unconstrained(made?, required, state)).boxed()
    }
}

fn unconstrained(
    table: Arc<dyn TableProvider>,
    required_keys: Vec<String>,
    session: &dyn Session,
) -> Result<Arc<dyn TableProvider>> {
    let Some(listing) = table.downcast_ref::<ListingTable>() else { return Ok(table) };
    let listing = listing.clone().with_constraints(Constraints::default());
    let caches = &session.runtime_env().cache_manager;
    Ok(Arc::new(DeclaredTable::try_new(&listing, required_keys, caches)?))
}
