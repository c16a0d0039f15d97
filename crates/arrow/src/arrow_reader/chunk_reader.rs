//! `ChunkReader`: inputs that a file can be read from.

use bytes::Bytes;
use marquetry_base::Result;
use marquetry_core::source::Source;
use std::sync::Arc;

/// Input that a file can be read from: a [`File`](std::fs::File) with the feature `fs`, [`Bytes`], or any [`Source`] in an `Arc`.
pub trait ChunkReader {
    /// Converts into the source to read from.
    fn into_source(self) -> Result<Arc<dyn Source>>;
}

impl ChunkReader for Bytes {
    fn into_source(self) -> Result<Arc<dyn Source>> {
        Ok(Arc::new(self))
    }
}

impl ChunkReader for Arc<dyn Source> {
    fn into_source(self) -> Result<Arc<dyn Source>> {
        Ok(self)
    }
}
