//! Runs the explorer on a terminal: draws, waits for keys and the mouse, and restores the terminal.

use crate::dive::Dive;
use crate::input::{Input, Key};
use crate::life_sign::LifeSign;
use crate::opened_file::OpenedFile;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use crossterm::event::{
    self, DisableMouseCapture, EnableMouseCapture, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
    MouseButton, MouseEvent, MouseEventKind,
};
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute};
use marquetry_base::CancelToken;
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;
use std::io::{self, Write, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// Whether the terminal is in our mode.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Runs the explorer on the terminal until its user ends it. Ctrl-C cancels `cancel`, so that a read in progress is not
/// waited for. The terminal is restored when this returns, fails or panics.
pub fn run(file: OpenedFile, colour: bool, cancel: &CancelToken) -> io::Result<()> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        restore_terminal();
        hook(panic);
    }));
    let inputs = inputs(cancel.clone());
    let walked = take_terminal().and_then(|()| walk(Dive::new(file), colour, &inputs));
    restore_terminal();
    walked
}

fn take_terminal() -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen, EnableMouseCapture, cursor::Hide)
}

/// Restores the terminal, if [`run`] has it: for code that ends the process from elsewhere.
pub fn restore_terminal() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // There is nowhere left to report that this failed.
        let _ = execute!(stdout(), DisableMouseCapture, LeaveAlternateScreen, cursor::Show);
        let _ = disable_raw_mode();
    }
}

fn walk(mut dive: Dive, colour: bool, inputs: &Receiver<Woken>) -> io::Result<()> {
    let mut terminal = Terminal::new(CrosstermBackend::new(stdout()))?;
    let life = LifeSign::new();
    while !dive.is_over() {
        let mut is_covered = false;
        terminal.draw(|frame| {
            is_covered = life.during(|| dive.draw(frame.buffer_mut(), colour)).1;
        })?;
        if is_covered {
            // The read has ended by now.
            terminal = cleared()?;
            terminal.draw(|frame| dive.draw(frame.buffer_mut(), colour))?;
        }
        match inputs.recv() {
            Ok(Woken::Input(input)) => {
                if life.during(|| dive.input(input)).1 {
                    terminal = cleared()?;
                }
            }
            Ok(Woken::Resized) => {}
            Ok(Woken::Failed(error)) => return Err(error),
            Err(_) => return Ok(()),
        }
        if let Some(text) = dive.take_copied() {
            copy(&text)?;
        }
    }
    Ok(())
}

/// An empty terminal. The terminal's own `clear` asks for the cursor position, and the thread that reads keys would get
/// the answer.
fn cleared() -> io::Result<Terminal<CrosstermBackend<io::Stdout>>> {
    execute!(stdout(), Clear(ClearType::All))?;
    Terminal::new(CrosstermBackend::new(stdout()))
}

/// Has the terminal copy text to the clipboard.
fn copy(text: &str) -> io::Result<()> {
    let mut out = stdout();
    let text: String = text.chars().take(MOST_COPIED).collect();
    write!(out, "\u{1b}]52;c;{}\u{7}", STANDARD.encode(text))?;
    out.flush()
}

/// What ends waiting.
enum Woken {
    Input(Input),
    Resized,
    Failed(io::Error),
}

/// Keys, read on a thread of their own: Ctrl-C works while a page is read.
fn inputs(cancel: CancelToken) -> Receiver<Woken> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        loop {
            let event = wait_for_input().and_then(|()| match event::poll(Duration::ZERO)? {
                true => event::read().map(Some),
                false => Ok(None),
            });
            let woken = match event {
                Ok(Some(Event::Resize(..))) => Some(Woken::Resized),
                Ok(event) => event.as_ref().and_then(input).map(Woken::Input),
                Err(error) => Some(Woken::Failed(error)),
            };
            let Some(woken) = woken else { continue };
            if matches!(woken, Woken::Input(Input::Key(Key::Control('c')))) {
                cancel.cancel();
            }
            let is_last = matches!(woken, Woken::Failed(_));
            if sender.send(woken).is_err() || is_last {
                return;
            }
        }
    });
    receiver
}

/// Waits for keys, returning regularly so that a new size is noticed. Fails if the terminal is gone: at its end
/// crossterm would read in a loop, with all of a processor.
#[cfg(unix)]
fn wait_for_input() -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = io::stdin();
    let mut waited = [PollFd::new(&stdin, PollFlags::IN)];
    let at_most = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    match poll(&mut waited, Some(&at_most)) {
        Ok(_) if waited[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) => {
            Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the terminal was closed"))
        }
        // A signal, such as for a new size.
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn wait_for_input() -> io::Result<()> {
    event::poll(Duration::from_millis(100)).map(drop)
}

fn input(event: &Event) -> Option<Input> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => self::key(key).map(Input::Key),
        Event::Mouse(mouse) => self::mouse(mouse),
        _ => None,
    }
}

fn key(key: &KeyEvent) -> Option<Key> {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(match key.code {
        KeyCode::Char(c) if is_control => Key::Control(c.to_ascii_lowercase()),
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::F(1) => Key::Char('?'),
        _ => return None,
    })
}

fn mouse(mouse: &MouseEvent) -> Option<Input> {
    match mouse.kind {
        MouseEventKind::Down(MouseButton::Left) => Some(Input::Click(mouse.column, mouse.row)),
        MouseEventKind::ScrollUp => Some(Input::Wheel(-3)),
        MouseEventKind::ScrollDown => Some(Input::Wheel(3)),
        _ => None,
    }
}

/// Maximum number of copied characters: many terminals take no more.
const MOST_COPIED: usize = 50_000;
