//! A table of files that can be serialized.

use crate::declared_table::DeclaredTable;
use crate::subquery_columns::has_subquery;
use arrow_schema::SchemaRef;
use datafusion::catalog::{ScanArgs, ScanResult, Session, TableProvider};
use datafusion::common::Constraints;
use datafusion::datasource::TableType;
use datafusion::datasource::listing::ListingTable;
use datafusion::error::Result;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use futures::future::BoxFuture;
use std::sync::Arc;

/// A [`ListingTable`] of Marquetry's format.
///
/// It behaves like one. DataFusion's messages serialize only listing tables of its own formats, and leave other types
/// of tables to a codec: so it has to be another type.
#[derive(Debug, Clone)]
pub struct MarquetryTable {
    listing: ListingTable,
    /// The declared table, which is read and written instead.
    declared: Option<DeclaredTable>,
    /// The table that is read instead.
    read: Option<ListingTable>,
}

impl MarquetryTable {
    pub(super) fn new(listing: ListingTable) -> Self {
        MarquetryTable { listing, declared: None, read: None }
    }

    /// The table that a statement declares.
    pub(super) fn of_declared(table: DeclaredTable) -> Self {
        MarquetryTable { listing: table.declared().clone(), declared: Some(table), read: None }
    }

    /// Reads `read` instead; rows are written as before.
    pub(super) fn read_as(self, read: ListingTable) -> Self {
        MarquetryTable { read: Some(read), ..self }
    }

    /// The table that is read, as a trait object. To call a method of [`ListingTable`] itself, and to hold it in a
    /// future of ours, the compiler has to prove that it is `Send` and `Sync`: it goes through `Expr`, and all of SQL's
    /// syntax tree, for five seconds each time.
    fn provider(&self) -> &dyn TableProvider {
        match (&self.declared, &self.read) {
            (Some(declared), _) => declared,
            (None, Some(read)) => read,
            (None, None) => &self.listing,
        }
    }

    pub(super) fn declared(&self) -> Option<&DeclaredTable> {
        self.declared.as_ref()
    }

    /// Whether the files that are read are those that [`listing`](Self::listing) finds.
    pub(crate) fn lists_by_itself(&self) -> bool {
        self.declared.is_none()
    }

    /// The listing table.
    pub fn listing(&self) -> &ListingTable {
        &self.listing
    }
}

// Futures of the listing table are passed on: an `async fn` would wrap them in others, which hold `self` and the filters.
impl TableProvider for MarquetryTable {
    fn schema(&self) -> SchemaRef {
        self.provider().schema()
    }

    fn constraints(&self) -> Option<&Constraints> {
        self.listing.constraints()
    }

    fn table_type(&self) -> TableType {
        self.listing.table_type()
    }

    fn get_table_definition(&self) -> Option<&str> {
        self.listing.get_table_definition()
    }

    fn get_column_default(&self, column: &str) -> Option<&Expr> {
        self.listing.get_column_default(column)
    }

    fn scan<'table: 'scan, 'state: 'scan, 'columns: 'scan, 'filters: 'scan, 'scan>(
        &'table self,
        state: &'state dyn Session,
        projection: Option<&'columns Vec<usize>>,
        filters: &'filters [Expr],
        limit: Option<usize>,
    ) -> BoxFuture<'scan, Result<Arc<dyn ExecutionPlan>>> {
        self.provider().scan(state, projection, filters, limit)
    }

    fn scan_with_args<'args: 'scan, 'table: 'scan, 'state: 'scan, 'scan>(
        &'table self,
        state: &'state dyn Session,
        args: ScanArgs<'args>,
    ) -> BoxFuture<'scan, Result<ScanResult>> {
        self.provider().scan_with_args(state, args)
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let mut supported = self.listing.supports_filters_pushdown(filters)?;
        for (filter, supported) in filters.iter().zip(&mut supported) {
            if has_subquery(filter) {
                *supported = TableProviderFilterPushDown::Unsupported;
            }
        }
        Ok(supported)
    }

    fn insert_into<'table: 'plan, 'state: 'plan, 'plan>(
        &'table self,
        state: &'state dyn Session,
        input: Arc<dyn ExecutionPlan>,
        insert_op: InsertOp,
    ) -> BoxFuture<'plan, Result<Arc<dyn ExecutionPlan>>> {
        let written: &dyn TableProvider = match &self.declared {
            Some(declared) => declared,
            None => &self.listing,
        };
        written.insert_into(state, input, insert_op)
    }
}
