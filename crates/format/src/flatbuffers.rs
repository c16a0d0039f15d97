//! Tables of a Flatbuffers message, read in place. The Arrow schema in a footer is one, in base64.
//!
//! ```text
//! table     i32: how far back its vtable is | fields
//! vtable    u16: its length | u16: the table's | u16 for each field: where it is in the table, 0 if it is absent
//! string    u32: how many bytes | bytes | 0           vector    u32: how many elements | elements
//! offset    u32: from where it is to what it is of, forwards
//! ```
//!
//! The file may be hostile, so every access can fail, and the number of bytes that may be accessed is limited. `None`
//! means damaged, `Some(None)` means absent. A field is identified by its slot, its offset in the vtable: see [`slot`].
//!
//! PERF: usually a message is verified as a whole and then trusted. For the schema of a wide file, that is more work
//! than everything else that reading one of its columns takes.

use std::cell::Cell;

/// The bytes of a message.
pub trait MessageBytes {
    /// The number of bytes; may be a few too many.
    fn size(&self) -> usize;

    /// Reads `N` bytes from `at` on.
    fn read<const N: usize>(&self, at: usize) -> Option<[u8; N]>;

    /// Reads `len` bytes from `at` on.
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

/// A message, and the number of bytes that may still be accessed.
#[derive(Debug)]
pub struct Message<B> {
    bytes: B,
    /// Bytes that may still be accessed. Bounds the work on a hostile message in which many fields share the tables below them.
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
    /// Position of the first offset.
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

/// Returns the slot of field number `field` of a table, like the `VT_` constants in generated code.
pub const fn slot(field: u16) -> u16 {
    VTABLE_HEADER + 2 * field
}

impl<B: MessageBytes> Message<B> {
    /// Creates a lenient message: reads whatever can be read.
    pub fn new(bytes: B) -> Self {
        let left = Cell::new(LOOKS.saturating_mul(bytes.size()));
        Message { bytes, left, is_strict: false }
    }

    /// Creates a strict message. Accesses fail where verifiers of Flatbuffers do: if a value is not aligned to its
    /// size, a table or vector is incomplete, or a string is not terminated by a zero.
    pub fn new_strict(bytes: B) -> Self {
        Message { is_strict: true, ..Message::new(bytes) }
    }

    /// The bytes of the message.
    pub fn bytes(&self) -> &B {
        &self.bytes
    }

    /// Returns the root table, whose offset is at `start`.
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

    /// Returns the position that the offset at `at` refers to.
    fn follow(&self, at: usize) -> Option<usize> {
        let to = at.checked_add(self.u32(at)?)?;
        (!self.is_strict || to > at && to < self.bytes.size()).then_some(to)
    }

    /// Returns the table that the offset at `at` refers to.
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

    /// Whether the bytes of the table and of its vtable are complete.
    fn is_whole(self) -> Option<bool> {
        let vtable = self.vtable()?;
        let (vtable_len, len) = (self.message.u16(vtable)?, self.message.u16(vtable.checked_add(2)?)?);
        let is_legal = vtable_len >= VTABLE_HEADER && vtable_len.is_multiple_of(2);
        let is_there = self.message.has(vtable, usize::from(vtable_len));
        Some(is_legal && is_there && self.message.has(self.at, usize::from(len)))
    }

    /// Finds the position of a field.
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

    /// Reads a bool; false if it is absent.
    pub fn bool(self, slot: u16) -> Option<bool> {
        Some(self.u8(slot)? != 0)
    }

    /// Reads a `u8`; 0 if it is absent.
    pub fn u8(self, slot: u16) -> Option<u8> {
        Some(self.scalar(slot)?.map_or(0, u8::from_le_bytes))
    }

    /// Reads an `i16`; `default` if it is absent.
    pub fn i16(self, slot: u16, default: i16) -> Option<i16> {
        Some(self.scalar(slot)?.map_or(default, i16::from_le_bytes))
    }

    /// Reads an `i32`; `default` if it is absent.
    pub fn i32(self, slot: u16, default: i32) -> Option<i32> {
        Some(self.scalar(slot)?.map_or(default, i32::from_le_bytes))
    }

    /// Reads an `i64`; 0 if it is absent.
    pub fn i64(self, slot: u16) -> Option<i64> {
        Some(self.scalar(slot)?.map_or(0, i64::from_le_bytes))
    }

    /// Reads a string, which must be UTF-8.
    pub fn string(self, slot: u16) -> Option<Option<String>> {
        match self.string_bytes(slot)? {
            Some(bytes) => String::from_utf8(bytes).ok().map(Some),
            None => Some(None),
        }
    }

    /// Reads a string that may not be UTF-8: some writers store binary data in metadata.
    pub fn string_bytes(self, slot: u16) -> Option<Option<Vec<u8>>> {
        let Some((start, len)) = self.vector(slot, 1)? else { return Some(None) };
        if self.message.is_strict && self.message.number(start.checked_add(len)?)? != [0] {
            return None;
        }
        self.message.bytes.read_vec(start, len).map(Some)
    }

    /// Reads a table that this table refers to.
    pub fn table(self, slot: u16) -> Option<Option<Table<'a, B>>> {
        match self.field(slot)? {
            Some(at) => self.message.table(at).map(Some),
            None => Some(None),
        }
    }

    /// Reads a vector of tables; an empty one if it is absent.
    pub fn tables(self, slot: u16) -> Option<Tables<'a, B>> {
        let (at, len) = self.vector(slot, size_of::<u32>())?.unwrap_or((0, 0));
        Some(Tables { message: self.message, at, len })
    }

    /// Returns the position of the first element of a vector, and the number of elements, of `size` bytes each.
    pub fn vector(self, slot: u16, size: usize) -> Option<Option<(usize, usize)>> {
        let Some(field) = self.field(slot)? else { return Some(None) };
        let at = self.message.follow(field)?;
        let (start, len) = (at.checked_add(size_of::<u32>())?, self.message.u32(at)?);
        let bytes = len.checked_mul(size)?;
        self.message.look_at(bytes.checked_add(size_of::<u32>())?)?;
        // QUIRK: nanoparquet does not align elements of 8 bytes, so only lengths are checked here. Following an offset
        // checks its alignment.
        (!self.message.is_strict || self.message.has(start, bytes)).then_some(Some((start, len)))
    }
}

impl<'a, B: MessageBytes> Tables<'a, B> {
    /// The number of tables.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(self) -> usize {
        self.len
    }

    /// The message that contains the tables.
    pub fn message(self) -> &'a Message<B> {
        self.message
    }

    /// Returns table `i`.
    pub fn get(self, i: usize) -> Option<Table<'a, B>> {
        let at = self.at.checked_add(i.checked_mul(size_of::<u32>())?)?;
        if i < self.len { self.message.table(at) } else { None }
    }

    /// Iterates over all tables.
    pub fn iter(self) -> impl Iterator<Item = Option<Table<'a, B>>> {
        (0..self.len).map(move |i| self.get(i))
    }
}

/// How many times each byte may be accessed on average: once to search for a name, once to read what was found, and a reserve.
const LOOKS: usize = 4;
/// Number of bytes before the slots of a vtable: its own length, and that of the table.
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
