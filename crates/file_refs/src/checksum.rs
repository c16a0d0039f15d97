//! Checksums of referenced bytes.
//!
//! SPEC: LogicalTypes.md, FILE, checksum: `ALGORITHM:digest`, hexadecimal in small letters but for ETAG.

use crate::crc32c::Crc32c;
use marquetry_base::{Error, Result, to_hex};
use md5::{Digest, Md5};
use sha2::Sha256;

/// A checksum: an algorithm and its digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checksum<'a> {
    /// The algorithm, or `None` if the format does not define it. Readers ignore such checksums.
    pub algorithm: Option<Algorithm>,
    /// The digest as text.
    pub digest: &'a str,
}

/// The checksum algorithms of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// The name that a store gives a version of the whole file. Only the store can compute it.
    ETag,
    /// 128 bits.
    Md5,
    /// 32 bits, with the polynomial of zip.
    Crc32,
    /// 32 bits, with the Castagnoli polynomial.
    Crc32c,
    /// 256 bits.
    Sha256,
}

impl Algorithm {
    const ALL: [(Algorithm, &'static str, usize); 5] = [
        (Algorithm::ETag, "ETAG", 0),
        (Algorithm::Md5, "MD5", 32),
        (Algorithm::Crc32, "CRC32", 8),
        (Algorithm::Crc32c, "CRC32C", 8),
        (Algorithm::Sha256, "SHA-256", 64),
    ];

    /// Returns the algorithm's name in the format.
    pub fn name(self) -> &'static str {
        Algorithm::ALL.iter().find(|(known, ..)| *known == self).map_or("", |(_, name, _)| name)
    }

    /// Returns the checksum of bytes as a FILE value stores it, or `None` for [`ETag`](Self::ETag).
    ///
    /// ```
    /// use marquetry_file_refs::Algorithm;
    /// assert_eq!(Algorithm::Md5.of(b"").as_deref(), Some("MD5:d41d8cd98f00b204e9800998ecf8427e"));
    /// assert_eq!(Algorithm::Crc32c.of(b"123456789").as_deref(), Some("CRC32C:e3069283"));
    /// ```
    pub fn of(self, bytes: &[u8]) -> Option<String> {
        let mut hasher = Hasher::new(self)?;
        hasher.update(bytes);
        Some(format!("{}:{}", self.name(), hasher.finish()))
    }
}

impl<'a> Checksum<'a> {
    /// Parses a checksum.
    ///
    /// # Errors
    ///
    /// If there is no colon, or if the digest of an algorithm of the format, other than ETag, is not lower-case
    /// hexadecimal of the right length.
    pub fn parse(text: &'a str) -> Result<Self> {
        let Some((name, digest)) = text.split_once(':') else {
            return Err(Error::corrupt("FILE: a checksum without a colon behind its algorithm"));
        };
        let Some((algorithm, _, len)) = Algorithm::ALL.iter().find(|(_, known, _)| *known == name) else {
            return Ok(Checksum { algorithm: None, digest });
        };
        let is_hex = digest.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'));
        if *algorithm != Algorithm::ETag && (digest.len() != *len || !is_hex) {
            return Err(Error::corrupt(format!("FILE: a checksum of {name} has {len} hexadecimal digits")));
        }
        Ok(Checksum { algorithm: Some(*algorithm), digest })
    }
}

/// A digest that is being computed.
#[derive(Debug, Clone)]
pub(crate) enum Hasher {
    Md5(Box<Md5>),
    Crc32(crc32fast::Hasher),
    Crc32c(Crc32c),
    Sha256(Box<Sha256>),
}

impl Hasher {
    /// Returns `None` for ETag, which cannot be computed.
    pub(crate) fn new(algorithm: Algorithm) -> Option<Self> {
        Some(match algorithm {
            Algorithm::ETag => return None,
            Algorithm::Md5 => Hasher::Md5(Box::default()),
            Algorithm::Crc32 => Hasher::Crc32(crc32fast::Hasher::new()),
            Algorithm::Crc32c => Hasher::Crc32c(Crc32c::new()),
            Algorithm::Sha256 => Hasher::Sha256(Box::default()),
        })
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Hasher::Md5(hasher) => hasher.update(bytes),
            Hasher::Crc32(hasher) => hasher.update(bytes),
            Hasher::Crc32c(hasher) => hasher.update(bytes),
            Hasher::Sha256(hasher) => hasher.update(bytes),
        }
    }

    /// Returns the digest in hexadecimal.
    pub(crate) fn finish(self) -> String {
        match self {
            Hasher::Md5(hasher) => to_hex(&hasher.finalize()),
            Hasher::Crc32(hasher) => to_hex(&hasher.finalize().to_be_bytes()),
            Hasher::Crc32c(hasher) => to_hex(&hasher.finish().to_be_bytes()),
            Hasher::Sha256(hasher) => to_hex(&hasher.finalize()),
        }
    }
}
