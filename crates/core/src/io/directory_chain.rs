//! The chain of directories on a walk's path, for stopping at links that form a cycle.

use super::file_identity::{FileIdentity, identity};
use std::io;
use std::path::Path;

/// The directories above the current position of a walk.
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
    above: Vec<FileIdentity>,
}

impl DirectoryChain {
    /// Enters a directory. Returns false, and does not enter it, if it is already in the chain because a link led back
    /// to it.
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
