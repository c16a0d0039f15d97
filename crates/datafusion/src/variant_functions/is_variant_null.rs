//! `is_variant_null(v[, path])`.

use super::literals::{check_types, scalar_of, text_of};
use crate::error::of;
use arrow_schema::DataType;
use datafusion::common::{exec_datafusion_err, plan_datafusion_err};
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use marquetry_arrow::variant::is_variant_null;
use marquetry_variant::Path;
use std::sync::Arc;

/// `is_variant_null`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct IsVariantNull {
    signature: Signature,
}

impl IsVariantNull {
    pub(super) fn new() -> Self {
        IsVariantNull { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for IsVariantNull {
    fn name(&self) -> &str {
        "is_variant_null"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        check_types(self.name(), given, 0..=1)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let path = match args.args.len() {
            0 | 1 => Path::default(),
            _ => {
                let text = text_of(scalar_of(args.args.get(1)));
                let text = text
                    .ok_or_else(|| plan_datafusion_err!("is_variant_null: the path is a literal of text"))?;
                text.parse().map_err(of)?
            }
        };
        let variants = args.args.first().ok_or_else(|| exec_datafusion_err!("is_variant_null of nothing"))?;
        let variants = variants.to_array(args.number_rows)?;
        Ok(ColumnarValue::Array(Arc::new(is_variant_null(&variants, &path).map_err(of)?)))
    }
}
