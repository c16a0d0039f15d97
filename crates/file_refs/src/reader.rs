//! Reads the bytes of a reference from front to back, and checks its checksum at their end.

use crate::checksum::{Algorithm, Hasher};
use bytes::{Buf, Bytes};
use marquetry_base::{Error, Result};
use marquetry_core::source::Source;
use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

/// A reader of the bytes that a FILE value refers to. It holds at most 256 KiB at a time, however large the file is.
///
/// The checksum is compared at the end: the read that would return the last byte fails if it differs. So bytes read
/// before the end have not been verified yet.
pub struct FileReader {
    source: Arc<dyn Source>,
    /// The range that has not been fetched yet.
    left: Range<u64>,
    len: u64,
    part: Bytes,
    checksum: Option<(Algorithm, Hasher, String)>,
    /// The checksum error, which every later read returns again.
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

    /// Returns the total number of bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the next bytes, or none at the end.
    ///
    /// # Errors
    ///
    /// If they cannot be read, or if they are the last ones and the checksum differs. Then every later call fails, too.
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
                self.mismatch = Some(format!("FILE: the checksum is {name}:{found}, and {said} is stated"));
            }
        }
        match &self.mismatch {
            Some(mismatch) => Err(Error::corrupt(mismatch.clone())),
            None => Ok(part),
        }
    }

    /// Returns the next bytes, at most `most` of them, or none at the end.
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

    /// Reads all bytes that have not been read yet.
    ///
    /// # Errors
    ///
    /// If there are more than `most` bytes, and as [`next_part`](Self::next_part).
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

/// Number of bytes that are fetched at a time.
const PART: u64 = 256 << 10;
