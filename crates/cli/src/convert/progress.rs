//! A progress bar on standard error, if that is a terminal and the work takes longer than a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

/// How far a conversion is.
pub(crate) struct Progress {
    start: Instant,
    rows: u64,
    done: u64,
    /// Nothing on anything but a terminal, and not on the one that the rows go to.
    may_show: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Nothing is done of `rows` rows.
    pub(crate) fn new(rows: u64, to_stdout: bool) -> Self {
        let may_show = io::stderr().is_terminal() && !(to_stdout && io::stdout().is_terminal());
        Progress { start: Instant::now(), rows, done: 0, may_show, bar: None }
    }

    /// So many more rows are done.
    pub(crate) fn advance(&mut self, rows: usize) {
        self.done += rows as u64;
        if !self.may_show || (self.bar.is_none() && self.start.elapsed() < PATIENCE) {
            return;
        }
        self.bar.get_or_insert_with(|| bar(self.rows, self.start)).set_position(self.done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(rows: u64, start: Instant) -> ProgressBar {
    let bar =
        ProgressBar::with_draw_target(Some(rows), ProgressDrawTarget::stderr()).with_elapsed(start.elapsed());
    let style =
        ProgressStyle::with_template("{bar:30} {percent:>3}%  {human_pos} of {human_len} rows  {elapsed}");
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

const PATIENCE: Duration = Duration::from_secs(1);
