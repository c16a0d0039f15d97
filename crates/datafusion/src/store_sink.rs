//! An object of a session's store that is written.

use bytes::Bytes;
use futures::FutureExt;
use marquetry_arrow::async_writer::{AsyncSink, BoxFuture};
use marquetry_base::{Error, ErrorKind, Result};
use object_store::ObjectStore;
use object_store::buffered::BufWriter;
use object_store::path::Path;
use std::sync::Arc;
use tokio::io::AsyncWriteExt;

/// What is written is sent in parts as soon as there is enough of it, and is an object once all of it was.
pub(crate) struct StoreSink {
    writer: BufWriter,
    /// Whether completing it was begun: the store gives up by itself what it could not complete.
    is_ended: bool,
}

impl StoreSink {
    pub(crate) fn new(store: Arc<dyn ObjectStore>, path: Path, buffer: usize) -> Self {
        StoreSink { writer: BufWriter::with_capacity(store, path, buffer), is_ended: false }
    }
}

impl AsyncSink for StoreSink {
    fn write(&mut self, bytes: Bytes) -> BoxFuture<'_, Result<()>> {
        async move { self.writer.put(bytes).await.map_err(failed) }.boxed()
    }

    fn complete(&mut self) -> BoxFuture<'_, Result<()>> {
        self.is_ended = true;
        async move { self.writer.shutdown().await.map_err(|error| Error::io("the store failed", error)) }
            .boxed()
    }

    fn abort(&mut self) -> BoxFuture<'_, Result<()>> {
        async move {
            match std::mem::replace(&mut self.is_ended, true) {
                true => Ok(()),
                false => self.writer.abort().await.map_err(failed),
            }
        }
        .boxed()
    }
}

#[cold]
fn failed(error: object_store::Error) -> Error {
    Error::caused_by(ErrorKind::Io, "the store failed", error)
}
