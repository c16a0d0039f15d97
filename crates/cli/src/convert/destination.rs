//! The destination of converted rows: standard output, or a file that appears once it is complete, here or in a store.

use crate::failure::Failure;
use crate::file_name;
use crate::output::Output;
use crate::overwrite::{IS_THERE, create, is_there, refuse};
use crate::remote::{self, NewObject};
use marquetry::errors::Error;
use marquetry::file::AtomicFile;
use marquetry_core::write::Durable;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where converted rows are written, with a count of bytes.
pub(crate) struct Destination<'a> {
    to: To<'a>,
    written: Arc<AtomicU64>,
}

enum To<'a> {
    /// Standard output.
    Stdout(&'a mut Output),
    /// A special file that cannot be replaced, such as a named pipe.
    Special(SpecialFile),
    /// A file.
    File(AtomicFile),
    /// A file in a store.
    Store(Box<dyn NewObject>),
}

/// Whether the path leads to the pipe of standard output, as `/dev/stdout` does.
#[cfg(unix)]
pub(crate) fn leads_to_stdout(path: &Path) -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let own = io::stdout().as_fd().try_clone_to_owned().and_then(|own| File::from(own).metadata());
    let (Ok(own), Ok(there)) = (own, fs::metadata(path)) else { return false };
    let is_stream = there.file_type().is_fifo() || there.file_type().is_socket();
    is_stream && (own.dev(), own.ino()) == (there.dev(), there.ino())
}

#[cfg(not(unix))]
pub(crate) fn leads_to_stdout(_: &Path) -> bool {
    false
}

impl<'a> Destination<'a> {
    /// Standard output.
    pub(crate) fn stdout(output: &'a mut Output) -> Self {
        Destination { to: To::Stdout(output), written: Arc::default() }
    }

    /// The number of bytes written, which is kept up to date.
    pub(crate) fn written(&self) -> Arc<AtomicU64> {
        self.written.clone()
    }

    /// A destination at `path`. Fails if that is one of the files `inputs`, if nothing can be written there, or if a
    /// file exists that may not be replaced.
    pub(crate) fn create<'p>(
        path: &Path,
        inputs: impl IntoIterator<Item = &'p PathBuf>,
        overwrite: bool,
    ) -> Result<Self, Failure> {
        if remote::is_url(path) {
            if inputs.into_iter().any(|input| input == path) {
                return Err(Failure::usage_of(path, "is the file that is read"));
            }
            let to = To::Store(remote::create(path, overwrite)?);
            return Ok(Destination { to, written: Arc::default() });
        }
        let named = path;
        // A symbolic link is kept: its target is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if inputs.into_iter().any(|input| fs::canonicalize(input).is_ok_and(|input| input == path)) {
            return Err(Failure::usage_of(named, "is the file that is read"));
        }
        let old = fs::metadata(&path).ok();
        if old.as_ref().is_some_and(Metadata::is_dir) {
            return Err(Failure::usage_of(named, "is a directory"));
        }
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let to = To::Special(SpecialFile::open(named)?);
            return Ok(Destination { to, written: Arc::default() });
        }
        if !overwrite && is_there(named) {
            return Err(refuse(named, IS_THERE));
        }
        Ok(Destination { to: To::File(create(named, overwrite)?), written: Arc::default() })
    }

    /// Completes the output: files get their names.
    pub(crate) fn complete(mut self) -> Result<(), Failure> {
        self.flush()?;
        match self.to {
            To::File(file) => Ok(file.finish()?),
            To::Store(object) => Ok(object.finish()?),
            To::Stdout(_) | To::Special(_) => Ok(()),
        }
    }
}

impl Write for Destination<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.to {
            To::Stdout(output) => output.write(bytes),
            To::Special(out) => out.write(bytes),
            To::File(file) => file.write(bytes),
            To::Store(object) => object.write(bytes),
        }?;
        self.written.fetch_add(written as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Stdout(output) => output.flush(),
            To::Special(out) => out.flush(),
            To::File(file) => file.flush(),
            To::Store(object) => object.flush(),
        }
    }
}

impl Durable for Destination<'_> {
    fn sync(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::File(file) => file.sync(),
            To::Stdout(_) | To::Special(_) | To::Store(_) => self.flush(),
        }
    }
}

/// A pipe or a device, with its name for errors.
struct SpecialFile {
    out: BufWriter<File>,
    name: String,
}

impl SpecialFile {
    fn open(path: &Path) -> Result<Self, Error> {
        let name = file_name::shown(path);
        let opened = OpenOptions::new().write(true).open(path);
        let file = opened.map_err(|error| Error::io("cannot be opened to write", error).in_file(&*name))?;
        Ok(SpecialFile { out: BufWriter::with_capacity(BUFFER, file), name })
    }

    fn named<T>(&self, outcome: io::Result<T>) -> io::Result<T> {
        outcome.map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            _ => Error::io("the file cannot be written", error).in_file(&*self.name).into(),
        })
    }
}

impl Write for SpecialFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let outcome = self.out.write(bytes);
        self.named(outcome)
    }

    fn flush(&mut self) -> io::Result<()> {
        let outcome = self.out.flush();
        self.named(outcome)
    }
}

const BUFFER: usize = 256 << 10;
