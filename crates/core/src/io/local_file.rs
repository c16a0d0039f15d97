//! A local file as a source of bytes.

use crate::source::{Source, outside};
use bytes::{Bytes, BytesMut};
use marquetry_base::{Error, ErrorKind, Result};
use std::fs::{File, FileType, Metadata};
use std::path::Path;
use std::time::SystemTime;

/// An open local file, for positioned reads.
///
/// A read fails with [`ErrorKind::Changed`] if the file was overwritten after it was opened, which its modification time and
/// length show: the bytes may be those of another file. Appended bytes are no such change; they are not seen. Nor is
/// another file with the same name, or removing the name: the opened file is still read. Two changes within one tick of the
/// file system's clock, a few milliseconds, look like one.
#[derive(Debug)]
pub struct LocalFile {
    file: File,
    len: u64,
    /// When it was last changed before it was opened, if the system tells.
    modified: Option<SystemTime>,
    /// The last bytes that it had then.
    end: [u8; END],
}

/// Length of the footer and magic: no other Parquet file that is longer has them at this place.
const END: usize = 8;

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
        Ok(LocalFile::of(file, &metadata, metadata.len()))
    }

    /// Uses an open regular file with this many bytes.
    pub(super) fn of_len(file: File, len: u64) -> Result<Self> {
        let metadata = file.metadata()?;
        Ok(LocalFile::of(file, &metadata, len))
    }

    fn of(file: File, metadata: &Metadata, len: u64) -> Self {
        let mut known = LocalFile { file, len, modified: metadata.modified().ok(), end: [0; END] };
        known.end = known.read_end().unwrap_or_default();
        known
    }

    /// Reads the last [`END`] of the first `len` bytes; zeros if the file is shorter than that.
    fn read_end(&self) -> std::io::Result<[u8; END]> {
        let mut end = [0; END];
        if let Some(offset) = self.len.checked_sub(END as u64) {
            read_exact_at(&self.file, &mut end, offset)?;
        }
        Ok(end)
    }

    /// Fails if the file was overwritten or truncated after it was opened.
    fn check_unchanged(&self) -> Result<()> {
        let Ok(now) = self.file.metadata() else { return Ok(()) };
        if now.modified().ok() == self.modified && now.len() == self.len {
            return Ok(());
        }
        match now.len() {
            len if len < self.len => Err(changed("the file is shorter than it was when it was opened")),
            len if len > self.len && self.read_end().is_ok_and(|end| end == self.end) => Ok(()),
            _ => Err(changed("the file was written to after it was opened: open it again")),
        }
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
        // Behind the read: what was changed before is noticed.
        self.check_unchanged().map_err(|error| error.at(offset))?;
        Ok(memory.freeze())
    }
}

#[cold]
fn read_failed(error: std::io::Error) -> Error {
    match error.kind() {
        // The read was checked against the file's length before.
        std::io::ErrorKind::UnexpectedEof => changed("the file is shorter than it was when it was opened"),
        _ => Error::io("cannot read the file", error),
    }
}

#[cold]
fn changed(how: &'static str) -> Error {
    Error::new(ErrorKind::Changed, how)
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;
    use std::time::Duration;

    /// What comes next is told apart by its time.
    fn later() {
        std::thread::sleep(Duration::from_millis(30));
    }

    #[test]
    fn bytes_of_another_content_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, b"0123456789").unwrap();
        for (other, kept) in
            [("abcdefghij", false), ("abc", false), ("abcdefghijklm", false), ("0123456789x", true)]
        {
            fs::write(&path, b"0123456789").unwrap();
            let file = LocalFile::open(&path).unwrap();
            assert_eq!(file.read_at(2, 3).unwrap(), &b"234"[..]);
            later();
            fs::write(&path, other).unwrap();
            match file.read_at(2, 3) {
                Ok(bytes) => assert!(kept && bytes == b"234"[..], "{other}"),
                Err(error) => assert!(!kept && error.kind() == ErrorKind::Changed, "{other}: {error}"),
            }
        }
    }

    #[test]
    fn the_file_that_was_opened_is_read_on() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("f"), folder.path().join("g"));
        fs::write(&path, b"0123456789").unwrap();
        let file = LocalFile::open(&path).unwrap();
        later();
        fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"more").unwrap();
        assert_eq!(file.read_at(0, 10).unwrap(), &b"0123456789"[..]);
        fs::write(&other, b"abcdefghij").unwrap();
        fs::rename(&other, &path).unwrap();
        assert_eq!(file.read_at(0, 10).unwrap(), &b"0123456789"[..]);
        fs::remove_file(&path).unwrap();
        assert_eq!(file.read_at(0, 10).unwrap(), &b"0123456789"[..]);
    }
}
