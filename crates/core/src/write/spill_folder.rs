//! Temporary files for pages that exceed the memory limit. A build without the feature `fs` has `spill_folder_off.rs`
//! in its place.

use super::spill_store::{SpillFile, SpillStore};
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// A store of files without a name in a folder, so that nothing stays behind, however the process ends.
///
/// Many systems have their folder for temporary files in memory (`tmpfs`): spilling to it saves no memory. Name a
/// folder on a disk there, such as `/var/tmp`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpillFolder(Option<PathBuf>);

impl SpillFolder {
    /// Uses the system's folder for temporary files, which [`std::env::temp_dir`] returns.
    pub fn system() -> Self {
        SpillFolder(None)
    }

    /// Uses this folder, which must exist when pages are spilled.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        SpillFolder(Some(folder.into()))
    }
}

impl SpillStore for SpillFolder {
    fn create(&self) -> io::Result<Box<dyn SpillFile>> {
        let file = match &self.0 {
            None => tempfile::tempfile(),
            Some(folder) => tempfile::tempfile_in(folder),
        };
        let named = |error: io::Error| {
            let folder = self.0.clone().unwrap_or_else(std::env::temp_dir);
            io::Error::new(error.kind(), format!("{error}, in folder {}", folder.display()))
        };
        Ok(Box::new(file.map_err(named)?))
    }
}

#[cfg(unix)]
impl SpillFile for File {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(self, bytes, offset)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, buffer, offset)
    }
}

#[cfg(windows)]
impl SpillFile for File {
    fn write_at(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match std::os::windows::fs::FileExt::seek_write(self, bytes, offset) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => (bytes, offset) = (&bytes[n..], offset + n as u64),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn read_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(self, buffer, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => (buffer, offset) = (&mut buffer[n..], offset + n as u64),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
