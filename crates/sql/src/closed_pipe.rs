//! Ends the process when the reader of its output has left.

use std::process::ExitCode;

/// Ends the process by SIGPIPE, as programs end whose reader has left. Without signals, returns the exit code that shells show for it.
pub(crate) fn end() -> ExitCode {
    #[cfg(unix)]
    let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGPIPE);
    ExitCode::from(CLOSED_PIPE)
}

/// 128 and the number of SIGPIPE.
const CLOSED_PIPE: u8 = 141;
