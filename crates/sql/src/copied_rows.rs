//! Converts rows for DataFusion's writers of CSV, JSON and Arrow (`COPY .. TO`).
//!
//! QUIRK: DataFusion distributes rows to folders by the values of their keys alone, and the value beneath a null is
//! arbitrary: mostly 0. It writes Arrow files with one dictionary for each column, but batches have dictionaries of
//! their own.

use crate::format::without_dictionary;
use datafusion::arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, StringArray};
use datafusion::arrow::datatypes::{DataType, Float16Type, Float32Type, Float64Type};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, exec_err, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::dml::CopyTo;
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, LogicalPlanBuilder, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility, cast, lit, when,
};
use marquetry_arrow::dataset::NULL_PARTITION;
use std::sync::Arc;

/// The plan, with `COPY .. TO` naming the folders of null keys as for Parquet files, and with values in place of
/// dictionaries in Arrow files, as `--output` writes them. Null keys that files keep are an error, as in Parquet files;
/// but not in a cluster, which does not know our function that raises it.
pub(crate) fn with_writable_rows(
    plan: LogicalPlan,
    session: &ConfigOptions,
    is_local: bool,
) -> Result<LogicalPlan> {
    let keeps_keys = session.execution.keep_partition_by_columns;
    let writable = |plan: LogicalPlan| match plan {
        LogicalPlan::Copy(copy) => match copy.file_type.get_ext().as_str() {
            "parquet" | "marquetry" => Ok(Transformed::no(LogicalPlan::Copy(copy))),
            _ => with_writable_input(copy, keeps_keys, is_local)
                .map(|copy| Transformed::yes(LogicalPlan::Copy(copy))),
        },
        other => Ok(Transformed::no(other)),
    };
    plan.transform_down(writable).data()
}

fn with_writable_input(mut copy: CopyTo, keeps_keys: bool, is_local: bool) -> Result<CopyTo> {
    let is_arrow = copy.file_type.get_ext() == "arrow";
    let keeps_keys = copy.options.get(KEEPS_KEYS).map_or(keeps_keys, |keeps| keeps.trim() == "true");
    let schema = copy.input.schema().clone();
    let mut is_same = true;
    let columns = schema.iter().map(|(table, field)| {
        let column = Expr::Column(Column::new(table.cloned(), field.name()));
        let values = is_arrow.then(|| as_values(column.clone(), field.data_type())).flatten();
        let may_be_null = field.is_nullable() || without_dictionary(field.data_type()).is_string();
        let is_null_key = copy.partition_by.contains(field.name()) && may_be_null;
        let written = match (is_null_key, keeps_keys) {
            (true, false) => named_key(field.name(), column.clone(), field.data_type(), is_local)?,
            (true, true) if is_local => {
                let key = values.unwrap_or_else(|| column.clone());
                Some(ScalarUDF::from(KeptKey::new(field.name())).call(vec![key]))
            }
            _ => values,
        };
        is_same &= written.is_none();
        Ok(match written {
            Some(written) => written.alias_qualified(table.cloned(), field.name()),
            None => column,
        })
    });
    let columns = columns.collect::<Result<Vec<Expr>>>()?;
    if !is_same {
        let input = LogicalPlanBuilder::from(copy.input.clone()).project(columns)?.build()?;
        copy.input = Arc::new(input);
    }
    Ok(copy)
}

/// A key as the text that names its folder; `None` for types that name no folders. In a cluster, a float that is a
/// whole number ends in `.0`.
fn named_key(name: &str, key: Expr, data_type: &DataType, is_local: bool) -> Result<Option<Expr>> {
    let is_null = key.clone().is_null();
    let text = match without_dictionary(data_type) {
        // Only the day, as DataFusion names it.
        DataType::Date64 => cast(cast(key, DataType::Date32), DataType::Utf8),
        values if values.is_floating() && is_local => {
            let key = as_values(key.clone(), data_type).unwrap_or(key);
            ScalarUDF::from(FloatText::new()).call(vec![key])
        }
        values if values.is_string() && is_local => {
            ScalarUDF::from(NamedText::new(name)).call(vec![cast(key, DataType::Utf8)])
        }
        values if values.is_string() || values.is_integer() || values.is_floating() => {
            cast(key, DataType::Utf8)
        }
        DataType::Boolean | DataType::Date32 => cast(key, DataType::Utf8),
        _ => return Ok(None),
    };
    when(is_null, lit(NULL_PARTITION)).otherwise(text).map(Some)
}

/// A column with values in place of dictionaries; `None` if it has none.
fn as_values(column: Expr, data_type: &DataType) -> Option<Expr> {
    let values = without_dictionary(data_type);
    (values != *data_type).then(|| cast(column, values))
}

const KEEPS_KEYS: &str = "execution.keep_partition_by_columns";

/// The function that fails if a key that files keep is null, as it has no folder then.
#[derive(Debug, PartialEq, Eq, Hash)]
struct KeptKey {
    key: String,
    signature: Signature,
}

impl KeptKey {
    fn new(key: &str) -> Self {
        KeptKey { key: key.to_owned(), signature: Signature::any(1, Volatility::Volatile) }
    }
}

impl ScalarUDFImpl for KeptKey {
    fn name(&self) -> &str {
        "kept_key"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match arguments {
            [key] => Ok(key.clone()),
            _ => plan_err!("a key is one column"),
        }
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let key = arguments.args.into_iter().next();
        let has_null = match &key {
            Some(ColumnarValue::Array(keys)) => keys.logical_null_count() > 0,
            Some(ColumnarValue::Scalar(key)) => key.is_null() && arguments.number_rows > 0,
            None => false,
        };
        match key {
            Some(key) if !has_null => Ok(key),
            _ => exec_err!(
                "the key {} is null in some rows, which has no folder where files keep their keys: \
                 leave those rows out, or set execution.keep_partition_by_columns to false",
                self.key
            ),
        }
    }
}

/// The function that fails if a key is the text that stands for null, as it would be read as null.
#[derive(Debug, PartialEq, Eq, Hash)]
struct NamedText {
    key: String,
    signature: Signature,
}

impl NamedText {
    fn new(key: &str) -> Self {
        NamedText { key: key.to_owned(), signature: Signature::any(1, Volatility::Volatile) }
    }
}

impl ScalarUDFImpl for NamedText {
    fn name(&self) -> &str {
        "named_text"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [keys] = &arguments.args[..] else { return plan_err!("a key is one column") };
        let keys = keys.to_array(arguments.number_rows)?;
        match keys.as_string::<i32>().iter().any(|key| key == Some(NULL_PARTITION)) {
            true => exec_err!(
                "the key {} is the text {NULL_PARTITION} in some rows, which stands for null in the name of a folder",
                self.key
            ),
            false => Ok(ColumnarValue::Array(keys)),
        }
    }
}

/// The function that formats floats as DataFusion does in folder names, which Parquet files therefore have: 1.0 is `1`.
/// A cast gives other text.
#[derive(Debug, PartialEq, Eq, Hash)]
struct FloatText {
    signature: Signature,
}

impl FloatText {
    fn new() -> Self {
        FloatText { signature: Signature::any(1, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for FloatText {
    fn name(&self) -> &str {
        "float_text"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [keys] = &arguments.args[..] else { return plan_err!("a key is one column") };
        let keys = keys.to_array(arguments.number_rows)?;
        let texts = match keys.data_type() {
            DataType::Float16 => texts::<Float16Type>(&keys),
            DataType::Float32 => texts::<Float32Type>(&keys),
            DataType::Float64 => texts::<Float64Type>(&keys),
            other => return plan_err!("a key of floats is wanted, not of {other}"),
        };
        Ok(ColumnarValue::Array(Arc::new(texts)))
    }
}

fn texts<T: ArrowPrimitiveType<Native: ToString>>(keys: &ArrayRef) -> StringArray {
    keys.as_primitive::<T>().iter().map(|key| key.map(|key| key.to_string())).collect()
}
