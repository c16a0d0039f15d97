//! A blocking writer of new objects.

use crate::ObjectSink;
use crate::own_runtime::OwnRuntime;
use bytes::Bytes;
use marquetry_arrow::async_writer::AsyncSink;
use marquetry_base::{Error, ErrorKind, Result};
use marquetry_core::write::Durable;
use std::io::{self, Write};
use std::sync::Arc;

/// A file in a store that blocking threads write, made by [`StoreRegistry::create`](crate::StoreRegistry::create).
///
/// The file exists once [`finish`](Self::finish) has returned. A writer that is dropped before leaves nothing, and
/// waits until the store has discarded the parts. A thread of its own uploads parts while others are written. Flushing
/// does nothing: a part is sent when there are enough bytes for one.
#[must_use = "the file is not there until it is finished"]
pub struct BlockingObjectWriter {
    /// `None` after an error, or once the file is finished.
    sink: Option<ObjectSink>,
    runtime: Arc<OwnRuntime>,
    /// Bytes that were not passed to the sink yet.
    buffer: Vec<u8>,
    written: u64,
    /// The file's URL, without secrets.
    name: Arc<str>,
}

impl BlockingObjectWriter {
    /// Begins the file. Fails if it exists and may not be replaced.
    pub(crate) fn begin(sink: ObjectSink, runtime: Arc<OwnRuntime>, name: Arc<str>) -> Result<Self> {
        let mut writer =
            BlockingObjectWriter { sink: Some(sink), runtime, buffer: Vec::new(), written: 0, name };
        // The first write, even an empty one, checks whether the file may be written.
        writer.give(Bytes::new())?;
        Ok(writer)
    }

    /// Returns the number of bytes written so far.
    pub fn bytes_written(&self) -> u64 {
        self.written
    }

    /// Sends the rest, and makes the file visible.
    pub fn finish(mut self) -> Result<()> {
        let rest = Bytes::from(std::mem::take(&mut self.buffer));
        let mut sink = self.sink.take().ok_or_else(|| self.gone())?;
        let work = async move {
            sink.write(rest).await?;
            sink.complete().await
        };
        self.runtime.wait(work).map_err(|error| error.in_file(self.name.clone()))
    }

    fn give(&mut self, bytes: Bytes) -> Result<()> {
        let mut sink = self.sink.take().ok_or_else(|| self.gone())?;
        let work = async move { sink.write(bytes).await.map(|()| sink) };
        let sink = self.runtime.wait(work).map_err(|error| error.in_file(self.name.clone()))?;
        self.sink = Some(sink);
        Ok(())
    }

    #[cold]
    fn gone(&self) -> Error {
        Error::new(ErrorKind::Io, "writing failed before; the file cannot be finished")
            .in_file(self.name.clone())
    }
}

impl Write for BlockingObjectWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER {
            let full = std::mem::take(&mut self.buffer);
            self.give(full.into()).map_err(io::Error::other)?;
        }
        self.written += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Syncing does nothing: an incomplete file is not visible, so that no checkpoint survives.
impl Durable for BlockingObjectWriter {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for BlockingObjectWriter {
    fn drop(&mut self) {
        if let Some(mut sink) = self.sink.take() {
            // Nobody is left to report an error to.
            let _ = self.runtime.wait(async move { sink.abort().await });
        }
    }
}

impl std::fmt::Debug for BlockingObjectWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockingObjectWriter")
            .field("name", &self.name)
            .field("written", &self.written)
            .finish_non_exhaustive()
    }
}

/// Number of bytes passed to the sink at a time. Pages are longer than that, or about as long.
const BUFFER: usize = 1 << 20;
