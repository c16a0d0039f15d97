//! A reference: the fields of a FILE value, and where its bytes are.

use crate::checksum::Checksum;
use marquetry_base::{Error, Result};
use std::ops::Range;

/// A value of FILE. Fields that are absent and fields that are null are the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileRef<'a> {
    /// Another file, as a URI reference of RFC 3986. Without one it is the file that the value is in.
    pub uri: Option<&'a str>,
    /// The first byte.
    pub offset: Option<i64>,
    /// How many bytes.
    pub size: Option<i64>,
    /// The media type; without one `application/octet-stream`.
    pub content_type: Option<&'a str>,
    /// Algorithm and digest of the bytes, such as `CRC32:9f597f55`.
    pub checksum: Option<&'a str>,
    /// The bytes themselves. Then the other fields only say where they came from.
    pub inline: Option<&'a [u8]>,
}

/// Where the bytes of a value are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location<'a> {
    /// In the value.
    Inline(&'a [u8]),
    /// In the file that the value is in.
    OwnFile(Range<u64>),
    /// In another file.
    Uri {
        /// Which.
        uri: &'a str,
        /// Which bytes; all of them if `None`.
        range: Option<Range<u64>>,
    },
}

impl<'a> FileRef<'a> {
    /// Where the bytes are.
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
    /// If the fields do not say it: an offset without a size, no `uri` and no offset, a number that is negative, an end beyond
    /// 2^63.
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
        // An empty text is as good as none.
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

    /// Looks at all fields.
    ///
    /// # Errors
    ///
    /// As [`location`](Self::location), and if the checksum has not the form of its algorithm.
    pub fn check(&self) -> Result<()> {
        self.location()?;
        self.checksum().map(drop)
    }

    /// The checksum; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If it has not the form of its algorithm.
    pub fn checksum(&self) -> Result<Option<Checksum<'a>>> {
        self.checksum.filter(|text| !text.is_empty()).map(Checksum::parse).transpose()
    }
}
