//! Metadata: the dictionary of the names that the fields of a value have.
//!
//! Spec: VariantEncoding.md, "Metadata encoding".
//!
//! ```text
//! header | n | offset 0 | .. | offset n | bytes of all names
//! ------   -   ------------------------
//! 1 byte   each of as many bytes as the header says
//!
//! header: offset size - 1 (2 bits) | reserved | names are sorted | version (4 bits) = 1
//! ```

use crate::number::{number, put_number, width_of};
use marquetry_base::{Error, Result};
use std::collections::HashMap;

/// The names of fields, by id.
#[derive(Debug, Clone, Copy)]
pub struct Metadata<'a> {
    bytes: &'a [u8],
    /// Offsets, and the names behind them.
    offsets: &'a [u8],
    names: &'a [u8],
    offset_size: usize,
    len: usize,
    is_sorted: bool,
}

impl<'a> Metadata<'a> {
    /// Looks at the header of `bytes`. Names are checked when they are asked for, and all of them by
    /// [`Variant::validate`](crate::Variant::validate).
    ///
    /// # Errors
    ///
    /// If the version is not 1, or the bytes end before the names do.
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        let (&header, rest) =
            bytes.split_first().ok_or_else(|| Error::truncated("variant metadata of no bytes"))?;
        let version = header & 0x0f;
        if version != VERSION {
            return Err(Error::unsupported(format!("variant metadata of version {version}, 1 is known")));
        }
        let offset_size = usize::from(header >> 6) + 1;
        let len = number(rest, 0, offset_size).ok_or_else(ends_early)?;
        // A dictionary of more names than there are bytes has no room for its offsets.
        let offsets_len = (len + 1).checked_mul(offset_size).ok_or_else(ends_early)?;
        let (offsets, names) = rest[offset_size..].split_at_checked(offsets_len).ok_or_else(ends_early)?;
        let metadata = Metadata { bytes, offsets, names, offset_size, len, is_sorted: header & SORTED != 0 };
        match (metadata.offset(0), metadata.offset(len)) {
            (0, end) if end <= names.len() => Ok(metadata),
            (0, end) => Err(Error::truncated(format!(
                "variant metadata: {end} bytes of names wanted, {} there",
                names.len()
            ))),
            (first, _) => Err(Error::corrupt(format!("variant metadata: the first name begins at {first}"))),
        }
    }

    /// The metadata in binary.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the writer says that names are sorted by their bytes, and that none is there twice.
    pub fn is_sorted(&self) -> bool {
        self.is_sorted
    }

    /// The name of an id.
    ///
    /// # Errors
    ///
    /// If there is no such id, its bytes are not within the names, or are not UTF-8.
    pub fn name(&self, id: usize) -> Result<&'a str> {
        let bytes = self.bytes(id)?;
        std::str::from_utf8(bytes)
            .map_err(|_| Error::corrupt(format!("variant metadata: name {id} is not UTF-8")))
    }

    /// The bytes of a name: names are in the order of their bytes, so a search need not look at more.
    #[inline]
    pub(crate) fn bytes(&self, id: usize) -> Result<&'a [u8]> {
        if id >= self.len {
            return Err(Error::corrupt(format!("variant: field id {id} of {} names", self.len)));
        }
        let (start, end) = (self.offset(id), self.offset(id + 1));
        self.names.get(start..end).ok_or_else(|| {
            Error::corrupt(format!(
                "variant metadata: name {id} has bytes {start}..{end} of {}",
                self.names.len()
            ))
        })
    }

    /// An offset that is there, see [`new`](Self::new).
    #[inline]
    fn offset(&self, i: usize) -> usize {
        number(self.offsets, i, self.offset_size).unwrap_or(usize::MAX)
    }

    /// Looks at all names.
    ///
    /// # Errors
    ///
    /// If one is not UTF-8 or not within the names, or if they are said to be sorted and are not.
    pub fn validate(&self) -> Result<()> {
        let mut before = None;
        for id in 0..self.len {
            let name = self.name(id)?;
            if self.is_sorted && before.is_some_and(|before| before >= name) {
                return Err(Error::corrupt(format!(
                    "variant metadata: name {id} is not behind the one before"
                )));
            }
            before = Some(name);
        }
        Ok(())
    }
}

#[cold]
fn ends_early() -> Error {
    Error::truncated("variant metadata ends before its offsets do")
}

/// Names in the making: each gets an id when it is first used.
#[derive(Debug, Default)]
pub(crate) struct Names {
    ids: HashMap<String, u32>,
    names: Vec<String>,
    bytes: usize,
}

impl Names {
    /// The id of a name.
    pub(crate) fn id(&mut self, name: &str) -> Result<u32> {
        if let Some(id) = self.ids.get(name) {
            return Ok(*id);
        }
        let id = u32::try_from(self.names.len()).map_err(|_| too_large())?;
        self.bytes += name.len();
        self.ids.insert(name.to_owned(), id);
        self.names.push(name.to_owned());
        Ok(id)
    }

    /// The name of an id that was given.
    pub(crate) fn name(&self, id: u32) -> &str {
        &self.names[id as usize]
    }

    /// Forgets all names.
    pub(crate) fn clear(&mut self) {
        *self = Names::default();
    }

    /// The metadata, and nothing is left.
    pub(crate) fn finish(&mut self) -> Result<Vec<u8>> {
        let names = std::mem::take(&mut self.names);
        let total = std::mem::take(&mut self.bytes);
        self.ids.clear();
        let offset_size = width_of(total.max(names.len())).ok_or_else(too_large)?;
        let is_sorted = !names.is_empty() && names.windows(2).all(|pair| pair[0] < pair[1]);
        let header = VERSION | if is_sorted { SORTED } else { 0 } | (offset_size as u8 - 1) << 6;
        let mut out = Vec::with_capacity(1 + (names.len() + 2) * offset_size + total);
        out.push(header);
        put_number(&mut out, names.len(), offset_size);
        let mut offset = 0;
        put_number(&mut out, 0, offset_size);
        for name in &names {
            offset += name.len();
            put_number(&mut out, offset, offset_size);
        }
        names.iter().for_each(|name| out.extend_from_slice(name.as_bytes()));
        Ok(out)
    }
}

#[cold]
fn too_large() -> Error {
    Error::limit("variant metadata of more than 4 GiB of names")
}

const VERSION: u8 = 1;
const SORTED: u8 = 1 << 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_by_field() {
        let bytes = [
            0b0001_0001, // offsets of 1 byte, sorted, version 1
            2,           // names
            0,
            1,
            3, // offsets
            b'a',
            b'b',
            b'c',
        ];
        let metadata = Metadata::new(&bytes).unwrap();
        assert_eq!((metadata.len(), metadata.is_sorted()), (2, true));
        assert_eq!((metadata.name(0).unwrap(), metadata.name(1).unwrap()), ("a", "bc"));
        assert!(metadata.name(2).is_err());
        metadata.validate().unwrap();
        for end in 0..bytes.len() {
            assert!(Metadata::new(&bytes[..end]).is_err(), "{end} bytes");
        }
    }

    #[test]
    fn names_get_ids_when_they_are_first_used() {
        let mut names = Names::default();
        assert_eq!(["b", "a", "b"].map(|name| names.id(name).unwrap()), [0, 1, 0]);
        let bytes = names.finish().unwrap();
        let metadata = Metadata::new(&bytes).unwrap();
        assert!(!metadata.is_sorted());
        assert_eq!([0, 1].map(|id| metadata.name(id).unwrap()), ["b", "a"]);
        // The next value begins anew.
        assert_eq!(names.id("z").unwrap(), 0);
    }

    #[test]
    fn what_is_said_to_be_sorted_is() {
        let bytes = [
            0b0001_0001, // sorted
            2,           // names
            0,
            1,
            2, // offsets
            b'b',
            b'a',
        ];
        let error = Metadata::new(&bytes).unwrap().validate().unwrap_err();
        assert_eq!(error.to_string(), "corrupt: variant metadata: name 1 is not behind the one before");
    }

    #[test]
    fn versions_that_are_not_known() {
        assert!(
            Metadata::new(&[2, 0, 0])
                .unwrap_err()
                .to_string()
                .starts_with("unsupported: variant metadata of version 2")
        );
    }
}
