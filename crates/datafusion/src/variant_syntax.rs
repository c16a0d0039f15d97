//! Parses paths into VARIANT in SQL: `payload:user.id::bigint`.
//!
//! `payload:user.id` is `variant_get(payload, 'user.id')`; a cast of that, or of a VARIANT itself, is `variant_get` with a type.

use crate::variant_functions::{VariantGet, variant_get};
use crate::variant_storage::is_variant_storage;
use arrow_schema::{DataType, TimeUnit};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result;
use datafusion::logical_expr::expr::{Cast, ScalarFunction, TryCast};
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{Expr, ExprSchemable, lit};
use marquetry_arrow::variant::VariantCast;
use marquetry_variant::PrimitiveType;
use std::sync::Arc;

/// Plans `payload:user.id`.
#[derive(Debug)]
pub(crate) struct VariantPathPlanner;

impl ExprPlanner for VariantPathPlanner {
    fn plan_binary_op(&self, expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        // The operator is of another type where the session has no SQL.
        if expr.op.to_string() != ":" || !is_variant(&expr.left, schema) {
            return Ok(PlannerResult::Original(expr));
        }
        let call = ScalarFunction::new_udf(variant_get(), vec![expr.left, expr.right]);
        Ok(PlannerResult::Planned(Expr::ScalarFunction(call)))
    }
}

/// Turns casts of VARIANTs, and of paths into them, into `variant_get` with a type.
#[derive(Debug)]
pub(crate) struct VariantCasts;

impl FunctionRewrite for VariantCasts {
    fn name(&self) -> &str {
        "casts of VARIANT"
    }

    fn rewrite(&self, expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        let (of, wanted) = match &expr {
            Expr::Cast(Cast { expr, field }) | Expr::TryCast(TryCast { expr, field }) => {
                (expr.as_ref(), field.data_type().clone())
            }
            _ => return Ok(Transformed::no(expr)),
        };
        let Some(kind) = kind_of(&wanted).filter(|_| is_variant(of, schema)) else {
            return Ok(Transformed::no(expr));
        };
        let mut args = match of {
            Expr::ScalarFunction(call) if is_path(call) => call.args.clone(),
            whole => vec![whole.clone(), lit("")],
        };
        args.push(lit(ScalarValue::Utf8(Some(VariantCast::Type(kind).to_string()))));
        let found = Expr::ScalarFunction(ScalarFunction::new_udf(variant_get(), args));
        let is_wanted = found.get_type(schema)? == wanted;
        let found = match (is_wanted, expr) {
            (true, _) => found,
            (false, Expr::TryCast(cast)) => Expr::TryCast(TryCast { expr: Box::new(found), ..cast }),
            (false, Expr::Cast(cast)) => Expr::Cast(Cast { expr: Box::new(found), ..cast }),
            (false, other) => return Ok(Transformed::no(other)),
        };
        Ok(Transformed::yes(found))
    }
}

/// Whether it is `variant_get` without a type.
fn is_path(call: &ScalarFunction) -> bool {
    call.args.len() == 2 && call.func.inner().downcast_ref::<VariantGet>().is_some()
}

fn is_variant(expr: &Expr, schema: &DFSchema) -> bool {
    expr.get_type(schema).is_ok_and(|data_type| is_variant_storage(&data_type))
}

/// The type that a value is read as for a cast to `wanted`: that type, or one that has all of its values.
fn kind_of(wanted: &DataType) -> Option<PrimitiveType> {
    Some(match wanted {
        DataType::Boolean => PrimitiveType::Boolean,
        DataType::Int8 => PrimitiveType::Int8,
        DataType::Int16 => PrimitiveType::Int16,
        DataType::Int32 => PrimitiveType::Int32,
        DataType::Int64 | DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => PrimitiveType::Int64,
        DataType::UInt64 => PrimitiveType::Decimal { precision: 20, scale: 0 },
        DataType::Float32 => PrimitiveType::Float,
        DataType::Float64 => PrimitiveType::Double,
        DataType::Decimal128(precision, scale) => {
            PrimitiveType::Decimal { precision: *precision, scale: u8::try_from(*scale).ok()? }
        }
        DataType::Date32 => PrimitiveType::Date,
        DataType::Time64(_) => PrimitiveType::Time,
        DataType::Timestamp(TimeUnit::Nanosecond, Some(_)) => PrimitiveType::TimestampNanos,
        DataType::Timestamp(TimeUnit::Nanosecond, None) => PrimitiveType::LocalTimestampNanos,
        DataType::Timestamp(_, Some(_)) => PrimitiveType::TimestampMicros,
        DataType::Timestamp(_, None) => PrimitiveType::LocalTimestampMicros,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => PrimitiveType::Binary,
        text if text.is_string() => PrimitiveType::String,
        _ => return None,
    })
}

/// The planner of [`VariantPathPlanner`].
pub(crate) fn planner() -> Arc<dyn ExprPlanner> {
    Arc::new(VariantPathPlanner)
}

/// See [`VariantCasts`].
pub(crate) fn casts() -> Arc<dyn FunctionRewrite + Send + Sync> {
    Arc::new(VariantCasts)
}
