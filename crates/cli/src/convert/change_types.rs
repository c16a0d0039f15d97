//! Casts columns to the types that were asked for.

use crate::column_list::place_of;
use crate::failure::Failure;
use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use marquetry::errors::Error;
use marquetry_inspect::NewType;
use std::sync::Arc;

/// Parses the argument of `--change-type`.
pub(crate) fn change_type(text: &str) -> Result<(String, NewType), String> {
    // A column's name may contain `=`, the type does not.
    let Some((column, new)) = text.rsplit_once('=').filter(|(column, _)| !column.is_empty()) else {
        return Err("say COLUMN=TYPE".to_owned());
    };
    let new = new.parse::<NewType>().map_err(|error| error.message().to_owned())?;
    Ok((column.to_owned(), new))
}

/// The type changes of columns.
pub(crate) struct TypeChanges {
    /// With the new types.
    pub(crate) schema: SchemaRef,
    changes: Vec<(usize, NewType)>,
}

impl TypeChanges {
    /// Fails if a column does not exist, or several have the name.
    pub(crate) fn new(changes: &[(String, NewType)], schema: &SchemaRef) -> Result<Self, Error> {
        let mut fields = schema.fields().to_vec();
        let mut found = Vec::new();
        for (column, new) in changes {
            let place = place_of(column, schema, "--change-type")?;
            fields[place] = Arc::new(new.field(schema.field(place)));
            found.push((place, *new));
        }
        let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
        Ok(TypeChanges { schema, changes: found })
    }

    /// The batch with the new types.
    ///
    /// Fails if a value could not be converted back unchanged; the error names its column.
    pub(crate) fn apply(&self, batch: RecordBatch) -> Result<RecordBatch, Failure> {
        if self.changes.is_empty() {
            return Ok(batch);
        }
        let mut columns = batch.columns().to_vec();
        for (place, new) in &self.changes {
            let name = self.schema.field(*place).name();
            let failed = |error: Error| Error::argument(format!("column {name}: {}", error.message()));
            columns[*place] = new.convert_exactly(&columns[*place]).map_err(failed)?;
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }
}
