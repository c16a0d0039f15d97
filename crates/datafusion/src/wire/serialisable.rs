//! Prepares logical plans for serialization.

use super::table::MarquetryTable;
use crate::declared_table::DeclaredTable;
use crate::factory::MarquetryFormatFactory;
use crate::format::MarquetryFormat;
use crate::subquery_columns::has_subquery;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::datasource::file_format::{file_type_to_format, format_as_file_type};
use datafusion::datasource::listing::ListingTable;
use datafusion::datasource::{DefaultTableSource, provider_as_source};
use datafusion::error::Result;
use datafusion::logical_expr::{LogicalPlan, TableSource};
use datafusion::optimizer::AnalyzerRule;
use std::sync::Arc;

/// Replaces tables and formats by those that [`MarquetryLogicalCodec`](crate::MarquetryLogicalCodec) serializes.
///
/// Listing tables become [`MarquetryTable`]s. The options of a `COPY TO` move into its format, since DataFusion's
/// message of the statement leaves them out.
pub fn serialisable(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_down_with_subqueries(|mut plan| {
        let is_changed = match &mut plan {
            LogicalPlan::TableScan(scan) => {
                let is_replaced = replace(&mut scan.source, DeclaredTable::listed)?;
                if is_replaced {
                    // A filter node evaluates it, too.
                    scan.filters.retain(|filter| !has_subquery(filter));
                }
                is_replaced
            }
            LogicalPlan::Dml(statement) => {
                replace(&mut statement.target, |table| Ok(table.declared().clone()))?
            }
            LogicalPlan::Copy(copy) => {
                let format = file_type_to_format(&copy.file_type)?;
                let factory = format.downcast_ref::<MarquetryFormatFactory>();
                let factory = factory.filter(|_| !copy.options.is_empty());
                if let Some(factory) = factory {
                    let options = copy.options.iter().map(|(key, value)| (key.clone(), value.clone()));
                    let factory = factory.clone().with_options(options);
                    copy.file_type = format_as_file_type(Arc::new(factory));
                    copy.options.clear();
                }
                factory.is_some()
            }
            _ => false,
        };
        Ok(if is_changed { Transformed::yes(plan) } else { Transformed::no(plan) })
    })
    .data()
}

/// Replaces the table of a node. A declared table of another format than ours becomes what `meant` returns: it is read
/// otherwise than it is written.
fn replace(
    source: &mut Arc<dyn TableSource>,
    meant: impl FnOnce(&DeclaredTable) -> Result<ListingTable>,
) -> Result<bool> {
    let Some(default) = source.downcast_ref::<DefaultTableSource>() else { return Ok(false) };
    let table = &default.table_provider;
    let declared = table.downcast_ref::<DeclaredTable>();
    let Some(listing) = declared.map(DeclaredTable::declared).or_else(|| table.downcast_ref()) else {
        return Ok(false);
    };
    let is_ours = listing.options().format.downcast_ref::<MarquetryFormat>().is_some();
    *source = match (is_ours, declared) {
        (true, Some(declared)) => provider_as_source(Arc::new(MarquetryTable::of_declared(declared.clone()))),
        (true, None) => provider_as_source(Arc::new(MarquetryTable::new(listing.clone()))),
        (false, Some(declared)) => provider_as_source(Arc::new(meant(declared)?)),
        (false, None) => return Ok(false),
    };
    Ok(true)
}

/// [`serialisable`] as a rule of a session whose plans are all sent to another process:
/// `ctx.add_analyzer_rule(Arc::new(SerialisableTables))`.
#[derive(Debug, Default, Clone, Copy)]
pub struct SerialisableTables;

impl AnalyzerRule for SerialisableTables {
    fn analyze(&self, plan: LogicalPlan, _config: &ConfigOptions) -> Result<LogicalPlan> {
        serialisable(plan)
    }

    fn name(&self) -> &str {
        "serialisable_tables"
    }
}
