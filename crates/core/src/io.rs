//! Files: opening them, and reading their footer.

mod file;
mod footer;

pub use file::LocalFile;
pub use footer::{FooterRead, read_metadata};
