//! Compares times of day of different units: a column of microseconds and `TIME '08:30:00'`, which is of nanoseconds, or text.
//!
//! QUIRK: DataFusion has no common type for the two, and refuses the comparison.

use arrow_schema::{DataType, TimeUnit};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result;
use datafusion::logical_expr::expr::{Between, BinaryExpr, InList};
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{Expr, ExprSchemable, cast, lit};
use std::sync::Arc;

/// Brings both sides of a comparison to one unit during SQL planning, which has to know the types of the selected columns.
#[derive(Debug)]
pub(crate) struct TimeComparisons;

impl ExprPlanner for TimeComparisons {
    fn plan_binary_op(
        &self,
        mut expr: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        // The operator is of another type where the session has no SQL.
        if matches!(expr.op.to_string().as_str(), "=" | "<>" | "!=" | "<" | "<=" | ">" | ">=") {
            in_one_unit(&mut [&mut expr.left, &mut expr.right], schema)?;
        }
        Ok(PlannerResult::Original(expr))
    }
}

/// Brings compared values to one unit everywhere else: in `BETWEEN`, `IN`, and plans that were built without SQL.
#[derive(Debug)]
pub(crate) struct TimeUnits;

impl FunctionRewrite for TimeUnits {
    fn name(&self) -> &str {
        "units of times of day"
    }

    fn rewrite(&self, mut expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        let is_changed = match &mut expr {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) if op.supports_propagation() => {
                in_one_unit(&mut [left.as_mut(), right.as_mut()], schema)?
            }
            Expr::Between(Between { expr, low, high, .. }) => {
                in_one_unit(&mut [expr.as_mut(), low.as_mut(), high.as_mut()], schema)?
            }
            Expr::InList(InList { expr, list, .. }) => {
                let mut compared: Vec<&mut Expr> = std::iter::once(expr.as_mut()).chain(list).collect();
                in_one_unit(&mut compared, schema)?
            }
            _ => false,
        };
        Ok(if is_changed { Transformed::yes(expr) } else { Transformed::no(expr) })
    }
}

/// Brings times of day of several units to the finest unit of the columns, if all constants are whole numbers of it, or
/// else to nanoseconds. Returns whether there were several units.
fn in_one_unit(compared: &mut [&mut Expr], schema: &DFSchema) -> Result<bool> {
    let types = compared.iter().map(|expr| expr.get_type(schema)).collect::<Result<Vec<_>>>();
    // Whoever needs the type reports the error.
    let Ok(types) = types else { return Ok(false) };
    let is_time = |data_type: &DataType| matches!(data_type, DataType::Time32(_) | DataType::Time64(_));
    let mut constants: Vec<Option<ScalarValue>> = compared.iter().map(|expr| constant(expr)).collect();
    // Text becomes a time, and NULL is of any type.
    let is_text = |at: usize| types[at].is_string() && constants[at].is_some();
    let texts: Vec<usize> = (0..types.len()).filter(|at| is_text(*at)).collect();
    let mut times = (0..types.len())
        .filter(|at| types[*at] != DataType::Null && !texts.contains(at))
        .map(|at| &types[at]);
    let Some(first) = times.next() else { return Ok(false) };
    if !is_time(first) || times.clone().any(|other| !is_time(other)) || times.all(|other| other == first) {
        return Ok(false);
    }
    let nanoseconds = DataType::Time64(TimeUnit::Nanosecond);
    for at in texts {
        constants[at] = constants[at].take().map(|text| text.cast_to(&nanoseconds)).transpose()?;
    }
    let of_columns =
        types.iter().zip(&constants).filter(|(data_type, constant)| constant.is_none() && is_time(data_type));
    let finest =
        of_columns.map(|(data_type, _)| data_type).max_by_key(|data_type| parts_of_second(data_type));
    let wanted = finest.filter(|unit| constants.iter().flatten().all(|constant| is_whole(constant, unit)));
    let wanted = wanted.unwrap_or(&nanoseconds);
    for ((expr, data_type), constant) in compared.iter_mut().zip(&types).zip(constants) {
        match constant {
            Some(constant) => **expr = lit(constant.cast_to(wanted)?),
            None if data_type != wanted => **expr = cast(std::mem::take(*expr), wanted.clone()),
            None => {}
        }
    }
    Ok(true)
}

fn parts_of_second(data_type: &DataType) -> u32 {
    match data_type {
        DataType::Time32(TimeUnit::Second) => 1,
        DataType::Time32(_) => 1_000,
        DataType::Time64(TimeUnit::Microsecond) => 1_000_000,
        _ => 1_000_000_000,
    }
}

/// The value of a literal, or of the cast of one, as `TIME '..'` is.
fn constant(expr: &Expr) -> Option<ScalarValue> {
    match expr {
        Expr::Literal(value, _) => Some(value.clone()),
        Expr::Cast(of) => constant(&of.expr)?.cast_to(of.field.data_type()).ok(),
        _ => None,
    }
}

fn is_whole(constant: &ScalarValue, unit: &DataType) -> bool {
    if constant.is_null() {
        return true;
    }
    let there = constant.cast_to(unit);
    let back = there.and_then(|value| value.cast_to(&constant.data_type()));
    back.is_ok_and(|back| back == *constant)
}

/// The planner of [`TimeComparisons`].
pub(crate) fn time_planner() -> Arc<dyn ExprPlanner> {
    Arc::new(TimeComparisons)
}

/// See [`TimeUnits`].
pub(crate) fn time_units() -> Arc<dyn FunctionRewrite + Send + Sync> {
    Arc::new(TimeUnits)
}
