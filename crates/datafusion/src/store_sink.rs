//! An object of a session's store as an asynchronous sink of bytes.

use bytes::Bytes;
use futures::FutureExt;
use marquetry_arrow::async_writer::{AsyncSink, BoxFuture};
use marquetry_base::{Error, ErrorKind, Result};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinSet};

/// Sends bytes in parts as soon as there are enough of them; the object appears once all were sent. An object of less
/// than one part is sent in one request.
pub(crate) struct StoreSink {
    store: Arc<dyn ObjectStore>,
    path: Path,
    part_bytes: usize,
    waiting: Vec<Bytes>,
    waiting_bytes: usize,
    /// Bytes that wait to be sent, or are being sent.
    held: Arc<AtomicUsize>,
    /// Kept until it is complete, so that the upload can be aborted if it fails.
    upload: Option<Upload>,
}

struct Upload {
    inner: Box<dyn MultipartUpload>,
    under_way: JoinSet<object_store::Result<()>>,
}

impl StoreSink {
    pub(crate) fn new(store: Arc<dyn ObjectStore>, path: Path, buffer: usize) -> Self {
        StoreSink {
            store,
            path,
            part_bytes: buffer.max(LEAST_PART),
            waiting: Vec::new(),
            waiting_bytes: 0,
            held: Arc::default(),
            upload: None,
        }
    }

    /// A counter of the bytes in memory that the store does not have yet.
    pub(crate) fn held(&self) -> Arc<AtomicUsize> {
        self.held.clone()
    }

    /// Sends the waiting bytes as a part, once fewer than [`AT_ONCE`] parts are under way.
    async fn send(&mut self) -> Result<()> {
        let upload = match &mut self.upload {
            Some(upload) => upload,
            None => {
                let inner = self.store.put_multipart(&self.path).await.map_err(failed)?;
                self.upload.insert(Upload { inner, under_way: JoinSet::new() })
            }
        };
        while upload.under_way.len() >= AT_ONCE {
            upload.wait().await?;
        }
        let part = upload.inner.put_part(self.waiting.drain(..).collect());
        let (held, bytes) = (self.held.clone(), std::mem::take(&mut self.waiting_bytes));
        upload.under_way.spawn(async move {
            let sent = part.await;
            held.fetch_sub(bytes, Ordering::Relaxed);
            sent
        });
        Ok(())
    }

    async fn end(&mut self) -> Result<()> {
        if self.upload.is_none() {
            let all: PutPayload = self.waiting.drain(..).collect();
            return self.store.put(&self.path, all).await.map(drop).map_err(failed);
        }
        if self.waiting_bytes > 0 {
            self.send().await?;
        }
        if let Some(upload) = &mut self.upload {
            while !upload.under_way.is_empty() {
                upload.wait().await?;
            }
            upload.inner.complete().await.map_err(failed)?;
        }
        self.upload = None;
        Ok(())
    }

    async fn give_up(&mut self) -> Result<()> {
        let Some(mut upload) = self.upload.take() else { return Ok(()) };
        // A part that arrives after its upload was aborted would stay.
        while upload.under_way.join_next().await.is_some() {}
        upload.inner.abort().await.map_err(failed)
    }
}

impl Upload {
    /// Waits until one part has been sent.
    async fn wait(&mut self) -> Result<()> {
        match self.under_way.join_next().await {
            Some(Ok(sent)) => sent.map_err(failed),
            Some(Err(error)) => Err(ended(error)),
            None => Ok(()),
        }
    }
}

impl AsyncSink for StoreSink {
    fn write(&mut self, mut bytes: Bytes) -> BoxFuture<'_, Result<()>> {
        async move {
            self.held.fetch_add(bytes.len(), Ordering::Relaxed);
            // QUIRK: Cloudflare R2 wants parts of one size.
            while self.waiting_bytes + bytes.len() >= self.part_bytes {
                self.waiting.push(bytes.split_to(self.part_bytes - self.waiting_bytes));
                self.waiting_bytes = self.part_bytes;
                self.send().await?;
            }
            self.waiting_bytes += bytes.len();
            self.waiting.push(bytes);
            Ok(())
        }
        .boxed()
    }

    fn complete(&mut self) -> BoxFuture<'_, Result<()>> {
        async move {
            let ended = self.end().await;
            if ended.is_err() {
                // The caller gets the first error, and has no use for this one.
                let _ = self.give_up().await;
            }
            ended
        }
        .boxed()
    }

    fn abort(&mut self) -> BoxFuture<'_, Result<()>> {
        self.give_up().boxed()
    }
}

impl Drop for StoreSink {
    /// Aborts the upload of a file whose statement was given up: in a task of its own, as nobody waits.
    fn drop(&mut self) {
        let (Some(mut upload), Ok(runtime)) = (self.upload.take(), Handle::try_current()) else { return };
        runtime.spawn(async move {
            upload.under_way.shutdown().await;
            // There is nobody to report it to.
            let _ = upload.inner.abort().await;
        });
    }
}

#[cold]
fn failed(error: object_store::Error) -> Error {
    Error::caused_by(ErrorKind::Io, "the store failed", error)
}

#[cold]
fn ended(error: JoinError) -> Error {
    Error::caused_by(ErrorKind::Io, "the runtime was shut down", error)
}

/// The smallest size that stores accept of a part that is not the last, in bytes.
const LEAST_PART: usize = 5 << 20;
/// Concurrent parts of one object.
const AT_ONCE: usize = 8;
