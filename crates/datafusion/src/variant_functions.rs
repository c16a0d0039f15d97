//! SQL functions of VARIANT.
//!
//! | | |
//! |---|---|
//! | `variant_get(v, path)` | what a path leads to, as a VARIANT; NULL if it leads nowhere |
//! | `variant_get(v, path, type)` | the same as a value of that type; NULL if it is none |
//! | `variant_to_json(v)` | the JSON of a VARIANT |
//! | `json_to_variant(text)` | the VARIANT of a text of JSON |
//! | `is_variant_null(v[, path])` | whether it is a variant that is null; NULL if it leads nowhere |
//!
//! The path and the type are literals.

mod is_variant_null;
mod json_to_variant;
mod literals;
mod variant_get;
mod variant_to_json;

use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
pub(crate) use variant_get::{VariantGet, variant_get};

/// All of them.
pub(crate) fn variant_functions() -> Vec<Arc<ScalarUDF>> {
    vec![
        variant_get(),
        Arc::new(ScalarUDF::from(variant_to_json::VariantToJson::new())),
        Arc::new(ScalarUDF::from(json_to_variant::JsonToVariant::new())),
        Arc::new(ScalarUDF::from(is_variant_null::IsVariantNull::new())),
    ]
}
