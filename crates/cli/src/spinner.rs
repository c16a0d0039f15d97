//! A spinner on standard error, if a person watches a terminal.

use crate::caller;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::time::Duration;

/// Turns until it is dropped.
pub(crate) struct Spinner(Option<ProgressBar>);

impl Spinner {
    /// Shows what is being done, and since when.
    pub(crate) fn new(what: &'static str) -> Self {
        if !caller::is_person() || !io::stderr().is_terminal() {
            return Spinner(None);
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_message(what);
        let bar = match ProgressStyle::with_template("{spinner} {msg}  {elapsed}") {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        bar.enable_steady_tick(STEP);
        Spinner(Some(bar))
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

const STEP: Duration = Duration::from_millis(200);
