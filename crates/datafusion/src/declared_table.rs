//! Tables whose statement declares columns NOT NULL.
//!
//! QUIRK: DataFusion 55 takes `NOT NULL` for a fact: `IS NULL` of such a column is no row, and `count` of it counts rows. Nothing holds
//! files to that. What is read may have nulls here, what is inserted may not.

use arrow_schema::{Field, Fields, Schema, SchemaRef};
use datafusion::catalog::{ScanArgs, ScanResult, Session, TableProvider};
use datafusion::datasource::TableType;
use datafusion::datasource::listing::{ListingTable, ListingTableConfig};
use datafusion::error::Result;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use futures::future::BoxFuture;
use std::sync::Arc;

/// A table that is written as it is declared, and read as one whose columns may all have nulls, but for the keys of its folders.
#[derive(Debug, Clone)]
pub(crate) struct DeclaredTable {
    declared: ListingTable,
    read: ListingTable,
}

impl DeclaredTable {
    /// `None` if no column is declared to have no nulls.
    pub(crate) fn try_new(declared: &ListingTable, session: &dyn Session) -> Result<Option<Self>> {
        let schema = declared.schema();
        let files = schema.fields().len() - declared.options().table_partition_cols.len();
        let (of_files, metadata) = (&schema.fields()[..files], schema.metadata().clone());
        if of_files.iter().all(|field| field.is_nullable()) {
            return Ok(None);
        }
        let nullable = of_files.iter().map(|field| Field::clone(field).with_nullable(true));
        let schema = Schema::new_with_metadata(nullable.collect::<Fields>(), metadata);
        let config = ListingTableConfig::new_with_multi_paths(declared.table_paths().clone())
            .with_listing_options(declared.options().clone())
            .with_schema(Arc::new(schema));
        let statistics = session.runtime_env().cache_manager.get_file_statistic_cache();
        let read = ListingTable::try_new(config)?.with_cache(statistics);
        Ok(Some(DeclaredTable { declared: declared.clone(), read }))
    }

    /// What rows are inserted into.
    #[cfg(feature = "proto")]
    pub(crate) fn declared(&self) -> &ListingTable {
        &self.declared
    }

    /// What is read.
    pub(crate) fn read(&self) -> &ListingTable {
        &self.read
    }
}

// Futures of listing tables are handed on, of whatever type they are, see `MarquetryTable`.
impl TableProvider for DeclaredTable {
    fn schema(&self) -> SchemaRef {
        self.read.schema()
    }

    fn table_type(&self) -> TableType {
        self.read.table_type()
    }

    fn get_table_definition(&self) -> Option<&str> {
        self.declared.get_table_definition()
    }

    fn get_column_default(&self, column: &str) -> Option<&Expr> {
        self.declared.get_column_default(column)
    }

    fn scan<'table: 'scan, 'state: 'scan, 'columns: 'scan, 'filters: 'scan, 'scan>(
        &'table self,
        state: &'state dyn Session,
        projection: Option<&'columns Vec<usize>>,
        filters: &'filters [Expr],
        limit: Option<usize>,
    ) -> BoxFuture<'scan, Result<Arc<dyn ExecutionPlan>>> {
        let read: &dyn TableProvider = &self.read;
        read.scan(state, projection, filters, limit)
    }

    fn scan_with_args<'args: 'scan, 'table: 'scan, 'state: 'scan, 'scan>(
        &'table self,
        state: &'state dyn Session,
        args: ScanArgs<'args>,
    ) -> BoxFuture<'scan, Result<ScanResult>> {
        let read: &dyn TableProvider = &self.read;
        read.scan_with_args(state, args)
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        self.read.supports_filters_pushdown(filters)
    }

    fn insert_into<'table: 'plan, 'state: 'plan, 'plan>(
        &'table self,
        state: &'state dyn Session,
        input: Arc<dyn ExecutionPlan>,
        insert_op: InsertOp,
    ) -> BoxFuture<'plan, Result<Arc<dyn ExecutionPlan>>> {
        let declared: &dyn TableProvider = &self.declared;
        declared.insert_into(state, input, insert_op)
    }
}
