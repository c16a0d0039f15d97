//! Asynchronous sinks of bytes.

use bytes::Bytes;
pub use futures_core::future::BoxFuture;
use marquetry_base::Result;

/// A destination of bytes that is written to by asking and waiting.
///
/// Nothing that could be taken for the file may be seen by others before [`complete`](Self::complete) has returned. A sink that
/// is dropped before that gives up what it took, as far as it can without waiting.
///
/// Anything of the `futures` or `tokio` crates that takes bytes becomes one in a few lines:
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
    /// Takes the bytes that come next. Returns once there is room for more: what a sink keeps is bounded.
    ///
    /// After an error, or a future that was dropped, the sink is of no further use.
    fn write(&mut self, bytes: Bytes) -> BoxFuture<'_, Result<()>>;

    /// All bytes were written: brings what is left to its place, and lets others see the whole. It is the last call.
    fn complete(&mut self) -> BoxFuture<'_, Result<()>>;

    /// Gives up, and removes what was written. It is the last call. By default it does nothing.
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

/// Memory.
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
