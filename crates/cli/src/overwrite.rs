//! Overwrite checks: never an input, and other files only when asked.

use crate::failure::Failure;
use crate::file_name;
use marquetry::errors::Error;
use marquetry::file::AtomicFile;
use std::fs;
use std::path::{Path, PathBuf};

/// Fails if no file may be written at `path`: it is one of the inputs, not a regular file, or exists and may not be
/// replaced.
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
            Err(refuse(path, "is not a regular file, and nothing else is written; name a file"))
        }
        _ if !overwrite && is_there(path) => Err(refuse(path, IS_THERE)),
        _ => Ok(()),
    }
}

/// Creates the file at `path`. One that appears there meanwhile is replaced only with `overwrite`.
pub(crate) fn create(path: &Path, overwrite: bool) -> Result<AtomicFile, Error> {
    match overwrite {
        true => AtomicFile::create(path),
        false => AtomicFile::create_new(path),
    }
}

/// The message for a file that only `--overwrite` replaces.
pub(crate) const IS_THERE: &str = "already exists; use --overwrite to replace it";

/// The failure of a file that is not written.
pub(crate) fn refuse(path: &Path, why: &str) -> Failure {
    Failure::File(Error::argument(why.to_owned()).in_file(file_name::shown(path)))
}

/// Whether anything has that name. A symbolic link to nothing counts.
pub(crate) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Whether both are paths of one file, which need not exist. Hard links count as different files: replacing a file
/// under one name leaves the others as they are.
pub(crate) fn same_place(one: &Path, other: &Path) -> bool {
    one == other || place(one).is_some_and(|one| place(other) == Some(one))
}

/// The resolved path of a file, which need not exist.
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

/// As many symbolic links as Linux follows.
const MAX_LINKS: usize = 40;
