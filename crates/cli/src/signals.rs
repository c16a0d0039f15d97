//! Signal handling: Ctrl-C, hangup and termination remove unfinished files first.
//!
//! The process then ends by the signal, so that a shell shows 130, 129 or 143 and ends the script that it runs. A
//! second signal ends it at once. Signals that the parent has the process ignore, as `nohup` does, stay ignored.

use marquetry::file::remove_unfinished_files;
use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGXFSZ};
use signal_hook::flag::{register, register_conditional_default};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Has signals that end the process remove unfinished files first. If they cannot be watched, they end it as usual.
pub(crate) fn clean_up() {
    // Makes writing beyond the file size limit (`ulimit -f`) an error, which leaves files whole, instead of a signal
    // that ends the process in the middle of it. If that fails, the signal does.
    let _ = register(SIGXFSZ, Arc::default());
    let is_over = Arc::new(AtomicBool::new(false));
    if watch(&is_over).is_err() {
        is_over.store(true, Ordering::Relaxed);
    }
}

/// Ends the process by SIGPIPE, as programs end that write to a pipe whose reader has left. Rust's programs ignore that signal, and get
/// an error instead, so that they can remove what is not finished before.
pub(crate) fn end_by_sigpipe() {
    let _ = emulate_default_handler(SIGPIPE);
}

/// Watches signals on a thread of its own. Once `is_over` is set, they end the process at once.
fn watch(is_over: &Arc<AtomicBool>) -> io::Result<()> {
    let ignored = ignored_signals();
    let watched: Vec<i32> =
        [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored & bit(*signal) == 0).collect();
    for signal in &watched {
        register_conditional_default(*signal, is_over.clone())?;
    }
    let mut signals = Signals::new(&watched)?;
    let is_over = is_over.clone();
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let Some(signal) = signals.forever().next() else { return };
        if signal == SIGINT {
            // Ctrl-C is for the pager, which has the terminal: many pagers do not end by it.
            crate::pager::wait();
        }
        is_over.store(true, Ordering::Relaxed);
        #[cfg(feature = "dive")]
        marquetry_dive::restore_terminal();
        // The guard is held, so that no thread creates or finishes a file any more.
        let _removed = remove_unfinished_files();
        let _ = emulate_default_handler(signal);
        // On systems where that does not end the process.
        std::process::exit(128 + signal);
    })?;
    Ok(())
}

/// A bit for each ignored signal. If the system does not tell, SIGHUP counts as ignored, as under `nohup`.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_else(|| bit(SIGHUP))
}

fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}
