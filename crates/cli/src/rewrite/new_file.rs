//! The file that is written: not over an input, nor over anything unasked, and whole or not at all.

use crate::failure::Failure;
use crate::file_name;
use marquetry::errors::Error;
use marquetry::file::AtomicFile;
use marquetry::file::metadata::ParquetMetaData;
use marquetry::format::{SchemaElement, SortingColumn};
use marquetry_core::write::{EncodedChunk, FileSettings, FileWriter};
use std::fs;
use std::path::{Path, PathBuf};

/// A Parquet file in the making. It appears under its name when it is finished.
pub(crate) struct NewFile {
    path: PathBuf,
    writer: FileWriter<AtomicFile>,
}

/// Fails if a file may not be written at `path`: it is one of those that are read, or it is there and may not be
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
    if !overwrite && is_there(path) {
        return Err(refuse(path, "is there already; --overwrite replaces it"));
    }
    Ok(())
}

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

impl NewFile {
    pub(crate) fn create(
        path: &Path,
        schema: Vec<SchemaElement>,
        settings: FileSettings,
    ) -> Result<Self, Failure> {
        let file = AtomicFile::create(path)?;
        Ok(NewFile { path: path.to_owned(), writer: FileWriter::new(file, schema, settings)? })
    }

    pub(crate) fn write_row_group(
        &mut self,
        rows: u64,
        chunks: Vec<EncodedChunk>,
        sorting: Option<Vec<SortingColumn>>,
    ) -> Result<(), Failure> {
        Ok(self.writer.write_row_group(rows, chunks, sorting)?)
    }

    /// Puts the file under its name. Returns its footer and its size.
    pub(crate) fn finish(self) -> Result<(ParquetMetaData, u64), Failure> {
        let (file, metadata) = self.writer.finish()?;
        file.finish()?;
        let size = fs::metadata(&self.path).map_or(0, |metadata| metadata.len());
        Ok((metadata, size))
    }
}
