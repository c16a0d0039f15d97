//! Simplifies a filter for one file: `CAST(column AS bigint) > 5` becomes `column > 5` where the file's type allows it, which the file can
//! be pruned by.
//!
//! DataFusion removes a cast even where that changes the condition: a file's milliseconds never equal `00:00:00.0005`,
//! but they may equal `00:00:00`, to which the literal is truncated. A condition with such a cast stays as it is, and
//! is evaluated on decoded rows.

use crate::statistics::becomes;
use arrow_schema::{DataType, Schema, TimeUnit};
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, CastExpr, Column, Literal, TryCastExpr};
use datafusion::physical_expr::simplifier::PhysicalExprSimplifier;
use std::sync::Arc;

/// Simplifies an expression, unless that could change its meaning for rows of `schema`.
pub(crate) fn simplified(expr: Arc<dyn PhysicalExpr>, schema: &Schema) -> Result<Arc<dyn PhysicalExpr>> {
    let mut keeps_meaning = true;
    expr.apply(|node| {
        keeps_meaning =
            node.downcast_ref::<BinaryExpr>().is_none_or(|binary| keeps_comparison(binary, schema));
        Ok(if keeps_meaning { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
    })?;
    if keeps_meaning { PhysicalExprSimplifier::new(schema).simplify(expr) } else { Ok(expr) }
}

/// Whether a comparison means the same without the cast of one of its sides, if that side is compared with a literal,
/// or with something that becomes one. Of two nested casts only the outer one is recognized beside a literal: those
/// stay.
fn keeps_comparison(binary: &BinaryExpr, schema: &Schema) -> bool {
    let sides = [(binary.left(), binary.right()), (binary.right(), binary.left())];
    sides.into_iter().all(|(side, other)| match (cast(side), other.downcast_ref::<Literal>()) {
        (None, _) => true,
        (Some(_), None) => has_column(other),
        (Some((inner, to)), Some(literal)) => {
            cast(inner).is_none()
                && inner.data_type(schema).is_ok_and(|from| is_kept(&from, to, literal.value()))
        }
    })
}

fn has_column(expr: &Arc<dyn PhysicalExpr>) -> bool {
    expr.exists(|node| Ok(node.downcast_ref::<Column>().is_some())).unwrap_or(true)
}

fn cast(expr: &Arc<dyn PhysicalExpr>) -> Option<(&Arc<dyn PhysicalExpr>, &DataType)> {
    let cast = expr.downcast_ref::<CastExpr>().map(|cast| (cast.expr(), cast.cast_type()));
    cast.or_else(|| expr.downcast_ref::<TryCastExpr>().map(|cast| (cast.expr(), cast.cast_type())))
}

/// Whether all values of one type compare with the literal, which is of the other type, as they do after the cast.
fn is_kept(from: &DataType, to: &DataType, literal: &ScalarValue) -> bool {
    use DataType::*;
    if becomes(from, to) {
        return true;
    }
    match (from, to) {
        (Timestamp(from, zone), Timestamp(to, other)) if zone.is_some() == other.is_some() => {
            let units = per_second(*to) / per_second(*from);
            units > 0 && ticks(literal).is_some_and(|ticks| ticks % units == 0)
        }
        // DataFusion keeps the literal's digits, or the cast.
        (Decimal32(..) | Decimal64(..) | Decimal128(..), Decimal32(..) | Decimal64(..) | Decimal128(..)) => {
            match (digits(from), digits(to)) {
                (Some((whole, scale)), Some((wider, finer))) => whole <= wider && scale <= finer,
                _ => false,
            }
        }
        _ => false,
    }
}

/// The number of digits before and behind the decimal point.
fn digits(decimal: &DataType) -> Option<(i16, i16)> {
    match decimal {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale) => {
            Some((i16::from(*precision) - i16::from(*scale), i16::from(*scale)))
        }
        _ => None,
    }
}

/// The value of an expression that has no columns, and is the same whenever it is evaluated.
pub(crate) fn constant(expr: &Expr) -> Option<ScalarValue> {
    let has_no_column = expr.column_refs().is_empty() && !expr.contains_outer();
    let simplifier = ExprSimplifier::new(SimplifyContext::builder().build());
    match simplifier.simplify(has_no_column.then(|| expr.clone())?) {
        Ok(Expr::Literal(value, _)) => Some(value),
        _ => None,
    }
}

pub(crate) fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// The number of units of a timestamp; `None` for NULL, and for other types.
pub(crate) fn ticks(literal: &ScalarValue) -> Option<i64> {
    match literal {
        ScalarValue::TimestampSecond(ticks, _)
        | ScalarValue::TimestampMillisecond(ticks, _)
        | ScalarValue::TimestampMicrosecond(ticks, _)
        | ScalarValue::TimestampNanosecond(ticks, _) => *ticks,
        _ => None,
    }
}
