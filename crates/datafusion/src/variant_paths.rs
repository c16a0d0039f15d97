//! Pushes paths into VARIANT down to scans, which read them as columns named by their text, such as `"v":user.id::int64`.
//!
//! Where a path is shredded, only its columns are read. So before a file is read, `variant_get` of a column is replaced
//! by the column of the path.

use crate::column_name::quoted;
use crate::variant_functions::VariantGet;
use crate::variant_storage::is_variant_storage;
use arrow_schema::{DataType, FieldRef, Fields, Schema};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::physical_expr::expressions::{Column, Literal};
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use marquetry_arrow::variant::{VariantPath, variant_get_field};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::predicate::{column_and_path, names_column, names_of};
use std::sync::Arc;

/// A path of a column.
#[derive(Debug, Clone)]
pub(crate) struct PathOfColumn {
    pub(crate) path: VariantPath,
    pub(crate) data_type: DataType,
}

/// The path that an expression takes into a column of `schema`; `None` for other expressions.
pub(crate) fn path_of(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<PathOfColumn> {
    let function = expr.downcast_ref::<ScalarFunctionExpr>()?;
    function.fun().inner().downcast_ref::<VariantGet>()?;
    let (of, rest) = function.args().split_first()?;
    let column = of.downcast_ref::<Column>()?;
    let field = schema.fields().get(column.index()).filter(|field| field.name() == column.name())?;
    if !is_variant_storage(field.data_type()) {
        return None;
    }
    let literals = rest.iter().map(|arg| arg.downcast_ref::<Literal>().map(Literal::value));
    let arguments: Vec<_> = std::iter::once(None).chain(literals).collect();
    let (path, cast) = VariantGet::wanted(&arguments).ok()?;
    // An empty path is the column itself.
    if path.steps().is_empty() {
        return None;
    }
    let data_type = variant_get_field("", &path, cast).data_type().clone();
    Some(PathOfColumn { path: VariantPath::new(quoted(column.name()), path, cast), data_type })
}

/// VARIANT paths that are read as columns, by the text that a reader takes.
#[derive(Debug, Default)]
pub(crate) struct PathColumns {
    fields: Vec<FieldRef>,
    /// The index of the first one, behind the columns of a table.
    first: usize,
}

impl PathColumns {
    /// No paths yet, behind the columns of a table.
    pub(crate) fn behind(schema: &Schema) -> Self {
        PathColumns { fields: Vec::new(), first: schema.fields().len() }
    }

    /// The fields of these columns.
    pub(crate) fn fields(&self) -> Fields {
        self.fields.iter().cloned().collect()
    }

    /// Whether one of them has this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name() == name)
    }

    /// Adds the paths that expressions need to the names of columns that are read.
    pub(crate) fn add_needed<'a>(
        &self,
        exprs: impl IntoIterator<Item = &'a Arc<dyn PhysicalExpr>>,
        names: &mut Vec<String>,
    ) {
        let needed: Vec<Column> = exprs.into_iter().flat_map(collect_columns).collect();
        for field in
            self.fields.iter().filter(|field| needed.iter().any(|column| column.name() == field.name()))
        {
            // Beside a path into it, a VARIANT is read as a whole, or not at all.
            let root =
                column_and_path(field.name()).and_then(|(column, _)| names_of(column).into_iter().next());
            let root = root.unwrap_or_default();
            let before = names.len();
            names.retain(|name| !name.strip_prefix(&root).is_some_and(|rest| rest.starts_with('.')));
            if names.len() < before && !names.contains(&root) {
                names.push(root);
            }
            names.push(field.name().clone());
        }
    }

    /// Replaces paths into VARIANTs of a file by columns. The expression is in terms of `table`.
    pub(crate) fn replace(
        &mut self,
        expr: Arc<dyn PhysicalExpr>,
        table: &Schema,
        file: &ParquetMetaData,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let replaced = expr.transform_down(|expr| {
            let found = path_of(&expr, table).filter(|found| is_in(&found.path, file));
            Ok(match found {
                Some(found) => Transformed::yes(self.column(&found)),
                None => Transformed::no(expr),
            })
        });
        Ok(replaced?.data)
    }

    fn column(&mut self, of: &PathOfColumn) -> Arc<dyn PhysicalExpr> {
        let name = of.path.to_string();
        let at = self.fields.iter().position(|field| *field.name() == name).unwrap_or_else(|| {
            let field = variant_get_field(&name, of.path.path(), of.path.cast());
            self.fields.push(Arc::new(field));
            self.fields.len() - 1
        });
        Arc::new(Column::new(&name, self.first + at))
    }
}

/// Whether a file has the column, and no column that is called like the path.
fn is_in(path: &VariantPath, file: &ParquetMetaData) -> bool {
    path.leaves(file).is_ok() && !names_column(file.schema(), &path.to_string())
}
