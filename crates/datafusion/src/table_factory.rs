//! Tables that statements declare.
//!
//! QUIRK: DataFusion 55 takes `PRIMARY KEY` and `UNIQUE` for facts, and leaves out what makes rows distinct. Nothing holds files to them.

use datafusion::catalog::{Session, TableProvider, TableProviderFactory};
use datafusion::common::Constraints;
use datafusion::datasource::listing::ListingTable;
use datafusion::error::Result;
use datafusion::logical_expr::CreateExternalTable;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::collections::HashMap;
use std::sync::Arc;

/// Has the planner be told no constraints of the tables that `CREATE EXTERNAL TABLE` makes of files: `PRIMARY KEY` and `UNIQUE` are
/// read, and not relied on. [`register`](crate::register) does that with all formats of a session.
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
        self.made_by.create(state, statement).map(|made| made.map(unconstrained)).boxed()
    }
}

fn unconstrained(table: Arc<dyn TableProvider>) -> Arc<dyn TableProvider> {
    match table.downcast_ref::<ListingTable>() {
        Some(listing) => Arc::new(listing.clone().with_constraints(Constraints::default())),
        None => table,
    }
}
