//! Options of the mapping from Parquet types to Arrow types.

use arrow_schema::{DataType, TimeUnit};

/// What may be chosen about the types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeOptions {
    /// The layout of byte strings, text or not, that are no dictionary. If `None`: as the stored Arrow schema says, or
    /// [`StringLayout::Utf8`].
    pub text: Option<StringLayout>,
    /// The unit of INT96 timestamps. If `None`: as the stored Arrow schema says, or nanoseconds. Coarser units reach
    /// further; what is finer than the unit is cut off, towards the past.
    pub int96_unit: Option<TimeUnit>,
    /// Whether to follow the Arrow schema that is stored in the file. Default true.
    pub use_arrow_schema: bool,
    /// What happens to text that is not UTF-8. Default: it is an error.
    pub invalid_utf8: InvalidUtf8,
    /// What happens to decimals that are too large for their Arrow type. Default: they are errors.
    pub decimal_overflow: DecimalOverflow,
}

impl Default for TypeOptions {
    fn default() -> Self {
        TypeOptions {
            text: None,
            int96_unit: None,
            use_arrow_schema: true,
            invalid_utf8: InvalidUtf8::default(),
            decimal_overflow: DecimalOverflow::default(),
        }
    }
}

/// The layout of byte strings in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum StringLayout {
    /// 32-bit offsets: `Utf8`, `Binary`. At most 2 GiB in an array.
    #[default]
    Utf8,
    /// 64-bit offsets: `LargeUtf8`, `LargeBinary`.
    LargeUtf8,
    /// Views into the decompressed pages, which are not copied: `Utf8View`, `BinaryView`.
    Utf8View,
}

impl StringLayout {
    /// The type of text.
    pub fn text(self) -> DataType {
        match self {
            StringLayout::Utf8 => DataType::Utf8,
            StringLayout::LargeUtf8 => DataType::LargeUtf8,
            StringLayout::Utf8View => DataType::Utf8View,
        }
    }

    /// The type of byte strings that are not text.
    pub fn binary(self) -> DataType {
        match self {
            StringLayout::Utf8 => DataType::Binary,
            StringLayout::LargeUtf8 => DataType::LargeBinary,
            StringLayout::Utf8View => DataType::BinaryView,
        }
    }
}

/// What happens to text that is not UTF-8. The format requires UTF-8 of STRING, ENUM and JSON.
///
/// A predicate sees the same value as the batches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InvalidUtf8 {
    /// It is an error.
    #[default]
    Error,
    /// Each invalid sequence becomes U+FFFD, as in [`String::from_utf8_lossy`].
    ///
    /// A predicate on text then decodes its columns: statistics, bloom filters and page indexes are of the stored bytes.
    Replace,
    /// All text is read as binary, with the bytes as stored.
    Binary,
}

/// What happens to decimals that need more bits than their Arrow type has: a FIXED_LEN_BYTE_ARRAY or BYTE_ARRAY may store more
/// digits than its precision says.
///
/// A predicate sees the same value as the batches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DecimalOverflow {
    /// They are errors.
    #[default]
    Error,
    /// Columns whose stored width allows such values are Decimal256, of as many digits as they can store, 76 at most. A value of
    /// more than 256 bits is still an error.
    Widen,
    /// They become NULL, and columns whose stored width allows such values are nullable.
    ///
    /// A predicate on such a column then decodes it: statistics, bloom filters and page indexes are of the stored values.
    Null,
}
