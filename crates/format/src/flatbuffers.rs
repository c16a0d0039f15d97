//! Tables of a Flatbuffers message, read where they are: a footer's Arrow schema is one, in base64.
//!
//! ```text
//! table     i32: how far back its vtable is | fields
//! vtable    u16: its length | u16: the table's | u16 for each field: where it is in the table, 0 if it is absent
//! string    u32: how many bytes | bytes | 0           vector    u32: how many elements | elements
//! offset    u32: from where it is to what it is of, forwards
//! ```
//!
//! The file may be hostile, so every look may fail, and what is looked at is limited: `None` is what is damaged,
//! `Some(None)` what is absent. A field is named by its slot, where the vtable has it: see [`slot`].
//!
//! PERF: the usual way is to verify a message as a whole and to trust it then. Of the schema of a wide file that is more work
//! than everything else that takes one column out of it.

use std::cell::Cell;

/// Where the bytes of a message are.
pub trait MessageBytes {
    /// How many there are, or a few more.
    fn size(&self) -> usize;

    /// `N` bytes from `at` on.
    fn read<const N: usize>(&self, at: usize) -> Option<[u8; N]>;

    /// `len` bytes from `at` on.
    fn read_vec(&self, at: usize, len: usize) -> Option<Vec<u8>>;
}

impl MessageBytes for &[u8] {
    fn size(&self) -> usize {
        self.len()
    }

    fn read<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.get(at..)?.first_chunk().copied()
    }

    fn read_vec(&self, at: usize, len: usize) -> Option<Vec<u8>> {
        self.get(at..at.checked_add(len)?).map(<[u8]>::to_vec)
    }
}

/// A message, and what may still be looked at of it.
#[derive(Debug)]
pub struct Message<B> {
    bytes: B,
    /// Bytes. Whoever lets many fields share what is below them gets no further than who does not.
    left: Cell<usize>,
    is_strict: bool,
}

/// A table of a message.
#[derive(Debug)]
pub struct Table<'a, B> {
    message: &'a Message<B>,
    at: usize,
}

/// A vector of tables.
#[derive(Debug)]
pub struct Tables<'a, B> {
    message: &'a Message<B>,
    /// Where the first offset is.
    at: usize,
    len: usize,
}

impl<B> Clone for Table<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Table<'_, B> {}

impl<B> Clone for Tables<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Tables<'_, B> {}

/// The slot of field number `field` of a table, as the `VT_` constants of generated code have it.
pub const fn slot(field: u16) -> u16 {
    VTABLE_HEADER + 2 * field
}

impl<B: MessageBytes> Message<B> {
    /// A message of which whatever can be read is.
    pub fn new(bytes: B) -> Self {
        let left = Cell::new(LOOKS.saturating_mul(bytes.size()));
        Message { bytes, left, is_strict: false }
    }

    /// A message of which is refused, when it is looked at, what verifiers of Flatbuffers refuse: what is not at a multiple of its
    /// size, tables and vectors that are not whole, strings that no zero ends.
    pub fn new_strict(bytes: B) -> Self {
        Message { is_strict: true, ..Message::new(bytes) }
    }

    /// What was given.
    pub fn bytes(&self) -> &B {
        &self.bytes
    }

    /// The table that the message is, the offset of which is at `start`.
    pub fn root(&self, start: usize) -> Option<Table<'_, B>> {
        self.table(start)
    }

    fn number<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        if self.is_strict && !at.is_multiple_of(N) {
            return None;
        }
        self.bytes.read(at)
    }

    fn u16(&self, at: usize) -> Option<u16> {
        self.number(at).map(u16::from_le_bytes)
    }

    fn u32(&self, at: usize) -> Option<usize> {
        Some(u32::from_le_bytes(self.number(at)?) as usize)
    }

    /// What the offset at `at` is of.
    fn follow(&self, at: usize) -> Option<usize> {
        let to = at.checked_add(self.u32(at)?)?;
        (!self.is_strict || to > at && to < self.bytes.size()).then_some(to)
    }

    /// The table that the offset at `at` is of.
    fn table(&self, at: usize) -> Option<Table<'_, B>> {
        self.look_at(size_of::<u32>())?;
        let table = Table { message: self, at: self.follow(at)? };
        (!self.is_strict || table.is_whole()?).then_some(table)
    }

    fn look_at(&self, bytes: usize) -> Option<()> {
        self.left.set(self.left.get().checked_sub(bytes)?);
        Some(())
    }

    fn has(&self, start: usize, len: usize) -> bool {
        start.checked_add(len).is_some_and(|end| end <= self.bytes.size())
    }
}

impl<'a, B: MessageBytes> Table<'a, B> {
    fn vtable(self) -> Option<usize> {
        let back = i32::from_le_bytes(self.message.number(self.at)?);
        self.at.checked_add_signed((back as isize).checked_neg()?)
    }

    /// Whether its own bytes and those of its vtable are there.
    fn is_whole(self) -> Option<bool> {
        let vtable = self.vtable()?;
        let (vtable_len, len) = (self.message.u16(vtable)?, self.message.u16(vtable.checked_add(2)?)?);
        let is_legal = vtable_len >= VTABLE_HEADER && vtable_len.is_multiple_of(2);
        let is_there = self.message.has(vtable, usize::from(vtable_len));
        Some(is_legal && is_there && self.message.has(self.at, usize::from(len)))
    }

    /// Where a field is.
    fn field(self, slot: u16) -> Option<Option<usize>> {
        let vtable = self.vtable()?;
        if slot >= self.message.u16(vtable)? {
            return Some(None);
        }
        match self.message.u16(vtable.checked_add(usize::from(slot))?)? {
            0 => Some(None),
            offset => self.at.checked_add(usize::from(offset)).map(Some),
        }
    }

    fn scalar<const N: usize>(self, slot: u16) -> Option<Option<[u8; N]>> {
        match self.field(slot)? {
            Some(at) => self.message.number(at).map(Some),
            None => Some(None),
        }
    }

    /// False if it is absent.
    pub fn bool(self, slot: u16) -> Option<bool> {
        Some(self.u8(slot)? != 0)
    }

    /// 0 if it is absent.
    pub fn u8(self, slot: u16) -> Option<u8> {
        Some(self.scalar(slot)?.map_or(0, u8::from_le_bytes))
    }

    /// `default` if it is absent.
    pub fn i16(self, slot: u16, default: i16) -> Option<i16> {
        Some(self.scalar(slot)?.map_or(default, i16::from_le_bytes))
    }

    /// `default` if it is absent.
    pub fn i32(self, slot: u16, default: i32) -> Option<i32> {
        Some(self.scalar(slot)?.map_or(default, i32::from_le_bytes))
    }

    /// 0 if it is absent.
    pub fn i64(self, slot: u16) -> Option<i64> {
        Some(self.scalar(slot)?.map_or(0, i64::from_le_bytes))
    }

    /// A string that has to be UTF-8.
    pub fn string(self, slot: u16) -> Option<Option<String>> {
        match self.string_bytes(slot)? {
            Some(bytes) => String::from_utf8(bytes).ok().map(Some),
            None => Some(None),
        }
    }

    /// A string that may not be UTF-8: what some writers have in metadata is binary.
    pub fn string_bytes(self, slot: u16) -> Option<Option<Vec<u8>>> {
        let Some((start, len)) = self.vector(slot, 1)? else { return Some(None) };
        if self.message.is_strict && self.message.number(start.checked_add(len)?)? != [0] {
            return None;
        }
        self.message.bytes.read_vec(start, len).map(Some)
    }

    /// A table below this one.
    pub fn table(self, slot: u16) -> Option<Option<Table<'a, B>>> {
        match self.field(slot)? {
            Some(at) => self.message.table(at).map(Some),
            None => Some(None),
        }
    }

    /// The tables of a vector: none at all if it is absent.
    pub fn tables(self, slot: u16) -> Option<Tables<'a, B>> {
        let (at, len) = self.vector(slot, size_of::<u32>())?.unwrap_or((0, 0));
        Some(Tables { message: self.message, at, len })
    }

    /// Where the first element of a vector is, and how many there are, of `size` bytes each.
    pub fn vector(self, slot: u16, size: usize) -> Option<Option<(usize, usize)>> {
        let Some(field) = self.field(slot)? else { return Some(None) };
        let at = self.message.follow(field)?;
        let (start, len) = (at.checked_add(size_of::<u32>())?, self.message.u32(at)?);
        let bytes = len.checked_mul(size)?;
        self.message.look_at(bytes.checked_add(size_of::<u32>())?)?;
        // QUIRK: nanoparquet does not align elements of 8 bytes. What looks at offsets does so for itself.
        (!self.message.is_strict || self.message.has(start, bytes)).then_some(Some((start, len)))
    }
}

impl<'a, B: MessageBytes> Tables<'a, B> {
    /// How many there are.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(self) -> usize {
        self.len
    }

    /// The message that they are of.
    pub fn message(self) -> &'a Message<B> {
        self.message
    }

    /// The table at `i`.
    pub fn get(self, i: usize) -> Option<Table<'a, B>> {
        let at = self.at.checked_add(i.checked_mul(size_of::<u32>())?)?;
        if i < self.len { self.message.table(at) } else { None }
    }

    /// All of them.
    pub fn iter(self) -> impl Iterator<Item = Option<Table<'a, B>>> {
        (0..self.len).map(move |i| self.get(i))
    }
}

/// How often each byte may be looked at: once for a name that is looked for, once for what is found, and some more.
const LOOKS: usize = 4;
/// Bytes before the slots of a vtable: its length, and the table's.
const VTABLE_HEADER: u16 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    /// A table whose only field is the string "hi".
    const HI: [u8; 27] = [
        12, 0, 0, 0, // offset of the root
        6, 0, // vtable: its length
        8, 0, // the table's length
        4, 0, // field 0
        0, 0, // padding
        8, 0, 0, 0, // table: how far back its vtable is
        4, 0, 0, 0, // field 0: offset of the string
        2, 0, 0, 0, // length of the string
        b'h', b'i', 0,
    ];

    fn hi(message: &Message<&[u8]>, start: usize) -> Option<Option<String>> {
        message.root(start)?.string(slot(0))
    }

    #[test]
    fn a_string_is_read() {
        for message in [Message::new(&HI[..]), Message::new_strict(&HI[..])] {
            assert_eq!(hi(&message, 0), Some(Some("hi".to_owned())));
            assert_eq!(message.root(0).unwrap().string(slot(1)), Some(None));
            assert_eq!(message.root(0).unwrap().i16(slot(1), 7), Some(7));
            assert!(message.root(0).unwrap().tables(slot(1)).unwrap().get(0).is_none());
        }
    }

    #[test]
    fn only_who_is_strict_asks_for_alignment_and_for_the_zero() {
        let shifted = [&[0], &HI[..]].concat();
        assert_eq!(hi(&Message::new(&shifted), 1), Some(Some("hi".to_owned())));
        assert_eq!(hi(&Message::new_strict(&shifted), 1), None);
        let open = &HI[..HI.len() - 1];
        assert_eq!(hi(&Message::new(open), 0), Some(Some("hi".to_owned())));
        assert_eq!(hi(&Message::new_strict(open), 0), None);
    }

    #[test]
    fn a_string_is_not_read_again_and_again() {
        let message = Message::new(&HI[..]);
        let read = (0..100).take_while(|_| hi(&message, 0).is_some()).count();
        assert!((2..20).contains(&read), "{read} times");
    }
}
