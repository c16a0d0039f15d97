//! Previews some rows of a file.

use crate::column_list::column_list;
use crate::convert::{TimesAs, plain_columns};
use crate::keys;
use crate::memory::batch_limits;
use crate::printable::printable;
use crate::text_table::shortened;
use arrow_array::{RecordBatch, RecordBatchReader};
use marquetry::OpenFile;
use marquetry::errors::{Error, Result};
use marquetry::file::Source;
use marquetry_text::format::column::Column;
use marquetry_text::format::scalar::INT96_MARK;
use serde_json::{Value, json};
use std::ops::Range;
use std::sync::Arc;

/// A file whose rows are previewed.
pub(super) struct RowPreview {
    file: OpenFile,
}

impl RowPreview {
    /// Reads the footer.
    pub(super) fn open(source: Arc<dyn Source>) -> Result<Self> {
        Ok(RowPreview { file: OpenFile::new(source, keys::reader_options())? })
    }

    pub(super) fn num_rows(&self) -> u64 {
        self.file.metadata().num_rows()
    }

    /// Reads rows, with the given columns, or the first ones: `{columns: [{name, type, number}], hidden, rows: [[text
    /// or null]]}`. Long values are cut.
    pub(super) fn read(self, rows: &Range<u64>, columns: Option<&str>) -> Result<Value> {
        let file = plain_columns(self.file, TimesAs::Text)?;
        let all = file.schema()?;
        let names: Vec<String> = match columns {
            Some(columns) => columns_of(columns)?,
            None => all.fields().iter().take(MOST_COLUMNS).map(|field| field.name().clone()).collect(),
        };
        let hidden = if columns.is_none() { all.fields().len() - names.len() } else { 0 };
        // If all columns are shown, names need not be unique.
        let file = if columns.is_none() && hidden == 0 { file } else { file.columns(names) };
        let count = usize::try_from(rows.end - rows.start).unwrap_or(usize::MAX).max(1);
        let first = usize::try_from(rows.start).unwrap_or(usize::MAX);
        let limits = batch_limits().with_batch_bytes(MOST_BYTES);
        let mut reader = file.limits(limits).offset(first).limit(count).batch_size(count).batches()?;
        let schema = reader.schema();
        let fields = schema.fields().iter().map(|field| {
            let data_type = field.data_type();
            let type_name = match field.metadata().contains_key(INT96_MARK) {
                true => "INT96".to_owned(),
                false => data_type.to_string(),
            };
            json!({"name": printable(field.name()), "type": type_name, "number": data_type.is_numeric()})
        });
        let fields: Vec<_> = fields.collect();
        let mut cells = Vec::new();
        while let Some(batch) = reader.next_batch() {
            add_rows(&batch?, &mut cells)?;
        }
        Ok(json!({"columns": fields, "hidden": hidden, "rows": cells}))
    }
}

/// The columns of a list, as in `--columns`; blanks around names are dropped.
fn columns_of(list: &str) -> Result<Vec<String>> {
    let columns = column_list(list).map_err(Error::argument)?;
    Ok(columns.0.iter().map(|name| name.trim().to_owned()).collect())
}

fn add_rows(batch: &RecordBatch, cells: &mut Vec<Value>) -> Result<()> {
    let columns = Column::of_batch(batch)?;
    for row in 0..batch.num_rows() {
        let cell = |column: &Column<'_>| {
            let mut text = String::new();
            column.write_start(row, &mut text);
            Value::String(shortened(&printable(&text), LONGEST))
        };
        let row = columns.iter().map(|column| if column.is_null(row) { Value::Null } else { cell(column) });
        cells.push(row.collect());
    }
    Ok(())
}

/// Maximum number of columns if none are chosen.
const MOST_COLUMNS: usize = 100;
/// Maximum number of characters of a value.
const LONGEST: usize = 200;
/// Maximum bytes of the rows of one request.
const MOST_BYTES: usize = 256 << 20;
