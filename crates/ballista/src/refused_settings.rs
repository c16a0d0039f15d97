//! Refuses settings with which queries never end, and queries that have no tasks.

use ballista_core::config::{BALLISTA_ADAPTIVE_PLANNER_ENABLED, BallistaConfig};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{config_err, not_impl_err};
use datafusion::error::Result;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::AnalyzerRule;

/// Refuses these in a client, where the user sees the error as it is.
#[derive(Debug)]
pub(crate) struct RefusedSettings;

impl AnalyzerRule for RefusedSettings {
    fn analyze(&self, plan: LogicalPlan, config: &ConfigOptions) -> Result<LogicalPlan> {
        check(config)?;
        match plan.exists(|node| Ok(matches!(node, LogicalPlan::RecursiveQuery(_))))? {
            true => not_impl_err!("clusters do not support WITH RECURSIVE; run it without --cluster"),
            false => Ok(plan),
        }
    }

    fn name(&self) -> &str {
        "settings of the session"
    }
}

/// Fails if such a setting is on.
pub(crate) fn check(config: &ConfigOptions) -> Result<()> {
    let ballista = config.extensions.get::<BallistaConfig>();
    match ballista.is_some_and(BallistaConfig::adaptive_query_planner_enabled) {
        true => config_err!(
            "{BALLISTA_ADAPTIVE_PLANNER_ENABLED} = true is refused: with it Ballista 55 plans window functions over no rows for ever"
        ),
        false => Ok(()),
    }
}
