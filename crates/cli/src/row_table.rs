//! Prints rows as a table of text.

use crate::output::Output;
use crate::printable::printable;
use crate::text_table::{shortened, terminal_width, text_width};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use marquetry::errors::Error;
use marquetry_text::format::column::Column;
use std::io;

/// Rows that are shown together.
pub(crate) struct RowTable {
    names: Vec<String>,
    /// Numbers are right-aligned.
    is_number: Vec<bool>,
    rows: Vec<Vec<String>>,
    /// Whether values are shortened and columns left out.
    fit: bool,
}

impl RowTable {
    /// Creates an empty table. With `full` nothing is shortened or left out.
    pub(crate) fn new(schema: &Schema, full: bool) -> Self {
        RowTable {
            names: schema.fields().iter().map(|field| printable(field.name())).collect(),
            is_number: schema.fields().iter().map(|field| is_number(field.data_type())).collect(),
            rows: Vec::new(),
            fit: !full,
        }
    }

    /// Adds the rows of a batch.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let columns = Column::of_batch(batch)?;
        for row in 0..batch.num_rows() {
            let cells = columns.iter().map(|column| {
                let mut cell = String::new();
                if column.is_null(row) {
                    cell.push_str("null");
                } else if self.fit {
                    column.write_start(row, &mut cell);
                } else {
                    column.write_cell(row, &mut cell);
                }
                if self.fit { shortened(&printable(&cell), WIDEST) } else { cell }
            });
            let cells = cells.collect();
            self.rows.push(cells);
        }
        Ok(())
    }

    /// Writes the table, and clears the rows.
    pub(crate) fn print(&mut self, output: &mut Output) -> io::Result<()> {
        let (columns, widest) = match terminal_width() {
            Some(width) if self.fit => self.fitting(width),
            _ => (self.names.len(), usize::MAX),
        };
        let most = if widest < NARROWEST { widest } else { WIDEST };
        let name = |name: &String| if self.fit { shortened(name, most) } else { name.clone() };
        let mut names: Vec<String> = self.names[..columns].iter().map(name).collect();
        let hidden = self.names.len() - columns;
        if hidden > 0 {
            names.push("…".to_owned());
        }
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(&names);
        for column in (0..columns).filter(|column| self.is_number[*column]) {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        for mut row in self.rows.drain(..) {
            row.truncate(columns);
            row.iter_mut().filter(|_| widest < WIDEST).for_each(|cell| *cell = shortened(cell, widest));
            row.extend((hidden > 0).then(|| "…".to_owned()));
            table.add_row(row.iter().map(|cell| printable(cell)));
        }
        for line in table.lines() {
            output.line(line.trim_end())?;
        }
        if hidden > 0 {
            let columns = if hidden == 1 { "column" } else { "columns" };
            output.line(format!(
                "and {hidden} more {columns}: choose with --columns, or show all with --full"
            ))?;
        }
        Ok(())
    }

    /// The number of columns that are shown, and the maximum width of their values: narrower if all columns then fit.
    fn fitting(&self, width: usize) -> (usize, usize) {
        let fits_all = |widest: &usize| self.columns_within(width, *widest) == self.names.len();
        let widest = [WIDEST, 40, 30, NARROWEST].into_iter().find(fits_all).unwrap_or(NARROWEST);
        match self.columns_within(width, widest) {
            // Not even the first one fits.
            0 => {
                let hidden = if self.names.len() > 1 { 1 + PADDING } else { 0 };
                (1.min(self.names.len()), width.saturating_sub(1 + PADDING + hidden).clamp(1, NARROWEST - 1))
            }
            columns => (columns, widest),
        }
    }

    /// The number of columns that fit side by side.
    fn columns_within(&self, width: usize, most: usize) -> usize {
        let mut used = 1;
        let mut fitting = 0;
        for (column, name) in self.names.iter().enumerate() {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let widest = cells.map(|cell| text_width(cell, most)).max().unwrap_or(0);
            used += widest.max(text_width(name, WIDEST)) + PADDING;
            // The last column needs no room for the mark of hidden ones.
            let reserve = if column + 1 < self.names.len() { 1 + PADDING } else { 0 };
            if used + reserve > width {
                break;
            }
            fitting = column + 1;
        }
        fitting
    }
}

fn is_number(data_type: &DataType) -> bool {
    data_type.is_numeric()
}

/// Longer values and names are shortened.
const WIDEST: usize = 60;
/// Rather than shortening values further, hides columns.
const NARROWEST: usize = 24;
/// Two spaces and a line for each column.
const PADDING: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn table(names: &[&str], cell: &str) -> RowTable {
        let rows = vec![vec![cell.to_owned(); names.len()]];
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        RowTable { is_number: vec![false; names.len()], names, rows, fit: true }
    }

    #[test]
    fn long_names_are_shortened_before_columns_are_left_out() {
        let long = "x".repeat(300);
        assert_eq!(table(&[&long, "b"], "1").fitting(80), (2, WIDEST));
        assert_eq!(table(&["a", &long, "b"], "1").fitting(80), (3, WIDEST));
        // All of a name is shown as far as values would be.
        assert_eq!(table(&["x".repeat(50).as_str(), "b"], "1").fitting(60), (2, WIDEST));
        // One column that is wider than the terminal, with the mark of others and without.
        assert_eq!(table(&[&long, "b"], "1").fitting(40), (1, NARROWEST - 1));
        assert_eq!(table(&[&long, "b"], "1").fitting(20), (1, 12));
        assert_eq!(table(&["a"], &"long ".repeat(9)).fitting(20), (1, 16));
        assert_eq!(table(&[], "").fitting(20), (0, 16));
        assert_eq!(table(&["a", "b"], "1").fitting(2), (1, 1));
    }
}
