//! The purpose of each byte of a file, and how bounds of row groups overlap.
//!
//! ```text
//! part        a part of the file; what is known of a page
//! pages       the pages of a chunk, by their headers
//! run         all parts of a file, and the gaps between them
//! bounds      bounds of row groups, as places between the least and the greatest of all
//! ```

mod bounds;
mod pages;
mod part;
mod run;

pub use bounds::{ColumnBounds, column_bounds};
#[cfg(feature = "fs")]
pub(crate) use pages::pages_of_chunk;
pub use part::{FileLayout, FilePart, PageFacts, PartKind};
pub use run::file_layout;
