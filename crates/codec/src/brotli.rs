//! BROTLI (4): one Brotli stream (RFC 7932).

use crate::codec::{Codec, CodecError};
use brotli::enc::{BrotliEncoderParams, StandardAlloc};
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState, CompressorWriter};
use marquetry_base::{PADDING, Result, try_reserve};
use std::io::Write;

/// Number of bytes of output to allocate before anything is decompressed. Brotli's expansion has no bound: 10 bytes can become 16 MiB.
const FIRST_STEP_BYTES: usize = 64 << 10;

/// A fast level. Levels 10 and 11 search for the smallest stream and take much longer.
const DEFAULT_LEVEL: i32 = 4;

/// Grows the room as the stream fills it, fourfold each time. Each page gets a new state, because the library cannot reset one.
pub(crate) fn decompress(input: &[u8], size: usize, output: &mut Vec<u8>) -> Result<()> {
    // The strict state rejects windows over 16 MiB, which RFC 7932 does not allow.
    let mut state =
        BrotliState::new_strict(StandardAlloc::default(), StandardAlloc::default(), StandardAlloc::default());
    let (mut stored, mut read, mut produced, mut total) = (input.len(), 0, 0, 0);
    let mut room = size.min(FIRST_STEP_BYTES.max(input.len().saturating_mul(4)));
    loop {
        try_reserve(output, room + PADDING - produced)?;
        output.resize(room, 0);
        let mut left = room - produced;
        match BrotliDecompressStream(
            &mut stored,
            &mut read,
            input,
            &mut left,
            &mut produced,
            output,
            &mut total,
            &mut state,
        ) {
            BrotliResult::ResultSuccess => break,
            BrotliResult::NeedsMoreOutput if room < size => room = size.min(room.saturating_mul(4)),
            BrotliResult::NeedsMoreOutput => return Err(Codec::Brotli.overrun(size)),
            BrotliResult::NeedsMoreInput => return Err(Codec::Brotli.refused("the stream ends early")),
            BrotliResult::ResultFailure => return Err(Codec::Brotli.refused("the stream is not valid")),
        }
    }
    Codec::Brotli.check_produced(produced, size)?;
    output.truncate(produced);
    Ok(())
}

/// Holds only the level: the library allocates its tables for each stream.
pub(crate) struct Compressor(i32);

impl Compressor {
    pub(crate) fn new(level: Option<i32>) -> Result<Self> {
        Codec::Brotli.level_or(level, DEFAULT_LEVEL).map(Compressor)
    }

    pub(crate) fn compress(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<(), CodecError> {
        let params = BrotliEncoderParams {
            quality: self.0,
            // PERF: a window no larger than the page, so that neither side allocates 4 MiB for a small page.
            lgwin: (usize::BITS - (input.len() + 16).leading_zeros()).clamp(10, 22) as i32,
            size_hint: input.len(),
            ..BrotliEncoderParams::default()
        };
        let mut writer = CompressorWriter::with_params(output, 1 << 14, &params);
        writer.write_all(input)?;
        writer.into_inner(); // ends the stream
        Ok(())
    }
}
