//! Draws a screen into a buffer of terminal cells.

use crate::list_state::ListState;
use crate::screen::Screen;
use crate::text::{cut, lines, width};
use marquetry_inspect::ShownBytes;
use ratatui_core::buffer::Buffer;
use ratatui_core::style::{Color, Modifier, Style};

/// What is drawn around a list.
pub(crate) struct Frame<'a> {
    pub(crate) name: &'a str,
    pub(crate) size: u64,
    pub(crate) path: &'a [String],
    pub(crate) message: &'a str,
    pub(crate) is_help: bool,
    pub(crate) colour: bool,
}

/// Where the list was drawn.
#[derive(Debug, Default)]
pub(crate) struct Drawn {
    /// The line of its first row.
    pub(crate) top: u16,
    /// Number of lines for rows.
    pub(crate) height: u16,
    /// Number of columns besides the first, as far as they were seen.
    pub(crate) columns: usize,
}

impl Frame<'_> {
    pub(crate) fn draw(&self, screen: &mut dyn Screen, state: &mut ListState, buffer: &mut Buffer) -> Drawn {
        let (wide, high) = (buffer.area.width, buffer.area.height);
        if self.is_help {
            for (y, line) in (0..high).zip(HELP.lines()) {
                put(buffer, 0, y, &cut(line, wide.into()), Style::new());
            }
            return Drawn::default();
        }
        // Title, path, headings; prompt, keys; and the explanation of a row, if there is room for it.
        let about_lines = if high >= 16 { 3 } else { u16::from(high >= 10) };
        let (top, below) = (3.min(high), about_lines + 2);
        let height = high.saturating_sub(top + below);
        let title = format!(" {}  {} ", crate::text::shown(self.name), ShownBytes(self.size));
        fill(buffer, 0, Style::new().add_modifier(Modifier::REVERSED));
        put(buffer, 0, 0, &cut(&title, wide.into()), Style::new().add_modifier(Modifier::REVERSED));
        let drawn = self.list(screen, state, buffer, top, height);
        self.place(screen, state, buffer, height);
        if let Some(row) = state.row_at(state.chosen).filter(|row| *row < screen.len().0) {
            let about = lines(&screen.about(row), usize::from(wide.max(1)));
            for (line, y) in about.iter().zip(top + height..top + height + about_lines) {
                put(buffer, 0, y, &cut(line, wide.into()), self.tinted(Color::Blue));
            }
        }
        if high > 1 {
            let keys = screen.keys();
            let keys = format!("{keys}{}{KEYS}", if keys.is_empty() { "" } else { "  " });
            put(buffer, 0, high - 1, &cut(&keys, wide.into()), Style::new().add_modifier(Modifier::DIM));
        }
        if high > 2 {
            put(
                buffer,
                0,
                high - 2,
                &cut(self.message, wide.into()),
                Style::new().add_modifier(Modifier::BOLD),
            );
        }
        drawn
    }

    /// Draws the path of the screen, and the range of visible rows.
    fn place(&self, screen: &dyn Screen, state: &ListState, buffer: &mut Buffer, height: u16) {
        if buffer.area.height < 2 {
            return;
        }
        let (len, is_all) = screen.len();
        let len = state.filter.as_ref().map_or(len, Vec::len);
        let last = (state.first + usize::from(height)).min(len);
        let more = if is_all || state.filter.is_some() { "" } else { "+" };
        let filter = if state.filter.is_some() { "filtered " } else { "" };
        let seen = format!("{filter}{}-{last}/{len}{more}", (state.first + 1).min(len));
        let wide = usize::from(buffer.area.width);
        let room = wide.saturating_sub(width(&seen) + 1);
        let path = self.path.join(" > ");
        // The end of a path that is too long is the part that matters.
        let mut shown = path.as_str();
        while width(shown) > room && !shown.is_empty() {
            shown = &shown[shown.chars().next().map_or(0, char::len_utf8)..];
        }
        put(buffer, 0, 1, shown, Style::new().add_modifier(Modifier::BOLD));
        if wide > width(&seen) {
            put(buffer, (wide - width(&seen)) as u16, 1, &seen, Style::new());
        }
    }

    fn list(
        &self,
        screen: &mut dyn Screen,
        state: &mut ListState,
        buffer: &mut Buffer,
        top: u16,
        height: u16,
    ) -> Drawn {
        let len = |screen: &dyn Screen, state: &ListState| {
            state.filter.as_ref().map_or_else(|| screen.len().0, Vec::len)
        };
        state.keep_in(len(screen, state), height.into());
        if state.filter.is_none() {
            let end = state.first.saturating_add(usize::from(height)).saturating_sub(1);
            screen.look_at(end.max(state.chosen), state.left);
            state.keep_in(len(screen, state), height.into());
        }
        let end = state.first.saturating_add(height.into()).min(len(screen, state));
        let mut rows: Vec<Vec<String>> =
            (state.first..end).filter_map(|place| state.row_at(place).map(|row| screen.row(row))).collect();
        let mut heads = screen.headings();
        let mut drawn = Drawn { top, height, columns: heads.len() };
        if screen.leaves_out_columns() {
            drawn.columns = usize::MAX;
        } else {
            // The first column names the row, and stays.
            for cells in rows.iter_mut().chain([&mut heads]) {
                let gone = 1..state.left.saturating_add(1).min(cells.len()).max(1);
                cells.drain(gone);
            }
        }
        let widths = self.widths(&heads, &rows, buffer.area.width.into());
        let line = |cells: &[String]| {
            let mut out = String::new();
            for (i, cell) in cells.iter().enumerate() {
                let is_last = i + 1 == cells.len();
                let room = widths.get(i).copied().unwrap_or(0);
                // A last cell of a row with fewer cells is a message: it gets all the room that is left.
                let room = if is_last { usize::from(buffer.area.width) } else { room };
                let (cell, is_number) = match heads.get(i).is_some_and(|head| head.starts_with('>')) {
                    true => (cell.strip_prefix('>').unwrap_or(cell), true),
                    false => (cell.as_str(), false),
                };
                let cell = cut(cell, room);
                let pad = widths.get(i).copied().unwrap_or(0).saturating_sub(width(&cell));
                let pad = " ".repeat(pad);
                match is_number {
                    true => out.extend([pad.as_str(), &cell]),
                    false => out.extend([cell.as_str(), if is_last { "" } else { &pad }]),
                }
                out.push_str(if is_last { "" } else { "  " });
            }
            cut(&out, buffer.area.width.saturating_sub(2).into())
        };
        let (head, texts) = (line(&heads), rows.iter().map(|row| line(row)).collect::<Vec<_>>());
        if top > 2 {
            put(buffer, 2, 2, &head, self.tinted(Color::Yellow).add_modifier(Modifier::BOLD));
        }
        for (i, (text, cells)) in texts.iter().zip(&rows).enumerate() {
            let y = top + i as u16;
            let place = state.first + i;
            let is_bad = cells.iter().any(|cell| cell.starts_with('!'));
            let style = if is_bad { self.tinted(Color::Red) } else { Style::new() };
            put(buffer, 2, y, text, style);
            let can_enter = state.row_at(place).is_some_and(|row| screen.can_enter(row));
            if place == state.chosen {
                put(buffer, 0, y, if can_enter { "▶" } else { "•" }, style);
                fill(buffer, y, Style::new().add_modifier(Modifier::REVERSED));
            }
        }
        drawn
    }

    /// The widths of the cells, each limited to a share of the screen.
    fn widths(&self, heads: &[String], rows: &[Vec<String>], wide: usize) -> Vec<usize> {
        let most = (wide * 2 / 3).max(12);
        let of = |i: usize| {
            let cells = rows.iter().filter(|row| i + 1 < row.len() || row.len() == heads.len());
            let cells = cells.filter_map(|row| row.get(i)).map(|cell| width(cell));
            cells.chain([width(heads[i].trim_start_matches('>'))]).max().unwrap_or(0).min(most)
        };
        (0..heads.len()).map(of).collect()
    }

    fn tinted(&self, color: Color) -> Style {
        if self.colour { Style::new().fg(color) } else { Style::new() }
    }
}

/// Writes text on a line, cut to the available width.
fn put(buffer: &mut Buffer, x: u16, y: u16, text: &str, style: Style) {
    if x < buffer.area.width && y < buffer.area.height {
        buffer.set_stringn(x, y, text, usize::from(buffer.area.width - x), style);
    }
}

fn fill(buffer: &mut Buffer, y: u16, style: Style) {
    if y < buffer.area.height {
        let mut line = buffer.area;
        (line.y, line.height) = (y, 1);
        buffer.set_style(line, style);
    }
}

/// The lines of a buffer without trailing spaces.
pub(crate) fn text_of(buffer: &Buffer) -> String {
    let mut out = String::new();
    for y in 0..buffer.area.height {
        let mut line = String::new();
        let mut covered = 0;
        for x in 0..buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            // The second half of a wide character is not a cell of its own.
            if covered == 0 {
                line.push_str(symbol);
                covered = width(symbol).saturating_sub(1);
            } else {
                covered -= 1;
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

const KEYS: &str = "Enter Esc  / search  f filter  : go to  x bytes  y copy  ? help  q quit";

const HELP: &str = "\
Move      up down, j k; PageUp PageDown, Ctrl-b Ctrl-f; Ctrl-u Ctrl-d; g G
          left right, h l: other columns of a wide table
Go        Enter: what is below the row, where ▶ is; Esc, Backspace: back
          o: the file as a whole; q, Ctrl-C: end
Find      /: text below; n N: the next, the one before
          f: only rows with a text; of rows of the file, a condition as SQL
             has it after WHERE; Esc shows all again
          : 12  row 12 of this list   : r 12  row 12 of the file
          : @12  byte 12 of the file
Look      x: the bytes where this is in the file
          v: the values of a page
          s: columns, largest first
          c e: fold and open the tree of the schema
Copy      y: the row to the clipboard, if the terminal lets it (OSC 52)
Mouse     wheel; click chooses, another click enters; a click on the
          second line goes back; with Shift the terminal selects text
          as ever

Below the list stands what the row means, and which part of the format's
specification says so: github.com/apache/parquet-format

Any key goes on.";
