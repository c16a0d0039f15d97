//! Options of the mapping from Parquet types to Arrow types.

use super::int96_units::Int96Units;
use arrow_schema::{DataType, TimeUnit};
use marquetry_core::schema::Leaf;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// What may be chosen about the types.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeOptions {
    /// The layout of byte strings, text or not, that are no dictionary. If `None`: as the stored Arrow schema says, or
    /// [`StringLayout::Utf8`].
    pub text: Option<StringLayout>,
    /// The unit of INT96 timestamps. If `None`: as the stored Arrow schema says, or nanoseconds. Coarser units reach
    /// further; what is finer than the unit is cut off, towards the past.
    pub int96_unit: Option<TimeUnit>,
    /// The units of single INT96 columns, which outweigh `int96_unit`. Default: none.
    pub int96_units: Int96Units,
    /// Whether to follow the Arrow schema that is stored in the file. Default true.
    pub use_arrow_schema: bool,
    /// Whether elements of lists, and keys and values of maps, have the names that the stored Arrow schema has. Default true.
    pub stored_element_names: bool,
    /// Whether pairs of metadata that are not UTF-8 are kept as hexadecimal digits, under keys that begin with
    /// [`BINARY_METADATA_PREFIX`](super::BINARY_METADATA_PREFIX). The schema's own metadata has that prefix alone as a key if there
    /// are some in fields. Default false: those of fields are left out, and the file's have U+FFFD for what is not UTF-8.
    pub binary_metadata: bool,
    /// What happens to text that is not UTF-8. Default: it is an error.
    pub invalid_utf8: InvalidUtf8,
    /// What happens to decimals that are too large for their Arrow type. Default: they are errors.
    pub decimal_overflow: DecimalOverflow,
    /// Chooses the types of some columns. Default: none.
    pub type_hook: Option<TypeHook>,
    /// What is made of the types that the stored Arrow schema has. Default: all that fit are restored.
    pub hint_policy: Option<HintPolicy>,
}

impl Default for TypeOptions {
    fn default() -> Self {
        TypeOptions {
            text: None,
            int96_unit: None,
            int96_units: Int96Units::default(),
            use_arrow_schema: true,
            stored_element_names: true,
            binary_metadata: false,
            invalid_utf8: InvalidUtf8::default(),
            decimal_overflow: DecimalOverflow::default(),
            type_hook: None,
            hint_policy: None,
        }
    }
}

impl TypeOptions {
    /// The type that the hook chooses for a column, if it does.
    pub(super) fn chosen(&self, leaf: &Leaf) -> Option<DataType> {
        self.type_hook.as_ref().and_then(|hook| hook.0(leaf))
    }

    /// The unit that is chosen for an INT96 column, if one is.
    pub(super) fn int96_unit_of(&self, leaf: &Leaf) -> Option<TimeUnit> {
        self.int96_units.unit_of(leaf).or(self.int96_unit)
    }

    /// What is made of `hint`, the type that the stored Arrow schema has for a column.
    pub(super) fn followed<'a>(&self, leaf: &Leaf, hint: &'a DataType) -> Option<Cow<'a, DataType>> {
        match &self.hint_policy {
            None => Some(Cow::Borrowed(hint)),
            Some(policy) => policy.0(leaf, hint).map(Cow::Owned),
        }
    }
}

/// A function that chooses the Arrow type of a column, or leaves it as it would be.
#[derive(Clone)]
pub struct TypeHook(Arc<ChooseType>);

type ChooseType = dyn Fn(&Leaf) -> Option<DataType> + Send + Sync;

impl TypeHook {
    /// `choose` is called for each leaf that is looked at, perhaps more than once.
    pub fn new(choose: impl Fn(&Leaf) -> Option<DataType> + Send + Sync + 'static) -> Self {
        TypeHook(Arc::new(choose))
    }
}

/// A function that says what is made of the type that the stored Arrow schema has for a column.
#[derive(Clone)]
pub struct HintPolicy(Arc<FollowHint>);

type FollowHint = dyn Fn(&Leaf, &DataType) -> Option<DataType> + Send + Sync;

impl HintPolicy {
    /// `follow` is called with a leaf and the type that it had when the file was written. It gives the type that is restored,
    /// or `None` where the leaf is to be what Parquet says alone. The field's metadata is restored in any case, but for an extension
    /// type of values that are not restored.
    pub fn new(follow: impl Fn(&Leaf, &DataType) -> Option<DataType> + Send + Sync + 'static) -> Self {
        HintPolicy(Arc::new(follow))
    }
}

/// The same function, not one that does the same.
impl PartialEq for TypeHook {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for TypeHook {}

impl fmt::Debug for TypeHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TypeHook")
    }
}

/// The same function, not one that does the same.
impl PartialEq for HintPolicy {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for HintPolicy {}

impl fmt::Debug for HintPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HintPolicy")
    }
}

/// The layout of byte strings in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
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
#[non_exhaustive]
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
#[non_exhaustive]
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
