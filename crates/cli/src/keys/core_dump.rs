//! Forbids core dumps while keys are in memory.

use marquetry::errors::Result;

/// Forbids core dumps of this process from now on, and access to its memory by other processes of the same user.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn forbid() -> Result<()> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(cannot)
}

/// Forbids core dumps of this process from now on.
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
pub(super) fn forbid() -> Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }).map_err(cannot)
}

/// There are no core dumps here.
#[cfg(not(unix))]
pub(super) fn forbid() -> Result<()> {
    Ok(())
}

#[cfg(unix)]
#[cold]
fn cannot(error: rustix::io::Errno) -> marquetry::errors::Error {
    marquetry::errors::Error::io("cannot forbid that memory with keys is dumped", error.into())
}
