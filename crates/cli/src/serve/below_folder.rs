//! The contents of a folder and its subfolders, and nothing else.
//!
//! Symbolic links are not followed, hidden files are not shown, and files must have names of Parquet files. The bytes
//! of a file that does not begin as Parquet does are not sent.

mod entry;
#[cfg(unix)]
mod handles;
#[cfg(not(unix))]
mod paths;

pub(super) use entry::Entries;

use super::request::is_name;
#[cfg(unix)]
use handles::Root;
use marquetry::errors::{Error, Result};
use marquetry::file::{LocalFile, Source};
#[cfg(not(unix))]
use paths::Root;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// A folder that is shown, or a single file of it.
pub(crate) struct Folder {
    root: Root,
    /// The name of the single file.
    only: Option<String>,
}

/// An open file.
pub(super) struct Opened {
    pub(super) source: Arc<dyn Source>,
    /// Changes when the file does.
    pub(super) tag: String,
    /// Whether it begins as a Parquet file does.
    is_parquet: bool,
}

impl Opened {
    /// The file; fails if it does not begin as a Parquet file does, without revealing its contents.
    pub(super) fn parquet(self) -> Result<Opened> {
        match (self.is_parquet, self.source.len()) {
            (true, _) => Ok(self),
            (false, 0) => Err(Error::corrupt("no Parquet file: it is empty")),
            (false, _) => Err(Error::corrupt("no Parquet file: it does not begin with PAR1")),
        }
    }
}

impl Folder {
    /// Fails if nothing exists at `path`, or if a file's name is not UTF-8.
    pub(crate) fn open(path: &Path) -> io::Result<Folder> {
        let path = path.canonicalize()?;
        if path.is_dir() {
            return Ok(Folder { root: Root::open(&path)?, only: None });
        }
        let name = path.file_name().and_then(|name| name.to_str()).filter(|name| is_name(name));
        let (Some(name), Some(parent)) = (name, path.parent()) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a name that an address cannot have"));
        };
        Ok(Folder { root: Root::open(parent)?, only: Some(name.to_owned()) })
    }

    /// The name of the single file, if not a whole folder is shown.
    pub(super) fn only(&self) -> Option<&str> {
        self.only.as_deref()
    }

    /// Opens a file by the names of its path. `None` if it does not exist, or is not shown. Fails if it exists but
    /// cannot be read.
    pub(super) fn file(&self, names: &[String]) -> Result<Option<Opened>> {
        let Some((name, _)) = names.split_last() else { return Ok(None) };
        let is_shown = match &self.only {
            Some(only) => names == [only.as_str()],
            None => names.iter().all(|name| !is_hidden(name)) && is_parquet(name),
        };
        if !is_shown || !names.iter().all(|name| is_name(name)) {
            return Ok(None);
        }
        let file = match self.root.file(names) {
            Ok(file) => file,
            // Its folder lists it.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(Error::io("cannot open the file", error));
            }
            Err(_) => return Ok(None),
        };
        let tag = tag(&file)?;
        let source = LocalFile::new(file)?;
        let magic = source.read_at(0, source.len().min(4) as usize)?;
        let is_parquet = matches!(&magic[..], b"PAR1" | b"PARE");
        Ok(Some(Opened { source: Arc::new(source), tag, is_parquet }))
    }

    /// The entries of a folder by the names of its path: folders first, then Parquet files, sorted by name. `None` if
    /// it does not exist.
    pub(super) fn entries(&self, names: &[String]) -> Option<Entries> {
        self.some_entries(names, MOST_ENTRIES)
    }

    fn some_entries(&self, names: &[String], most: usize) -> Option<Entries> {
        if self.only.is_some() || names.iter().any(|name| is_hidden(name) || !is_name(name)) {
            return None;
        }
        let mut entries = self.root.entries(names, most).ok()?;
        entries.list.retain(|entry| {
            is_name(&entry.name) && !is_hidden(&entry.name) && (entry.is_folder || is_parquet(&entry.name))
        });
        entries.list.sort_unstable_by(|a, b| b.is_folder.cmp(&a.is_folder).then_with(|| a.name.cmp(&b.name)));
        Some(entries)
    }
}

fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

fn is_parquet(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    [".parquet", ".parq", ".pq"].iter().any(|end| lower.ends_with(end))
        || matches!(&*lower, "_metadata" | "_common_metadata")
}

/// SPEC: RFC 9110, 8.8.3.
fn tag(file: &File) -> io::Result<String> {
    let metadata = file.metadata()?;
    let changed = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(format!("\"{:x}-{:x}\"", metadata.len(), changed.as_nanos()))
}

/// Maximum number of entries that are read of a folder.
const MOST_ENTRIES: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_says_whether_it_has_more_entries() {
        let below = tempfile::tempdir().unwrap();
        for i in 0..3 {
            std::fs::write(below.path().join(format!("{i}.parquet")), "PAR1").unwrap();
        }
        let folder = Folder::open(below.path()).unwrap();
        let all = folder.entries(&[]).unwrap();
        assert_eq!((all.list.len(), all.are_all), (3, true));
        let some = folder.some_entries(&[], 2).unwrap();
        assert!(some.list.len() <= 2 && !some.are_all);
    }
}
