//! Files: opening them, reading their footer, creating them in one step, and changing them in place.

mod behind;
mod create;
mod directory_chain;
mod edit;
mod file;
mod footer;

pub use create::AtomicFile;
pub use directory_chain::DirectoryChain;
pub use edit::{Edited, FileEdit, unreferenced_bytes};
pub use file::LocalFile;
pub use footer::{FooterRead, TAIL_READ, read_metadata};
