//! Access to files below a folder by handles: each name is looked up in the folder opened before it, and none may be a
//! symbolic link. So changes meanwhile cannot lead elsewhere.

use super::entry::{Entries, Entry};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// The folder.
pub(super) struct Root(OwnedFd);

impl Root {
    pub(super) fn open(path: &Path) -> io::Result<Root> {
        Ok(Root(File::open(path)?.into()))
    }

    /// Opens a regular file.
    pub(super) fn file(&self, names: &[String]) -> io::Result<File> {
        let (name, folders) = names.split_last().ok_or(io::ErrorKind::NotFound)?;
        let folder = self.folder(folders)?;
        // Opening a FIFO would block until somebody writes to it.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(folder, name.as_str(), flags, Mode::empty())?);
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Folders and regular files, at most `most` entries.
    pub(super) fn entries(&self, names: &[String], most: usize) -> io::Result<Entries> {
        let folder = self.folder(names)?;
        let mut found = Entries { list: Vec::new(), are_all: true };
        for (i, entry) in Dir::read_from(&folder)?.enumerate() {
            if i == most {
                found.are_all = false;
                break;
            }
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            let Ok(stat) = statat(&folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let is_folder = match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => true,
                FileType::RegularFile => false,
                _ => continue,
            };
            found.list.push(Entry {
                name: name.to_owned(),
                is_folder,
                size: u64::try_from(stat.st_size).unwrap_or(0),
            });
        }
        Ok(found)
    }

    fn folder(&self, names: &[String]) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut folder = openat(&self.0, ".", flags, Mode::empty())?;
        for name in names {
            folder = openat(&folder, name.as_str(), flags, Mode::empty())?;
        }
        Ok(folder)
    }
}
