//! Overwrite checks: never an input, and other files only when asked.

use crate::failure::Failure;
use crate::file_name;
use marquetry::errors::Error;
use marquetry::file::AtomicFile;
use std::fs;
use std::path::{Path, PathBuf};

/// Fails if a file may not be written at `path`: it is one of those that are read, something that is no file, or it is there and may not
/// be replaced.
pub(crate) fn refuse_existing<'a>(
    path: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
    overwrite: bool,
) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        return Err(refuse(path, "standard output cannot take this file; name one"));
    }
    if inputs.into_iter().any(|input| same_place(input, path)) {
        return Err(refuse(path, "is a file that is read"));
    }
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(refuse(path, "is a directory, not a file: name a file in it")),
        Ok(there) if !there.is_file() => {
            Err(refuse(path, "is no regular file, and nothing else is written; name a file"))
        }
        _ if !overwrite && is_there(path) => Err(refuse(path, IS_THERE)),
        _ => Ok(()),
    }
}

/// Begins the file that will be at `path`. What comes there meanwhile is replaced only with `overwrite`.
pub(crate) fn create(path: &Path, overwrite: bool) -> Result<AtomicFile, Error> {
    match overwrite {
        true => AtomicFile::create(path),
        false => AtomicFile::create_new(path),
    }
}

/// What is said of a file that only `--overwrite` replaces.
pub(crate) const IS_THERE: &str = "is there already; --overwrite replaces it";

/// What is said of a file that is not written.
pub(crate) fn refuse(path: &Path, why: &str) -> Failure {
    Failure::File(Error::argument(why.to_owned()).in_file(file_name::shown(path)))
}

/// Whether there is anything of that name. A link that leads nowhere yet is something.
pub(crate) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Whether both are names of one file, which need not be there. Other names that a file has as hard links are none of it
/// here: who replaces a file of one name leaves the other ones as they are.
pub(crate) fn same_place(one: &Path, other: &Path) -> bool {
    one == other || place(one).is_some_and(|one| place(other) == Some(one))
}

/// Where a file of this name is, or would be.
fn place(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Ok(place) = fs::canonicalize(&path) {
            return Some(place);
        }
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => fs::canonicalize(parent).ok()?,
            _ => fs::canonicalize(".").ok()?,
        };
        path = match fs::read_link(&path) {
            Ok(target) => directory.join(target),
            Err(_) => return Some(directory.join(path.file_name()?)),
        };
    }
    None
}

/// As many as Linux follows.
const MAX_LINKS: usize = 40;
