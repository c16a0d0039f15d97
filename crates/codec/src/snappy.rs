//! SNAPPY (1): byte-wise LZ77 whose stream starts with its own decompressed size.
//!
//! ```text
//! [size: ULEB128] ([literal tag][bytes] | [copy tag][offset])*
//! ```

use crate::{Codec, Refusal};
use marquetry_base::Result;

/// The longest copy is 64 bytes and takes 3 (one of 2 bytes makes 11).
const EXPANSION: usize = 22;

pub(crate) fn decompress(input: &[u8], size: usize, output: &mut Vec<u8>) -> Result<()> {
    let stated = snap::raw::decompress_len(input).map_err(|cause| Codec::Snappy.refused(cause))?;
    Codec::Snappy.check_produced(stated, size)?;
    Codec::Snappy.reserve(input.len(), EXPANSION, size, output)?;
    output.resize(size, 0);
    let produced =
        snap::raw::Decoder::new().decompress(input, output).map_err(|cause| Codec::Snappy.refused(cause))?;
    Codec::Snappy.check_produced(produced, size)
}

/// Keeps the hash table, 2 KB of it in the encoder itself.
pub(crate) struct Compressor(Box<snap::raw::Encoder>);

impl Compressor {
    pub(crate) fn new() -> Self {
        Compressor(Box::new(snap::raw::Encoder::new()))
    }

    pub(crate) fn compress(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<(), Refusal> {
        let start = output.len();
        output.resize(start + snap::raw::max_compress_len(input.len()), 0);
        let stored = self.0.compress(input, &mut output[start..])?;
        output.truncate(start + stored);
        Ok(())
    }
}
