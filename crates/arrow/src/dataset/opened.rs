//! Files that were opened, kept for the next look at them: footers are read and parsed once.

use marquetry_base::Result;
use marquetry_core::meta::ParquetMetaData;
use marquetry_core::source::Source;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// An open file and its footer. They are kept together: a file of the same name may be another one later.
#[derive(Clone)]
pub(super) struct Opened {
    pub(super) source: Arc<dyn Source>,
    pub(super) metadata: Arc<ParquetMetaData>,
}

/// The first files that were opened, shared by all readers of a table.
#[derive(Clone, Default)]
pub(super) struct Files(Arc<Mutex<HashMap<PathBuf, Opened>>>);

impl Files {
    /// The file at `path`, opened by `open` unless it is open.
    pub(super) fn get(&self, path: &Path, open: impl FnOnce() -> Result<Opened>) -> Result<Opened> {
        let files = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = files().get(path) {
            return Ok(file.clone());
        }
        let file = open()?;
        let mut files = files();
        let most = if file.source.request_cost().is_some() { MOST_FAR } else { MOST_NEAR };
        if files.len() < most {
            files.insert(path.to_owned(), file.clone());
        }
        Ok(file)
    }
}

/// A process may have some hundred files open.
const MOST_NEAR: usize = 128;
/// Each holds its last 64 KiB.
const MOST_FAR: usize = 2048;
