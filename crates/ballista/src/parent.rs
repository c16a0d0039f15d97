//! Ends a child process together with the process that started it.

use std::io::Read;

/// Ends this process when standard input ends. Its parent holds the other end, which closes however the parent ends.
pub(crate) fn end_with_stdin() {
    // Not a thread of the runtime, which would wait for it at the end.
    std::thread::spawn(|| {
        let mut bytes = [0; 64];
        while std::io::stdin().read(&mut bytes).is_ok_and(|count| count > 0) {}
        std::process::exit(0);
    });
}
