//! Geometries of GeoJSON, both ways.
//!
//! Spec: RFC 7946, section 3.1.

mod read;
mod write;

pub use read::{from_value, parse};
pub use write::{to_string, write_to};
