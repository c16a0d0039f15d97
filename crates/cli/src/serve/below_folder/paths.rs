//! Access to files below a folder by paths, for systems without handles of folders: no name may be a symbolic link, and
//! the resolved path must be below the folder.

use super::entry::{Entries, Entry};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The folder, resolved.
pub(super) struct Root(PathBuf);

impl Root {
    pub(super) fn open(path: &Path) -> io::Result<Root> {
        Ok(Root(path.canonicalize()?))
    }

    /// Opens a regular file.
    pub(super) fn file(&self, names: &[String]) -> io::Result<File> {
        let path = self.resolved(names)?;
        match fs::symlink_metadata(&path)?.is_file() {
            true => File::open(path),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Folders and regular files, at most `most` entries.
    pub(super) fn entries(&self, names: &[String], most: usize) -> io::Result<Entries> {
        let mut found = Entries { list: Vec::new(), are_all: true };
        for (i, entry) in fs::read_dir(self.resolved(names)?)?.enumerate() {
            if i == most {
                found.are_all = false;
                break;
            }
            let entry = entry?;
            let (Ok(name), Ok(metadata)) = (entry.file_name().into_string(), entry.metadata()) else {
                continue;
            };
            if metadata.is_dir() || metadata.is_file() {
                found.list.push(Entry { name, is_folder: metadata.is_dir(), size: metadata.len() });
            }
        }
        Ok(found)
    }

    fn resolved(&self, names: &[String]) -> io::Result<PathBuf> {
        let mut path = self.0.clone();
        for name in names {
            path.push(name);
            if fs::symlink_metadata(&path)?.is_symlink() {
                return Err(io::ErrorKind::NotFound.into());
            }
        }
        let resolved = path.canonicalize()?;
        match resolved.starts_with(&self.0) {
            true => Ok(resolved),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }
}
