//! Partition values that have several spellings: the folders `month=05` and `month=5` are one month.
//!
//! QUIRK: for a filter such as `month = 5` DataFusion 55 lists the one folder that is spelled as it prints the value, `month=5`, and no other:
//! the rows of `month=05` were missing. It does so for `=` alone.

use crate::column_kind::value_type;
#[cfg(feature = "proto")]
use crate::wire::MarquetryTable;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::datasource::DefaultTableSource;
use datafusion::datasource::listing::ListingTable;
use datafusion::error::Result;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator, TableSource};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

/// Rewrites `k = 5` to `k IN (5)` for keys that are not text, so that scans list all folders. It runs after the rules that simplify that again.
#[derive(Debug)]
pub(crate) struct PartitionSpellings;

impl OptimizerRule for PartitionSpellings {
    fn name(&self) -> &str {
        "partition spellings"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::TableScan(mut scan) = plan else { return Ok(Transformed::no(plan)) };
        let Some(listing) = listing(scan.source.as_ref()) else {
            return Ok(Transformed::no(LogicalPlan::TableScan(scan)));
        };
        let keys = &listing.options().table_partition_cols;
        let is_key = |expr: &Expr| match expr {
            Expr::Column(column) => {
                keys.iter().any(|(key, of)| *key == column.name && !value_type(of).is_string())
            }
            _ => false,
        };
        let among = |expr: Expr| match expr {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) if is_key(&left) => {
                Ok(Transformed::yes(Expr::InList(InList::new(left, vec![*right], false))))
            }
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) if is_key(&right) => {
                Ok(Transformed::yes(Expr::InList(InList::new(right, vec![*left], false))))
            }
            other => Ok(Transformed::no(other)),
        };
        let mut is_changed = false;
        let filters = std::mem::take(&mut scan.filters).into_iter().map(|filter| {
            let filter = filter.transform_up(among)?;
            is_changed |= filter.transformed;
            Ok(filter.data)
        });
        scan.filters = filters.collect::<Result<Vec<_>>>()?;
        let plan = LogicalPlan::TableScan(scan);
        Ok(if is_changed { Transformed::yes(plan) } else { Transformed::no(plan) })
    }
}

/// The listing table that is scanned, if it lists files by itself: a declared table does not.
fn listing(source: &dyn TableSource) -> Option<&ListingTable> {
    let table = &source.downcast_ref::<DefaultTableSource>()?.table_provider;
    #[cfg(feature = "proto")]
    if let Some(sent) = table.downcast_ref::<MarquetryTable>() {
        return sent.lists_by_itself().then(|| sent.listing());
    }
    table.downcast_ref::<ListingTable>()
}
