//! Casts that lose digits: `CAST(d AS INT)` of decimals is 2 for 2.5, and `TRY_CAST(i AS TINYINT)` NULL for 1000.
//!
//! QUIRK: DataFusion 55 compares the column as it is with the literal, `d = 2.00`, which is another condition. It does not so where the
//! column is cast to a decimal of 256 bits before, which has all of its digits.

use crate::statistics::becomes;
use arrow_schema::DataType;
use datafusion::common::DFSchema;
use datafusion::logical_expr::expr::{Cast, TryCast};
use datafusion::logical_expr::{Expr, ExprSchemable, cast};

/// The cast by way of what DataFusion does not compare; `None` if it is no such cast. It may be anywhere: conditions on the columns of a view
/// come to its casts later.
pub(crate) fn by_way_of_all_digits(expr: &Expr, schema: &DFSchema) -> Option<Expr> {
    use DataType::{Date32, Date64, Int64, Timestamp};
    let (inner, to, is_tried) = match expr {
        Expr::Cast(Cast { expr, field }) => (expr, field, false),
        Expr::TryCast(TryCast { expr, field }) => (expr, field, true),
        _ => return None,
    };
    let mut from = inner.get_type(schema).ok()?;
    let mut inner = inner.as_ref().clone();
    if is_tried && matches!(from, Timestamp(..) | Date32 | Date64) {
        // Their number of units.
        inner = cast(inner, Int64);
        from = Int64;
    }
    let inner = Box::new(cast(inner, all_digits(&from, to.data_type(), is_tried)?));
    Some(match is_tried {
        false => Expr::Cast(Cast { expr: inner, field: to.clone() }),
        true => Expr::TryCast(TryCast { expr: inner, field: to.clone() }),
    })
}

/// The type that has all digits of another one, if a cast from that one loses some.
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
    loses.then_some(DataType::Decimal256(precision, scale))
}
