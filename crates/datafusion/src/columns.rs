//! Finds the columns of a file that expressions need, down to the fields of structs.

use arrow_schema::{DataType, Schema};
use datafusion::common::ScalarValue;
use datafusion::physical_expr::expressions::{Column, Literal};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The dotted paths that expressions read of a file, in the order of the schema.
pub(crate) fn needed_paths<'a>(
    exprs: impl IntoIterator<Item = &'a Arc<dyn PhysicalExpr>>,
    schema: &Schema,
) -> Vec<String> {
    let mut needed = BTreeMap::new();
    exprs.into_iter().for_each(|expr| collect(expr, schema, &mut needed));
    let mut paths = Vec::new();
    for (index, mut fields) in needed {
        let root = schema.field(index).name();
        fields.sort();
        // A path below another one is read with it, and sorts right behind it.
        let mut last: Option<Vec<String>> = None;
        for field in fields {
            if last.as_ref().is_some_and(|last| field.starts_with(last)) {
                continue;
            }
            let names = std::iter::once(root.as_str()).chain(field.iter().map(String::as_str));
            paths.push(names.collect::<Vec<_>>().join("."));
            last = Some(field);
        }
    }
    paths
}

/// Adds, for each column, the paths below it that an expression needs; an empty path is all of it.
fn collect(expr: &Arc<dyn PhysicalExpr>, schema: &Schema, needed: &mut BTreeMap<usize, Vec<Vec<String>>>) {
    match field_path(expr, schema) {
        Some((index, path, _)) => needed.entry(index).or_default().push(path),
        None => expr.children().into_iter().for_each(|child| collect(child, schema, needed)),
    }
}

/// The column, and the path of fields below it, if that is all that the expression takes.
fn field_path<'a>(
    expr: &Arc<dyn PhysicalExpr>,
    schema: &'a Schema,
) -> Option<(usize, Vec<String>, &'a DataType)> {
    if let Some(column) = expr.downcast_ref::<Column>() {
        return Some((column.index(), Vec::new(), schema.fields().get(column.index())?.data_type()));
    }
    let function =
        expr.downcast_ref::<ScalarFunctionExpr>().filter(|function| function.name() == "get_field")?;
    let (of, names) = function.args().split_first()?;
    let (index, mut path, mut data_type) = field_path(of, schema)?;
    for name in names {
        let DataType::Struct(fields) = data_type else { return None };
        let name = match name.downcast_ref::<Literal>()?.value() {
            ScalarValue::Utf8(Some(name))
            | ScalarValue::Utf8View(Some(name))
            | ScalarValue::LargeUtf8(Some(name)) => name,
            _ => return None,
        };
        data_type = fields.find(name)?.1.data_type();
        path.push(name.clone());
    }
    Some((index, path, data_type))
}
