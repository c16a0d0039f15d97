//! Registers Marquetry with a session: its format, functions and optimizer rules.

use crate::aggregate_bounds::AggregateBounds;
use crate::factory::MarquetryFormatFactory;
use crate::grouping_sets::GroupingSets;
use crate::guarded_cases::{self, GuardedCases};
use crate::lossy_conditions::LossyConditions;
use crate::null_aware_in::{self, NullAwareIn};
use crate::partition_spellings::PartitionSpellings;
use crate::preserve_order::PreserveOrder;
use crate::subquery_columns::SubqueryColumns;
use crate::table_factory::without_constraints;
use crate::time_units::{time_planner, time_units};
use crate::timestamp_comparisons::{self, TimestampComparisons};
use crate::union_types::{self, UnionTypes};
use crate::unique_names::unique_names;
use crate::unused_order::{self, UnusedOrder};
use crate::variant_functions::variant_functions;
use crate::variant_syntax::{casts, planner};
use datafusion::catalog::TableProviderFactory;
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::datasource::provider::DefaultTableFactory;
use datafusion::error::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::context::SessionContext;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::optimizer::OptimizerRule;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use std::sync::Arc;

/// Registers Marquetry with a session, so that it reads and writes Parquet: tables that are `STORED AS PARQUET` or
/// `STORED AS MARQUETRY`, `COPY .. TO`, `INSERT INTO`, and, where [URL tables](SessionContext::enable_url_table) are
/// enabled, `SELECT .. FROM 'file.parquet'`.
///
/// It also registers the functions of VARIANT, and paths into it (`payload:user.id::bigint`): see the
/// [crate](crate#variant).
///
/// It changes how some queries are planned:
/// - Times of day of different units can be compared: a column of microseconds with `TIME '08:30:00'`, which is in
///   nanoseconds.
/// - Timestamps are compared with literals of a finer unit without truncating these: milliseconds with `TIMESTAMP
///   '1970-01-01 00:00:00.0005'`. `CAST(t AS DATE)` compared with a date becomes a range of timestamps.
/// - Lossy casts are compared as cast: `CAST(d AS INT) = 2` of decimals, and integers that `TRY_CAST` makes NULL.
///   DataFusion compares the column itself.
/// - Sorting and grouping work under conditions on lossy expressions: `CAST(f AS INT) = 1`, `i / 2 = 3`. DataFusion
///   takes such a condition to leave one value of the column; here the plan has it negated twice.
/// - A union has the extension types on which its inputs agree, such as UUID or a GEOMETRY with its reference system,
///   and no others.
/// - `x NOT IN (SELECT ..)` is NULL where SQL says so, also among other conditions: DataFusion makes it true there.
/// - `CASE` and `COALESCE` evaluate a part only for the rows that reach it: `CASE WHEN i = 0 THEN false ELSE 10 / i > 2
///   END` never divides by zero. DataFusion makes AND and OR of it, and evaluates both sides.
/// - `ON` of an outer join accepts `x IN (SELECT ..)` and `EXISTS (SELECT ..)` on the side whose rows are all
///   preserved, and so do the columns of `SELECT` and the arguments of aggregates.
/// - `GROUPING SETS`, `ROLLUP` and `CUBE` give each group once, and `ORDER BY` sorts them, whatever is known of their
///   input: DataFusion takes a column that `WHERE a = 1` makes constant for constant even where a grouping set leaves
///   it out.
/// - Filter pushdown evaluates a condition on the columns that it means, also where both sides of a join have columns
///   of one name.
/// - Partition values match however they are spelled: `month = 5` also finds the rows of `month=05`. In tables that
///   `CREATE EXTERNAL TABLE` makes, a partition column is null in `month=__HIVE_DEFAULT_PARTITION__`.
/// - Constraints of `CREATE EXTERNAL TABLE`, which nobody checks, are not relied on: despite `PRIMARY KEY` and
///   `UNIQUE`, `SELECT DISTINCT` removes duplicates, and `GROUP BY` has to name all columns that are not aggregated.
///   Despite `NOT NULL`, nulls in files are found, also in files that were added after the table was made.
/// - `min` and `max` of several columns have no dynamic filter: DataFusion's loses the least values of some. Those of
///   one column have one.
/// - Scans declare no order that a plan cannot use, so that `sorting_columns` are not checked there. The partitions of
///   scans that declare one, of any format, do not take files from each other.
///
/// It also switches on `datafusion.execution.parquet.pushdown_filters`, so that the reader evaluates conditions. `SET`
/// it to false for a session in which they only prune.
///
/// Tables that exist already keep their reader. Statements that were prepared before have to be prepared again. Fails
/// if the session rejects a format of these names.
pub fn register(ctx: &SessionContext) -> Result<()> {
    let state = ctx.state_ref();
    let mut state = state.write();
    for factory in factories() {
        state.register_file_format(factory, true)?;
    }
    state.table_factories_mut().extend(table_factories());
    without_constraints(state.table_factories_mut());
    for function in variant_functions() {
        state.register_udf(function)?;
    }
    for planner in [planner(), time_planner()] {
        state.register_expr_planner(planner)?;
    }
    for rewrite in [casts(), time_units()] {
        state.register_function_rewrite(rewrite)?;
    }
    if !state.analyzer().rules.iter().any(|rule| rule.name() == union_types::NAME) {
        state.add_analyzer_rule(Arc::new(UnionTypes));
    }
    if !state.analyzer().rules.iter().any(|rule| rule.name() == timestamp_comparisons::NAME) {
        state.add_analyzer_rule(Arc::new(TimestampComparisons));
    }
    if !state.analyzer().rules.iter().any(|rule| rule.name() == null_aware_in::NAME) {
        state.add_analyzer_rule(Arc::new(NullAwareIn));
    }
    if !state.analyzer().rules.iter().any(|rule| rule.name() == guarded_cases::NAME) {
        state.add_analyzer_rule(Arc::new(GuardedCases));
    }
    if !state.physical_optimizers().iter().any(|rule| rule.name() == unused_order::NAME) {
        *state = with_rules(state.clone())?;
    }
    state.config_mut().options_mut().execution.parquet.pushdown_filters = true;
    Ok(())
}

/// [`register`] for a session that is not built yet. Call it before
/// [`with_default_features`](SessionStateBuilder::with_default_features), which keeps what is registered, except for
/// the table factories of other formats, and of Parquet, too, with DataFusion's feature `parquet`: call
/// [`without_constraints`] afterwards so that their keys are not relied on either.
///
/// ```
/// use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
/// use datafusion::prelude::SessionContext;
/// let state = marquetry_datafusion::register_builder(SessionStateBuilder::new()).with_default_features().build();
/// let ctx = SessionContext::new_with_state(state);
/// # drop(ctx);
/// ```
#[must_use]
pub fn register_builder(mut builder: SessionStateBuilder) -> SessionStateBuilder {
    let mut formats = factories();
    // The first format of a name is the one that is used.
    formats.extend(builder.file_formats().take().unwrap_or_default());
    let mut config = builder.config().take().unwrap_or_default();
    config.options_mut().execution.parquet.pushdown_filters = true;
    builder.scalar_functions().get_or_insert_default().extend(variant_functions());
    builder.expr_planners().get_or_insert_default().extend([planner(), time_planner()]);
    let analyzer = builder.analyzer().get_or_insert_default();
    [casts(), time_units()].into_iter().for_each(|rewrite| analyzer.add_function_rewrite(rewrite));
    // After the rules that bring the inputs of a union, and both sides of a comparison, to the same types.
    analyzer.rules.push(Arc::new(UnionTypes));
    analyzer.rules.push(Arc::new(TimestampComparisons));
    analyzer.rules.push(Arc::new(NullAwareIn));
    analyzer.rules.push(Arc::new(GuardedCases));
    with_conditions(&mut builder.optimizer().get_or_insert_default().rules);
    let rules = &mut builder.physical_optimizers().get_or_insert_default().rules;
    unique_names(rules);
    rules.splice(0..0, first_rules());
    rules.extend(last_rules());
    builder = builder.with_file_formats(formats).with_config(config);
    let tables = builder.table_factories().get_or_insert_default();
    tables.extend(table_factories());
    without_constraints(tables);
    builder
}

/// Rebuilds the state with our optimizer rules, which only a new state takes.
fn with_rules(state: SessionState) -> Result<SessionState> {
    let mut rules = state.physical_optimizers().to_vec();
    unique_names(&mut rules);
    rules.splice(0..0, first_rules());
    rules.extend(last_rules());
    let builder = SessionStateBuilder::new_from_existing(state.clone());
    let builder = builder.with_session_id(state.session_id().to_owned()).with_physical_optimizer_rules(rules);
    let mut rules = state.optimizers().to_vec();
    with_conditions(&mut rules);
    let builder = builder.with_optimizer_rules(rules);
    let mut made = builder.build();
    // The builder registers functions under all of their aliases again, over another function that had one of these:
    // restore that.
    for (name, function) in state.scalar_functions() {
        if made.scalar_functions().get(name) != Some(function) {
            made.register_udf(function.clone())?;
        }
    }
    for (name, function) in state.aggregate_functions() {
        if made.aggregate_functions().get(name) != Some(function) {
            made.register_udaf(function.clone())?;
        }
    }
    for (name, function) in state.window_functions() {
        if made.window_functions().get(name) != Some(function) {
            made.register_udwf(function.clone())?;
        }
    }
    let makes_catalog = state.config().options().catalog.create_default_catalog_and_schema;
    made.config_mut().options_mut().catalog.create_default_catalog_and_schema = makes_catalog;
    Ok(made)
}

/// Rules that run before all others.
fn first_rules() -> [Arc<dyn PhysicalOptimizerRule + Send + Sync>; 2] {
    [Arc::new(UnusedOrder), Arc::new(GroupingSets)]
}

/// Rules that run after all others.
fn last_rules() -> [Arc<dyn PhysicalOptimizerRule + Send + Sync>; 2] {
    [Arc::new(PreserveOrder), Arc::new(AggregateBounds)]
}

/// Adds the rules that correct conditions: before they are pushed down, and where they end up in a plan.
fn with_conditions(rules: &mut Vec<Arc<dyn OptimizerRule + Send + Sync>>) {
    rules.insert(0, Arc::new(SubqueryColumns::of_correlated()));
    let last: [Arc<dyn OptimizerRule + Send + Sync>; 4] = [
        Arc::new(SubqueryColumns::of_all()),
        Arc::new(TimestampComparisons),
        Arc::new(LossyConditions),
        Arc::new(PartitionSpellings),
    ];
    rules.extend(last);
}

fn factories() -> Vec<Arc<dyn FileFormatFactory>> {
    NAMES
        .iter()
        .map(|name| Arc::new(MarquetryFormatFactory::new(*name)) as Arc<dyn FileFormatFactory>)
        .collect()
}

fn table_factories() -> impl Iterator<Item = (String, Arc<dyn TableProviderFactory>)> {
    let factory = || Arc::new(DefaultTableFactory::new()) as Arc<dyn TableProviderFactory>;
    NAMES.iter().map(move |name| (name.to_uppercase(), factory()))
}

/// Names of the format in SQL, which are also extensions of files.
const NAMES: [&str; 2] = ["parquet", "marquetry"];
