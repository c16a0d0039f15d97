//! Lays out tables of text.

use crate::output::Output;
use crate::printable::printable;
use std::io::{self, IsTerminal};
use std::mem::take;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A table in the making: cells side by side, without lines around them.
pub(crate) struct TextTable {
    columns: Vec<Column>,
    /// Rows that were not written yet, and how many bytes they have.
    rows: Vec<Vec<String>>,
    bytes: usize,
    /// What is in front of each line.
    indent: &'static str,
    /// Whether the headings were written.
    has_begun: bool,
}

/// A column of a table.
struct Column {
    heading: String,
    is_right: bool,
    /// Of the widest cell so far.
    width: usize,
}

impl TextTable {
    /// A table with these headings; columns whose heading begins with `>` stand at the right.
    pub(crate) fn new<S: AsRef<str>>(headings: &[S]) -> Self {
        let column = |heading: &S| {
            let name = heading.as_ref().trim_start_matches('>');
            let is_right = heading.as_ref().starts_with('>');
            Column { heading: name.to_owned(), is_right, width: name.width() }
        };
        let columns = headings.iter().map(column).collect();
        TextTable { columns, rows: Vec::new(), bytes: 0, indent: "", has_begun: false }
    }

    /// Under a heading.
    pub(crate) fn indented(mut self) -> Self {
        self.indent = "  ";
        self
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().map(|cell| printable(&cell)).collect();
        for (column, cell) in self.columns.iter_mut().zip(&cells) {
            column.width = column.width.max(cell.width());
            self.bytes += cell.len();
        }
        self.rows.push(cells);
    }

    /// Adds a row of a table that may be long: what is held is written once it is much. Where later rows have wider cells, these
    /// stand further to the right than those of earlier ones.
    pub(crate) fn stream(
        &mut self,
        cells: impl IntoIterator<Item = String>,
        output: &mut Output,
    ) -> io::Result<()> {
        self.row(cells);
        match self.rows.len() < ROWS_HELD && self.bytes < BYTES_HELD {
            true => Ok(()),
            false => self.write_held(output),
        }
    }

    /// Writes the table, or what is left of it.
    pub(crate) fn print(mut self, output: &mut Output) -> io::Result<()> {
        self.write_held(output)
    }

    fn write_held(&mut self, output: &mut Output) -> io::Result<()> {
        if !std::mem::replace(&mut self.has_begun, true) {
            let headings: Vec<&str> = self.columns.iter().map(|column| column.heading.as_str()).collect();
            output.line(self.line(&headings))?;
        }
        self.bytes = 0;
        take(&mut self.rows).iter().try_for_each(|row| output.line(self.line(row)))
    }

    /// Cells on a line, each as wide as its column.
    fn line(&self, cells: &[impl AsRef<str>]) -> String {
        let mut line = self.indent.to_owned();
        let blanks = |line: &mut String, n: usize| line.extend(std::iter::repeat_n(' ', n));
        for (column, cell) in self.columns.iter().zip(cells) {
            let cell = cell.as_ref();
            let missing = column.width - cell.width();
            blanks(&mut line, if column.is_right { missing } else { 0 });
            line.push_str(cell);
            blanks(&mut line, if column.is_right { GAP } else { missing + GAP });
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// Blanks between columns.
const GAP: usize = 2;
/// How much of a long table is held to find how wide its columns are.
const ROWS_HELD: usize = 1_000;
const BYTES_HELD: usize = 1 << 20;

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
