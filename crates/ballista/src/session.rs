//! Session contexts of the scheduler, executors and clients.

use crate::codecs::{logical_codec, physical_codec};
use crate::describe::DescribedTables;
use crate::empty_relations::EmptyRelations;
use crate::refused_settings::{self, RefusedSettings};
use crate::single_task_joins::SingleTaskJoins;
use ballista_core::extension::{
    SessionConfigExt, SessionStateExt, ballista_aggregate_functions, ballista_scalar_functions,
    ballista_window_functions,
};
use ballista_core::optimizer::with_ballista_optimizer_rules;
use datafusion::error::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::prelude::{SessionConfig, SessionContext};
use marquetry_datafusion::{SerialisableTables, without_constraints};
use marquetry_sql::{Stores, with_right_answers, with_sent_folder_tables};
use std::path::Path;
use std::sync::Arc;

/// The largest message, in bytes: a plan names all of its files.
pub const MESSAGE_SIZE: u32 = 256 << 20;

/// The settings of a session in any part of a cluster: Ballista's, and our codecs.
///
/// `datafusion.execution.parquet.pushdown_filters` is on, as [`marquetry_datafusion::register`] sets it. So is
/// `datafusion.optimizer.prefer_hash_join`, which Ballista has off: planners of these versions move the `LIMIT` of an
/// `ORDER BY` below a merge join that leaves rows out (`NOT IN` of columns that are not null), and rows are missing
/// then. The other settings that a session needs for right answers are those of one process: [`with_right_answers`].
///
/// `ballista.planner.adaptive.enabled` is off, and refused: where a window function is computed over a stage without
/// rows, a plan that is planned again after each stage gets one stage more each time, for ever.
pub fn config() -> SessionConfig {
    with_right_answers(SessionConfig::new_with_ballista())
        .with_ballista_logical_extension_codec(logical_codec())
        .with_ballista_physical_extension_codec(physical_codec())
        .with_ballista_grpc_client_max_message_size(MESSAGE_SIZE as usize)
        .set_bool("datafusion.execution.parquet.pushdown_filters", true)
        .set_bool("datafusion.optimizer.prefer_hash_join", true)
        .set_bool("ballista.planner.adaptive.enabled", false)
}

/// The object stores are [`Stores`]. What does not fit in memory goes to `spill_folder`, or to the system's folder of
/// temporary files.
pub fn runtime(spill_folder: Option<&Path>) -> Result<Arc<RuntimeEnv>> {
    // Files that are added during a session are seen.
    let builder = RuntimeEnvBuilder::new()
        .with_object_store_registry(Arc::new(Stores::default()))
        .with_object_list_cache_limit(0);
    let builder = match spill_folder {
        Some(folder) => builder.with_temp_file_path(folder),
        None => builder,
    };
    Ok(Arc::new(builder.build()?))
}

/// Creates a session of the scheduler, with these settings. Fails if one of them is refused.
pub fn state(config: SessionConfig) -> Result<SessionState> {
    refused_settings::check(config.options())?;
    let pushdown = config.options().execution.parquet.pushdown_filters;
    let builder = SessionStateBuilder::new().with_config(config).with_runtime_env(runtime(None)?);
    let mut builder = marquetry_datafusion::register_builder(builder).with_default_features();
    builder.physical_optimizers().get_or_insert_default().rules.push(Arc::new(SingleTaskJoins));
    // Ballista's functions and Marquetry's.
    builder.scalar_functions().get_or_insert_default().extend(ballista_scalar_functions());
    let rules = builder.optimizer().get_or_insert_default().rules.clone();
    let mut state = builder
        .with_optimizer_rules(with_ballista_optimizer_rules(&rules))
        .with_aggregate_functions(ballista_aggregate_functions())
        .with_window_functions(ballista_window_functions())
        .build();
    without_constraints(state.table_factories_mut());
    // The client's setting takes precedence over Marquetry's.
    state.config_mut().options_mut().execution.parquet.pushdown_filters = pushdown;
    Ok(state)
}

/// Creates a session whose queries a cluster answers: `address` is the host and port of its scheduler.
///
/// The session reads the schemas of files, scheduler and executors read their rows: all have to see them under the same
/// URLs. Files are tables by their names. Nothing is sent before the first query.
pub fn client(address: &str) -> Result<SessionContext> {
    let own = state(config())?;
    let functions = own.scalar_functions().clone();
    let mut state = own.upgrade_for_ballista(format!("http://{address}"))?;
    // The upgrade dropped Marquetry's functions.
    functions.into_values().try_for_each(|function| state.register_udf(function).map(drop))?;
    let ctx = with_sent_folder_tables(SessionContext::new_with_state(state));
    ctx.add_analyzer_rule(Arc::new(RefusedSettings));
    ctx.add_optimizer_rule(Arc::new(DescribedTables));
    ctx.add_optimizer_rule(Arc::new(EmptyRelations));
    // After all other rules, which look into the tables that this one replaces.
    ctx.add_analyzer_rule(Arc::new(SerialisableTables));
    Ok(ctx)
}
