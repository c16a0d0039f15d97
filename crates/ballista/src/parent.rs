//! Ends a child process together with the process that started it.

use std::io::Read;

/// Ends this process when standard input ends: the other end is held by who started it, and is closed however that one ends.
pub(crate) fn end_with_stdin() {
    // No thread of the runtime, which would be waited for at the end.
    std::thread::spawn(|| {
        let mut bytes = [0; 64];
        while std::io::stdin().read(&mut bytes).is_ok_and(|count| count > 0) {}
        std::process::exit(0);
    });
}
