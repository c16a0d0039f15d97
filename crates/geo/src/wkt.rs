//! Well-known text, both ways.
//!
//! Spec: OGC Simple feature access, part 1, section 7, with Z and M behind the kind.

mod read;
mod write;

pub use read::parse;
pub use write::{to_string, write_start, write_to};
