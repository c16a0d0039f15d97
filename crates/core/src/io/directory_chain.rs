//! Directories that lead to one another, so that a link to one of them ends.

use std::collections::HashSet;
use std::io;
use std::path::Path;

/// The directories on the way to where a walk is.
///
/// ```
/// use marquetry_core::io::DirectoryChain;
/// let mut above = DirectoryChain::default();
/// let entered = above.enter("src".as_ref())?;
/// assert!(entered.is_some() && above.enter("src/../src".as_ref())?.is_none());
/// above.leave(entered.unwrap());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct DirectoryChain {
    above: HashSet<Identity>,
}

/// What tells a directory from all others, whatever its path is.
#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = std::path::PathBuf;

/// A directory that was entered.
#[derive(Debug)]
#[must_use]
pub struct EnteredDirectory(Identity);

impl DirectoryChain {
    /// Enters a directory; `None` if it is one of those on the way: a link led back.
    pub fn enter(&mut self, path: &Path) -> io::Result<Option<EnteredDirectory>> {
        let identity = identity(path)?;
        Ok(self.above.insert(identity.clone()).then_some(EnteredDirectory(identity)))
    }

    /// Leaves a directory.
    pub fn leave(&mut self, entered: EnteredDirectory) {
        self.above.remove(&entered.0);
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Identity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> io::Result<Identity> {
    std::fs::canonicalize(path)
}
