//! Raises the limit on open files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit as far as this process may: some commands keep many files open, and shells start with 1,024.
pub(crate) fn raise_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(MOST, |most| most.min(MOST));
    if current.is_some_and(|now| now < wanted) {
        // If that is refused, opening too many files is an error of its own.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    }
}

const MOST: u64 = 1 << 16;
