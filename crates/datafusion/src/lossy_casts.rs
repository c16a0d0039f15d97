//! Lossy casts: `CAST(d AS INT)` of decimals is 2 for 2.5, and `TRY_CAST(i AS TINYINT)` is NULL for 1000.
//!
//! QUIRK: DataFusion 55 unwraps the cast and compares the column itself with the literal, `d = 2.00`, which is another condition. It does not
//! unwrap a cast to a decimal of 256 bits, which loses no digit, so such a cast is put in between.

use crate::simplify::per_second;
use crate::statistics::becomes;
use arrow_schema::DataType;
use datafusion::arrow::datatypes::i256;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::{
    AggregateFunction, AggregateFunctionParams, Alias, BinaryExpr, Cast, TryCast,
};
use datafusion::logical_expr::{Expr, ExprSchemable, Operator, cast, lit, try_cast};

/// The cast by way of a type that DataFusion does not unwrap; `None` if the expression is not a lossy cast. Casts are
/// rewritten everywhere, as filters on the columns of a view meet its casts later. The rewritten cast is slower.
pub(crate) fn without_unwrapping(expr: &Expr, schema: &DFSchema) -> Option<Expr> {
    use DataType::{Date32, Date64, Int64, Timestamp};
    let (inner, to, is_tried) = match expr {
        Expr::Cast(Cast { expr, field }) => (expr, field, false),
        Expr::TryCast(TryCast { expr, field }) => (expr, field, true),
        _ => return None,
    };
    let mut from = inner.get_type(schema).ok()?;
    let mut inner = inner.as_ref().clone();
    if let Some(number) = number_of_units(&inner, &from, to.data_type(), is_tried) {
        let (expr, field) = (Box::new(number), to.clone());
        return Some(if is_tried {
            Expr::TryCast(TryCast { expr, field })
        } else {
            Expr::Cast(Cast { expr, field })
        });
    }
    if is_tried && matches!(from, Timestamp(..) | Date32 | Date64) {
        // Their number of units.
        inner = cast(inner, Int64);
        from = Int64;
    }
    let all_digits = all_digits(&from, to.data_type(), is_tried)?;
    let inner = Box::new(if is_tried { try_cast(inner, all_digits) } else { cast(inner, all_digits) });
    Some(match is_tried {
        false => Expr::Cast(Cast { expr: inner, field: to.clone() }),
        true => Expr::TryCast(TryCast { expr: inner, field: to.clone() }),
    })
}

/// Whether an expression only computes: it compares nothing, and passes its columns to no function that may.
pub(crate) fn only_computes(expr: &Expr) -> bool {
    use Operator::{Divide, Minus, Modulo, Multiply, Plus};
    match expr {
        Expr::Column(_) | Expr::Literal(..) => true,
        Expr::Alias(Alias { expr, .. }) | Expr::Negative(expr) => only_computes(expr),
        // A rewritten cast to a temporal type gives other values.
        Expr::Cast(Cast { expr, field }) | Expr::TryCast(TryCast { expr, field }) => {
            !field.data_type().is_temporal() && only_computes(expr)
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            matches!(op, Plus | Minus | Multiply | Divide | Modulo)
                && only_computes(left)
                && only_computes(right)
        }
        _ => false,
    }
}

/// Whether an expression is a sum or mean of mere computations: nothing compares the values that it adds.
pub(crate) fn only_adds(expr: &Expr) -> bool {
    match expr {
        Expr::Alias(Alias { expr, .. }) => only_adds(expr),
        Expr::AggregateFunction(AggregateFunction { func, params }) => {
            let AggregateFunctionParams { args, distinct, filter, order_by, .. } = params;
            matches!(func.name(), "sum" | "avg")
                && !distinct
                && filter.is_none()
                && order_by.is_empty()
                && args.iter().all(only_computes)
        }
        _ => false,
    }
}

/// The result of a cast to a time or date, as a number of its units, if the plain cast would lose some of it.
///
/// QUIRK: arrow's casts of decimals to timestamps cut off the high bits of numbers that 64 do not hold.
fn number_of_units(value: &Expr, from: &DataType, to: &DataType, is_tried: bool) -> Option<Expr> {
    use DataType::{Date32, Decimal32, Decimal64, Decimal128, Decimal256, Int32, Int64, Timestamp, UInt64};
    let changed = |value: Expr, to: DataType| if is_tried { try_cast(value, to) } else { cast(value, to) };
    match (from, to) {
        (
            Decimal32(precision, scale) | Decimal64(precision, scale) | Decimal128(precision, scale),
            Timestamp(..),
        ) => {
            let digits = Decimal256(within_i64(*precision, *scale), *scale);
            Some(changed(changed(value.clone(), digits), Int64))
        }
        // Without TRY_CAST, these fail.
        _ if !is_tried => None,
        (UInt64, Timestamp(..)) => Some(try_cast(cast(value.clone(), Decimal256(20, 0)), Int64)),
        (Timestamp(coarse, from), Timestamp(fine, to)) if fine > coarse && from.is_some() == to.is_some() => {
            let distance = i256::from(per_second(*fine) / per_second(*coarse));
            let distance = lit(ScalarValue::Decimal256(Some(distance), 10, 0));
            let number = cast(cast(value.clone(), Int64), Decimal256(19, 0)) * distance;
            Some(try_cast(try_cast(number, Decimal256(19, 0)), Int64))
        }
        (Int64, Date32) => Some(try_cast(cast(value.clone(), Decimal256(19, 0)), Int32)),
        _ => None,
    }
}

/// The precision that leaves no more digits before the point than numbers of 64 bits have; a cast of larger numbers to
/// it fails.
///
/// QUIRK: arrow's casts of decimals of 256 bits to signed integers cut off the high bits of numbers from 2 to the 64 on.
fn within_i64(precision: u8, scale: i8) -> u8 {
    precision.min(scale.saturating_add(19).max(1).unsigned_abs())
}

/// The decimal type with all digits of `from` that values can have in `to`, if a cast from `from` to `to` loses some.
fn all_digits(from: &DataType, to: &DataType, is_tried: bool) -> Option<DataType> {
    let digits = |of: &DataType| match of {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale) => Some((*precision, *scale)),
        _ if of.is_integer() => Some((20, 0)),
        _ => None,
    };
    let ((precision, scale), (to_precision, to_scale)) = (digits(from)?, digits(to)?);
    let whole = |precision: u8, scale: i8| i16::from(precision) - i16::from(scale);
    let is_narrower = whole(to_precision, to_scale) < whole(precision, scale);
    let loses = match (from.is_integer(), to.is_integer()) {
        (true, true) => is_tried && from != to && !becomes(from, to),
        (true, false) => is_tried && is_narrower,
        (false, true) => scale > 0 || is_tried,
        (false, false) => to_scale < scale || (is_tried && is_narrower),
    };
    let precision = if to.is_signed_integer() { within_i64(precision, scale) } else { precision };
    loses.then_some(DataType::Decimal256(precision, scale))
}
