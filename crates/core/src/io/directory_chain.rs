//! Directories that lead to one another, so that a link to one of them ends.

use std::io;
use std::path::Path;

/// The directories on the way to where a walk is.
///
/// ```
/// use marquetry_core::io::DirectoryChain;
/// let mut above = DirectoryChain::default();
/// assert!(above.enter("src".as_ref())?);
/// assert!(!above.enter("src/../src".as_ref())?);
/// above.leave();
/// assert!(above.enter("src".as_ref())?);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct DirectoryChain {
    above: Vec<Identity>,
}

/// What tells a directory from all others, whatever its path is.
#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = std::path::PathBuf;

impl DirectoryChain {
    /// Enters a directory; `false` if it is one of those on the way, to which a link led back, and was not entered.
    pub fn enter(&mut self, path: &Path) -> io::Result<bool> {
        let identity = identity(path)?;
        let is_new = !self.above.contains(&identity);
        self.above.extend(is_new.then_some(identity));
        Ok(is_new)
    }

    /// Leaves the directory that was entered last.
    pub fn leave(&mut self) {
        self.above.pop();
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
