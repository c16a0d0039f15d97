//! Reads the bytes of a reference from front to back, and checks its checksum at their end.

use crate::checksum::{Algorithm, Hasher};
use bytes::{Buf, Bytes};
use marquetry_base::{Error, Result};
use marquetry_core::source::Source;
use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

/// Reads what a value of FILE refers to. No more than 256 KiB are held at a time, however large it is.
///
/// The checksum is compared with the last byte: the read that would give it fails if they differ. So what was read before the end
/// was not compared yet.
pub struct FileReader {
    source: Arc<dyn Source>,
    /// What was not fetched yet.
    left: Range<u64>,
    len: u64,
    part: Bytes,
    checksum: Option<(Algorithm, Hasher, String)>,
    /// What was wrong with the checksum, which each read at the end tells.
    mismatch: Option<String>,
}

impl FileReader {
    pub(crate) fn new(
        source: Arc<dyn Source>,
        range: Range<u64>,
        checksum: Option<(Algorithm, Hasher, String)>,
    ) -> Self {
        let len = range.end - range.start;
        FileReader { source, left: range, len, part: Bytes::new(), checksum, mismatch: None }
    }

    /// How many bytes there are in all.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The next bytes; none behind the last ones.
    ///
    /// # Errors
    ///
    /// If they cannot be read, or they are the last ones and the checksum is another: then every later call fails, too.
    pub fn next_part(&mut self) -> Result<Bytes> {
        if !self.part.is_empty() {
            return Ok(std::mem::take(&mut self.part));
        }
        let len = (self.left.end - self.left.start).min(PART) as usize;
        let part = if len == 0 { Bytes::new() } else { self.source.read_at(self.left.start, len)? };
        self.left.start += len as u64;
        if let Some((_, hasher, _)) = &mut self.checksum {
            hasher.update(&part);
        }
        if self.left.is_empty()
            && let Some((algorithm, hasher, said)) = self.checksum.take()
        {
            let found = hasher.finish();
            if found != said {
                let name = algorithm.name();
                self.mismatch = Some(format!("FILE: the checksum is {name}:{found}, {said} is said"));
            }
        }
        match &self.mismatch {
            Some(mismatch) => Err(Error::corrupt(mismatch.clone())),
            None => Ok(part),
        }
    }

    /// The next bytes, `most` of them at most; none behind the last ones.
    ///
    /// # Errors
    ///
    /// As [`next_part`](Self::next_part).
    pub fn read_some(&mut self, most: usize) -> Result<Bytes> {
        let mut part = self.next_part()?;
        if part.len() > most {
            self.part = part.split_off(most);
        }
        Ok(part)
    }

    /// All bytes that were not read yet.
    ///
    /// # Errors
    ///
    /// If there are more than `most`, and as [`next_part`](Self::next_part).
    pub fn read_all(&mut self, most: u64) -> Result<Vec<u8>> {
        let len = self.left.end - self.left.start + self.part.len() as u64;
        if len > most {
            return Err(Error::limit(format!("FILE: {len} bytes, {most} at most are read")));
        }
        let mut out = Vec::new();
        loop {
            let part = self.next_part()?;
            if part.is_empty() {
                return Ok(out);
            }
            out.extend_from_slice(&part);
        }
    }
}

impl Read for FileReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        if self.part.is_empty() {
            self.part = self.next_part().map_err(io::Error::other)?;
        }
        let len = self.part.len().min(out.len());
        self.part.copy_to_slice(&mut out[..len]);
        Ok(len)
    }
}

impl fmt::Debug for FileReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileReader").field("len", &self.len).field("left", &self.left).finish_non_exhaustive()
    }
}

/// Bytes that are fetched at a time.
const PART: u64 = 256 << 10;
