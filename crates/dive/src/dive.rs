//! The explorer: the stack of open screens, and the action of each key.

use crate::draw::{self, Drawn};
use crate::hex::Hex;
use crate::input::{Input, Key};
use crate::list_state::ListState;
use crate::opened_file::OpenedFile;
use crate::overview::Overview;
use crate::prompt::{Prompt, PromptKind, Target};
use crate::rows::Rows;
use crate::screen::Screen;
use ratatui_core::buffer::Buffer;
use std::rc::Rc;

/// The state of the explorer: what is on the screen, and how keys change it. It needs no terminal.
///
/// ```
/// use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
/// use marquetry_base::Limits;
/// use marquetry_core::source::Source;
/// use marquetry_dive::{Dive, Input, Key, OpenedFile};
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// let source: std::sync::Arc<dyn Source> = std::sync::Arc::new(bytes::Bytes::from(std::fs::read(path)?));
/// let opened = ArrowReaderMetadata::load(source.clone(), ArrowReaderOptions::new())?;
/// let mut dive = Dive::new(OpenedFile::new("wines.parquet", source, opened, Limits::default()));
/// dive.input(Input::Key(Key::Enter));
/// assert!(dive.text(80, 24).contains("repetition"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Dive {
    file: Rc<OpenedFile>,
    stack: Vec<(Box<dyn Screen>, ListState)>,
    prompt: Option<Prompt>,
    /// The text of the last search.
    searched: String,
    message: String,
    is_help: bool,
    is_over: bool,
    clipboard: Option<String>,
    drawn: Drawn,
}

impl Dive {
    /// Begins with the overview of the file.
    pub fn new(file: OpenedFile) -> Self {
        let file = Rc::new(file);
        Dive {
            stack: vec![(Box::new(Overview::new(file.clone())), ListState::default())],
            file,
            prompt: None,
            searched: String::new(),
            message: String::new(),
            is_help: false,
            is_over: false,
            clipboard: None,
            drawn: Drawn::default(),
        }
    }

    /// Whether the user asked to end.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The text that was copied since the last call.
    pub fn take_copied(&mut self) -> Option<String> {
        self.clipboard.take()
    }

    /// Draws the screen. Without colour, only bold, faint and reversed text mark its parts.
    pub fn draw(&mut self, buffer: &mut Buffer, colour: bool) {
        let path: Vec<String> = self.stack.iter().map(|(screen, _)| screen.title()).collect();
        let prompt = self.prompt.as_ref().map(|prompt| format!("{}{}_", prompt.kind.label(), prompt.text));
        let frame = draw::Frame {
            name: &self.file.name,
            size: self.file.source.len(),
            path: &path,
            message: prompt.as_deref().unwrap_or(&self.message),
            is_help: self.is_help,
            colour,
        };
        if let Some((screen, state)) = self.stack.last_mut() {
            self.drawn = frame.draw(&mut **screen, state, buffer);
        }
    }

    /// The screen as text, line by line, without trailing spaces.
    pub fn text(&mut self, width: u16, height: u16) -> String {
        let mut buffer = Buffer::empty(ratatui_core::layout::Rect::new(0, 0, width, height));
        self.draw(&mut buffer, false);
        draw::text_of(&buffer)
    }

    /// Handles a key or a mouse event.
    pub fn input(&mut self, input: Input) {
        self.message.clear();
        if self.is_help {
            self.is_help = false;
            if input == Input::Key(Key::Control('c')) {
                self.is_over = true;
            }
            return;
        }
        if self.prompt.is_some() {
            match input {
                Input::Key(key) => self.type_key(key),
                _ => self.prompt = None,
            }
            return;
        }
        match input {
            Input::Key(key) => self.key(key),
            Input::Wheel(lines) => self.walk(i64::from(lines)),
            Input::Click(_, 1) => self.back(),
            Input::Click(_, line) => self.click(line),
        }
    }

    fn click(&mut self, line: u16) {
        let Some(place) = line.checked_sub(self.drawn.top).filter(|place| *place < self.drawn.height) else {
            return;
        };
        let Some((_, state)) = self.stack.last_mut() else { return };
        let place = state.first + usize::from(place);
        match state.chosen == place {
            true => self.enter(),
            false => {
                state.chosen = place;
                self.settle();
            }
        }
    }

    fn key(&mut self, key: Key) {
        let page = i64::from(self.drawn.height.max(2)) - 1;
        match key {
            Key::Char('q') | Key::Control('c') => self.is_over = true,
            Key::Char('?') => self.is_help = true,
            Key::Up | Key::Char('k') => self.walk(-1),
            Key::Down | Key::Char('j') => self.walk(1),
            Key::PageUp | Key::Control('b') => self.walk(-page),
            Key::PageDown | Key::Control('f') | Key::Char(' ') => self.walk(page),
            Key::Control('u') => self.walk(-page / 2),
            Key::Control('d') => self.walk(page / 2),
            Key::Home | Key::Char('g') => self.walk(i64::MIN),
            Key::End | Key::Char('G') => self.walk(i64::MAX),
            Key::Left | Key::Char('h') => self.shift(-1),
            Key::Right | Key::Char('l') => self.shift(1),
            Key::Enter => self.enter(),
            Key::Escape | Key::Backspace => self.back(),
            Key::Char('o') => self.stack.truncate(1),
            Key::Char('/') => self.ask(PromptKind::Search),
            Key::Char('f') => self.ask(PromptKind::Filter),
            Key::Char(':') => self.ask(PromptKind::Jump),
            Key::Char('n') => self.search(true),
            Key::Char('N') => self.search(false),
            Key::Char('y') => self.copy(),
            Key::Char('x') => self.bytes(),
            Key::Char(other) => self.screen_key(other),
            Key::Control(_) => {}
        }
    }

    fn ask(&mut self, kind: PromptKind) {
        self.prompt = Some(Prompt { kind, text: String::new() });
    }

    fn type_key(&mut self, key: Key) {
        let Some(prompt) = &mut self.prompt else { return };
        match key {
            Key::Char(c) if prompt.text.len() < LONGEST_PROMPT => prompt.text.push(c),
            Key::Backspace if prompt.text.pop().is_some() => {}
            Key::Enter => {
                let Some(Prompt { kind, text }) = self.prompt.take() else { return };
                match kind {
                    PromptKind::Search => {
                        self.searched = text;
                        self.search(true);
                    }
                    PromptKind::Filter => self.filter(&text),
                    PromptKind::Jump => self.jump(&text),
                }
            }
            Key::Escape | Key::Backspace | Key::Control('c') => self.prompt = None,
            _ => {}
        }
    }

    /// Moves the chosen row by this number of rows.
    fn walk(&mut self, rows: i64) {
        let Some((screen, state)) = self.stack.last_mut() else { return };
        let by = usize::try_from(rows.unsigned_abs()).unwrap_or(usize::MAX);
        state.chosen =
            if rows < 0 { state.chosen.saturating_sub(by) } else { state.chosen.saturating_add(by) };
        if state.filter.is_none() {
            screen.look_at(state.chosen, state.left);
        }
        self.settle();
    }

    /// Moves the chosen row to an existing one.
    fn settle(&mut self) {
        let height = usize::from(self.drawn.height);
        let Some((screen, state)) = self.stack.last_mut() else { return };
        let len = state.filter.as_ref().map_or_else(|| screen.len().0, Vec::len);
        state.keep_in(len, height);
    }

    fn shift(&mut self, columns: isize) {
        let most = self.drawn.columns;
        if let Some((_, state)) = self.stack.last_mut() {
            state.left = state.left.saturating_add_signed(columns).min(most.saturating_sub(1));
        }
    }

    fn push(&mut self, screen: Box<dyn Screen>) {
        let state = ListState { chosen: screen.begin(), ..ListState::default() };
        self.stack.push((screen, state));
        self.settle();
    }

    /// The index of the chosen row in the unfiltered list.
    fn chosen(&self) -> Option<usize> {
        let (screen, state) = self.stack.last()?;
        state.row_at(state.chosen).filter(|row| *row < screen.len().0)
    }

    fn enter(&mut self) {
        let Some(row) = self.chosen() else { return };
        let Some((screen, _)) = self.stack.last_mut() else { return };
        if !screen.can_enter(row) {
            return;
        }
        match screen.enter(row) {
            Some(next) if self.stack.len() < DEEPEST => self.push(next),
            _ => self.settle(),
        }
    }

    fn back(&mut self) {
        let is_first = self.stack.len() == 1;
        match self.stack.last_mut() {
            Some((_, state)) if state.filter.is_some() => {
                state.chosen = state.row_at(state.chosen).unwrap_or(0);
                state.filter = None;
                self.settle();
            }
            _ if !is_first => {
                self.stack.pop();
            }
            _ => self.message = "This is the first screen: q ends.".to_owned(),
        }
    }

    fn screen_key(&mut self, key: char) {
        let Some(row) = self.chosen() else { return };
        let Some((screen, state)) = self.stack.last_mut() else { return };
        if let Some(next) = screen.go(key, row) {
            return self.push(next);
        }
        if let Some(row) = screen.key(key, row) {
            (state.chosen, state.filter) = (row, None);
            self.settle();
        }
    }

    fn bytes(&mut self) {
        let Some(row) = self.chosen() else { return };
        let byte = self.stack.last_mut().and_then(|(screen, _)| screen.byte(row));
        match byte {
            Some(byte) => self.push(Box::new(Hex::new(self.file.clone(), byte))),
            None => self.message = "This has no place in the file.".to_owned(),
        }
    }

    fn jump(&mut self, text: &str) {
        match Target::parse(text) {
            Some(Target::Here(row)) => {
                let Some((screen, state)) = self.stack.last_mut() else { return };
                screen.look_at(row, state.left);
                state.chosen = row;
                self.settle();
            }
            Some(Target::Row(row)) => {
                self.push(Box::new(Rows::new(self.file.clone(), None)));
                self.walk(i64::try_from(row).unwrap_or(i64::MAX));
            }
            Some(Target::Byte(byte)) => self.push(Box::new(Hex::new(self.file.clone(), byte))),
            None => self.message = format!("Not a number: {}", crate::text::shown(text)),
        }
    }

    fn filter(&mut self, text: &str) {
        let Some((screen, state)) = self.stack.last_mut() else { return };
        match screen.filtered(text) {
            Some(Ok(next)) => return self.push(next),
            Some(Err(error)) => {
                self.message = error;
                return;
            }
            None => {}
        }
        state.filter = None;
        if text.is_empty() {
            return;
        }
        screen.look_at(MOST_SEARCHED, state.left);
        let text = text.to_lowercase();
        let rows = (0..screen.len().0.min(MOST_SEARCHED)).filter(|row| has(&mut **screen, *row, &text));
        state.filter = Some(rows.collect());
        state.chosen = 0;
        self.settle();
    }

    /// Goes to the next row that contains the searched text, or to the previous one.
    fn search(&mut self, forward: bool) {
        let Some((screen, state)) = self.stack.last_mut() else { return };
        if self.searched.is_empty() {
            self.message = "Nothing was searched yet: / asks for a text.".to_owned();
            return;
        }
        let text = self.searched.to_lowercase();
        let mut at = state.chosen;
        for _ in 0..MOST_SEARCHED {
            at = match forward {
                true => at + 1,
                false => match at.checked_sub(1) {
                    Some(at) => at,
                    None => break,
                },
            };
            let Some(row) = state.row_at(at) else { break };
            screen.look_at(row, state.left);
            if row >= screen.len().0 {
                break;
            }
            if has(&mut **screen, row, &text) {
                state.chosen = at;
                return self.settle();
            }
        }
        let where_to = if forward { "below" } else { "above" };
        self.message = format!("Not found {where_to}: {}", crate::text::shown(&self.searched));
    }

    fn copy(&mut self) {
        let Some(row) = self.chosen() else { return };
        let Some((screen, _)) = self.stack.last_mut() else { return };
        let cells = screen.row(row);
        self.clipboard = Some(cells.iter().map(|cell| cell.trim()).collect::<Vec<_>>().join("\t"));
        self.message = "Copied.".to_owned();
    }
}

/// Whether a cell of a row contains a text.
fn has(screen: &mut dyn Screen, row: usize, text: &str) -> bool {
    screen.row(row).iter().any(|cell| cell.to_lowercase().contains(text))
}

/// Rows that are searched at once.
const MOST_SEARCHED: usize = 100_000;
/// Maximum depth of the stack of screens.
const DEEPEST: usize = 100;
/// Maximum bytes of typed text.
const LONGEST_PROMPT: usize = 2_000;
