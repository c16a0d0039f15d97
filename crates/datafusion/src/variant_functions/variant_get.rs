//! `variant_get(v, path[, type])`.

use super::literals::{check_types, placement, scalar_of, text_of};
use crate::error::of;
use arrow_schema::{DataType, FieldRef};
use datafusion::common::{ScalarValue, exec_datafusion_err, internal_err, plan_datafusion_err};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ExpressionPlacement, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility,
};
use marquetry_arrow::variant::{VariantCast, variant_get as get, variant_get_field};
use marquetry_variant::Path;
use std::sync::{Arc, LazyLock};

/// `variant_get`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct VariantGet {
    signature: Signature,
}

/// The shared instance of the function.
pub(crate) fn variant_get() -> Arc<ScalarUDF> {
    static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| {
        Arc::new(ScalarUDF::from(VariantGet { signature: Signature::user_defined(Volatility::Immutable) }))
    });
    FUNCTION.clone()
}

impl VariantGet {
    /// The path and the type in the arguments. Fails if they are not literals, or not valid.
    pub(crate) fn wanted(arguments: &[Option<&ScalarValue>]) -> Result<(Path, VariantCast)> {
        let text = |at: usize, what: &str| {
            let text = text_of(arguments.get(at).copied().flatten());
            text.ok_or_else(|| plan_datafusion_err!("variant_get: the {what} is a literal of text"))
        };
        let path = text(1, "path")?.parse().map_err(of)?;
        let cast = match arguments.len() {
            2 => VariantCast::Variant,
            _ => text(2, "type")?.parse().map_err(of)?,
        };
        Ok((path, cast))
    }
}

impl ScalarUDFImpl for VariantGet {
    fn name(&self) -> &str {
        "variant_get"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        check_types(self.name(), given, 1..=2)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("the type of variant_get depends on its arguments")
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let (path, cast) = VariantGet::wanted(args.scalar_arguments)?;
        Ok(Arc::new(variant_get_field(self.name(), &path, cast)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let scalars: Vec<_> = args.args.iter().map(|arg| scalar_of(Some(arg))).collect();
        let (path, cast) = VariantGet::wanted(&scalars)?;
        let variants = args.args.first().ok_or_else(|| exec_datafusion_err!("variant_get of nothing"))?;
        let variants = variants.to_array(args.number_rows)?;
        Ok(ColumnarValue::Array(get(&variants, &path, cast).map_err(of)?))
    }

    fn placement(&self, args: &[ExpressionPlacement]) -> ExpressionPlacement {
        placement(args)
    }
}
