//! Metadata: the dictionary of the field names of a value.
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

use crate::number::number;
use crate::utf8::utf8;
use marquetry_base::{Error, Result};

/// The field names of a value, by id.
#[derive(Debug, Clone, Copy)]
pub struct Metadata<'a> {
    bytes: &'a [u8],
    /// The offsets. The names follow them.
    offsets: &'a [u8],
    names: &'a [u8],
    offset_size: usize,
    len: usize,
    is_sorted: bool,
}

impl<'a> Metadata<'a> {
    /// Creates metadata from `bytes` and checks the header. A name is checked when it is read;
    /// [`Variant::validate`](crate::Variant::validate) checks all of them.
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
        // A dictionary with more names than bytes has no room for its offsets.
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

    /// Whether the writer declares that names are sorted by their bytes and unique.
    pub fn is_sorted(&self) -> bool {
        self.is_sorted
    }

    /// Returns the name of an id.
    ///
    /// # Errors
    ///
    /// If the id does not exist, or the bytes of its name are out of bounds or not UTF-8.
    pub fn name(&self, id: usize) -> Result<&'a str> {
        let bytes = self.bytes(id)?;
        std::str::from_utf8(bytes).map_err(|_| not_utf8(id))
    }

    /// Returns the bytes of a name. Names are ordered by their bytes, so a search need not check UTF-8.
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

    /// Returns an offset, which must exist, see [`new`](Self::new).
    #[inline]
    fn offset(&self, i: usize) -> usize {
        number(self.offsets, i, self.offset_size).unwrap_or(usize::MAX)
    }

    /// Finds the id of a name. Returns the first id, and whether no other id has the same name; `None` if no id has it.
    pub(crate) fn id_of(&self, name: &[u8]) -> Result<Option<(usize, bool)>> {
        let mut found = None;
        for id in 0..self.len {
            if self.bytes(id)? == name {
                if let Some((first, _)) = found {
                    return Ok(Some((first, false)));
                }
                found = Some((id, true));
            }
        }
        Ok(found)
    }

    /// Validates all names.
    ///
    /// # Errors
    ///
    /// If a name is not UTF-8 or out of bounds, or if names are declared sorted and are not.
    pub fn validate(&self) -> Result<()> {
        // PERF: checks all names at once. Only if they are not UTF-8 as a whole, each name is checked by itself.
        let all = utf8(self.names);
        let mut before: Option<&[u8]> = None;
        for id in 0..self.len {
            let name = self.bytes(id)?;
            let is_text = match all {
                Some(all) => {
                    all.is_char_boundary(self.offset(id)) && all.is_char_boundary(self.offset(id + 1))
                }
                None => std::str::from_utf8(name).is_ok(),
            };
            if !is_text {
                return Err(not_utf8(id));
            }
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
fn not_utf8(id: usize) -> Error {
    Error::corrupt(format!("variant metadata: name {id} is not UTF-8"))
}

#[cold]
fn ends_early() -> Error {
    Error::truncated("variant metadata ends before its offsets do")
}

pub(crate) const VERSION: u8 = 1;
pub(crate) const SORTED: u8 = 1 << 4;

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
