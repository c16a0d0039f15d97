//! Arrow IPC: the file format and the stream format, distinguished by their first bytes.

use super::bad_input::bad;
use super::byte_stream::ByteStream;
use super::input::{Batches, Input, InputOptions};
use super::wide_keys::{wide_batch, wide_schema};
use crate::failure::Failure;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};
use marquetry_text::parse::error_text::message;
use std::io::{BufReader, Cursor, Read};
use std::sync::Arc;

/// Opens an Arrow file or stream.
pub(super) fn open(mut origin: ByteStream, wanted: &InputOptions<'_>) -> Result<Input, Failure> {
    let mut from = origin.counted()?;
    let mut start = Vec::with_capacity(MAGIC.len());
    (&mut from).take(MAGIC.len() as u64).read_to_end(&mut start).map_err(bad)?;
    let is_file = start == MAGIC;
    let (schema, batches, bytes): (SchemaRef, Batches, Option<u64>) = match start.as_slice() {
        MAGIC => {
            // The rest of a pipe is copied to the file, too.
            let file = origin.file_after(&start, from)?;
            let reader = FileReader::try_new(BufReader::new(file), None).map_err(bad_schema)?;
            // It is read at random positions: bytes do not show the progress.
            (reader.schema(), Box::new(reader.map(|batch| batch.map_err(unread))), None)
        }
        [b'F', b'E', b'A', b'1', ..] => {
            return Err(bad("is of the first Feather version, which is not read"));
        }
        _ => {
            let from = BufReader::new(Cursor::new(start).chain(from));
            let reader = StreamReader::try_new(from, None).map_err(bad_schema)?;
            (reader.schema(), Box::new(reader.map(|batch| batch.map_err(unread))), origin.bytes())
        }
    };
    // A file has one dictionary for each column, a stream may replace it at any time.
    let (schema, batches) = match is_file && !wanted.is_sorted {
        true => (schema, batches),
        false => with_wide_keys(schema, batches),
    };
    Ok(Input { bytes, bytes_read: origin.bytes_read(), ..Input::of_rows(schema, batches) })
}

/// The rows with dictionary keys wide enough for the values of all dictionaries.
fn with_wide_keys(schema: SchemaRef, batches: Batches) -> (SchemaRef, Batches) {
    let wide = Arc::new(wide_schema(&schema));
    if wide == schema {
        return (schema, batches);
    }
    let to = wide.clone();
    (wide, Box::new(batches.map(move |batch| Ok(wide_batch(&batch?, &to)?))))
}

/// The message of an error in the schema.
fn bad_schema(error: ArrowError) -> Failure {
    let text = message(&error);
    match text.contains("Utf8Error") {
        true => bad("has a name or metadata that is not UTF-8, which Arrow files may not have"),
        false => bad(text),
    }
}

fn unread(error: ArrowError) -> Failure {
    bad(message(&error))
}

const MAGIC: &[u8] = b"ARROW1";
