//! Tables of text.

use crate::output::Output;
use crate::printable::printable;
use comfy_table::{CellAlignment, ContentArrangement, Table as ComfyTable, presets};
use std::io::{self, IsTerminal};
use unicode_width::UnicodeWidthChar;

/// A table in the making.
pub(crate) struct Table {
    inner: ComfyTable,
    /// What is in front of each line.
    indent: &'static str,
}

impl Table {
    /// A table with these headings; columns whose heading begins with `>` stand at the right.
    pub(crate) fn new<S: AsRef<str>>(headings: &[S]) -> Self {
        let names: Vec<&str> =
            headings.iter().map(|heading| heading.as_ref().trim_start_matches('>')).collect();
        let mut table = Table::plain(&names);
        let right = headings.iter().enumerate().filter(|(_, heading)| heading.as_ref().starts_with('>'));
        table.align_right(right.map(|(column, _)| column));
        table
    }

    /// A table with these headings; all columns stand at the left.
    pub(crate) fn plain(headings: &[&str]) -> Self {
        let mut inner = ComfyTable::new();
        inner.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        inner.set_header(headings);
        inner.column_iter_mut().for_each(|column| {
            column.set_padding((0, 2));
        });
        Table { inner, indent: "" }
    }

    /// With lines around the cells, as rows are shown.
    pub(crate) fn with_lines(mut self) -> Self {
        self.inner.load_style(presets::UTF8_FULL_CONDENSED);
        self.inner.column_iter_mut().for_each(|column| {
            column.set_padding((1, 1));
        });
        self
    }

    /// Under a heading.
    pub(crate) fn indented(mut self) -> Self {
        self.indent = "  ";
        self
    }

    /// Columns that stand at the right.
    pub(crate) fn align_right(&mut self, columns: impl Iterator<Item = usize>) {
        for column in columns {
            if let Some(column) = self.inner.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.inner.add_row(cells.into_iter().map(|cell| printable(&cell)));
    }

    /// Writes the table.
    pub(crate) fn print(&self, output: &mut Output) -> io::Result<()> {
        for line in self.inner.lines() {
            output.line(format!("{}{}", self.indent, line.trim_end()))?;
        }
        Ok(())
    }
}

/// A part of the whole as percent.
pub(crate) fn percent(share: Option<f64>) -> String {
    share.map(|share| format!("{:.1}%", share * 100.0)).unwrap_or_default()
}

/// The text cut to `width` columns of a terminal, with an ellipsis if something is missing.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    if text_width(text, width + 1) <= width {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= width
    };
    let mut short: String = text.chars().take_while(fits).collect();
    short.push('…');
    short
}

/// How many columns of a terminal the text takes, counted up to `most`.
pub(crate) fn text_width(text: &str, most: usize) -> usize {
    let mut width = 0;
    for c in text.chars() {
        width += c.width().unwrap_or(0);
        if width >= most {
            break;
        }
    }
    width
}

/// How wide the terminal is that standard output goes to; `None` if it goes elsewhere.
pub(crate) fn terminal_width() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}
