//! A report in a file of its own, which appears once it is complete and replaces no other file unasked.

use crate::failure::Failure;
use crate::overwrite::{create, is_there, refuse, refuse_existing, same_place};
use marquetry::file::AtomicFile;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// A report that is being written.
pub(crate) enum ReportFile {
    /// A file that gets its name when it is finished.
    File(AtomicFile),
    /// A pipe or a terminal, which has no contents to lose.
    Stream(File),
}

impl ReportFile {
    /// Creates a report at `path`. Fails if that is one of the files `inputs`, or the file `output`, under whatever
    /// name, or if it exists and `overwrite` does not allow replacing it. `overwrite` is `None` for commands without
    /// such an option, which replace nothing.
    pub(crate) fn create<'a>(
        path: &Path,
        inputs: impl IntoIterator<Item = &'a Path>,
        output: Option<&Path>,
        overwrite: Option<bool>,
    ) -> Result<Self, Failure> {
        // The output file need not exist yet.
        if output.is_some_and(|output| same_place(output, path)) {
            return Err(refuse(path, "is the file that is written: the report needs one of its own"));
        }
        if fs::metadata(path).is_ok_and(|there| is_stream(&there)) {
            return Ok(ReportFile::Stream(OpenOptions::new().write(true).open(path)?));
        }
        refuse_existing(path, inputs, overwrite.unwrap_or(true))?;
        if overwrite.is_none() && is_there(path) {
            return Err(refuse(path, "already exists, and a report never replaces a file"));
        }
        Ok(ReportFile::File(create(path, overwrite.unwrap_or(false))?))
    }

    /// Completes the report.
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

/// Whether a file is a stream: a pipe or a character device, not a block device.
#[cfg(unix)]
fn is_stream(there: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    there.file_type().is_fifo() || there.file_type().is_char_device()
}

/// On other systems this is unknown.
#[cfg(not(unix))]
fn is_stream(_: &Metadata) -> bool {
    false
}
