//! Signal handling: Ctrl-C, hangup and termination remove unfinished files first.
//!
//! The process then ends by the signal, so that a shell shows 130, 129 or 143 and ends the script that it runs. A second signal
//! ends it at once. Signals that whoever started the process has it ignore, as `nohup` does, stay ignored.

use marquetry::file::remove_unfinished_files;
use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGXFSZ};
use signal_hook::flag::{register, register_conditional_default};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Has signals that end the process remove hidden files first. Where they cannot be watched, they end it as ever.
pub(crate) fn clean_up() {
    // Has whoever writes more than a file may have (`ulimit -f`) get an error, which leaves things whole; else the process would end in
    // the middle of it. Where that cannot be had, it does.
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

/// Watches signals on a thread of its own. Once `is_over`, they end the process at once.
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
            // Ctrl-C is for the program that has the terminal: many do something else than to end.
            crate::pager::wait();
        }
        is_over.store(true, Ordering::Relaxed);
        #[cfg(feature = "dive")]
        marquetry_dive::restore_terminal();
        // Held, so that no thread begins or finishes a file any more.
        let _removed = remove_unfinished_files();
        let _ = emulate_default_handler(signal);
        // For systems on which that does not end the process.
        std::process::exit(128 + signal);
    })?;
    Ok(())
}

/// A bit for each signal that is ignored. Where the system does not tell, SIGHUP is taken for ignored: it is what `nohup` is for.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_else(|| bit(SIGHUP))
}

fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}
