//! Files: opening them, reading their footer, and creating them in one step.

mod create;
mod file;
mod footer;

pub use create::AtomicFile;
pub use file::LocalFile;
pub use footer::{FooterRead, read_metadata};
