//! What is below a folder, and nothing else.
//!
//! No link is followed, hidden files are not there, and a file is one that looks like Parquet by its name. Of one that does not by its first
//! bytes, no bytes are given away.

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

/// A folder that is looked into, or one file of it.
pub(crate) struct Folder {
    root: Root,
    /// The only file that is there.
    only: Option<String>,
}

/// A file that was opened.
pub(super) struct Opened {
    pub(super) source: Arc<dyn Source>,
    /// Changes when the file does.
    pub(super) tag: String,
    /// Whether it begins as Parquet does.
    is_parquet: bool,
}

impl Opened {
    /// The file; an error if it does not begin as Parquet does, which says nothing of what it has.
    pub(super) fn parquet(self) -> Result<Opened> {
        match (self.is_parquet, self.source.len()) {
            (true, _) => Ok(self),
            (false, 0) => Err(Error::corrupt("no Parquet file: it is empty")),
            (false, _) => Err(Error::corrupt("no Parquet file: it does not begin with PAR1")),
        }
    }
}

impl Folder {
    /// Fails if there is nothing at `path`, or if a file's name is not UTF-8.
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

    /// The only file, if it is not a folder that is looked into.
    pub(super) fn only(&self) -> Option<&str> {
        self.only.as_deref()
    }

    /// A file by the names that lead to it. `None` if there is none, or one that is not shown. Fails if it is there and may not be read.
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

    /// What is in a folder by the names that lead to it: folders first, then Parquet files, by name. `None` if there is none.
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

/// Entries of a folder that are looked at.
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
