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

/// From now on `ctx` reads and writes Parquet by Marquetry: tables that are `STORED AS PARQUET` or `STORED AS MARQUETRY`,
/// `COPY .. TO`, `INSERT INTO`, and, where [URL tables](SessionContext::enable_url_table) are enabled,
/// `SELECT .. FROM 'file.parquet'`.
///
/// It also brings the functions of VARIANT, and paths into it (`payload:user.id::bigint`): see the [crate](crate#variant).
///
/// Times of day of different units are compared: columns of microseconds with `TIME '08:30:00'`, which is of nanoseconds.
///
/// Timestamps are compared with literals of a finer unit as these are: milliseconds with `TIMESTAMP '1970-01-01 00:00:00.0005'`. Their
/// days, `CAST(t AS DATE)`, are ranges of timestamps where they are compared with a date.
///
/// Decimals are compared as what they are cast to, `CAST(d AS INT) = 2`, and so are integers that `TRY_CAST` makes NULL: DataFusion compares
/// the column itself.
///
/// Rows are in order, and in one group each, also where a condition is on a part of a column: `CAST(f AS INT) = 1`, `i / 2 = 3`. DataFusion
/// takes such a condition to leave one value of the column; here the plan has it negated twice.
///
/// A union has the extension types on which its parts agree, such as UUID or a GEOMETRY with its reference system, and no others.
///
/// `x NOT IN (SELECT ..)` is NULL where SQL has it so, also among other conditions: DataFusion has true there.
///
/// Parts of `CASE` and `COALESCE` are evaluated where they are reached: `CASE WHEN i = 0 THEN false ELSE 10 / i > 2 END` divides by no zero.
/// DataFusion makes AND and OR of it, and evaluates both sides.
///
/// `ON` of an outer join takes `x IN (SELECT ..)` and `EXISTS (SELECT ..)` of the side whose rows all stay, and so do columns of `SELECT` and
/// what is aggregated.
///
/// `GROUPING SETS`, `ROLLUP` and `CUBE` have each group once, and are sorted as `ORDER BY` says, whatever is known of their input: DataFusion takes
/// a column that `WHERE a = 1` makes constant for constant also where a set leaves it out.
///
/// Conditions that come down a plan are asked of the columns that they mean, also where both sides of a join have columns of one name.
///
/// Keys of folders are found however they are spelled: `month = 5` has the rows of `month=05`, too. Those of tables that
/// `CREATE EXTERNAL TABLE` makes are null in `month=__HIVE_DEFAULT_PARTITION__`.
///
/// What `CREATE EXTERNAL TABLE` says of rows, and nobody checks, is not relied on: with `PRIMARY KEY` and `UNIQUE` of columns, too,
/// `SELECT DISTINCT` has each row once, and `GROUP BY` names all columns that are not aggregated. With `NOT NULL`, nulls of files are found, and so
/// are those of files that came after a table was made of others.
///
/// `min` and `max` of several columns rule out nothing while a query runs: DataFusion loses the least values of some. Those of one column do.
///
/// Scans declare no order that a plan cannot make use of, so that what `sorting_columns` promise is not looked at there. The partitions of
/// those that declare one, of any format, do not take files from each other.
///
/// It also switches on `datafusion.execution.parquet.pushdown_filters`: conditions are asked while files are read. `SET` it to
/// false for a session in which they only rule out row groups.
///
/// Tables that were made before keep the reader that they have. Statements that were prepared before have to be prepared again. Fails if the session takes no format of these names.
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

/// [`register`] for a session that is still to be made. Call it before
/// [`with_default_features`](SessionStateBuilder::with_default_features), which keeps what is there, all but what makes tables of
/// other formats, and of Parquet, too, with DataFusion's feature `parquet`: [`without_constraints`] after that has their keys not relied on.
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
    // The first of a name is the one that is taken.
    formats.extend(builder.file_formats().take().unwrap_or_default());
    let mut config = builder.config().take().unwrap_or_default();
    config.options_mut().execution.parquet.pushdown_filters = true;
    builder.scalar_functions().get_or_insert_default().extend(variant_functions());
    builder.expr_planners().get_or_insert_default().extend([planner(), time_planner()]);
    let analyzer = builder.analyzer().get_or_insert_default();
    [casts(), time_units()].into_iter().for_each(|rewrite| analyzer.add_function_rewrite(rewrite));
    // Behind those that bring parts of a union, and both sides of a comparison, to the same types.
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

/// The state with rules of optimizers, which can only be given to a state that is made anew.
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
    // It has functions under all of their aliases again, also where another function was registered under one of these.
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

/// Rules that come before all others.
fn first_rules() -> [Arc<dyn PhysicalOptimizerRule + Send + Sync>; 2] {
    [Arc::new(UnusedOrder), Arc::new(GroupingSets)]
}

/// Rules that come after all others.
fn last_rules() -> [Arc<dyn PhysicalOptimizerRule + Send + Sync>; 2] {
    [Arc::new(PreserveOrder), Arc::new(AggregateBounds)]
}

/// Adds rules that mend conditions: before they are moved, and where they have come to in a plan.
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

/// What the format is called in SQL, and as the extension of a file.
const NAMES: [&str; 2] = ["parquet", "marquetry"];
