//! Ends the process whose output nobody reads any more.

use std::process::ExitCode;

/// Ends the process by SIGPIPE, as programs end that write to a pipe whose reader has left. Where there are no signals, gives the exit
/// code by which shells show that.
pub(crate) fn end() -> ExitCode {
    #[cfg(unix)]
    let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGPIPE);
    ExitCode::from(CLOSED_PIPE)
}

/// 128 and the number of SIGPIPE.
const CLOSED_PIPE: u8 = 141;
