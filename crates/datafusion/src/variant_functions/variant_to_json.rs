//! `variant_to_json(v)`.

use super::literals::{check_types, placement};
use crate::error::of;
use arrow_schema::DataType;
use datafusion::common::exec_datafusion_err;
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ExpressionPlacement, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use marquetry_arrow::variant::{VariantCast, variant_get};
use marquetry_variant::Path;

/// `variant_to_json`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct VariantToJson {
    signature: Signature,
}

impl VariantToJson {
    pub(super) fn new() -> Self {
        VariantToJson { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for VariantToJson {
    fn name(&self) -> &str {
        "variant_to_json"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        check_types(self.name(), given, 0..=0)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let variants = args.args.first().ok_or_else(|| exec_datafusion_err!("variant_to_json of nothing"))?;
        let variants = variants.to_array(args.number_rows)?;
        Ok(ColumnarValue::Array(variant_get(&variants, &Path::default(), VariantCast::Json).map_err(of)?))
    }

    fn placement(&self, args: &[ExpressionPlacement]) -> ExpressionPlacement {
        match placement(args) {
            // The text is no smaller than the VARIANT.
            ExpressionPlacement::MoveTowardsLeafNodes => ExpressionPlacement::KeepInPlace,
            other => other,
        }
    }
}
