//! Sorted runs in temporary files.

use super::gather::gathered;
use super::merge::{Merge, Piece};
use super::run::Run;
use super::run_file::RunFile;
use crate::convert::compact;
use crate::failure::Failure;
use crate::inputs::Batches;
use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::SchemaRef;
use marquetry::errors::{Error, ErrorKind};
use marquetry_core::write::SpillStore;

/// Writes sorted rows to a file of the store, as an Arrow stream.
fn write(
    sorted: impl Iterator<Item = Result<RecordBatch, Failure>>,
    schema: &SchemaRef,
    store: &dyn SpillStore,
) -> Result<RunFile, Failure> {
    let file = RunFile::create(store).map_err(unwritten)?;
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME))?;
    let mut writer = StreamWriter::try_new_with_options(file, schema, options).map_err(unwritten)?;
    for batch in sorted {
        // Views inside of lists may point into the buffers of all batches.
        writer.write(&compact(&batch?)?).map_err(unwritten)?;
    }
    writer.into_inner().map_err(unwritten)?.finish().map_err(unwritten)
}

/// The error names the temporary directory, and not the file that the rows are for.
fn unwritten(error: impl std::error::Error + Send + Sync + 'static) -> Failure {
    let message = "sorted rows cannot be written to a temporary file here; TMPDIR names another directory";
    let error = Error::caused_by(ErrorKind::Io, message, error);
    Failure::File(error.in_file(std::env::temp_dir().display().to_string()))
}

/// Writes a run, in batches of at most `batch_rows`.
pub(super) fn write_run(
    run: &Run,
    schema: &SchemaRef,
    batch_rows: usize,
    store: &dyn SpillStore,
) -> Result<RunFile, Failure> {
    let batches = run.order.entries.chunks(batch_rows.max(1)).map(|entries| {
        let places: Vec<_> = entries.iter().map(|entry| entry.place).collect();
        gathered(&run.batches, &places, schema)
    });
    write(batches, schema, store)
}

/// Writes the merged rows of several sequences.
pub(super) fn write_merged(
    merge: Merge,
    schema: &SchemaRef,
    store: &dyn SpillStore,
) -> Result<RunFile, Failure> {
    let batches = merge.map(|piece| {
        let Piece { batches, places } = piece?;
        gathered(&batches, &places, schema)
    });
    write(batches, schema, store)
}

/// Reads the rows of a file.
pub(super) fn read(file: RunFile) -> Result<Batches, Failure> {
    let reader = StreamReader::try_new(file.into_reader(), None)?;
    Ok(Box::new(reader.map(|batch| batch.map_err(Failure::from))))
}
