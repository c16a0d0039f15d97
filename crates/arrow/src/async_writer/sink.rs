//! Asynchronous sinks of bytes.

use bytes::Bytes;
pub use futures_core::future::BoxFuture;
use marquetry_base::Result;

/// A destination of bytes that is written to asynchronously.
///
/// Until [`complete`](Self::complete) has returned, others must not see anything that could be taken for the file. A
/// sink that is dropped before that discards what it was given, as far as it can without waiting.
///
/// Any asynchronous writer of the `futures` or `tokio` crates can be wrapped in a few lines:
///
/// ```
/// use bytes::Bytes;
/// use futures::future::BoxFuture;
/// use futures::io::{AsyncWrite, AsyncWriteExt};
/// use marquetry_arrow::async_writer::AsyncSink;
/// use marquetry_base::Result;
///
/// struct Written<W>(W);
///
/// impl<W: AsyncWrite + Unpin + Send> AsyncSink for Written<W> {
///     fn write(&mut self, bytes: Bytes) -> BoxFuture<'_, Result<()>> {
///         Box::pin(async move { Ok(self.0.write_all(&bytes).await?) })
///     }
///     fn complete(&mut self) -> BoxFuture<'_, Result<()>> {
///         Box::pin(async move { Ok(self.0.close().await?) })
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let mut sink = Written(Vec::new());
/// sink.write(Bytes::from_static(b"PAR1")).await?;
/// sink.complete().await?;
/// assert_eq!(sink.0, b"PAR1");
/// # Ok::<(), marquetry_base::Error>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait AsyncSink: Send {
    /// Writes the next bytes. Returns once there is room for more: what a sink buffers is bounded.
    ///
    /// After an error, or if the future is dropped, the sink cannot be used any more.
    fn write(&mut self, bytes: Bytes) -> BoxFuture<'_, Result<()>>;

    /// Completes the file after all bytes were written: writes what is buffered, and makes the whole visible to others.
    /// This is the last call.
    fn complete(&mut self) -> BoxFuture<'_, Result<()>>;

    /// Aborts, and removes what was written. This is the last call. Does nothing by default.
    fn abort(&mut self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

impl<S: AsyncSink + ?Sized> AsyncSink for Box<S> {
    fn write(&mut self, bytes: Bytes) -> BoxFuture<'_, Result<()>> {
        (**self).write(bytes)
    }

    fn complete(&mut self) -> BoxFuture<'_, Result<()>> {
        (**self).complete()
    }

    fn abort(&mut self) -> BoxFuture<'_, Result<()>> {
        (**self).abort()
    }
}

/// A file in memory.
impl AsyncSink for Vec<u8> {
    fn write(&mut self, bytes: Bytes) -> BoxFuture<'_, Result<()>> {
        self.extend_from_slice(&bytes);
        Box::pin(async { Ok(()) })
    }

    fn complete(&mut self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn abort(&mut self) -> BoxFuture<'_, Result<()>> {
        self.clear();
        Box::pin(async { Ok(()) })
    }
}
