//! Replaces local files in builds without them: no URI leads to one.

use marquetry_base::{Error, Result};
use marquetry_core::source::Source;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Allows nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct LocalAccess;

impl LocalAccess {
    pub(crate) fn path_of(&self, _uri: &str) -> Result<Option<PathBuf>> {
        Ok(None)
    }

    pub(crate) fn open(&self, _path: &Path, _uri: &str) -> Result<Arc<dyn Source>> {
        Err(Error::unsupported("FILE: this build opens no files"))
    }
}
