//! Options of the mapping from Parquet types to Arrow types.

use super::int96_units::Int96Units;
use arrow_schema::{DataType, TimeUnit};
use marquetry_core::schema::Leaf;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Options of the type mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeOptions {
    /// The layout of byte strings, text or not, that are not a dictionary. `None` follows the stored Arrow schema, or else
    /// is [`StringLayout::Utf8`].
    pub text: Option<StringLayout>,
    /// The unit of INT96 timestamps. `None` follows the stored Arrow schema, or else is nanoseconds. Coarser units have
    /// a larger range; finer digits are cut off, towards the past.
    pub int96_unit: Option<TimeUnit>,
    /// The units of individual INT96 columns, which override `int96_unit`. Default: none.
    pub int96_units: Int96Units,
    /// Whether to follow the Arrow schema stored in the file. Default true.
    pub use_arrow_schema: bool,
    /// Whether list elements, and map keys and values, get their names from the stored Arrow schema. Default true.
    pub stored_element_names: bool,
    /// Whether key-value metadata that is not UTF-8 is kept as hexadecimal digits, under keys that begin with
    /// [`BINARY_METADATA_PREFIX`](super::BINARY_METADATA_PREFIX). If fields have such pairs, the schema's own metadata
    /// has that prefix alone as a key. Default false: such pairs of fields are left out, and in the file's metadata,
    /// U+FFFD replaces what is not UTF-8.
    pub binary_metadata: bool,
    /// What happens to text that is not UTF-8. Default: it is an error.
    pub invalid_utf8: InvalidUtf8,
    /// What happens to decimals that are too large for their Arrow type. Default: they are errors.
    pub decimal_overflow: DecimalOverflow,
    /// Chooses the types of some columns. Default: none.
    pub type_hook: Option<TypeHook>,
    /// Adjusts the types that the stored Arrow schema has. Default: all that fit are restored.
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
    /// Returns the type that the hook chooses for a column, if it does.
    pub(super) fn chosen(&self, leaf: &Leaf) -> Option<DataType> {
        self.type_hook.as_ref().and_then(|hook| hook.0(leaf))
    }

    /// Returns the unit that is set for an INT96 column, if one is.
    pub(super) fn int96_unit_of(&self, leaf: &Leaf) -> Option<TimeUnit> {
        self.int96_units.unit_of(leaf).or(self.int96_unit)
    }

    /// Returns the type to follow for `hint`, a column's type in the stored Arrow schema.
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
    /// Creates a hook. `choose` is called for each leaf that is mapped, perhaps more than once.
    pub fn new(choose: impl Fn(&Leaf) -> Option<DataType> + Send + Sync + 'static) -> Self {
        TypeHook(Arc::new(choose))
    }
}

/// A function that adjusts the type that the stored Arrow schema has for a column.
#[derive(Clone)]
pub struct HintPolicy(Arc<FollowHint>);

type FollowHint = dyn Fn(&Leaf, &DataType) -> Option<DataType> + Send + Sync;

impl HintPolicy {
    /// Creates a policy.
    ///
    /// `follow` is called with a leaf and the type that it had when the file was written. It returns the type to
    /// restore, or `None` for the type that the Parquet schema alone gives. The field's metadata is restored in any
    /// case, except for an extension type of values that are not restored.
    pub fn new(follow: impl Fn(&Leaf, &DataType) -> Option<DataType> + Send + Sync + 'static) -> Self {
        HintPolicy(Arc::new(follow))
    }
}

/// Compares identity: the same function, not one that does the same.
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

/// Compares identity: the same function, not one that does the same.
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
    /// Returns the type of text.
    pub fn text(self) -> DataType {
        match self {
            StringLayout::Utf8 => DataType::Utf8,
            StringLayout::LargeUtf8 => DataType::LargeUtf8,
            StringLayout::Utf8View => DataType::Utf8View,
        }
    }

    /// Returns the type of byte strings that are not text.
    pub fn binary(self) -> DataType {
        match self {
            StringLayout::Utf8 => DataType::Binary,
            StringLayout::LargeUtf8 => DataType::LargeBinary,
            StringLayout::Utf8View => DataType::BinaryView,
        }
    }
}

/// What happens to text that is not UTF-8. The format requires UTF-8 for STRING, ENUM and JSON.
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
    /// A predicate on text then decodes its columns: statistics, bloom filters and page indexes describe the stored bytes.
    Replace,
    /// All text is read as binary, with the bytes as stored.
    Binary,
}

/// What happens to decimals that need more bits than their Arrow type has. A FIXED_LEN_BYTE_ARRAY or BYTE_ARRAY may
/// store more digits than its precision says.
///
/// A predicate sees the same value as the batches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecimalOverflow {
    /// They are errors.
    #[default]
    Error,
    /// Columns whose stored width allows such values become Decimal256, with as many digits as they can store, at most
    /// 76. A value of more than 256 bits is still an error.
    Widen,
    /// They become NULL, and columns whose stored width allows such values are nullable.
    ///
    /// A predicate on such a column then decodes it: statistics, bloom filters and page indexes describe the stored values.
    Null,
}
