//! A progress bar on standard error, if that is a terminal and the work takes longer than a second.

use crate::caller;
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The progress of a conversion.
pub(crate) struct Progress {
    start: Instant,
    total: Total,
    /// The current phase.
    phase: &'static str,
    rows: u64,
    written: Arc<AtomicU64>,
    /// Only on a terminal, and not on the one that the rows go to.
    may_show: bool,
    bar: Option<ProgressBar>,
}

/// The total amount of work.
pub(crate) enum Total {
    /// This number of rows.
    Rows(u64),
    /// This number of input bytes, and a counter of those read.
    Bytes(u64, Arc<AtomicU64>),
    /// Nobody knows.
    Unknown,
}

impl Progress {
    /// Starts at zero. `written` counts the bytes written.
    pub(crate) fn new(total: Total, to_stdout: bool, written: Arc<AtomicU64>) -> Self {
        let may_show =
            caller::is_person() && io::stderr().is_terminal() && !(to_stdout && io::stdout().is_terminal());
        Progress { start: Instant::now(), total, phase: "", rows: 0, written, may_show, bar: None }
    }

    /// Starts another phase.
    pub(crate) fn begin(&mut self, phase: &'static str, total: Option<Total>) {
        self.phase = phase;
        self.rows = 0;
        if let Some(total) = total {
            self.total = total;
        }
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// Adds finished rows.
    pub(crate) fn advance(&mut self, rows: usize) {
        self.rows += rows as u64;
        if !self.may_show || (self.bar.is_none() && self.start.elapsed() < PATIENCE) {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| bar(&self.total, self.start));
        match &self.total {
            Total::Rows(_) => bar.set_position(self.rows),
            Total::Bytes(_, read) => bar.set_position(read.load(Ordering::Relaxed)),
            Total::Unknown => bar.tick(),
        }
        bar.set_message(message(self.phase, &self.total, self.rows, self.written.load(Ordering::Relaxed)));
    }

    /// The rows finished in the current phase.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }
}

/// `sorting 1,200 of 5,000 rows, 12.50 MiB written`.
fn message(phase: &str, total: &Total, rows: u64, written: u64) -> String {
    let rows = match total {
        Total::Rows(total) => format!("{phase}{} of {} rows", HumanCount(rows), HumanCount(*total)),
        Total::Bytes(..) | Total::Unknown => format!("{phase}{} rows", HumanCount(rows)),
    };
    if written == 0 { rows } else { format!("{rows}, {} written", HumanBytes(written)) }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(total: &Total, start: Instant) -> ProgressBar {
    let (length, template) = match total {
        Total::Rows(rows) => (Some(*rows), "{bar:30} {percent:>3}%  {msg}  {elapsed}"),
        Total::Bytes(bytes, _) => (Some(*bytes), "{bar:30} {percent:>3}%  {msg}  {elapsed}"),
        Total::Unknown => (None, "{spinner} {msg}  {elapsed}"),
    };
    let bar =
        ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr()).with_elapsed(start.elapsed());
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

const PATIENCE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_bytes() {
        assert_eq!(message("", &Total::Rows(5000), 1200, 0), "1,200 of 5,000 rows");
        let bytes = Total::Bytes(10, Arc::default());
        assert_eq!(message("writing ", &bytes, 7, 3 << 19), "writing 7 rows, 1.50 MiB written");
    }
}
