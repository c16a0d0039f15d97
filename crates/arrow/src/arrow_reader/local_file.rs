//! Opens local files for reading.

use super::chunk_reader::ChunkReader;
use marquetry_base::Result;
use marquetry_core::io::LocalFile;
use marquetry_core::source::Source;
use std::fs::File;
use std::sync::Arc;

impl ChunkReader for File {
    fn into_source(self) -> Result<Arc<dyn Source>> {
        Ok(Arc::new(LocalFile::new(self)?))
    }
}
