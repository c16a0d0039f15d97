//! Text in Zstandard frames.

use std::io::{self, BufRead, Read};

/// Decompresses the text of frames.
#[cfg(feature = "zstd")]
pub(super) fn decoder(frames: impl BufRead + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    Ok(Box::new(zstd::stream::read::Decoder::with_buffer(frames)?))
}

#[cfg(not(feature = "zstd"))]
pub(super) fn decoder(_: impl BufRead + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    Err(io::Error::other("this build reads no text in Zstandard frames: turn on the feature \"zstd\""))
}
