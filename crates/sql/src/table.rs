//! Rows as a table of text, as wide as the terminal.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::Result;
use marquetry_base::steers_terminal;

/// The rows below the names of their columns; numbers stand at the right.
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
        let columns = batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            let cells = columns.iter().map(|column| column.value(row).try_to_string());
            let cells = cells.collect::<Result<Vec<_>, _>>()?;
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

/// Text that steers no terminal: characters that would are written as `\u{1b}`. Lines and tabs stay.
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
