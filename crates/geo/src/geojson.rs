//! Geometries of GeoJSON, both ways.
//!
//! Spec: RFC 7946, section 3.1.

mod crs;
mod read;
mod write;

pub use crs::crs;
pub use read::{from_value, parse};
pub use write::{to_string, write_to};
