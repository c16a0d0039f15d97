//! Files of this machine: resolves paths, which may be files, directories, patterns or summary files.

use super::data_file::DataFile;
use super::listing::{is_passed_over, retain_parquet};
use super::pattern::{expand_pattern, is_pattern, unread};
use super::summary::{self, Part};
use super::table::Dataset;
use marquetry_base::{Error, ErrorKind, Result};
use marquetry_core::io::{DirectoryChain, LocalFile, read_metadata};
use marquetry_core::metadata::ParquetMetaData;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Dataset {
    /// Creates a dataset of the files that these paths stand for, see [the module](super). Opens none of them but summaries.
    ///
    /// Fails if a directory cannot be read, or if a path stands for no file. Also fails if a summary is not valid, or
    /// lists a file that does not exist or lies outside its directory.
    pub fn open<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self> {
        let paths: Vec<P> = paths.into_iter().collect();
        let mut files = Vec::new();
        for path in &paths {
            let path = path.as_ref();
            let in_file = |error: Error| error.in_file(path.display().to_string());
            let may_be_summary = paths.len() == 1 && path.is_file() || path.ends_with("_metadata");
            let parts = if may_be_summary { summary_parts(path).map_err(in_file)? } else { None };
            match parts {
                Some(parts) => files.extend(parts),
                None => {
                    let found = files_at(path).map_err(in_file)?;
                    files.extend(found.into_iter().map(|path| DataFile::new(path, None)));
                }
            }
        }
        Dataset::new(files, Arc::new(|path| Ok(Arc::new(LocalFile::open(path)?))))
    }
}

/// Returns the files of a summary; `None` if the file is not a summary.
fn summary_parts(path: &Path) -> Result<Option<Vec<DataFile>>> {
    let source = LocalFile::open(path)?;
    let metadata = match read_metadata(&source, &Default::default()) {
        Ok(footer) => footer.metadata,
        // Keys come later, with the options. Nobody encrypts a summary.
        Err(error) if error.kind() == ErrorKind::Key => return Ok(None),
        Err(error) => return Err(error),
    };
    if !summary::is_summary(&metadata) {
        return Ok(None);
    }
    let parts = summary_files(path, &metadata)?.into_iter();
    Ok(Some(parts.map(|part| DataFile::new(part.path, Some(part.groups))).collect()))
}

/// Returns the files of the summary at `path` on a disk, in the order in which it lists them.
fn summary_files(path: &Path, metadata: &ParquetMetaData) -> Result<Vec<Part>> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    summary::parts_at(metadata, |named| resolve(directory, named))
}

/// Returns the local path of a file that a footer names. It must be below the summary's directory after all links are followed.
fn resolve(directory: &Path, named: &str) -> Result<PathBuf> {
    let relative: PathBuf = summary::inside(named)?.into_iter().collect();
    let path = directory.join(relative);
    let real = |path: &Path| {
        fs::canonicalize(path).map_err(|error| Error::io(format!("cannot find {}", path.display()), error))
    };
    match real(&path)?.starts_with(real(directory)?) {
        true => Ok(path),
        false => Err(summary::outside(named)),
    }
}

/// Returns the files that a path stands for. A directory stands for the Parquet files below it. A pattern with `*`, `?`
/// or `[` stands for the files that match it, unless a file has that very name. Sorted, with the files of each
/// directory by name.
fn files_at(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_dir() {
        return directory(path);
    }
    if !is_pattern(path) {
        return Ok(vec![path.to_owned()]);
    }
    let is_recursive = path.to_string_lossy().contains("**");
    let mut found = Vec::new();
    for path in expand_pattern(path)? {
        match path.is_dir() {
            // `**` matches the files in it itself.
            true if is_recursive => {}
            true => found.extend(directory(&path)?),
            false => found.push(path),
        }
    }
    if found.is_empty() {
        return Err(Error::new(ErrorKind::NotFound, "no file has such a name"));
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Returns the Parquet files below a directory: those whose names end in `.parquet`, `.parq` or `.pq`, or all files if
/// there are none.
fn directory(path: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    walk(path, &mut DirectoryChain::default(), &mut found)?;
    retain_parquet(&mut found, |path| path);
    if found.is_empty() {
        return Err(Error::new(ErrorKind::NotFound, "no Parquet file is in the directory"));
    }
    found.sort_unstable();
    Ok(found)
}

fn walk(path: &Path, above: &mut DirectoryChain, found: &mut Vec<PathBuf>) -> Result<()> {
    if !above.enter(path).map_err(|error| unread(path, error))? {
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(|error| unread(path, error))? {
        let entry = entry.map_err(|error| unread(path, error))?;
        let (name, path) = (entry.file_name(), entry.path());
        match path.is_dir() {
            _ if is_passed_over(&name.to_string_lossy()) => {}
            true => walk(&path, above, found)?,
            false => found.push(path),
        }
    }
    above.leave();
    Ok(())
}
