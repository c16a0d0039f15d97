//! The Thrift compact protocol: how footers, page headers and indexes are written.
//!
//! ```text
//! struct := field* stop            stop: 00
//! field  := <delta: 4 bits><type: 4 bits> value           id = previous id + delta, delta 1 to 15
//!         | <0000><type: 4 bits> <id: zigzag> value
//! list   := <size: 4 bits><type: 4 bits> element*         size 0 to 14
//!         | <1111><type: 4 bits> <size: varint> element*
//! ```
//!
//! Integers are zigzag varints, doubles 8 bytes little-endian, binaries a varint length and bytes. A bool in a struct
//! is its type (1 true, 2 false), in a list a byte.

mod reader;
mod writer;

pub use reader::{Field, Reader};
pub use writer::Writer;

use marquetry_base::{Error, Result};

/// Reads the element of a list if it has the type that `parquet.thrift` gives it, and fails if it has another: an
/// element cannot be left out.
pub(crate) fn expect<'a, T>(
    r: &mut Reader<'a>,
    actual: Wire,
    expected: Wire,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T>,
) -> Result<T> {
    // QUIRK: enums and small integers are all zigzag varints; writers disagree on their width.
    let is_varint = |wire| matches!(wire, Wire::I16 | Wire::I32 | Wire::I64);
    if actual == expected || is_varint(actual) && is_varint(expected) {
        return read(r);
    }
    Err(Error::corrupt(format!("a list of {actual:?}, {expected:?} expected")).at(r.position() as u64))
}

/// The types of the compact protocol, as they are in field and list headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// A bool that is true.
    True,
    /// A bool that is false.
    False,
    /// A byte.
    I8,
    /// A zigzag varint.
    I16,
    /// A zigzag varint.
    I32,
    /// A zigzag varint.
    I64,
    /// 8 bytes little-endian.
    Double,
    /// A length and bytes.
    Binary,
    /// A list.
    List,
    /// A set, stored as a list.
    Set,
    /// A map.
    Map,
    /// A struct.
    Struct,
    /// 16 bytes.
    Uuid,
}

impl Wire {
    fn from_code(code: u8) -> Option<Wire> {
        Some(match code {
            1 => Wire::True,
            2 => Wire::False,
            3 => Wire::I8,
            4 => Wire::I16,
            5 => Wire::I32,
            6 => Wire::I64,
            7 => Wire::Double,
            8 => Wire::Binary,
            9 => Wire::List,
            10 => Wire::Set,
            11 => Wire::Map,
            12 => Wire::Struct,
            13 => Wire::Uuid,
            _ => return None,
        })
    }

    fn code(self) -> u8 {
        self as u8 + 1
    }
}
