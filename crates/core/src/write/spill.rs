//! Spilled pages: finished pages that wait outside of memory for the end of their row group.

use super::spill_folder::SpillFolder;
use super::spill_store::{SpillFile, SpillStore};
use marquetry_base::{Error, Result};
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The file that pages of one row group are spilled to. Several threads may write at the same time.
#[derive(Debug)]
pub struct Spill {
    file: Box<dyn SpillFile>,
    /// End of the part of the file that is assigned to writes.
    end: AtomicU64,
}

impl Spill {
    /// Creates an empty file in the system's folder for temporary files.
    pub fn new() -> Result<Self> {
        Spill::in_store(&SpillFolder::system())
    }

    /// Creates an empty file in `store`.
    pub fn in_store(store: &dyn SpillStore) -> Result<Self> {
        let file =
            store.create().map_err(|error| Error::io("no temporary file for finished pages", error))?;
        Ok(Spill { file, end: AtomicU64::new(0) })
    }

    pub(super) fn write(&self, bytes: &[u8]) -> Result<Range<u64>> {
        let start = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file
            .write_at(bytes, start)
            .map_err(|error| Error::io("finished pages cannot be written to a temporary file", error))?;
        Ok(start..start + bytes.len() as u64)
    }

    pub(super) fn read(&self, range: Range<u64>, buffer: &mut Vec<u8>) -> Result<()> {
        buffer.resize((range.end - range.start) as usize, 0);
        self.file
            .read_at(buffer, range.start)
            .map_err(|error| Error::io("finished pages cannot be read from a temporary file", error))
    }
}

/// The store of a writer's properties; `None` is the default. Equal if it is the same store.
#[derive(Debug, Clone, Default)]
pub(super) struct ChosenStore(pub(super) Option<Arc<dyn SpillStore>>);

impl PartialEq for ChosenStore {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_spill_side_by_side() {
        let folder = tempfile::tempdir().unwrap();
        for store in [SpillFolder::system(), SpillFolder::new(folder.path())] {
            let spill = Spill::in_store(&store).unwrap();
            std::thread::scope(|scope| {
                for number in 0..4u8 {
                    let spill = &spill;
                    scope.spawn(move || {
                        let ranges: Vec<_> =
                            (1..60usize).map(|len| spill.write(&vec![number; len * 31]).unwrap()).collect();
                        let mut read = Vec::new();
                        for (range, len) in ranges.into_iter().zip(1..60usize) {
                            spill.read(range, &mut read).unwrap();
                            assert_eq!(read, vec![number; len * 31]);
                        }
                    });
                }
            });
        }
        // The file has no name in the folder.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = Spill::in_store(&SpillFolder::new("/no/such/folder")).unwrap_err();
        assert!(error.to_string().contains("/no/such/folder"), "{error}");
    }
}
