//! Bytes of a file or of standard input: counted, and decompressed if they are gzip or Zstandard.

use super::bad_input::bad;
use super::decoded::Decoded;
use super::zstd_text;
use crate::failure::Failure;
use crate::remote::{self, FrontToBack};
use encoding_rs::Encoding;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A source of bytes.
pub(super) struct ByteStream {
    /// `None` is standard input.
    path: Option<PathBuf>,
    /// The contents of standard input.
    spooled: Option<File>,
    read: Arc<AtomicU64>,
}

impl ByteStream {
    /// The file at `path`, or standard input for `-`.
    pub(super) fn new(path: &Path) -> Self {
        let path = (path.as_os_str() != "-").then(|| path.to_owned());
        ByteStream { path, spooled: None, read: Arc::default() }
    }

    /// The file; `None` is standard input.
    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Its name on the command line.
    pub(super) fn given_path(&self) -> &Path {
        self.path().unwrap_or(Path::new("-"))
    }

    /// The number of bytes, and a counter of those read; unknown for several inputs, which are opened again one after
    /// the other.
    pub(super) fn progress<'a>(
        mut inputs: impl ExactSizeIterator<Item = &'a ByteStream>,
    ) -> (Option<u64>, Arc<AtomicU64>) {
        match (inputs.len(), inputs.next()) {
            (1, Some(one)) => (one.bytes(), one.bytes_read()),
            _ => (None, Arc::default()),
        }
    }

    /// A counter of the bytes read.
    pub(super) fn bytes_read(&self) -> Arc<AtomicU64> {
        self.read.clone()
    }

    /// The number of bytes; `None` for pipes.
    pub(super) fn bytes(&self) -> Option<u64> {
        let metadata = match (&self.path, &self.spooled) {
            (Some(path), _) => std::fs::metadata(path).ok()?,
            (None, Some(file)) => file.metadata().ok()?,
            (None, None) => return None,
        };
        metadata.is_file().then_some(metadata.len())
    }

    /// Makes it possible to read repeatedly, or at random positions: a pipe is copied to an unnamed file.
    pub(super) fn spool(&mut self) -> Result<(), Failure> {
        if self.spooled.is_some() || self.path.as_ref().is_some_and(|path| path.is_file()) {
            return Ok(());
        }
        let mut file = tempfile::tempfile()?;
        let mut from = self.stream()?;
        io::copy(&mut from, &mut file)?;
        self.spooled = Some(file);
        Ok(())
    }

    /// A file for random access, positioned at its beginning.
    pub(super) fn file(&mut self) -> Result<File, Failure> {
        self.spool()?;
        self.read.store(0, Ordering::Relaxed);
        match (&self.spooled, &self.path) {
            (Some(file), _) => {
                let mut file = file.try_clone()?;
                file.rewind().map_err(bad)?;
                Ok(file)
            }
            (None, Some(path)) => File::open(path).map_err(bad),
            (None, None) => Err(bad("standard input cannot be read twice")),
        }
    }

    /// As [`Self::file`], after `start` was already read `from` the stream.
    pub(super) fn file_after(&mut self, start: &[u8], mut from: Counted) -> Result<File, Failure> {
        if self.spooled.is_none() && !self.path.as_ref().is_some_and(|path| path.is_file()) {
            let mut file = tempfile::tempfile()?;
            file.write_all(start)?;
            io::copy(&mut from, &mut file)?;
            self.spooled = Some(file);
        }
        self.file()
    }

    /// The raw bytes, counted.
    pub(super) fn counted(&mut self) -> Result<Counted, Failure> {
        self.read.store(0, Ordering::Relaxed);
        Ok(Counted { inner: self.stream()?, read: self.read.clone() })
    }

    /// The bytes as UTF-8 text: decompressed, decoded, without a byte order mark. Without an encoding, the mark
    /// determines it, or else it is UTF-8.
    pub(super) fn text(
        &mut self,
        encoding: Option<&'static Encoding>,
    ) -> Result<Box<dyn BufRead + Send>, Failure> {
        let mut raw = BufReader::with_capacity(BUFFER, self.counted()?);
        let start = peek(&mut raw).map_err(bad)?;
        let raw = Cursor::new(start.clone()).chain(raw);
        let mut text: Box<dyn BufRead + Send> = match start.as_slice() {
            [0x1f, 0x8b, ..] => Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(raw))),
            [0x28, 0xb5, 0x2f, 0xfd] => {
                Box::new(BufReader::with_capacity(BUFFER, zstd_text::decoder(raw).map_err(bad)?))
            }
            _ => Box::new(raw),
        };
        let start = peek(&mut text).map_err(bad)?;
        let marked = Encoding::for_bom(&start).map(|(encoding, _)| encoding);
        let encoding = marked.or(encoding).filter(|encoding| *encoding != encoding_rs::UTF_8);
        if let Some(encoding) = encoding {
            let decoded = Decoded::new(Box::new(Cursor::new(start).chain(text)), encoding);
            return Ok(Box::new(BufReader::with_capacity(BUFFER, decoded)));
        }
        let mark = if start.starts_with(&[0xef, 0xbb, 0xbf]) { 3 } else { 0 };
        Ok(Box::new(Cursor::new(start[mark..].to_vec()).chain(text)))
    }

    fn stream(&self) -> Result<Box<dyn Read + Send>, Failure> {
        match (&self.spooled, &self.path) {
            (Some(file), _) => {
                let mut file = file.try_clone()?;
                file.rewind().map_err(bad)?;
                Ok(Box::new(file))
            }
            (None, Some(path)) if remote::is_url(path) => {
                Ok(Box::new(FrontToBack::new(remote::source(path)?)))
            }
            (None, Some(path)) => Ok(Box::new(File::open(path).map_err(bad)?)),
            (None, None) => Ok(Box::new(io::stdin())),
        }
    }
}

/// Reads up to four bytes from `from`.
fn peek(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(4);
    from.take(4).read_to_end(&mut start)?;
    Ok(start)
}

/// A reader that counts bytes.
pub(super) struct Counted {
    inner: Box<dyn Read + Send>,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(out)?;
        self.read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

const BUFFER: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_and_marked_text_is_read_plain() {
        let folder = tempfile::tempdir().unwrap();
        let text = "\u{feff}id,name\n1,oak\n";
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        let mut all = vec![text.as_bytes().to_vec(), gzip.finish().unwrap()];
        #[cfg(feature = "zstd")]
        all.push(zstd::stream::encode_all(text.as_bytes(), 1).unwrap());
        for bytes in all {
            let path = folder.path().join("in");
            std::fs::write(&path, &bytes).unwrap();
            let mut origin = ByteStream::new(&path);
            let mut read = String::new();
            origin.text(None).unwrap().read_to_string(&mut read).unwrap();
            assert_eq!(read, "id,name\n1,oak\n");
            assert_eq!(origin.bytes_read().load(Ordering::Relaxed), bytes.len() as u64);
        }
        let path = folder.path().join("short");
        std::fs::write(&path, "a").unwrap();
        let mut read = String::new();
        ByteStream::new(&path).text(None).unwrap().read_to_string(&mut read).unwrap();
        assert_eq!(read, "a");
    }
}
