//! What objects and arrays have in common: values behind a list of offsets.
//!
//! ```text
//! n | ids, of objects only | offset 0 | .. | offset n | values
//! ```
//!
//! Offsets count from the first value. The last one is the length of all values together.

use crate::header::{ARRAY, Layout, OBJECT, ends_early, value_len};
use crate::number::{number, put_number, width_of};
use marquetry_base::{Error, Result};

/// Where the values of an object or array are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Container<'a> {
    pub(crate) len: usize,
    /// Of objects: which names the fields have.
    ids: &'a [u8],
    id_size: usize,
    offsets: &'a [u8],
    offset_size: usize,
    values: &'a [u8],
}

impl<'a> Container<'a> {
    /// Of what is behind the first byte of a value. Looks at no value.
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

    /// The id of a field.
    #[inline]
    pub(crate) fn id(&self, i: usize) -> Result<usize> {
        number(self.ids, i, self.id_size).ok_or_else(|| Error::argument(format!("field {i} of {}", self.len)))
    }

    /// The bytes of a value: exactly its own, as its first byte tells.
    #[inline]
    pub(crate) fn value(&self, i: usize) -> Result<&'a [u8]> {
        if i >= self.len {
            return Err(Error::argument(format!("element {i} of {}", self.len)));
        }
        let offset = number(self.offsets, i, self.offset_size).unwrap_or(usize::MAX);
        let rest = self.values.get(offset..).filter(|rest| !rest.is_empty()).ok_or_else(|| {
            Error::corrupt(format!("variant: element {i} is at byte {offset} of {}", self.values.len()))
        })?;
        let len = value_len(rest)?;
        rest.get(..len).ok_or_else(|| {
            Error::truncated(format!("variant: element {i} has {len} bytes, {} there", rest.len()))
        })
    }

    /// Appends an object of some of the fields, with the same ids.
    pub(crate) fn write_some(&self, at: &[usize], out: &mut Vec<u8>) -> Result<()> {
        let (mut highest, mut bytes) = (0, 0);
        for &i in at {
            highest = highest.max(self.id(i)?);
            bytes += self.value(i)?.len();
        }
        self.check_room(bytes)?;
        let layout = put_head(true, at.len(), highest, bytes, out)?;
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

    /// Fails if values of so many bytes cannot stand beside each other. Values that share bytes would make a few of them as
    /// much work as one likes, with one level inside the other.
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

/// What stands before the values of an object, or of an array if `ids` is empty and `is_object` false: the first byte, their
/// number, ids and offsets. `ends` has the end of the last value.
pub(crate) fn header(is_object: bool, ids: &[u32], offsets: &[usize], end: usize) -> Result<Vec<u8>> {
    let highest = ids.iter().copied().max().unwrap_or(0) as usize;
    // Each number has four bytes at most.
    let mut out = Vec::with_capacity(16 + (ids.len() + offsets.len()) * 4);
    let Layout { id_size, offset_size, .. } = put_head(is_object, offsets.len(), highest, end, &mut out)?;
    ids.iter().for_each(|id| put_number(&mut out, *id as usize, id_size));
    offsets.iter().for_each(|offset| put_number(&mut out, *offset, offset_size));
    put_number(&mut out, end, offset_size);
    Ok(out)
}

/// Appends the first byte and the number of values, and says how wide what follows is. `highest` is the highest id, `end` the
/// end of the last value.
fn put_head(is_object: bool, len: usize, highest: usize, end: usize, out: &mut Vec<u8>) -> Result<Layout> {
    let offset_size = width_of(end).ok_or_else(too_large)?;
    let is_large = len > 0xff;
    let len_size = if is_large { 4 } else { 1 };
    if u32::try_from(len).is_err() {
        return Err(too_large());
    }
    let id_size = width_of(highest).unwrap_or(4);
    let sizes = offset_size as u8 - 1;
    out.push(match is_object {
        true => OBJECT | (u8::from(is_large) << 4 | (id_size as u8 - 1) << 2 | sizes) << 2,
        false => ARRAY | (u8::from(is_large) << 2 | sizes) << 2,
    });
    put_number(out, len, len_size);
    Ok(Layout { len_size, id_size, offset_size })
}

#[cold]
fn too_large() -> Error {
    Error::limit("a variant object or array of more than 4 GiB")
}
