//! A blocking writer of new objects.

use crate::ObjectSink;
use crate::own_runtime::OwnRuntime;
use bytes::Bytes;
use marquetry_arrow::async_writer::AsyncSink;
use marquetry_base::{Error, ErrorKind, Result};
use marquetry_core::write::Durable;
use std::io::{self, Write};
use std::sync::Arc;

/// A file in a store that is being written, from threads that block: made by [`StoreRegistry::create`](crate::StoreRegistry::create).
///
/// It is there once [`finish`](Self::finish) has returned; dropped before, it leaves nothing, and waits until the store has
/// forgotten the parts. Parts are sent by a thread of its own while others are written. Flushing does nothing: a part is sent
/// when there are enough bytes for one.
#[must_use = "the file is not there until it is finished"]
pub struct BlockingObjectWriter {
    /// `None` after it was lost with a task, or the file is finished.
    sink: Option<ObjectSink>,
    runtime: Arc<OwnRuntime>,
    /// Bytes that were not given to the sink yet.
    buffer: Vec<u8>,
    written: u64,
    /// The file's URL, without secrets.
    name: Arc<str>,
}

impl BlockingObjectWriter {
    /// Fails if the file is there already, and is not to be replaced.
    pub(crate) fn begin(sink: ObjectSink, runtime: Arc<OwnRuntime>, name: Arc<str>) -> Result<Self> {
        let mut writer =
            BlockingObjectWriter { sink: Some(sink), runtime, buffer: Vec::new(), written: 0, name };
        // Whether it may be written shows with the first bytes.
        writer.give(Bytes::new())?;
        Ok(writer)
    }

    /// How many bytes were written.
    pub fn bytes_written(&self) -> u64 {
        self.written
    }

    /// Sends what is left, and lets others see the file.
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

/// Checkpoints survive nothing here: what is not complete is not there.
impl Durable for BlockingObjectWriter {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for BlockingObjectWriter {
    fn drop(&mut self) {
        if let Some(mut sink) = self.sink.take() {
            // There is nobody to tell.
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

/// What is given to the sink at a time: pages are longer than that, or about as long.
const BUFFER: usize = 1 << 20;
