//! A value and the metadata that it refers to.

use crate::header::value_len;
use crate::metadata::Metadata;
use marquetry_base::{Error, Result};

/// A value in binary. It is small and can be copied freely; nothing is decoded before it is needed.
#[derive(Debug, Clone, Copy)]
pub struct Variant<'a> {
    metadata: Metadata<'a>,
    /// At least one byte, and nothing after the value.
    bytes: &'a [u8],
}

impl<'a> Variant<'a> {
    /// Creates a variant from the value and the metadata of a Parquet column. Checks only the first bytes of both, so
    /// damage further inside is found when it is read. [`validate`](Self::validate) checks everything.
    ///
    /// # Errors
    ///
    /// If the metadata is invalid, the type of the value is unknown, or the value does not have the length that it declares.
    pub fn new(metadata: &'a [u8], value: &'a [u8]) -> Result<Self> {
        Self::with_metadata(Metadata::new(metadata)?, value)
    }

    /// Creates a variant from a value and its metadata, which several values may share.
    ///
    /// # Errors
    ///
    /// If the type of the value is unknown, or it does not have the length that it declares.
    #[inline]
    pub fn with_metadata(metadata: Metadata<'a>, value: &'a [u8]) -> Result<Self> {
        let len = value_len(value)?;
        match value.len() {
            there if there < len => {
                Err(Error::truncated(format!("a variant value of {len} bytes, {there} there")))
            }
            there if there > len => {
                Err(Error::corrupt(format!("{} bytes behind a variant value", there - len)))
            }
            _ => Ok(Variant { metadata, bytes: value }),
        }
    }

    /// Creates a variant from the exact bytes of a value inside another one.
    pub(crate) fn inside(metadata: Metadata<'a>, bytes: &'a [u8]) -> Self {
        Variant { metadata, bytes }
    }

    /// The metadata.
    pub fn metadata(&self) -> Metadata<'a> {
        self.metadata
    }

    /// The value in binary. With the metadata of the whole, it is a variant of its own.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}
