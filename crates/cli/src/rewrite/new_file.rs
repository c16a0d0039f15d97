//! The file that is written: not over an input, nor over anything unasked, and whole or not at all.

use crate::failure::Failure;
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
    let refused =
        |why: &str| Err(Failure::File(Error::argument(why.to_owned()).in_file(path.display().to_string())));
    if path.as_os_str() == "-" {
        return refused("standard output cannot take this file; name one");
    }
    // The same file may have several names.
    if let Ok(old) = fs::canonicalize(path) {
        if inputs.into_iter().any(|input| fs::canonicalize(input).is_ok_and(|input| input == old)) {
            return refused("is a file that is read");
        }
        if !overwrite {
            return refused("is there already; --overwrite replaces it");
        }
    }
    Ok(())
}

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
