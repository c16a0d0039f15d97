//! `json_to_variant(text)`.

use crate::error::of;
use arrow_array::cast::AsArray;
use arrow_schema::{DataType, FieldRef};
use datafusion::common::{exec_datafusion_err, internal_err, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use marquetry_arrow::variant::{VariantArrayBuilder, VariantCast, variant_get_field};
use marquetry_variant::Path;
use std::sync::Arc;

/// `json_to_variant`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct JsonToVariant {
    signature: Signature,
    aliases: Vec<String>,
}

impl JsonToVariant {
    pub(super) fn new() -> Self {
        JsonToVariant {
            signature: Signature::user_defined(Volatility::Immutable),
            aliases: vec!["parse_json".to_owned()],
        }
    }
}

impl ScalarUDFImpl for JsonToVariant {
    fn name(&self) -> &str {
        "json_to_variant"
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        match given {
            [DataType::Null] => Ok(vec![DataType::Utf8View]),
            [text] if text.is_string() => Ok(vec![DataType::Utf8View]),
            _ => plan_err!("json_to_variant takes JSON text"),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("json_to_variant gives a VARIANT, which a type does not tell")
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(variant_get_field(self.name(), &Path::default(), VariantCast::Variant)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let texts = args.args.first().ok_or_else(|| exec_datafusion_err!("json_to_variant of nothing"))?;
        let texts = texts.to_array(args.number_rows)?;
        let texts =
            texts.as_string_view_opt().ok_or_else(|| exec_datafusion_err!("json_to_variant: no text"))?;
        let mut builder = VariantArrayBuilder::new();
        for text in texts {
            match text {
                Some(text) => builder.append_json(text).map_err(of)?,
                None => builder.append_null(),
            }
        }
        Ok(ColumnarValue::Array(Arc::new(builder.finish().map_err(of)?)))
    }
}
