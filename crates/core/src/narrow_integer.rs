//! Integers of 8 and 16 bits, which are stored in 32 bits: the low bits are the value.

use crate::logical_type::LogicalType;
use crate::schema::Leaf;

/// An integer type with fewer bits than its stored form.
///
/// QUIRK: the format does not define a stored value that is out of the type's range. Some writers store a UINT_8 of 255
/// as -1, and readers take the low bits, as we do; predicates see the same value as readers of the column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NarrowInteger {
    Int8,
    Int16,
    UInt8,
    UInt16,
}

impl NarrowInteger {
    /// Returns the type of a column; `None` if all stored bits are the value's.
    pub(crate) fn of(leaf: &Leaf) -> Option<Self> {
        match leaf.logical() {
            Some(LogicalType::Integer { bits: 8, signed: true }) => Some(NarrowInteger::Int8),
            Some(LogicalType::Integer { bits: 16, signed: true }) => Some(NarrowInteger::Int16),
            Some(LogicalType::Integer { bits: 8, signed: false }) => Some(NarrowInteger::UInt8),
            Some(LogicalType::Integer { bits: 16, signed: false }) => Some(NarrowInteger::UInt16),
            _ => None,
        }
    }

    /// Returns the value of a stored word, as a word that is in range.
    pub(crate) fn value(self, word: u32) -> u32 {
        match self {
            NarrowInteger::Int8 => i32::from(word as i8) as u32,
            NarrowInteger::Int16 => i32::from(word as i16) as u32,
            NarrowInteger::UInt8 => u32::from(word as u8),
            NarrowInteger::UInt16 => u32::from(word as u16),
        }
    }

    /// Whether a PLAIN value is in the type's range, so that its stored form is its value.
    pub(crate) fn holds(self, plain: &[u8]) -> bool {
        plain.try_into().map(u32::from_le_bytes).is_ok_and(|word| self.value(word) == word)
    }
}
