//! The trait of spill stores: where spilled pages are kept.

use std::fmt::Debug;
use std::io;

/// A store for pages that exceed the memory limit: a folder on a fast disk, a host's own temporary files, memory that
/// is accounted for elsewhere.
///
/// A writer creates a file whenever it spills the first pages of a row group, and drops the file once the pages are
/// written to their place. The default is the system's folder for temporary files
/// ([`SpillFolder::system`](super::SpillFolder::system)).
///
/// ```
/// use marquetry_core::write::{SpillFile, SpillStore, WriterProperties};
/// use std::io;
/// use std::sync::{Arc, Mutex};
///
/// /// Spills to memory: of use where the host has another budget for it.
/// #[derive(Debug)]
/// struct Elsewhere;
/// #[derive(Debug, Default)]
/// struct Pages(Mutex<Vec<u8>>);
///
/// impl SpillStore for Elsewhere {
///     fn create(&self) -> io::Result<Box<dyn SpillFile>> {
///         Ok(Box::new(Pages::default()))
///     }
/// }
/// impl SpillFile for Pages {
///     fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
///         let (mut pages, end) = (self.0.lock().unwrap(), offset as usize + bytes.len());
///         let len = pages.len().max(end);
///         pages.resize(len, 0);
///         pages[offset as usize..end].copy_from_slice(bytes);
///         Ok(())
///     }
///     fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
///         buffer.copy_from_slice(&self.0.lock().unwrap()[offset as usize..][..buffer.len()]);
///         Ok(())
///     }
/// }
///
/// let properties = WriterProperties::builder()
///     .set_memory_limit(Some(64 << 20))
///     .set_spill_store(Some(Arc::new(Elsewhere)))
///     .build();
/// assert!(properties.spill_store().is_some());
/// ```
pub trait SpillStore: Debug + Send + Sync {
    /// Creates an empty file.
    fn create(&self) -> io::Result<Box<dyn SpillFile>>;
}

/// A file that is written and read at given offsets, by several threads at the same time. It is dropped when its bytes
/// are no longer needed, and should then delete them.
pub trait SpillFile: Debug + Send + Sync {
    /// Writes all of `bytes` at `offset`, in bytes. No range is written twice; ranges may be written in any order.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Fills all of `buffer` with the bytes at `offset`, which were all written before.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}
