//! Raises the limit on open files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit as far as this process may: commands of many files have all of them open, and shells start with 1,024.
pub(crate) fn raise_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(MOST, |most| most.min(MOST));
    if current.is_some_and(|now| now < wanted) {
        // Where that is refused, the files that are too many are an error that says so.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    }
}

const MOST: u64 = 1 << 16;
