//! The capacity of dictionary keys of 8 and 16 bits.

use arrow_schema::DataType;

/// Returns how many values keys of 8 and 16 bits can number; `None` for wider keys, which suffice for any array.
pub fn narrow_key_capacity(keys: &DataType) -> Option<u64> {
    match keys {
        DataType::Int8 => Some(1 << 7),
        DataType::UInt8 => Some(1 << 8),
        DataType::Int16 => Some(1 << 15),
        DataType::UInt16 => Some(1 << 16),
        _ => None,
    }
}
