//! Functions that are casts, such as `arrow_cast(d, 'Int32')`.
//!
//! QUIRK: DataFusion 55 makes casts of them in the very step that unwraps casts in comparisons, where it is too late to
//! correct that.

use datafusion::common::DFSchema;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use std::sync::Arc;

/// The cast that a function call stands for; `None` for other expressions.
pub(crate) fn as_cast(expr: &Expr, schema: &DFSchema) -> Option<Expr> {
    let Expr::ScalarFunction(function) = expr else { return None };
    if !CASTS.contains(&function.name()) {
        return None;
    }
    let context = SimplifyContext::builder().with_schema(Arc::new(schema.clone())).build();
    match function.func.simplify(function.args.clone(), &context).ok()? {
        ExprSimplifyResult::Simplified(cast @ (Expr::Cast(_) | Expr::TryCast(_))) => Some(cast),
        _ => None,
    }
}

const CASTS: [&str; 4] = ["arrow_cast", "arrow_try_cast", "cast_to_type", "try_cast_to_type"];
