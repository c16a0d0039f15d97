//! Prints rows as a table, as wide as the terminal.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, Field, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::{DataFusionError, Result};
use marquetry_base::steers_terminal;
use marquetry_text::format::column::Column;

/// The rows below the names of their columns; numbers are right-aligned.
pub(crate) fn shown(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<Table> {
    let mut table = Table::new();
    table.load_style(presets::ASCII_FULL_CONDENSED);
    if let Some((terminal_size::Width(width), _)) = terminal_size::terminal_size() {
        table.set_width(width);
        table.set_content_arrangement(ContentArrangement::Dynamic);
    }
    table.set_header(schema.fields().iter().map(|field| harmless(field.name())));
    let options = FormatOptions::default().with_null("NULL");
    for batch in batches {
        let columns = batch.columns().iter().zip(schema.fields());
        let columns = columns.map(|(column, field)| Values::new(column, field, &options));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        for row in 0..batch.num_rows() {
            let cells = columns.iter().map(|column| column.cell(row));
            let cells = cells.collect::<Result<Vec<_>>>()?;
            table.add_row(cells.iter().map(|cell| harmless(cell)));
        }
    }
    for (column, field) in table.column_iter_mut().zip(schema.fields()) {
        if field.data_type().is_numeric() {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    Ok(table)
}

/// The values of a column of a batch.
enum Values<'a> {
    /// Formatted by DataFusion.
    Plain(ArrayFormatter<'a>),
    /// Formatted as `marquetry cat` does: DataFusion knows no UUID, geometry or VARIANT.
    Typed(Column<'a>),
}

impl<'a> Values<'a> {
    fn new(array: &'a ArrayRef, field: &'a Field, options: &FormatOptions<'a>) -> Result<Self> {
        Ok(match has_extension_type(field) {
            true => Values::Typed(
                Column::new(array, field).map_err(|error| DataFusionError::External(Box::new(error)))?,
            ),
            false => Values::Plain(ArrayFormatter::try_new(array, options)?),
        })
    }

    fn cell(&self, row: usize) -> Result<String> {
        match self {
            Values::Plain(column) => Ok(column.value(row).try_to_string()?),
            Values::Typed(column) if column.is_null(row) => Ok("NULL".to_owned()),
            Values::Typed(column) => {
                let mut cell = String::new();
                column.write_cell(row, &mut cell);
                Ok(cell)
            }
        }
    }
}

/// Whether a field or one below it has an extension type.
fn has_extension_type(field: &Field) -> bool {
    field.metadata().contains_key("ARROW:extension:name")
        || match field.data_type() {
            DataType::Struct(fields) => fields.iter().any(|field| has_extension_type(field)),
            DataType::List(element)
            | DataType::LargeList(element)
            | DataType::FixedSizeList(element, _)
            | DataType::Map(element, _) => has_extension_type(element),
            _ => false,
        }
}

/// Text that does not steer a terminal: such characters are written as `\u{1b}`. Line breaks and tabs stay.
pub(crate) fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match steers_terminal(c) && !matches!(c, '\n' | '\t') {
            true => out.extend(c.escape_unicode()),
            false => out.push(c),
        }
    }
    out
}
