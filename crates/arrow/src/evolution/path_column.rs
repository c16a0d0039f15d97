//! A column that is a path into a VARIANT.

use crate::variant::{PathPlan, PathTarget, VariantPath, path_array};
use arrow_array::ArrayRef;
use arrow_schema::FieldRef;
use marquetry_base::Result;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::predicate::names_column;
use marquetry_variant::Step;
use std::sync::Arc;

/// A path into a VARIANT that is read as a column.
#[derive(Debug)]
pub(crate) struct PathColumn {
    /// The names from the root to the VARIANT.
    column: Vec<String>,
    steps: Vec<Step>,
    target: PathTarget,
    pub(super) field: FieldRef,
    leaves: Vec<usize>,
}

impl PathColumn {
    /// Parses the column of this name; `None` if it is not a path, or the name of a column of the file.
    pub(crate) fn of(metadata: &ParquetMetaData, name: &str) -> Result<Option<Self>> {
        if !name.contains(':') || names_column(metadata.schema(), name) {
            return Ok(None);
        }
        let path: VariantPath = name.parse()?;
        let PathPlan { column, leaves, .. } = PathPlan::new(metadata, path.column(), path.path().steps())?;
        let target = PathTarget::Cast(path.cast());
        let field = Arc::new(target.field(name, path.is_list()));
        Ok(Some(PathColumn { column, steps: path.path().steps().to_vec(), target, field, leaves }))
    }

    /// Returns the name of the root field that is or contains the VARIANT.
    pub(super) fn root(&self) -> Option<&str> {
        self.column.first().map(String::as_str)
    }

    /// Returns the columns of the file that it needs.
    pub(crate) fn leaves(&self) -> &[usize] {
        &self.leaves
    }

    /// Extracts its array from that of the root field.
    pub(super) fn array(&self, root: &ArrayRef) -> Result<ArrayRef> {
        path_array(root, &self.column, &self.steps, self.target)
            .map_err(|error| error.in_column(self.field.name().clone()))
    }
}
