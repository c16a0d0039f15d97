//! Pages long text through `less`, or the program in MARQUETRY_PAGER or PAGER.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// The pager, while it has the terminal.
static SHOWING: Mutex<Option<Child>> = Mutex::new(None);

/// The pipe to the pager. Dropping it waits for the pager.
pub(crate) struct Pager(Option<ChildStdin>);

impl Pager {
    /// Starts a pager; `None` without a terminal, or if no pager is wanted or found.
    pub(crate) fn start() -> Option<Pager> {
        // A pager reads keys from the terminal, and steers it in ways that `dumb` ones do not support.
        let is_dumb = env::var_os("TERM").is_none_or(|term| term == "dumb");
        if is_dumb || !io::stdout().is_terminal() || !io::stdin().is_terminal() {
            return None;
        }
        let named = ["MARQUETRY_PAGER", "PAGER"].into_iter().find_map(|name| env::var(name).ok());
        let command = match named.as_deref().map(str::trim) {
            Some("" | "cat") => return None,
            Some(command) => command.to_owned(),
            None => "less".to_owned(),
        };
        let mut words = command.split_whitespace();
        let mut pager = Command::new(words.next()?);
        pager.args(words).stdin(Stdio::piped());
        if env::var_os("LESS").is_none() {
            // It ends by itself if everything fits on the screen, leaves the text there, and cuts long lines, which the
            // arrow keys scroll.
            pager.env("LESS", "FRSX");
        }
        if env::var_os("LESSCHARSET").is_none() {
            // Our text is UTF-8, whatever the locale.
            pager.env("LESSCHARSET", "utf-8");
        }
        let mut child = pager.spawn().ok()?;
        let stdin = child.stdin.take();
        *SHOWING.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
        Some(Pager(stdin))
    }
}

/// Waits until the pager has ended, if there is one.
pub(crate) fn wait() {
    let child = SHOWING.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(mut child) = child {
        // Its exit status does not matter.
        let _ = child.wait();
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Some(stdin) => stdin.write(bytes),
            None => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        // Closing the pipe ends the text.
        self.0 = None;
        wait();
    }
}
