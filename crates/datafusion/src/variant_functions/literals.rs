//! Checks of function arguments.

use crate::variant_storage::is_variant_storage;
use arrow_schema::DataType;
use datafusion::common::{ScalarValue, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ExpressionPlacement};

/// The text of a literal; `None` if it is another value, or no literal.
pub(super) fn text_of(value: Option<&ScalarValue>) -> Option<&str> {
    match value? {
        ScalarValue::Utf8(text) | ScalarValue::LargeUtf8(text) | ScalarValue::Utf8View(text) => {
            text.as_deref()
        }
        _ => None,
    }
}

/// The scalar in an argument; `None` for an array.
pub(super) fn scalar_of(value: Option<&ColumnarValue>) -> Option<&ScalarValue> {
    match value? {
        ColumnarValue::Scalar(scalar) => Some(scalar),
        ColumnarValue::Array(_) => None,
    }
}

/// Fails unless the arguments are a VARIANT, and as many texts as `texts` allows.
pub(super) fn check_types(
    name: &str,
    given: &[DataType],
    texts: std::ops::RangeInclusive<usize>,
) -> Result<Vec<DataType>> {
    let Some((variant, rest)) = given.split_first() else {
        return plan_err!("{name} takes a VARIANT");
    };
    if !is_variant_storage(variant) {
        return plan_err!("{name} takes a VARIANT, a struct of metadata and value, not {variant}");
    }
    if !texts.contains(&rest.len()) {
        return plan_err!(
            "{name} takes {} to {} arguments, not {}",
            texts.start() + 1,
            texts.end() + 1,
            given.len()
        );
    }
    match rest.iter().find(|data_type| !data_type.is_string()) {
        Some(other) => plan_err!("{name}: a path and a type are text, not {other}"),
        None => Ok(given.to_vec()),
    }
}

/// A path into a column, with literal arguments, is evaluated where the column is read.
pub(super) fn placement(args: &[ExpressionPlacement]) -> ExpressionPlacement {
    let Some((of, rest)) = args.split_first() else { return ExpressionPlacement::KeepInPlace };
    let is_taken_out = matches!(of, ExpressionPlacement::Column | ExpressionPlacement::MoveTowardsLeafNodes);
    match is_taken_out && rest.iter().all(|arg| *arg == ExpressionPlacement::Literal) {
        true => ExpressionPlacement::MoveTowardsLeafNodes,
        false => ExpressionPlacement::KeepInPlace,
    }
}
