//! The Thrift compact protocol, the format of footers, page headers and indexes.
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

mod layout_cache;
mod reader;
mod skip;
mod thrift_string;
mod wire;
mod writer;

pub(crate) use layout_cache::{LayoutCache, LayoutMatch};
pub(crate) use reader::missing;
pub use reader::{Bookmark, Element, Elements, ElementsIter, Field, Reader};
pub use thrift_string::ThriftString;
pub use wire::Wire;
pub use writer::Writer;
