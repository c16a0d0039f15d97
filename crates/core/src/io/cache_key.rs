//! Cache keys, which identify a version of a file to a cache.

use marquetry_base::{Error, Result};
use std::fmt::{self, Display, Write};
use std::str::FromStr;

/// The identity of a file's content: its location, length and version. Footers and indexes that are cached under it are
/// found as long as the file has not changed, and not after.
///
/// A key can be converted to text and back, by [`to_string`](ToString::to_string) and [`parse`](str::parse), so that a
/// cache may be on a disk.
///
/// ```
/// use marquetry_core::io::FileCacheKey;
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// # #[cfg(feature = "fs")] {
/// let key = FileCacheKey::of_local(path)?;
/// assert_eq!((key.len(), key.to_string().parse::<FileCacheKey>()?), (10968, key));
/// # }
/// // Of an object in a store: its URL, its length, and its ETag.
/// let key = FileCacheKey::new("s3://bucket/a b.parquet", 700, Some("\"9b2c-5\""));
/// assert_eq!(key.to_string(), "700 =%229b2c-5%22 s3://bucket/a b.parquet");
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileCacheKey {
    location: String,
    len: u64,
    version: Option<String>,
}

impl FileCacheKey {
    /// Creates the key of a file at `location`, of `len` bytes, with a version such as an ETag. Without a version, two
    /// contents of the same length have the same key.
    pub fn new(location: impl Into<String>, len: u64, version: Option<&str>) -> Self {
        FileCacheKey { location: location.into(), len, version: version.map(str::to_owned) }
    }

    /// Returns the location of the file.
    pub fn location(&self) -> &str {
        &self.location
    }

    /// The length of the file in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the version of the file, if it is known.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }
}

/// Writes the length, the version after a `=` or a `-` for none, and the location; a version is escaped as in URLs.
impl Display for FileCacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.len)?;
        match &self.version {
            None => f.write_char('-')?,
            Some(version) => {
                f.write_char('=')?;
                for byte in version.bytes() {
                    match byte {
                        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' => f.write_char(byte.into())?,
                        byte => write!(f, "%{byte:02X}")?,
                    }
                }
            }
        }
        write!(f, " {}", self.location)
    }
}

impl FromStr for FileCacheKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::argument(format!("{text:?} is not a key of a cached file"));
        let (len, rest) = text.split_once(' ').ok_or_else(wrong)?;
        let (version, location) = rest.split_once(' ').ok_or_else(wrong)?;
        let version = match version.strip_prefix('=') {
            Some(escaped) => Some(unescaped(escaped).ok_or_else(wrong)?),
            None if version == "-" => None,
            None => return Err(wrong()),
        };
        Ok(FileCacheKey { location: location.to_owned(), len: len.parse().map_err(|_| wrong())?, version })
    }
}

fn unescaped(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        for version in [None, Some(""), Some("-"), Some("\"a b\" =%é"), Some("W/\"5\"")] {
            for location in ["", "a", " a  b ", "s3://b/k?x=1", "ünï"] {
                let key = FileCacheKey::new(location, u64::MAX, version);
                assert_eq!(key.to_string().parse::<FileCacheKey>().unwrap(), key);
            }
        }
        for wrong in ["", "5", "5 -", "x - a", "5 a b", "5 =%4 a", "5 =%zz a", "5 =%FF a"] {
            assert!(wrong.parse::<FileCacheKey>().is_err(), "{wrong}");
        }
    }

    #[cfg(feature = "fs")]
    #[test]
    fn a_file_that_changes_has_another_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, b"one").unwrap();
        let first = FileCacheKey::of_local(&path).unwrap();
        assert_eq!(first, FileCacheKey::of_local(&path).unwrap());
        let other = folder.path().join("g");
        std::fs::write(&other, b"two").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_ne!(first, FileCacheKey::of_local(&path).unwrap());
        assert!(FileCacheKey::of_local(folder.path()).is_err());
    }
}
