//! A value and the names that it refers to.

use crate::header::value_len;
use crate::metadata::Metadata;
use marquetry_base::{Error, Result};

/// A value in binary. It is small and copied freely; nothing of it is decoded before it is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Variant<'a> {
    metadata: Metadata<'a>,
    /// At least one byte, and nothing behind the value.
    bytes: &'a [u8],
}

impl<'a> Variant<'a> {
    /// A value and its metadata, as a column of Parquet has them. Looks at no more than the first bytes of both, so that what
    /// is wrong further inside comes up when it is asked for; [`validate`](Self::validate) looks at all.
    ///
    /// # Errors
    ///
    /// If the metadata is not legal, the value's type is not known, or the value has not as many bytes as it says.
    pub fn new(metadata: &'a [u8], value: &'a [u8]) -> Result<Self> {
        Self::with_metadata(Metadata::new(metadata)?, value)
    }

    /// A value, and its metadata, which may be those of others, too.
    ///
    /// # Errors
    ///
    /// If the value's type is not known, or it has not as many bytes as it says.
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

    /// A value inside another one: exactly its bytes.
    pub(crate) fn inside(metadata: Metadata<'a>, bytes: &'a [u8]) -> Self {
        Variant { metadata, bytes }
    }

    /// The names.
    pub fn metadata(&self) -> Metadata<'a> {
        self.metadata
    }

    /// The value in binary. Together with the metadata of the whole it is a variant of its own.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}
