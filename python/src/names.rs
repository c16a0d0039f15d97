//! Names that cannot cross Arrow's C data interface, where a name ends at its first NUL.

use crate::errors::to_python;
use arrow_schema::{DataType, Field, FieldRef, Schema};
use marquetry::errors::Error;
use pyo3::prelude::*;

/// Fails if a name in `schema` contains a NUL.
pub(crate) fn check_names(py: Python<'_>, schema: &Schema) -> PyResult<()> {
    let fields = schema.fields().iter();
    match fields.into_iter().find(|field| has_nul(field)) {
        None => Ok(()),
        Some(field) => {
            let text = "names with a NUL character cannot be handed over to Python's Arrow libraries: read the other columns";
            Err(to_python(py, &Error::unsupported(text).in_column(field.name().replace('\0', "\\0"))))
        }
    }
}

/// Whether the name of a field, or of one within, contains a NUL.
fn has_nul(field: &Field) -> bool {
    field.name().contains('\0') || children(field.data_type()).iter().any(|child| has_nul(child))
}

fn children(data_type: &DataType) -> Vec<&FieldRef> {
    match data_type {
        DataType::Struct(fields) => fields.iter().collect(),
        DataType::List(child)
        | DataType::LargeList(child)
        | DataType::ListView(child)
        | DataType::LargeListView(child)
        | DataType::FixedSizeList(child, _)
        | DataType::Map(child, _) => vec![child],
        _ => Vec::new(),
    }
}
