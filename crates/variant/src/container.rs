//! The common part of objects and arrays: values behind a list of offsets.
//!
//! ```text
//! n | ids, of objects only | offset 0 | .. | offset n | values
//! ```
//!
//! Offsets count from the first value. The last one is the total length of all values.

use crate::header::{ARRAY, Layout, OBJECT, ends_early, value_len};
use crate::number::{number, put_number, set_number, width_of};
use marquetry_base::{Error, Result};
use std::ops::Range;

/// The parts of an object or array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Container<'a> {
    pub(crate) len: usize,
    /// For objects: the ids of the field names.
    ids: &'a [u8],
    id_size: usize,
    offsets: &'a [u8],
    offset_size: usize,
    values: &'a [u8],
}

impl<'a> Container<'a> {
    /// Returns the container of a value, if it is an object.
    #[inline]
    pub(crate) fn of_object(value: &'a [u8]) -> Result<Option<Self>> {
        match value.split_first() {
            Some((first, rest)) if first & 3 == OBJECT => {
                Container::new(rest, Layout::of_object(first >> 2)).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Returns the container of a value, if it is an array.
    #[inline]
    pub(crate) fn of_array(value: &'a [u8]) -> Result<Option<Self>> {
        match value.split_first() {
            Some((first, rest)) if first & 3 == ARRAY => {
                Container::new(rest, Layout::of_array(first >> 2)).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Splits the bytes after the first byte of a value. Checks none of the contained values.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8], layout: Layout) -> Result<Self> {
        Self::split(bytes, layout).ok_or_else(ends_early)
    }

    #[inline]
    fn split(bytes: &'a [u8], layout: Layout) -> Option<Self> {
        let Layout { len_size, id_size, offset_size } = layout;
        let len = number(bytes, 0, len_size)?;
        let (ids, rest) = bytes.get(len_size..)?.split_at_checked(len.checked_mul(id_size)?)?;
        let (offsets, rest) = rest.split_at_checked((len + 1).checked_mul(offset_size)?)?;
        let values = rest.get(..number(offsets, len, offset_size)?)?;
        Some(Container { len, ids, id_size, offsets, offset_size, values })
    }

    /// Returns the id of a field's name.
    #[inline]
    pub(crate) fn id(&self, i: usize) -> Result<usize> {
        number(self.ids, i, self.id_size).ok_or_else(|| Error::argument(format!("field {i} of {}", self.len)))
    }

    /// Whether comparing the ids of all fields takes no longer than a binary search for a name.
    #[inline]
    pub(crate) fn has_few(&self) -> bool {
        self.id_size == 1 || self.len <= FEW
    }

    /// Finds the position of the field with an id by comparing all ids.
    #[inline]
    pub(crate) fn position_of(&self, id: usize) -> Option<usize> {
        match self.id_size {
            1 => u8::try_from(id).ok().and_then(|id| self.ids.iter().position(|other| *other == id)),
            size => (0..self.len).find(|i| number(self.ids, *i, size) == Some(id)),
        }
    }

    /// Returns the bytes of a value, with exactly the length that its first byte declares.
    #[inline]
    pub(crate) fn value(&self, i: usize) -> Result<&'a [u8]> {
        self.value_range(i).map(|range| &self.values[range])
    }

    /// Returns the range of the bytes of a value, counted from the first value.
    #[inline]
    pub(crate) fn value_range(&self, i: usize) -> Result<Range<usize>> {
        if i >= self.len {
            return Err(Error::argument(format!("element {i} of {}", self.len)));
        }
        let offset = number(self.offsets, i, self.offset_size).unwrap_or(usize::MAX);
        let rest = self.values.get(offset..).filter(|rest| !rest.is_empty()).ok_or_else(|| {
            Error::corrupt(format!("variant: element {i} is at byte {offset} of {}", self.values.len()))
        })?;
        let len = value_len(rest)?;
        match rest.len() {
            there if there >= len => Ok(offset..offset + len),
            there => Err(Error::truncated(format!("variant: element {i} has {len} bytes, {there} there"))),
        }
    }

    /// The total length of all values in bytes.
    pub(crate) fn num_value_bytes(&self) -> usize {
        self.values.len()
    }

    /// Appends an object with some of the fields, with the same ids.
    pub(crate) fn write_some(&self, at: &[usize], out: &mut Vec<u8>) -> Result<()> {
        let (mut highest, mut bytes) = (0, 0);
        for &i in at {
            highest = highest.max(self.id(i)?);
            bytes += self.value(i)?.len();
        }
        self.check_room(bytes)?;
        let layout = put_head(at.len(), highest, bytes, out)?;
        for &i in at {
            put_number(out, self.id(i)?, layout.id_size);
        }
        let mut offset = 0;
        for &i in at {
            put_number(out, offset, layout.offset_size);
            offset += self.value(i)?.len();
        }
        put_number(out, offset, layout.offset_size);
        for &i in at {
            out.extend_from_slice(self.value(i)?);
        }
        Ok(())
    }

    /// Fails if values of `bytes` in total cannot lie side by side, because some of them overlap. With overlapping
    /// values at each nesting level, a few bytes could cause any amount of work.
    pub(crate) fn check_room(&self, bytes: usize) -> Result<()> {
        match self.values.len() {
            there if bytes <= there => Ok(()),
            there => {
                Err(Error::corrupt(format!("variant: values of {bytes} bytes and more share {there} bytes")))
            }
        }
    }

    /// Whether both are read from the same place.
    pub(crate) fn is_at(&self, other: &Container<'_>) -> bool {
        std::ptr::eq(self.offsets, other.offsets) && std::ptr::eq(self.values, other.values)
    }
}

/// Maximum number of ids that are compared one by one.
const FEW: usize = 64;

/// A field or an element being written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    /// The id of the field's name; 0 for an element.
    pub(crate) id: u32,
    /// Where the value begins, counted from the first one.
    pub(crate) offset: usize,
}

/// Inserts the header of an object or array before its values, which begin at `start` and reach to the end. The header
/// is the first byte, the number of values, ids and offsets.
pub(crate) fn put_header(
    is_object: bool,
    entries: &[Entry],
    start: usize,
    bytes: &mut Vec<u8>,
) -> Result<()> {
    let end = bytes.len() - start;
    let highest = if is_object { entries.iter().map(|entry| entry.id).max().unwrap_or(0) } else { 0 };
    let layout = layout_of(is_object, entries.len(), highest as usize, end)?;
    let header_len =
        1 + layout.len_size + entries.len() * layout.id_size + (entries.len() + 1) * layout.offset_size;
    bytes.resize(start + header_len + end, 0);
    bytes.copy_within(start..start + end, start + header_len);
    let header = &mut bytes[start..start + header_len];
    header[0] = first_byte(is_object, layout);
    let (len, rest) = header[1..].split_at_mut(layout.len_size);
    set_number(len, entries.len());
    let (ids, offsets) = rest.split_at_mut(entries.len() * layout.id_size);
    if is_object {
        let ids = ids.chunks_exact_mut(layout.id_size);
        ids.zip(entries).for_each(|(id, entry)| set_number(id, entry.id as usize));
    }
    let ends = entries.iter().map(|entry| entry.offset).chain([end]);
    let offsets = offsets.chunks_exact_mut(layout.offset_size);
    offsets.zip(ends).for_each(|(offset, end)| set_number(offset, end));
    Ok(())
}

/// Computes the widths of the numbers in a header. `end` is the total length of the values, and `highest` the highest id.
fn layout_of(is_object: bool, len: usize, highest: usize, end: usize) -> Result<Layout> {
    let offset_size = width_of(end).ok_or_else(too_large)?;
    if u32::try_from(len).is_err() {
        return Err(too_large());
    }
    let id_size = if is_object { width_of(highest).unwrap_or(4) } else { 0 };
    Ok(Layout { len_size: if len > 0xff { 4 } else { 1 }, id_size, offset_size })
}

fn first_byte(is_object: bool, Layout { len_size, id_size, offset_size }: Layout) -> u8 {
    let (is_large, sizes) = (u8::from(len_size > 1), offset_size as u8 - 1);
    match is_object {
        true => OBJECT | (is_large << 4 | (id_size as u8 - 1) << 2 | sizes) << 2,
        false => ARRAY | (is_large << 2 | sizes) << 2,
    }
}

/// Appends the first byte and the number of fields of an object. Returns the widths of the numbers that follow.
/// `highest` is the highest id, `end` the end of the last value.
pub(crate) fn put_head(len: usize, highest: usize, end: usize, out: &mut Vec<u8>) -> Result<Layout> {
    let layout = layout_of(true, len, highest, end)?;
    out.push(first_byte(true, layout));
    put_number(out, len, layout.len_size);
    Ok(layout)
}

#[cold]
fn too_large() -> Error {
    Error::limit("a variant object or array of more than 4 GiB")
}
