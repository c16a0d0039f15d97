//! A cache of opened files: footers are read and parsed once.

use crate::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry_base::Result;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// An open file and its footer. They are kept together, as the name may belong to another file later.
pub(super) struct Opened<S: ?Sized> {
    pub(super) source: Arc<S>,
    pub(super) metadata: ArrowReaderMetadata,
}

impl<S: ?Sized> Opened<S> {
    /// Returns the same file with other options.
    pub(super) fn read_as(self, options: &ArrowReaderOptions) -> Result<Self> {
        Ok(Opened { metadata: self.metadata.with_options(options.clone())?, ..self })
    }
}

impl<S: ?Sized> Clone for Opened<S> {
    fn clone(&self) -> Self {
        Opened { source: self.source.clone(), metadata: self.metadata.clone() }
    }
}

/// The files that were opened first, shared by all readers of a table.
pub(super) struct Files<S: ?Sized>(Arc<Mutex<HashMap<PathBuf, Opened<S>>>>);

impl<S: ?Sized> Files<S> {
    /// Returns the file at `path`, if it is cached.
    pub(super) fn get(&self, path: &Path) -> Option<Opened<S>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    fn insert(&self, path: &Path, file: Opened<S>, most: usize) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if files.len() < most {
            files.insert(path.to_owned(), file);
        }
    }
}

impl Files<dyn marquetry_core::source::Source> {
    /// Caches a file, if there is room.
    pub(super) fn keep(&self, path: &Path, file: &Opened<dyn marquetry_core::source::Source>) {
        let most = if file.source.request_cost().is_some() { MOST_FAR } else { MOST_NEAR };
        self.insert(path, file.clone(), most);
    }
}

#[cfg(feature = "async")]
impl Files<dyn crate::async_reader::AsyncSource> {
    /// Caches a file's footer, if there is room. For the first files, also caches what was fetched along with it, which
    /// may be the whole of a small file.
    pub(super) fn keep(&self, path: &Path, file: &Opened<dyn crate::async_reader::AsyncSource>) {
        let is_full = self.0.lock().unwrap_or_else(PoisonError::into_inner).len() >= MOST_NEAR;
        let mut file = file.clone();
        if is_full {
            file.metadata = file.metadata.without_bytes();
        }
        self.insert(path, file, MOST_FAR);
    }
}

impl<S: ?Sized> Clone for Files<S> {
    fn clone(&self) -> Self {
        Files(self.0.clone())
    }
}

impl<S: ?Sized> Default for Files<S> {
    fn default() -> Self {
        Files(Arc::default())
    }
}

/// A process may have some hundred files open.
const MOST_NEAR: usize = 128;
/// Each holds its last 64 KiB.
const MOST_FAR: usize = 2048;
