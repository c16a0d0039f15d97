//! Standard input where a file is wanted: `-`.
//!
//! A Parquet file is read from its end, so what comes through a pipe is copied to a temporary file first, whatever its size.

use marquetry::errors::{Error, ErrorKind, Result};
use marquetry::file::{LocalFile, Source};
use std::fs::File;
use std::io::{self, Seek};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Whether a path means standard input.
pub(crate) fn is_meant(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The path, or the system's path of standard input if that is meant.
pub(crate) fn named(path: &Path) -> &Path {
    if is_meant(path) { Path::new("/dev/stdin") } else { path }
}

/// All bytes of standard input; the same ones each time.
pub(crate) fn source() -> Result<Arc<dyn Source>> {
    let cannot =
        |error| Error::caused_by(ErrorKind::Io, "cannot copy standard input to a temporary file", error);
    Ok(Arc::new(LocalFile::new(spooled().map_err(cannot)?)?))
}

fn spooled() -> io::Result<File> {
    static SPOOLED: Mutex<Option<File>> = Mutex::new(None);
    let mut spooled = SPOOLED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = &*spooled {
        return file.try_clone();
    }
    let mut file = tempfile::tempfile()?;
    io::copy(&mut io::stdin().lock(), &mut file)?;
    file.rewind()?;
    let clone = file.try_clone();
    *spooled = Some(file);
    clone
}
