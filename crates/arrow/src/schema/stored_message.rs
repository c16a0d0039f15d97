//! The bytes of a Flatbuffers message, read from the base64 text in which a footer stores it.
//!
//! PERF: for the schema of a wide file, decoding all of the base64 takes more work than everything else needed to get one column.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use marquetry_format::flatbuffers::{self, MessageBytes};
use std::cell::Cell;

pub(super) type Message<'a> = flatbuffers::Message<StoredBytes<'a>>;
pub(super) type Table<'a> = flatbuffers::Table<'a, StoredBytes<'a>>;
pub(super) type Tables<'a> = flatbuffers::Tables<'a, StoredBytes<'a>>;

/// A base64 text, and options for its metadata.
pub(super) struct StoredBytes<'a> {
    text: &'a [u8],
    /// All of it, decoded, if most of it is needed.
    decoded: Option<Vec<u8>>,
    /// Whether metadata that is not UTF-8 is kept.
    pub(super) keeps_binary: bool,
    /// Whether there was any.
    pub(super) has_binary: Cell<bool>,
}

impl<'a> StoredBytes<'a> {
    /// Creates the bytes of a text. If most of it `is_wanted`, decodes it at once.
    pub(super) fn new(base64: &'a str, is_wanted: bool) -> Self {
        let text = base64.trim().as_bytes();
        // A text that cannot be decoded as a whole may still be decoded in parts.
        let decoded = is_wanted.then(|| STANDARD.decode(text).ok()).flatten();
        StoredBytes { text, decoded, keeps_binary: false, has_binary: Cell::new(false) }
    }

    /// Returns the characters that hold `len` bytes from `at` on, and how many other bytes they hold before these.
    fn chars(&self, at: usize, len: usize) -> Option<(&[u8], usize)> {
        let (first, end) = (at / 3, at.checked_add(len)?.div_ceil(3));
        Some((self.text.get(first.checked_mul(4)?..end.checked_mul(4)?)?, at % 3))
    }
}

impl MessageBytes for StoredBytes<'_> {
    fn size(&self) -> usize {
        self.text.len()
    }

    fn read<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        if let Some(bytes) = &self.decoded {
            return bytes.as_slice().read(at);
        }
        let (chars, skip) = self.chars(at, N)?;
        let mut decoded = [0; 16];
        let len = STANDARD.decode_slice(chars, &mut decoded).ok()?;
        decoded[..len].get(skip..)?.first_chunk().copied()
    }

    fn read_vec(&self, at: usize, len: usize) -> Option<Vec<u8>> {
        if let Some(bytes) = &self.decoded {
            return bytes.as_slice().read_vec(at, len);
        }
        let (chars, skip) = self.chars(at, len)?;
        let mut decoded = STANDARD.decode(chars).ok()?;
        decoded.drain(..skip.min(decoded.len()));
        decoded.truncate(len);
        (decoded.len() == len).then_some(decoded)
    }
}
