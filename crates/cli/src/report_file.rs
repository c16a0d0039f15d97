//! A report in a file of its own: over no file of the user's, and there once it is complete.

use crate::failure::Failure;
use crate::overwrite::{create, is_there, refuse, refuse_existing, same_place};
use marquetry::file::AtomicFile;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// A report in the making.
pub(crate) enum ReportFile {
    /// It gets its name when it is finished.
    File(AtomicFile),
    /// A pipe or a terminal, which has nothing in it that could be lost.
    Stream(File),
}

impl ReportFile {
    /// Begins a report at `path`. Fails if that is one of the files `inputs`, which are read, or the file `output`, which
    /// is written, whatever names they have, or if a file is there. Whether that may be replaced is what `overwrite` says;
    /// it is `None` for commands that have no such option: theirs replace none.
    pub(crate) fn create<'a>(
        path: &Path,
        inputs: impl IntoIterator<Item = &'a Path>,
        output: Option<&Path>,
        overwrite: Option<bool>,
    ) -> Result<Self, Failure> {
        // The file that is written need not be there yet.
        if output.is_some_and(|output| same_place(output, path)) {
            return Err(refuse(path, "is the file that is written: the report needs one of its own"));
        }
        if fs::metadata(path).is_ok_and(|there| is_stream(&there)) {
            return Ok(ReportFile::Stream(OpenOptions::new().write(true).open(path)?));
        }
        refuse_existing(path, inputs, overwrite.unwrap_or(true))?;
        if overwrite.is_none() && is_there(path) {
            return Err(refuse(path, "is there already, and a report replaces no file"));
        }
        Ok(ReportFile::File(create(path, overwrite.unwrap_or(false))?))
    }

    /// The report is complete.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self {
            ReportFile::File(file) => Ok(file.finish()?),
            ReportFile::Stream(_) => Ok(()),
        }
    }
}

impl Write for ReportFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            ReportFile::File(file) => file.write(bytes),
            ReportFile::Stream(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            ReportFile::File(file) => file.flush(),
            ReportFile::Stream(file) => file.flush(),
        }
    }
}

/// Whether bytes pass through it. A disk is none.
#[cfg(unix)]
fn is_stream(there: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    there.file_type().is_fifo() || there.file_type().is_char_device()
}

/// Other systems do not say.
#[cfg(not(unix))]
fn is_stream(_: &Metadata) -> bool {
    false
}
