//! Creates files: the shortest way to write one.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_base::{Result, Stopwatch};
use marquetry_core::io::AtomicFile;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::metrics::WriteMetrics;
use marquetry_core::write::WriterProperties;
use std::path::Path;

/// Begins a Parquet file for batches of `schema`.
///
/// The file appears at `path`, complete, when it is [closed](ParquetFileWriter::close), and then replaces a file that
/// was there before. If the writer is dropped earlier, fails, or the process crashes, the old file stays. With
/// [checkpoints](WriterProperties::checkpoint_every) the hidden temporary file beside it, `.NAME.PID-N.tmp`, stays as
/// well once it has a checkpoint, because it can be read up to there; [`ParquetFileWriter::discard`] removes it.
///
/// Encodings are chosen by trying them, pages are compressed with ZSTD and have checksums, and all statistics and
/// indexes are written. [`create_with_properties`] takes other properties.
///
/// ```
/// use arrow_array::{ArrayRef, Float64Array, RecordBatch};
/// use std::sync::Arc;
///
/// # let folder = std::env::temp_dir().join(format!("marquetry-create-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("prices.parquet");
/// let price = Arc::new(Float64Array::from(vec![9.5, 12.0])) as ArrayRef;
/// let batch = RecordBatch::try_from_iter([("price", price)])?;
///
/// let mut file = marquetry::create(&path, batch.schema())?;
/// file.write(&batch)?;
/// file.close()?;
///
/// assert_eq!(marquetry::open(&path)?.batches()?.next().unwrap()?, batch);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Fails if the directory does not exist or is not writable, or if Parquet cannot store a column.
pub fn create(path: impl AsRef<Path>, schema: SchemaRef) -> Result<ParquetFileWriter> {
    create_with_properties(path, schema, WriterProperties::default())
}

/// Begins a Parquet file as [`create`] does, with these properties.
pub fn create_with_properties(
    path: impl AsRef<Path>,
    schema: SchemaRef,
    properties: WriterProperties,
) -> Result<ParquetFileWriter> {
    let name = path.as_ref().display().to_string();
    let begin = || ArrowWriter::try_new_durable(AtomicFile::create(&path)?, schema, Some(properties));
    let writer = begin().map_err(|error| error.in_file(name.as_str()))?;
    Ok(ParquetFileWriter { writer, name })
}

/// A file that is being written.
#[must_use = "the file has its name once it is closed"]
#[derive(Debug)]
pub struct ParquetFileWriter {
    writer: ArrowWriter<AtomicFile>,
    name: String,
}

impl ParquetFileWriter {
    /// Appends the rows of `batch`.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch).map_err(|error| error.in_file(self.name.as_str()))
    }

    /// Returns the writer below, for what is not here: ending a row group, sizes, more metadata.
    pub fn writer(&mut self) -> &mut ArrowWriter<AtomicFile> {
        &mut self.writer
    }

    /// Returns what writing has cost so far. The [writer's counters](ArrowWriter::counters) have it after the file is
    /// closed, too.
    pub fn metrics(&self) -> WriteMetrics {
        self.writer.metrics()
    }

    /// Discards the file, and removes what was written of it.
    pub fn discard(self) {
        self.writer.into_sink().discard();
    }

    /// Writes the rest and the footer, syncs the file to disk, and gives it its name. Returns the metadata of the
    /// footer.
    pub fn close(self) -> Result<ParquetMetaData> {
        let counters = self.writer.counters().clone();
        let end = || {
            let (file, metadata) = self.writer.into_parts()?;
            let start = Stopwatch::start();
            file.finish()?;
            counters.synced(start);
            Ok(metadata)
        };
        end().map_err(|error: marquetry_base::Error| error.in_file(self.name.as_str()))
    }
}
