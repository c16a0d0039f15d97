//! Encodings, under the names that users write.

use marquetry_base::{Error, Result};
use marquetry_encoding::code;
use std::fmt;
use std::str::FromStr;

/// The encoding of a column's values.
///
/// ```
/// use marquetry_core::write::Encoding;
/// assert_eq!("delta_binary_packed".parse::<Encoding>()?, Encoding::DELTA_BINARY_PACKED);
/// assert_eq!(Encoding::Auto.to_string(), "AUTO");
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[expect(non_camel_case_types)]
#[non_exhaustive]
pub enum Encoding {
    /// The encoding that is smallest for each column chunk, found by encoding a sample of it in all ways that
    /// [`Compat`](crate::write::Compat) allows.
    #[default]
    Auto,
    /// Values as they are, one after the other.
    PLAIN,
    /// The deprecated name of [`RLE_DICTIONARY`](Self::RLE_DICTIONARY). Not written.
    PLAIN_DICTIONARY,
    /// Run lengths, for BOOLEAN.
    RLE,
    /// Deprecated, and for levels only. Not written.
    BIT_PACKED,
    /// Differences, for INT32 and INT64.
    DELTA_BINARY_PACKED,
    /// All lengths, then all bytes, for BYTE_ARRAY.
    DELTA_LENGTH_BYTE_ARRAY,
    /// Prefix lengths and suffixes: the difference to the value before. For BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY.
    DELTA_BYTE_ARRAY,
    /// Distinct values once, and indices; for all types but BOOLEAN. Falls back to PLAIN when the dictionary gets too
    /// large.
    RLE_DICTIONARY,
    /// All first bytes, then all second bytes: for numbers and FIXED_LEN_BYTE_ARRAY.
    BYTE_STREAM_SPLIT,
    /// Floats as decimal integers, for FLOAT and DOUBLE. In preview: few readers support it, and [`Auto`](Self::Auto)
    /// never uses it.
    ALP,
}

impl Encoding {
    /// All encodings but [`Auto`](Self::Auto), by code.
    const CODED: [Encoding; 10] = [
        Encoding::PLAIN,
        Encoding::PLAIN_DICTIONARY,
        Encoding::RLE,
        Encoding::BIT_PACKED,
        Encoding::DELTA_BINARY_PACKED,
        Encoding::DELTA_LENGTH_BYTE_ARRAY,
        Encoding::DELTA_BYTE_ARRAY,
        Encoding::RLE_DICTIONARY,
        Encoding::BYTE_STREAM_SPLIT,
        Encoding::ALP,
    ];

    /// Returns the code of the encoding in a file; `None` for [`Auto`](Self::Auto).
    pub fn code(self) -> Option<i32> {
        Some(match self {
            Encoding::Auto => return None,
            Encoding::PLAIN => code::PLAIN,
            Encoding::PLAIN_DICTIONARY => code::PLAIN_DICTIONARY,
            Encoding::RLE => code::RLE,
            Encoding::BIT_PACKED => code::BIT_PACKED,
            Encoding::DELTA_BINARY_PACKED => code::DELTA_BINARY_PACKED,
            Encoding::DELTA_LENGTH_BYTE_ARRAY => code::DELTA_LENGTH_BYTE_ARRAY,
            Encoding::DELTA_BYTE_ARRAY => code::DELTA_BYTE_ARRAY,
            Encoding::RLE_DICTIONARY => code::RLE_DICTIONARY,
            Encoding::BYTE_STREAM_SPLIT => code::BYTE_STREAM_SPLIT,
            Encoding::ALP => code::ALP,
        })
    }

    /// Returns the encoding with this code in a file, if this build knows it.
    pub fn from_code(code: i32) -> Option<Self> {
        Encoding::CODED.into_iter().find(|encoding| encoding.code() == Some(code))
    }

    /// Returns the name in `parquet.thrift`, or `AUTO`.
    pub fn name(self) -> &'static str {
        let thrift = self.code().map(marquetry_format::Encoding);
        thrift.and_then(marquetry_format::Encoding::name).unwrap_or("AUTO")
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Encoding {
    type Err = Error;

    /// Parses the name in `parquet.thrift`, or `auto`, in any case.
    fn from_str(text: &str) -> Result<Self> {
        let all = || [Encoding::Auto].into_iter().chain(Encoding::CODED);
        all().find(|encoding| encoding.name().eq_ignore_ascii_case(text)).ok_or_else(|| {
            let known: Vec<_> = all().map(Encoding::name).collect();
            Error::argument(format!("encoding {text} is none of {}", known.join(", ")))
        })
    }
}

impl TryFrom<marquetry_format::Encoding> for Encoding {
    type Error = Error;

    /// Fails for an encoding that this build does not know.
    fn try_from(thrift: marquetry_format::Encoding) -> Result<Self> {
        Encoding::from_code(thrift.0).ok_or_else(|| Error::unsupported(format!("encoding {thrift}")))
    }
}
