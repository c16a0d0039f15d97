//! The Parquet file that is written, completely or not at all.

use crate::failure::Failure;
use crate::keys;
use crate::overwrite::{create, refuse};
use marquetry::errors::Error;
use marquetry::file::AtomicFile;
use marquetry::file::metadata::ParquetMetaData;
use marquetry::internals::format::{KeyValue, SchemaElement, SortingColumn};
use marquetry::metrics::WriteCounters;
use marquetry_base::Stopwatch;
use marquetry_core::write::{EncodedChunk, FileSettings, FileWriter};
use marquetry_inspect::EncoderMemory;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A Parquet file that is being written. It appears under its name when it is finished.
pub(crate) struct OutputFile {
    path: PathBuf,
    is_encrypted: bool,
    writer: FileWriter<AtomicFile>,
}

impl OutputFile {
    pub(crate) fn create(
        path: &Path,
        overwrite: bool,
        schema: Vec<SchemaElement>,
        settings: FileSettings,
    ) -> Result<Self, Failure> {
        let file = create(path, overwrite)?;
        let is_encrypted = settings.encryption.is_some();
        let writer = FileWriter::new(file, schema, settings)?;
        Ok(OutputFile { path: path.to_owned(), is_encrypted, writer })
    }

    pub(crate) fn write_row_group(
        &mut self,
        rows: u64,
        chunks: Vec<EncodedChunk>,
        sorting: Option<Vec<SortingColumn>>,
    ) -> Result<(), Failure> {
        Ok(self.writer.write_row_group(rows, chunks, sorting)?)
    }

    /// Adds a pair to the metadata.
    pub(crate) fn add_key_value(&mut self, pair: KeyValue) {
        self.writer.add_key_value(pair);
    }

    /// Counters of what is written.
    pub(crate) fn counters(&self) -> &Arc<WriteCounters> {
        self.writer.counters()
    }

    /// Whether it is encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    /// The memory that chunks are encoded with.
    pub(crate) fn encoder_memory(&self) -> EncoderMemory {
        EncoderMemory::counted_by(self.counters()).with_sealed_spills(keys::seal_spills(self.is_encrypted))
    }

    /// Gives the file its name. Returns its footer and its size.
    pub(crate) fn finish(self) -> Result<(ParquetMetaData, u64), Failure> {
        let path = self.path.clone();
        let finished = self.finish_if(|_| Ok(true))?;
        finished.ok_or_else(|| refuse(&path, "is not written"))
    }

    /// As [`finish`](Self::finish), if `is_wanted` returns true for the complete file at its temporary path.
    pub(crate) fn finish_if(
        self,
        is_wanted: impl FnOnce(&Path) -> Result<bool, Failure>,
    ) -> Result<Option<(ParquetMetaData, u64)>, Failure> {
        let counters = self.writer.counters().clone();
        let (mut file, metadata) = self.writer.finish()?;
        file.flush().map_err(|error| Error::io("cannot write the file", error))?;
        if !is_wanted(file.temporary_path())? {
            file.discard();
            return Ok(None);
        }
        let start = Stopwatch::start();
        file.finish()?;
        counters.synced(start);
        let size = fs::metadata(&self.path).map_or(0, |metadata| metadata.len());
        Ok(Some((metadata, size)))
    }
}
