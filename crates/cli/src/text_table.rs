//! Lays out tables of text.

use crate::output::Output;
use crate::printable::printable;
use std::io::{self, IsTerminal};
use std::mem::take;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A table that is being filled: cells side by side, without lines around them.
pub(crate) struct TextTable {
    columns: Vec<Column>,
    /// Rows that were not written yet, and their number of bytes.
    rows: Vec<Vec<String>>,
    bytes: usize,
    /// Text in front of each line.
    indent: &'static str,
    /// Whether the headings were written.
    has_begun: bool,
    /// Maximum width of lines.
    most: Option<usize>,
}

/// A column of a table.
struct Column {
    heading: String,
    is_right: bool,
    /// Width of the widest cell so far.
    width: usize,
}

impl TextTable {
    /// A table with these headings; columns whose heading begins with `>` are right-aligned.
    pub(crate) fn new<S: AsRef<str>>(headings: &[S]) -> Self {
        let column = |heading: &S| {
            let name = heading.as_ref().trim_start_matches('>');
            let is_right = heading.as_ref().starts_with('>');
            Column { heading: name.to_owned(), is_right, width: name.width() }
        };
        let columns = headings.iter().map(column).collect();
        TextTable { columns, rows: Vec::new(), bytes: 0, indent: "", has_begun: false, most: None }
    }

    /// Indents the table, as below a heading.
    pub(crate) fn indented(mut self) -> Self {
        self.indent = "  ";
        self
    }

    /// Fits the table to the terminal, if there is one: text is shortened, numbers are not. Columns that do not fit
    /// even then stand below the others, with the first column repeated.
    pub(crate) fn fitted(mut self) -> Self {
        self.most = terminal_width();
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

    /// Adds a row of a table that may be long: rows are written once many are held. Wider cells in later rows stand
    /// further to the right than those of earlier rows.
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

    /// Writes the table, or the rest of it.
    pub(crate) fn print(mut self, output: &mut Output) -> io::Result<()> {
        self.write_held(output)
    }

    fn write_held(&mut self, output: &mut Output) -> io::Result<()> {
        self.bytes = 0;
        let rows = take(&mut self.rows);
        let parts = self.layout();
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        for (part, widest) in &parts {
            if is_first || parts.len() > 1 {
                let headings: Vec<&str> = self.columns.iter().map(|column| column.heading.as_str()).collect();
                output.line(self.line(&headings, part, *widest))?;
            }
            rows.iter().try_for_each(|row| output.line(self.line(row, part, *widest)))?;
        }
        Ok(())
    }

    /// The groups of columns that stand side by side, and the maximum width of text in each.
    fn layout(&self) -> Vec<(Vec<usize>, usize)> {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let Some(most) = self.most else { return vec![(all, usize::MAX)] };
        let fits = |columns: &[usize], widest: usize| self.line_width(columns, widest) <= most;
        // As wide as fits, and at least `least`.
        let widest = |columns: &[usize], least: usize| {
            let mut widths = std::iter::once(usize::MAX).chain((least..=most).rev());
            widths.find(|widest| fits(columns, *widest))
        };
        if let Some(widest) = widest(&all, NARROWEST) {
            return vec![(all, widest)];
        }
        let (mut parts, mut part) = (Vec::new(), vec![0]);
        for column in 1..self.columns.len() {
            part.push(column);
            if part.len() > 2 && !fits(&part, NARROW) {
                part.pop();
                parts.push(std::mem::replace(&mut part, vec![0, column]));
            }
        }
        parts.push(part);
        let with_width = |part: Vec<usize>| {
            let widest = widest(&part, NARROW).unwrap_or(NARROW);
            (part, widest)
        };
        parts.into_iter().map(with_width).collect()
    }

    fn line_width(&self, columns: &[usize], widest: usize) -> usize {
        let cells: usize = columns.iter().map(|column| self.columns[*column].shown_width(widest)).sum();
        self.indent.len() + cells + GAP * columns.len().saturating_sub(1)
    }

    /// A line of the cells of these columns, padded to the columns' widths.
    fn line(&self, cells: &[impl AsRef<str>], columns: &[usize], widest: usize) -> String {
        let mut line = self.indent.to_owned();
        let blanks = |line: &mut String, n: usize| line.extend(std::iter::repeat_n(' ', n));
        for (column, cell) in columns.iter().filter_map(|at| Some((&self.columns[*at], cells.get(*at)?))) {
            let width = column.shown_width(widest);
            let cell = match column.is_right {
                true => cell.as_ref().to_owned(),
                false => shortened(cell.as_ref(), width),
            };
            let missing = width - cell.width();
            blanks(&mut line, if column.is_right { missing } else { 0 });
            line.push_str(&cell);
            blanks(&mut line, if column.is_right { GAP } else { missing + GAP });
        }
        line.truncate(line.trim_end().len());
        line
    }
}

impl Column {
    /// The width of its cells, where text may be at most `widest` wide.
    fn shown_width(&self, widest: usize) -> usize {
        let least = if self.is_right { self.width } else { self.heading.width() };
        self.width.min(widest).max(least)
    }
}

/// Blanks between columns.
const GAP: usize = 2;
/// How much of a long table is held to determine the widths of its columns.
const ROWS_HELD: usize = 1_000;
const BYTES_HELD: usize = 1 << 20;
/// Rather than shortening text further, columns move below each other.
const NARROWEST: usize = 16;
/// Maximum width of text there.
const NARROW: usize = 24;

/// A part of the whole as percent.
pub(crate) fn percent(share: Option<f64>) -> String {
    share.map(|share| format!("{:.1}%", share * 100.0)).unwrap_or_default()
}

/// The text cut to `width` terminal columns, with an ellipsis if something is missing.
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

/// The width of the text in terminal columns, counted up to `most`.
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

/// The width of the terminal of standard output; `None` without one.
pub(crate) fn terminal_width() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a table of two rows.
    fn lines(most: Option<usize>) -> Vec<String> {
        let mut table = TextTable { most, ..TextTable::new(&["name", ">bytes", "kind", ">rows"]) };
        let name = "a.very.long.name.of.a.column.that.is.nested";
        table.row([name, "1234567890", "DICTIONARY_PAGE", "7"].map(str::to_owned));
        table.row(["b", "5", "x", "1234567890123"].map(str::to_owned));
        let headings: Vec<String> = table.columns.iter().map(|column| column.heading.clone()).collect();
        let parts = table.layout();
        let rows: Vec<Vec<String>> = std::iter::once(headings).chain(take(&mut table.rows)).collect();
        parts
            .iter()
            .flat_map(|(part, widest)| rows.iter().map(|row| table.line(row, part, *widest)))
            .collect()
    }

    #[test]
    fn tables_are_as_wide_as_the_terminal() {
        assert_eq!(lines(None).len(), 3);
        assert_eq!(lines(Some(87)), lines(None));
        for (most, rows, longest) in
            [(86, 3, 42), (80, 3, 36), (60, 3, 16), (59, 6, 30), (53, 6, 24), (10, 9, 24)]
        {
            let lines = lines(Some(most));
            assert_eq!(lines.len(), rows, "{most}: {lines:?}");
            assert!(most < 53 || lines.iter().all(|line| line.width() <= most), "{most}: {lines:?}");
            let name = lines[1].split_whitespace().next().unwrap_or_default();
            assert!(name.ends_with('…') && name.width() == longest, "{most}: {lines:?}");
            // No digit is lost.
            let all = lines.concat();
            assert!(all.contains("1234567890123") && all.contains("DICTIONARY_PAGE"), "{most}: {lines:?}");
        }
        assert_eq!(lines(Some(53))[3], format!("{:<38}  {:>13}", "name", "rows"));
    }
}
