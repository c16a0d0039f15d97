//! Shredding: which parts of a VARIANT column are stored in columns of their own.
//!
//! | file | what it does |
//! |---|---|
//! | `shape.rs` | the type, its limits, and its text |
//! | `parse.rs` | from text |
//! | `kinds.rs` | which kinds of values were seen at a place, and how often |
//! | `infer.rs` | a shredding out of a sample of values |

mod infer;
mod kinds;
mod parse;
mod shape;

pub use infer::{InferShreddingOptions, ShreddingInference};
pub use shape::{MAX_SHREDDED_COLUMNS, MAX_SHREDDING_DEPTH, PrimitiveType, Shredding};
