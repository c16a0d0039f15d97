//! Rewrites `CAST(t AS DATE) = DATE '2024-01-02'` to a range of timestamps, by which files can prune row groups.
//!
//! QUIRK: DataFusion 55 takes all timestamps of the day for its midnight: it no longer sorts and groups by them, and it
//! fails where the bounds of a file lie within the day.

use crate::simplify::{constant, per_second};
use arrow_schema::{DataType, TimeUnit};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::{Between, BinaryExpr, Cast, InList};
use datafusion::logical_expr::{Expr, ExprSchemable, Operator, lit};

/// A comparison of a day, as one of the timestamp column; `None` for other expressions.
pub(crate) fn as_range(expr: &Expr, schema: &DFSchema) -> Option<Expr> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match day(left, right, schema) {
            Some(day) => day.compared(*op),
            None => day(right, left, schema)?.compared(op.swap()?),
        },
        Expr::Between(Between { expr, negated, low, high }) => {
            let (low, high) = (day(expr, low, schema)?, day(expr, high, schema)?);
            let op = |of: Day, op| of.compared(op);
            match negated {
                false => Some(op(low, Operator::GtEq)?.and(op(high, Operator::LtEq)?)),
                true => Some(op(low, Operator::Lt)?.or(op(high, Operator::Gt)?)),
            }
        }
        // Longer lists do not become chains of comparisons, and DataFusion derives nothing from them.
        Expr::InList(InList { expr, list, negated }) if list.len() <= 3 => {
            let op = if *negated { Operator::NotEq } else { Operator::Eq };
            let each = list.iter().map(|item| day(expr, item, schema)?.compared(op));
            let each = each.collect::<Option<Vec<Expr>>>()?.into_iter();
            each.reduce(|all, one| if *negated { all.and(one) } else { all.or(one) })
        }
        _ => None,
    }
}

/// A day, as the first tick of a column in it and the first one after it.
struct Day {
    column: Expr,
    begin: ScalarValue,
    end: ScalarValue,
}

fn day(cast: &Expr, other: &Expr, schema: &DFSchema) -> Option<Day> {
    let Expr::Cast(Cast { expr: column, field }) = cast else { return None };
    let is_day = *field.data_type() == DataType::Date32 && matches!(column.as_ref(), Expr::Column(_));
    // Days in other time zones do not begin at midnight.
    let DataType::Timestamp(unit, None) = is_day.then(|| column.get_type(schema).ok())?? else { return None };
    let ScalarValue::Date32(Some(day)) = constant(other)? else { return None };
    let midnight = |day: i64| Some(timestamp(unit, day.checked_mul(86_400)?.checked_mul(per_second(unit))?));
    let day = i64::from(day);
    Some(Day { column: column.as_ref().clone(), begin: midnight(day)?, end: midnight(day + 1)? })
}

impl Day {
    fn compared(self, op: Operator) -> Option<Expr> {
        let Day { column, begin, end } = self;
        let (before, within) = (column.clone().lt(lit(begin.clone())), column.clone().gt_eq(lit(begin)));
        let (until, behind) = (column.clone().lt(lit(end.clone())), column.clone().gt_eq(lit(end)));
        match op {
            Operator::Eq => Some(within.and(until)),
            Operator::NotEq => Some(before.or(behind)),
            Operator::Lt => Some(before),
            Operator::LtEq => Some(until),
            Operator::Gt => Some(behind),
            Operator::GtEq => Some(within),
            Operator::IsDistinctFrom => Some(before.or(behind).or(column.is_null())),
            Operator::IsNotDistinctFrom => Some(within.and(until).and(column.is_not_null())),
            _ => None,
        }
    }
}

fn timestamp(unit: TimeUnit, ticks: i64) -> ScalarValue {
    match unit {
        TimeUnit::Second => ScalarValue::TimestampSecond(Some(ticks), None),
        TimeUnit::Millisecond => ScalarValue::TimestampMillisecond(Some(ticks), None),
        TimeUnit::Microsecond => ScalarValue::TimestampMicrosecond(Some(ticks), None),
        TimeUnit::Nanosecond => ScalarValue::TimestampNanosecond(Some(ticks), None),
    }
}
