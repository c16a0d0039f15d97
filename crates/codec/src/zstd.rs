//! ZSTD (6): one or more Zstandard frames, with or without their content size.

use crate::codec::{Codec, CodecError};
use marquetry_base::Result;
use std::io;
use zstd::bulk;

/// Maximum expansion: an RLE block of 4 bytes becomes 128 KiB.
const MAX_EXPANSION: usize = (128 << 10) / 4;

/// The fastest positive level.
const DEFAULT_LEVEL: i32 = 1;

/// Keeps the context, about 100 KB, from the first ZSTD page on.
#[derive(Default)]
pub(crate) struct Decompressor(Option<bulk::Decompressor<'static>>);

impl Decompressor {
    /// PERF: one call into the library writes straight to the spare capacity, without zeroing it first and without a window buffer.
    pub(crate) fn decompress(&mut self, input: &[u8], size: usize, output: &mut Vec<u8>) -> Result<()> {
        Codec::Zstd.reserve(input.len(), MAX_EXPANSION, size, output)?;
        match self.0.get_or_insert_default().decompress_to_buffer(input, output) {
            // The capacity may be larger than the page because earlier pages grew it. The error must not depend on that.
            Ok(produced) if produced > size => Err(Codec::Zstd.overrun(size)),
            Ok(produced) => Codec::Zstd.check_produced(produced, size),
            Err(_) if bulk::Decompressor::upper_bound(input).is_some_and(|bound| bound > size) => {
                Err(Codec::Zstd.overrun(size))
            }
            Err(cause) => Err(Codec::Zstd.refused(cause)),
        }
    }

    /// Decompresses the first `prefix` of `size` bytes; all of them if the frame declares a window larger than a page of that size needs.
    pub(crate) fn decompress_prefix(
        &mut self,
        input: &[u8],
        size: usize,
        prefix: usize,
        output: &mut Vec<u8>,
    ) -> Result<()> {
        output.clear();
        Codec::Zstd.reserve(input.len(), MAX_EXPANSION, prefix, output)?;
        let mut read = || -> io::Result<u64> {
            let mut stream = zstd::stream::read::Decoder::with_buffer(input)?;
            stream.window_log_max(size.max(MIN_WINDOW_BYTES).next_power_of_two().ilog2())?;
            io::copy(&mut io::Read::take(stream, prefix as u64), output)
        };
        match read() {
            Ok(produced) if produced == prefix as u64 => Ok(()),
            _ => {
                output.clear();
                self.decompress(input, size, output)
            }
        }
    }
}

/// The smallest window that a frame can declare.
const MIN_WINDOW_BYTES: usize = 1 << 10;

/// Keeps the context and its tables.
pub(crate) struct Compressor(bulk::Compressor<'static>);

impl Compressor {
    pub(crate) fn new(level: Option<i32>) -> Result<Self> {
        let level = Codec::Zstd.level_or(level, DEFAULT_LEVEL)?;
        Ok(Compressor(bulk::Compressor::new(level)?))
    }

    pub(crate) fn compress(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<(), CodecError> {
        output.reserve(zstd::compress_bound(input.len()));
        let mut end = io::Cursor::new(&mut *output);
        end.set_position(end.get_ref().len() as u64);
        self.0.compress_to_buffer(input, &mut end)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_is_too_long_has_one_error_whatever_the_room() {
        let mut page = Vec::new();
        Compressor::new(None).unwrap().compress(&[7; 500], &mut page).unwrap();
        let errors = [0, 1000].map(|room| {
            let mut output = Vec::with_capacity(room);
            Decompressor::default().decompress(&page, 8, &mut output).unwrap_err().to_string()
        });
        assert_eq!(errors[0], errors[1]);
        assert!(errors[0].contains("more than the 8 bytes"), "{}", errors[0]);
    }

    #[test]
    fn frames_follow_each_other_and_need_no_content_size() {
        let mut pages = Vec::new();
        Compressor::new(None).unwrap().compress(b"known, ", &mut pages).unwrap();
        let mut stream = zstd::stream::write::Encoder::new(&mut pages, 1).unwrap();
        io::Write::write_all(&mut stream, b"unknown").unwrap();
        stream.finish().unwrap();
        let mut output = Vec::new();
        Decompressor::default().decompress(&pages, 14, &mut output).unwrap();
        assert_eq!(output, b"known, unknown");
    }
}
