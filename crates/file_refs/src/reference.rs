//! A reference: the fields of a FILE value, and where its bytes are.

use crate::checksum::Checksum;
use marquetry_base::{Error, Result};
use std::ops::Range;

/// A value of FILE. An absent field and a null field mean the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileRef<'a> {
    /// The other file, as a URI reference of RFC 3986. Without it, the bytes are in the same file as the value.
    pub uri: Option<&'a str>,
    /// Offset of the first byte.
    pub offset: Option<i64>,
    /// Number of bytes.
    pub size: Option<i64>,
    /// The media type; without one `application/octet-stream`.
    pub content_type: Option<&'a str>,
    /// Algorithm and digest of the bytes, such as `CRC32:9f597f55`.
    pub checksum: Option<&'a str>,
    /// The bytes themselves. The other fields then only say where they came from.
    pub inline: Option<&'a [u8]>,
}

/// Where the bytes of a value are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location<'a> {
    /// Inline in the value.
    Inline(&'a [u8]),
    /// In the same file as the value.
    OwnFile(Range<u64>),
    /// In another file.
    Uri {
        /// The URI of the file.
        uri: &'a str,
        /// The byte range, or `None` for the whole file.
        range: Option<Range<u64>>,
    },
}

impl<'a> FileRef<'a> {
    /// Returns where the bytes are.
    ///
    /// SPEC: LogicalTypes.md, FILE, Resolution.
    ///
    /// ```
    /// use marquetry_file_refs::{FileRef, Location};
    /// let reference = FileRef { uri: Some("a.png"), size: Some(7), ..FileRef::default() };
    /// assert_eq!(reference.location()?, Location::Uri { uri: "a.png", range: Some(0..7) });
    /// assert!(FileRef { size: Some(7), ..FileRef::default() }.location().is_err());
    /// # Ok::<(), marquetry_file_refs::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the fields do not determine it: an offset without a size, neither `uri` nor an offset, a negative number, or
    /// an end beyond 2^63.
    pub fn location(&self) -> Result<Location<'a>> {
        if let Some(inline) = self.inline {
            return Ok(Location::Inline(inline));
        }
        let number = |name: &str, number: Option<i64>| match number {
            None => Ok(None),
            Some(number) => match u64::try_from(number) {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(Error::corrupt(format!("FILE: {name} is {number}"))),
            },
        };
        let (offset, size) = (number("offset", self.offset)?, number("size", self.size)?);
        // An empty URI counts as none.
        let uri = self.uri.filter(|uri| !uri.is_empty());
        let range = match (offset, size) {
            (Some(offset), Some(size)) => {
                let end = offset.checked_add(size).filter(|end| i64::try_from(*end).is_ok());
                let end = end.ok_or_else(|| {
                    Error::corrupt(format!("FILE: {size} bytes from {offset} on end beyond all files"))
                })?;
                Some(offset..end)
            }
            (Some(_), None) => return Err(Error::corrupt("FILE: an offset without a size")),
            (None, Some(size)) => Some(0..size),
            (None, None) => None,
        };
        match (uri, offset, range) {
            (Some(uri), _, range) => Ok(Location::Uri { uri, range }),
            (None, Some(_), Some(range)) => Ok(Location::OwnFile(range)),
            _ => Err(Error::corrupt("FILE: neither inline nor uri nor offset is there")),
        }
    }

    /// Checks all fields.
    ///
    /// # Errors
    ///
    /// As [`location`](Self::location), and if the checksum is malformed.
    pub fn check(&self) -> Result<()> {
        self.location()?;
        self.checksum().map(drop)
    }

    /// Returns the checksum, or `None` if there is none.
    ///
    /// # Errors
    ///
    /// If the checksum is malformed for its algorithm.
    pub fn checksum(&self) -> Result<Option<Checksum<'a>>> {
        self.checksum.filter(|text| !text.is_empty()).map(Checksum::parse).transpose()
    }
}
