//! The end of a file: the footer, its length as four bytes little-endian, and the magic bytes.

use crate::{FileMetaData, Reader};
use marquetry_base::{Error, Limits, Result};

/// The magic bytes at the start and the end of a file whose footer is not encrypted.
pub const PAR1: [u8; 4] = *b"PAR1";

/// The magic bytes at the start and the end of a file whose footer is encrypted.
pub const PARE: [u8; 4] = *b"PARE";

/// The last eight bytes of a file: the length and the kind of the footer before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FooterTail {
    /// The footer is a [`FileMetaData`], followed by its signature if columns are encrypted.
    Plain {
        /// Length of the footer in bytes. It ends eight bytes before the end of the file.
        metadata_len: u32,
    },
    /// The footer is a [`FileCryptoMetaData`](crate::FileCryptoMetaData), followed by an encrypted [`FileMetaData`].
    Encrypted {
        /// Length of both in bytes. They end eight bytes before the end of the file.
        metadata_len: u32,
    },
}

impl FooterTail {
    /// Reads the last eight bytes of a file.
    ///
    /// Fails with [`ErrorKind::Corrupt`](marquetry_base::ErrorKind::Corrupt) if they do not end a Parquet file.
    ///
    /// ```
    /// use marquetry_format::FooterTail;
    /// assert_eq!(FooterTail::parse(b"\x2a\0\0\0PAR1")?, FooterTail::Plain { metadata_len: 42 });
    /// assert_eq!(
    ///     FooterTail::parse(b"id,name\n").unwrap_err().to_string(),
    ///     r#"corrupt: not a Parquet file: it ends in "ame\n", not in "PAR1" or "PARE""#
    /// );
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn parse(last_eight: &[u8; 8]) -> Result<Self> {
        let [a, b, c, d, magic @ ..] = *last_eight;
        let metadata_len = u32::from_le_bytes([a, b, c, d]);
        match magic {
            PAR1 => Ok(FooterTail::Plain { metadata_len }),
            PARE => Ok(FooterTail::Encrypted { metadata_len }),
            _ => Err(Error::corrupt(format!(
                "not a Parquet file: it ends in \"{}\", not in \"PAR1\" or \"PARE\"",
                magic.escape_ascii()
            ))),
        }
    }

    /// Length of the footer in bytes. It is not checked against the length of the file.
    pub fn metadata_len(self) -> u32 {
        match self {
            FooterTail::Plain { metadata_len } | FooterTail::Encrypted { metadata_len } => metadata_len,
        }
    }

    /// Returns the last eight bytes of a file with this footer.
    pub fn to_bytes(self) -> [u8; 8] {
        let magic = match self {
            FooterTail::Plain { .. } => PAR1,
            FooterTail::Encrypted { .. } => PARE,
        };
        let [a, b, c, d] = self.metadata_len().to_le_bytes();
        let [p, a2, r, x] = magic;
        [a, b, c, d, p, a2, r, x]
    }
}

/// Reads a footer that is not encrypted. Ignores bytes after it, such as a signature.
///
/// Errors carry the byte position in `bytes`. Fails with [`ErrorKind::Limit`](marquetry_base::ErrorKind::Limit) if
/// `bytes` is longer than [`Limits::footer_bytes`].
///
/// ```
/// use marquetry_base::Limits;
/// use marquetry_format::{FileMetaData, SchemaElement, Writer, parse_metadata};
/// let root = SchemaElement { name: "schema".into(), num_children: Some(0), ..SchemaElement::default() };
/// let file = FileMetaData { version: 1, schema: vec![root], ..FileMetaData::default() };
/// let mut w = Writer::new();
/// file.write(&mut w);
/// assert_eq!(parse_metadata(&w.finish(), &Limits::default())?, file);
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub fn parse_metadata(bytes: &[u8], limits: &Limits) -> Result<FileMetaData> {
    Limits::check("footer_bytes", bytes.len(), limits.footer_bytes)?;
    FileMetaData::read(&mut Reader::with_limits(bytes, limits))
}
