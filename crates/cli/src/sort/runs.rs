//! Sorted rows in temporary files.

use super::gather::gathered;
use super::merge::{Merge, Piece};
use super::run::Run;
use crate::convert::compact;
use crate::failure::Failure;
use crate::inputs::Batches;
use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::SchemaRef;
use marquetry::errors::{Error, ErrorKind};
use std::fs::File;
use std::io::{BufReader, BufWriter, Seek};

/// Writes sorted rows to a file without a name, as an Arrow stream.
fn write(
    sorted: impl Iterator<Item = Result<RecordBatch, Failure>>,
    schema: &SchemaRef,
) -> Result<File, Failure> {
    let file = BufWriter::with_capacity(BUFFER, tempfile::tempfile().map_err(unwritten)?);
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME))?;
    let mut writer = StreamWriter::try_new_with_options(file, schema, options).map_err(unwritten)?;
    for batch in sorted {
        // Views inside of lists may point into the buffers of all batches.
        writer.write(&compact(&batch?)?).map_err(unwritten)?;
    }
    let file = writer.into_inner().map_err(unwritten)?;
    file.into_inner().map_err(|error| unwritten(error.into_error()))
}

/// The error names the directory that is full, and not the file that the rows are for.
fn unwritten(error: impl std::error::Error + Send + Sync + 'static) -> Failure {
    let message = "sorted rows cannot be written to a temporary file here; TMPDIR names another directory";
    let error = Error::caused_by(ErrorKind::Io, message, error);
    Failure::File(error.in_file(std::env::temp_dir().display().to_string()))
}

/// Writes a run, in batches of at most `batch_rows`.
pub(super) fn write_run(run: &Run, schema: &SchemaRef, batch_rows: usize) -> Result<File, Failure> {
    let batches = run.order.entries.chunks(batch_rows.max(1)).map(|entries| {
        let places: Vec<_> = entries.iter().map(|entry| entry.place).collect();
        gathered(&run.batches, &places, schema)
    });
    write(batches, schema)
}

/// Writes the rows of several sequences as one.
pub(super) fn write_merged(merge: Merge, schema: &SchemaRef) -> Result<File, Failure> {
    let batches = merge.map(|piece| {
        let Piece { batches, places } = piece?;
        gathered(&batches, &places, schema)
    });
    write(batches, schema)
}

/// The rows of a file.
pub(super) fn read(mut file: File) -> Result<Batches, Failure> {
    file.rewind()?;
    let reader = StreamReader::try_new(BufReader::with_capacity(BUFFER, file), None)?;
    Ok(Box::new(reader.map(|batch| batch.map_err(Failure::from))))
}

const BUFFER: usize = 64 << 10;
