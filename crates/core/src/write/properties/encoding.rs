//! Encodings, as a user names them.

use marquetry_base::{Error, Result};
use marquetry_encoding::code;
use std::fmt;
use std::str::FromStr;

/// How the values of a column are encoded.
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
    /// What is smallest for each column chunk, found by encoding a sample of it in all ways that
    /// [`Compat`](crate::write::Compat) allows.
    #[default]
    Auto,
    /// One value after the other.
    PLAIN,
    /// Deprecated name of [`RLE_DICTIONARY`](Self::RLE_DICTIONARY). Not written.
    PLAIN_DICTIONARY,
    /// Runs, for BOOLEAN.
    RLE,
    /// Deprecated, and for levels only. Not written.
    BIT_PACKED,
    /// Differences, for INT32 and INT64.
    DELTA_BINARY_PACKED,
    /// All lengths, then all bytes, for BYTE_ARRAY.
    DELTA_LENGTH_BYTE_ARRAY,
    /// What differs from the value before, for BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY.
    DELTA_BYTE_ARRAY,
    /// Different values once, and indices; for all types but BOOLEAN. PLAIN, once the dictionary is too large.
    RLE_DICTIONARY,
    /// All first bytes, then all second bytes: for numbers and FIXED_LEN_BYTE_ARRAY.
    BYTE_STREAM_SPLIT,
    /// Floats that were decimals, for FLOAT and DOUBLE. In preview: few readers have it, and
    /// [`Auto`](Self::Auto) never takes it.
    ALP,
}

impl Encoding {
    /// All but [`Auto`](Self::Auto), by code.
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

    /// The number in a file; `None` for [`Auto`](Self::Auto).
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

    /// The encoding of a number in a file, if this build knows it.
    pub fn from_code(code: i32) -> Option<Self> {
        Encoding::CODED.into_iter().find(|encoding| encoding.code() == Some(code))
    }

    /// The name in `parquet.thrift`, or `AUTO`.
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

    /// By the name in `parquet.thrift`, or `auto`, in any case.
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

    /// Fails for one that this build does not know.
    fn try_from(thrift: marquetry_format::Encoding) -> Result<Self> {
        Encoding::from_code(thrift.0).ok_or_else(|| Error::unsupported(format!("encoding {thrift}")))
    }
}
