//! Tables of a Flatbuffers message, as strict readers verify it as a whole before they trust it.
//!
//! ```text
//! table     i32: how far back its vtable is | fields
//! vtable    u16: its length | u16: the table's | u16 for each field: where it is in the table, 0 if it is absent
//! string    u32: how many bytes | bytes | 0           vector    u32: how many elements | elements
//! offset    u32: from where it is to what it is of, forwards
//! ```
//!
//! `None` is what is damaged, `Some(None)` what is absent. All that is looked at is inside the message and at a multiple of its size.

use std::cell::Cell;

/// A message, and how many tables may still be looked at.
pub(crate) struct FlatBuffer<'a> {
    bytes: &'a [u8],
    /// Whoever lets many fields share what is below them gets no further than who does not.
    tables_left: Cell<usize>,
}

/// A table whose own bytes and vtable are there.
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    buffer: &'a FlatBuffer<'a>,
    at: usize,
    vtable: usize,
    /// Bytes of the vtable.
    vtable_len: usize,
}

impl<'a> FlatBuffer<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        FlatBuffer { bytes, tables_left: Cell::new(bytes.len()) }
    }

    /// The table that the message is.
    pub(crate) fn root(&'a self) -> Option<Table<'a>> {
        self.table(self.follow(0)?)
    }

    fn number<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..)?.first_chunk().filter(|_| at.is_multiple_of(N)).copied()
    }

    fn u16(&self, at: usize) -> Option<usize> {
        self.number(at).map(|bytes| usize::from(u16::from_le_bytes(bytes)))
    }

    fn u32(&self, at: usize) -> Option<usize> {
        self.number(at).map(|bytes| u32::from_le_bytes(bytes) as usize)
    }

    /// What the offset at `at` is of.
    fn follow(&self, at: usize) -> Option<usize> {
        at.checked_add(self.u32(at).filter(|offset| *offset > 0)?).filter(|to| *to < self.bytes.len())
    }

    fn table(&'a self, at: usize) -> Option<Table<'a>> {
        self.tables_left.set(self.tables_left.get().checked_sub(1)?);
        let back = i32::from_le_bytes(self.number(at)?);
        let vtable = at.checked_add_signed((back as isize).checked_neg()?)?;
        let (vtable_len, table_len) = (self.u16(vtable)?, self.u16(vtable.checked_add(2)?)?);
        let is_there =
            |start: usize, len: usize| start.checked_add(len).is_some_and(|end| end <= self.bytes.len());
        let is_whole = vtable_len >= 4 && vtable_len.is_multiple_of(2) && is_there(vtable, vtable_len);
        (is_whole && is_there(at, table_len)).then_some(Table { buffer: self, at, vtable, vtable_len })
    }
}

impl<'a> Table<'a> {
    /// Where field number `field` is.
    fn field(self, field: usize) -> Option<Option<usize>> {
        let slot = 4 + 2 * field;
        if slot >= self.vtable_len {
            return Some(None);
        }
        let offset = self.buffer.u16(self.vtable + slot)?;
        Some((offset > 0).then_some(self.at + offset))
    }

    fn scalar<const N: usize>(self, field: usize) -> Option<Option<[u8; N]>> {
        match self.field(field)? {
            Some(at) => self.buffer.number(at).map(Some),
            None => Some(None),
        }
    }

    /// 0 if it is absent. So are booleans stored.
    pub(crate) fn u8(self, field: usize) -> Option<u8> {
        Some(self.scalar(field)?.map_or(0, u8::from_le_bytes))
    }

    pub(crate) fn i16(self, field: usize, default: i16) -> Option<i16> {
        Some(self.scalar(field)?.map_or(default, i16::from_le_bytes))
    }

    pub(crate) fn i32(self, field: usize, default: i32) -> Option<i32> {
        Some(self.scalar(field)?.map_or(default, i32::from_le_bytes))
    }

    /// 0 if it is absent.
    pub(crate) fn i64(self, field: usize) -> Option<i64> {
        Some(self.scalar(field)?.map_or(0, i64::from_le_bytes))
    }

    /// The bytes of a string: what some writers have in metadata is binary.
    pub(crate) fn string(self, field: usize) -> Option<Option<&'a [u8]>> {
        let Some((start, len)) = self.vector(field, 1)? else { return Some(None) };
        let is_closed = self.buffer.bytes.get(start + len) == Some(&0);
        is_closed.then(|| &self.buffer.bytes[start..start + len]).map(Some)
    }

    pub(crate) fn table(self, field: usize) -> Option<Option<Table<'a>>> {
        match self.field(field)? {
            Some(at) => self.buffer.table(self.buffer.follow(at)?).map(Some),
            None => Some(None),
        }
    }

    /// The tables of a vector, and none if it is absent.
    pub(crate) fn tables(self, field: usize) -> Option<Vec<Table<'a>>> {
        let Some((start, len)) = self.vector(field, 4)? else { return Some(Vec::new()) };
        let table = |i| self.buffer.table(self.buffer.follow(start + 4 * i)?);
        (0..len).map(table).collect()
    }

    /// Where the first element of a vector is, and how many there are, of `size` bytes each.
    pub(crate) fn vector(self, field: usize, size: usize) -> Option<Option<(usize, usize)>> {
        let Some(at) = self.field(field)? else { return Some(None) };
        let at = self.buffer.follow(at)?;
        let (len, start) = (self.buffer.u32(at)?, at + 4);
        let end = start.checked_add(len.checked_mul(size)?)?;
        // QUIRK: nanoparquet does not align elements of 8 bytes. What looks at offsets does so for itself.
        (end <= self.buffer.bytes.len()).then_some(Some((start, len)))
    }
}
