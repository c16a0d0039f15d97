//! The end of a file: footer, its length as four bytes little-endian, and the magic.
use marquetry_base::{Error, Limits, Result};

use crate::{FileMetaData, Reader};

/// The first and last four bytes of a file whose footer is not encrypted.
pub const PAR1: [u8; 4] = *b"PAR1";

/// The first and last four bytes of a file whose footer is encrypted.
pub const PARE: [u8; 4] = *b"PARE";

/// What the last eight bytes of a file say about the bytes before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tail {
    /// A [`FileMetaData`], and its signature if columns are encrypted.
    Plain {
        /// Bytes of the footer, which ends eight bytes before the file.
        metadata_len: u32,
    },
    /// A [`FileCryptoMetaData`](crate::FileCryptoMetaData), then an encrypted [`FileMetaData`].
    Encrypted {
        /// Bytes of both, which end eight bytes before the file.
        metadata_len: u32,
    },
}

impl Tail {
    /// Bytes of the footer, which ends eight bytes before the file. Nobody has checked whether the file is that long.
    pub fn metadata_len(self) -> u32 {
        match self {
            Tail::Plain { metadata_len } | Tail::Encrypted { metadata_len } => metadata_len,
        }
    }

    /// The last eight bytes of a file.
    pub fn to_bytes(self) -> [u8; 8] {
        let magic = match self {
            Tail::Plain { .. } => PAR1,
            Tail::Encrypted { .. } => PARE,
        };
        let [a, b, c, d] = self.metadata_len().to_le_bytes();
        let [p, a2, r, x] = magic;
        [a, b, c, d, p, a2, r, x]
    }
}

/// Reads the last eight bytes of a file.
///
/// Fails with [`ErrorKind::Corrupt`](marquetry_base::ErrorKind::Corrupt) if they are not those of a Parquet file.
///
/// ```
/// use marquetry_format::{Tail, read_tail};
/// assert_eq!(read_tail(b"\x2a\0\0\0PAR1")?, Tail::Plain { metadata_len: 42 });
/// assert_eq!(
///     read_tail(b"id,name\n").unwrap_err().to_string(),
///     r#"corrupt: not a Parquet file: it ends in "ame\n", not in "PAR1" or "PARE""#
/// );
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub fn read_tail(last_eight: &[u8; 8]) -> Result<Tail> {
    let [a, b, c, d, magic @ ..] = *last_eight;
    let metadata_len = u32::from_le_bytes([a, b, c, d]);
    match magic {
        PAR1 => Ok(Tail::Plain { metadata_len }),
        PARE => Ok(Tail::Encrypted { metadata_len }),
        _ => Err(Error::corrupt(format!(
            "not a Parquet file: it ends in \"{}\", not in \"PAR1\" or \"PARE\"",
            magic.escape_ascii()
        ))),
    }
}

/// Reads a footer that is not encrypted. Bytes after it (a signature) are not looked at.
///
/// Errors carry the byte position in `bytes`; fails with [`ErrorKind::Limit`](marquetry_base::ErrorKind::Limit) if there are more
/// than [`Limits::footer_bytes`].
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
