//! Forbids core dumps while keys are in memory.

use marquetry::errors::Result;

/// From here on no core of this process is dumped, and processes of the same user may not look into its memory.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn forbid() -> Result<()> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(cannot)
}

/// From here on no core of this process is dumped.
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
pub(super) fn forbid() -> Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }).map_err(cannot)
}

/// There are no files of that kind.
#[cfg(not(unix))]
pub(super) fn forbid() -> Result<()> {
    Ok(())
}

#[cfg(unix)]
#[cold]
fn cannot(error: rustix::io::Errno) -> marquetry::errors::Error {
    marquetry::errors::Error::io("cannot forbid that memory with keys is dumped", error.into())
}
