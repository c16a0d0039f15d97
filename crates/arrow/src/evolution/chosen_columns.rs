//! Columns of a file, and paths into VARIANT, in the order of their names.

use super::batch_adapter::{ArrayCast, BatchAdapter, ColumnSource};
use super::path_column::PathColumn;
use arrow_schema::Schema as ArrowSchema;
use marquetry_base::{Error, Result};
use marquetry_core::nesting::NestedField;
use marquetry_core::schema::Schema;
use std::sync::Arc;

/// The columns and paths to read, in the order of their names.
#[derive(Debug, Clone)]
pub(crate) struct ChosenColumns {
    chosen: Vec<Chosen>,
    /// The leaves that names of columns choose.
    plain: Vec<bool>,
}

#[derive(Debug, Clone)]
enum Chosen {
    Column(String),
    Path(Arc<PathColumn>),
}

impl ChosenColumns {
    /// Creates the choice. `paths` has an entry for each name that is a path, and `plain` says which leaves the other names choose.
    pub(crate) fn new(names: &[String], paths: Vec<Option<PathColumn>>, plain: Vec<bool>) -> Self {
        let chosen = names.iter().zip(paths).map(|(name, path)| match path {
            Some(path) => Chosen::Path(Arc::new(path)),
            None => Chosen::Column(name.clone()),
        });
        ChosenColumns { chosen: chosen.collect(), plain }
    }

    /// Returns an adapter from batches of `fields`, which are read as `arrow`, to these columns in the order of the
    /// names. A field of the root is placed at the first name of any of its columns.
    ///
    /// Fails if only some columns of a VARIANT are read besides paths into it.
    pub(crate) fn adapter(
        &self,
        schema: &Schema,
        fields: &[NestedField],
        arrow: &ArrowSchema,
    ) -> Result<BatchAdapter> {
        let (mut made, mut parts) = (Vec::new(), Vec::new());
        let mut is_given = vec![false; fields.len()];
        for chosen in &self.chosen {
            match chosen {
                Chosen::Path(path) => {
                    let root = fields.iter().position(|field| path.root() == Some(&*field.name));
                    let root =
                        root.ok_or_else(|| Error::argument("a path into a column that is not read"))?;
                    made.push(path.field.clone());
                    parts.push(ColumnSource::VariantPath(root, path.clone()));
                }
                Chosen::Column(name) => {
                    for (i, field) in
                        fields.iter().enumerate().filter(|(i, _)| !is_given[*i]).collect::<Vec<_>>()
                    {
                        let mut leaves = Vec::new();
                        field.leaves(&mut leaves);
                        let is_named = |leaf: &usize| {
                            let path = schema.column(*leaf).dotted();
                            path.strip_prefix(name.as_str())
                                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                        };
                        if !leaves.iter().any(is_named) {
                            continue;
                        }
                        if !leaves.iter().all(|leaf| self.plain[*leaf]) {
                            let message = "it is read as a whole, or by paths into VARIANT: not some of its columns beside these";
                            return Err(Error::argument(message).in_column(field.name.to_string()));
                        }
                        is_given[i] = true;
                        made.push(arrow.fields()[i].clone());
                        parts.push(ColumnSource::Of(i, ArrayCast::Keep));
                    }
                }
            }
        }
        let schema = ArrowSchema::new_with_metadata(made, arrow.metadata().clone());
        Ok(BatchAdapter { schema: Arc::new(schema), parts })
    }
}
