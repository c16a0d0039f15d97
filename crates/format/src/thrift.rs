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

mod alike;
mod reader;
mod skip;
mod writer;

pub(crate) use alike::{Alike, Seen};
pub(crate) use reader::missing;
pub use reader::{Bookmark, Element, Elements, ElementsIter, Field, Reader};
pub use writer::Writer;

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
    /// A field that is an integer of 16, 32 or 64 bits. QUIRK: all are zigzag varints, and writers disagree on the
    /// width of some fields, so that readers do not tell them apart.
    pub const INT: Wire = Wire::I64;

    const fn from_code(code: u8) -> Option<Wire> {
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

    /// Whether a list of this type can be read as one of `other`. Integers of any
    /// width are alike, see [`INT`](Self::INT). A list of bools may have either bool as its type.
    fn reads_as(self, other: Wire) -> bool {
        let kind = |wire| match wire {
            Wire::I16 | Wire::I32 | Wire::I64 => Wire::I64,
            Wire::True | Wire::False => Wire::True,
            other => other,
        };
        kind(self) == kind(other)
    }

    fn code(self) -> u8 {
        self as u8 + 1
    }
}
