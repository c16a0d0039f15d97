//! A local file as a source of bytes.

use crate::source::{Source, outside};
use bytes::{Bytes, BytesMut};
use marquetry_base::{Error, ErrorKind, Result};
use std::fs::{File, FileType, Metadata};
use std::path::Path;

/// An open local file, for positioned reads.
#[derive(Debug)]
pub struct LocalFile {
    file: File,
    len: u64,
}

impl LocalFile {
    /// Opens the file at `path`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let cannot = |error| Error::io("cannot open the file", error).in_file(name.as_str());
        // Opening a FIFO would block until somebody writes to it.
        let metadata = std::fs::metadata(path).map_err(cannot)?;
        regular(&metadata).map_err(|error| error.in_file(name.as_str()))?;
        let file = File::open(path).map_err(cannot)?;
        LocalFile::new(file).map_err(|error| error.in_file(name))
    }

    /// Uses an open file.
    pub fn new(file: File) -> Result<Self> {
        let metadata = file.metadata()?;
        regular(&metadata)?;
        // Files in /proc claim to be empty.
        if metadata.len() == 0 && read_exact_at(&file, &mut [0], 0).is_ok() {
            let message = "is a file whose size the system does not tell, as in /proc: copy it first";
            return Err(Error::new(ErrorKind::Io, message));
        }
        Ok(LocalFile { len: metadata.len(), file })
    }

    /// Uses an open regular file with this many bytes.
    pub(super) fn of_len(file: File, len: u64) -> Self {
        LocalFile { file, len }
    }
}

/// Fails if this is anything else than a file with positioned reads.
pub(super) fn regular(metadata: &Metadata) -> Result<()> {
    let Some(kind) = special_kind(metadata.file_type()) else { return Ok(()) };
    let instead = if metadata.is_dir() { ": name a file in it" } else { "" };
    Err(Error::new(ErrorKind::Io, format!("is {kind}, not a file{instead}")))
}

#[cfg(unix)]
fn special_kind(kind: FileType) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt;
    match kind {
        kind if kind.is_dir() => Some("a directory"),
        kind if kind.is_fifo() => Some("a FIFO"),
        kind if kind.is_socket() => Some("a socket"),
        kind if kind.is_char_device() => Some("a character device"),
        _ => None,
    }
}

#[cfg(not(unix))]
fn special_kind(kind: FileType) -> Option<&'static str> {
    kind.is_dir().then_some("a directory")
}

impl Source for LocalFile {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        self.read_at_reusing(offset, len, BytesMut::new())
    }

    fn read_at_reusing(&self, offset: u64, len: usize, mut memory: BytesMut) -> Result<Bytes> {
        // The length is checked against the file's before memory is allocated for it.
        if offset.checked_add(len as u64).is_none_or(|end| end > self.len) {
            return Err(outside(offset, len, self.len));
        }
        // PERF: new memory of this size comes from the system, which takes as long as the read. Few bytes do not keep
        // much memory allocated.
        match memory.capacity() {
            room if room >= len && room / 4 <= len => memory.resize(len, 0),
            _ => {
                // The next page may be somewhat longer.
                memory = BytesMut::zeroed(if len >= LARGE { len + len / 4 } else { len });
                memory.truncate(len);
            }
        }
        read_exact_at(&self.file, &mut memory, offset).map_err(|error| read_failed(error).at(offset))?;
        Ok(memory.freeze())
    }
}

#[cold]
fn read_failed(error: std::io::Error) -> Error {
    match error.kind() {
        // The read was checked against the file's length before.
        std::io::ErrorKind::UnexpectedEof => {
            Error::new(ErrorKind::Changed, "the file is shorter than it was when it was opened")
        }
        _ => Error::io("cannot read the file", error),
    }
}

/// Size in bytes from which on getting new memory takes noticeably longer.
const LARGE: usize = 128 << 10;

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
    use std::os::windows::fs::FileExt;
    let mut done = 0;
    while done < bytes.len() {
        match file.seek_read(&mut bytes[done..], offset + done as u64)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            n => done += n,
        }
    }
    Ok(())
}
