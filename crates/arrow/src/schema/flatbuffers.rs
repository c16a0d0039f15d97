//! Tables of a Flatbuffers message, read where they are.
//!
//! ```text
//! table     i32: how far back its vtable is | fields
//! vtable    u16: its length | u16: the table's | u16 for each field: where it is in the table, 0 if it is absent
//! string    u32: how many bytes | bytes                 vector    u32: how many elements | elements
//! offset    u32: from where it is to what it is of, forwards
//! ```
//!
//! The file may be hostile, so every look may fail, and what is looked at is limited: `None` is what is damaged,
//! `Some(None)` what is absent.
//!
//! PERF: the usual way is to verify a message as a whole and to trust it then. Of the schema of a wide file that is more work
//! than everything else that takes one column out of it; so is decoding all of its base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::cell::Cell;

/// A message, and what may still be looked at of it.
pub(super) struct Message<'a> {
    bytes: Source<'a>,
    /// Bytes. Whoever lets many fields share what is below them gets no further than who does not.
    left: Cell<usize>,
    /// Whether metadata that is not text is kept.
    pub(super) keeps_binary: bool,
    /// Whether there was some.
    pub(super) has_binary: Cell<bool>,
}

enum Source<'a> {
    Base64(&'a [u8]),
    Decoded(Vec<u8>),
}

/// A table of a message.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    message: &'a Message<'a>,
    at: usize,
}

/// A vector of tables.
#[derive(Clone, Copy)]
pub(super) struct Tables<'a> {
    message: &'a Message<'a>,
    /// Where the first offset is.
    at: usize,
    len: usize,
}

impl<'a> Message<'a> {
    /// The message that a text holds; if most of it `is_wanted`, it is decoded at once.
    pub(super) fn new(base64: &'a str, is_wanted: bool) -> Self {
        let text = base64.trim().as_bytes();
        // What cannot be decoded as a whole may be so in parts, whatever is wanted.
        let decoded = is_wanted.then(|| STANDARD.decode(text).ok()).flatten();
        let bytes = decoded.map_or(Source::Base64(text), Source::Decoded);
        let left = Cell::new(LOOKS * text.len());
        Message { bytes, left, keeps_binary: false, has_binary: Cell::new(false) }
    }

    /// The table that the message is.
    pub(super) fn root(&'a self) -> Option<Table<'a>> {
        // Since format version 0.15 a message starts with a marker and its length; older writers left both out.
        let start = if self.read(0)? == [0xff; 4] { 8 } else { 0 };
        self.table(start)
    }

    fn read<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        match &self.bytes {
            Source::Decoded(bytes) => bytes.get(at..)?.first_chunk().copied(),
            Source::Base64(text) => {
                let (chars, skip) = chars(text, at, N)?;
                let mut decoded = [0; 16];
                let len = STANDARD.decode_slice(chars, &mut decoded).ok()?;
                decoded[..len].get(skip..)?.first_chunk().copied()
            }
        }
    }

    fn u32(&self, at: usize) -> Option<usize> {
        Some(u32::from_le_bytes(self.read(at)?) as usize)
    }

    /// What the offset at `at` is of.
    fn follow(&self, at: usize) -> Option<usize> {
        at.checked_add(self.u32(at)?)
    }

    /// The table that the offset at `at` is of.
    fn table(&'a self, at: usize) -> Option<Table<'a>> {
        self.look_at(size_of::<u32>())?;
        Some(Table { message: self, at: self.follow(at)? })
    }

    fn look_at(&self, bytes: usize) -> Option<()> {
        self.left.set(self.left.get().checked_sub(bytes)?);
        Some(())
    }
}

/// The characters that `len` bytes from `at` on are in, and how many other bytes these have before them.
fn chars(text: &[u8], at: usize, len: usize) -> Option<(&[u8], usize)> {
    let (first, end) = (at / 3, at.checked_add(len)?.div_ceil(3));
    Some((text.get(first.checked_mul(4)?..end.checked_mul(4)?)?, at % 3))
}

impl<'a> Table<'a> {
    /// Where a field is.
    fn field(self, slot: u16) -> Option<Option<usize>> {
        let back = i32::from_le_bytes(self.message.read(self.at)?);
        let vtable = self.at.checked_add_signed((back as isize).checked_neg()?)?;
        if slot >= u16::from_le_bytes(self.message.read(vtable)?) {
            return Some(None);
        }
        let offset = u16::from_le_bytes(self.message.read(vtable.checked_add(usize::from(slot))?)?);
        match offset {
            0 => Some(None),
            offset => self.at.checked_add(usize::from(offset)).map(Some),
        }
    }

    fn bytes<const N: usize>(self, slot: u16) -> Option<Option<[u8; N]>> {
        match self.field(slot)? {
            Some(at) => self.message.read(at).map(Some),
            None => Some(None),
        }
    }

    pub(super) fn bool(self, slot: u16) -> Option<bool> {
        Some(self.u8(slot)? != 0)
    }

    /// 0 if it is absent.
    pub(super) fn u8(self, slot: u16) -> Option<u8> {
        Some(self.bytes(slot)?.map_or(0, u8::from_le_bytes))
    }

    pub(super) fn i16(self, slot: u16, default: i16) -> Option<i16> {
        Some(self.bytes(slot)?.map_or(default, i16::from_le_bytes))
    }

    pub(super) fn i32(self, slot: u16, default: i32) -> Option<i32> {
        Some(self.bytes(slot)?.map_or(default, i32::from_le_bytes))
    }

    pub(super) fn string(self, slot: u16) -> Option<Option<String>> {
        match self.string_bytes(slot)? {
            Some(bytes) => String::from_utf8(bytes).ok().map(Some),
            None => Some(None),
        }
    }

    /// A string that may not be UTF-8: what some writers have in metadata is binary.
    pub(super) fn string_bytes(self, slot: u16) -> Option<Option<Vec<u8>>> {
        let Some(field) = self.field(slot)? else { return Some(None) };
        let at = self.message.follow(field)?;
        let (start, len) = (at.checked_add(size_of::<u32>())?, self.message.u32(at)?);
        self.message.look_at(len.checked_add(size_of::<u32>())?)?;
        let bytes = match &self.message.bytes {
            Source::Decoded(bytes) => bytes.get(start..start.checked_add(len)?)?.to_vec(),
            Source::Base64(text) => {
                let (chars, skip) = chars(text, start, len)?;
                let mut decoded = STANDARD.decode(chars).ok()?;
                decoded.drain(..skip.min(decoded.len()));
                decoded.truncate(len);
                decoded
            }
        };
        (bytes.len() == len).then_some(Some(bytes))
    }

    pub(super) fn table(self, slot: u16) -> Option<Option<Table<'a>>> {
        match self.field(slot)? {
            Some(at) => self.message.table(at).map(Some),
            None => Some(None),
        }
    }

    /// None at all if they are absent.
    pub(super) fn tables(self, slot: u16) -> Option<Tables<'a>> {
        let Some(field) = self.field(slot)? else {
            return Some(Tables { message: self.message, at: 0, len: 0 });
        };
        let at = self.message.follow(field)?;
        let len = self.message.u32(at)?;
        self.message.look_at(len.checked_mul(size_of::<u32>())?)?;
        Some(Tables { message: self.message, at: at.checked_add(size_of::<u32>())?, len })
    }
}

impl<'a> Tables<'a> {
    pub(super) fn len(self) -> usize {
        self.len
    }

    pub(super) fn message(self) -> &'a Message<'a> {
        self.message
    }

    pub(super) fn get(self, i: usize) -> Option<Table<'a>> {
        let at = self.at.checked_add(i.checked_mul(size_of::<u32>())?)?;
        if i < self.len { self.message.table(at) } else { None }
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Option<Table<'a>>> {
        (0..self.len).map(move |i| self.get(i))
    }
}

/// How often each byte may be looked at: once for a name that is looked for, once for what is found, and some more.
const LOOKS: usize = 4;
