//! SNAPPY (1): byte-wise LZ77 whose stream starts with its own decompressed size.
//!
//! ```text
//! [size: ULEB128] ([literal tag][bytes] | [copy tag][offset])*
//! ```

use crate::codec::{Codec, CodecError, first_bytes};
use marquetry_base::Result;

/// Maximum expansion: a 3-byte copy element produces up to 64 bytes (a 2-byte one up to 11).
const MAX_EXPANSION: usize = 22;

pub(crate) fn decompress(input: &[u8], size: usize, output: &mut Vec<u8>) -> Result<()> {
    let stated = snap::raw::decompress_len(input).map_err(|cause| Codec::Snappy.refused(cause))?;
    Codec::Snappy.check_produced(stated, size)?;
    Codec::Snappy.reserve(input.len(), MAX_EXPANSION, size, output)?;
    let page = first_bytes(output, size);
    let produced =
        snap::raw::Decoder::new().decompress(input, page).map_err(|cause| Codec::Snappy.refused(cause))?;
    Codec::Snappy.check_produced(produced, size)
}

/// Decompresses the first `prefix` of `size` bytes, by decompressing the first elements of the stream as a stream of their own.
pub(crate) fn decompress_prefix(
    input: &[u8],
    size: usize,
    prefix: usize,
    output: &mut Vec<u8>,
) -> Result<()> {
    let stated = snap::raw::decompress_len(input).map_err(|cause| Codec::Snappy.refused(cause))?;
    Codec::Snappy.check_produced(stated, size)?;
    let Some((stream, produced)) = first_elements(input, prefix) else {
        // The stream is shorter than it claims, or invalid.
        return decompress(input, size, output);
    };
    decompress(&stream, produced, output)?;
    output.truncate(prefix);
    Ok(())
}

/// Returns a stream of the first elements of `input` that produce at least `prefix` bytes together, and the number of
/// bytes that they produce. It is a little more than `prefix` if the last element is a copy.
fn first_elements(input: &[u8], prefix: usize) -> Option<(Vec<u8>, usize)> {
    let body = input.iter().position(|byte| byte & 0x80 == 0)? + 1;
    let (mut at, mut produced) = (body, 0);
    let mut last_literal: &[u8] = &[];
    while produced < prefix {
        let tag = *input.get(at)?;
        let short = usize::from(tag >> 2);
        match tag & 3 {
            LITERAL => {
                let (head, len) = literal(input.get(at..)?, short)?;
                let bytes = input.get(at + head..)?.get(..len)?;
                if produced + len > prefix {
                    last_literal = &bytes[..prefix - produced];
                    produced = prefix;
                    break;
                }
                at += head + len;
                produced += len;
            }
            1 => (at, produced) = (at + 2, produced + 4 + short % 8),
            2 => (at, produced) = (at + 3, produced + 1 + short),
            _ => (at, produced) = (at + 5, produced + 1 + short),
        }
    }
    let elements = input.get(body..at)?;
    let mut stream = Vec::with_capacity(elements.len() + last_literal.len() + 16);
    let mut left = produced;
    while left >= 0x80 {
        stream.push(left as u8 | 0x80);
        left >>= 7;
    }
    stream.push(left as u8);
    stream.extend_from_slice(elements);
    if let Some(rest) = last_literal.len().checked_sub(1) {
        stream.push(LITERAL_WITH_4_LENGTH_BYTES);
        stream.extend_from_slice(&u32::try_from(rest).ok()?.to_le_bytes());
        stream.extend_from_slice(last_literal);
    }
    Some((stream, produced))
}

/// Returns the length of a literal's tag and length field, and the length of its content, in bytes. The content has
/// `short + 1` bytes; if `short` is 60 to 63, a field of 1 to 4 bytes holds the length minus one.
fn literal(element: &[u8], short: usize) -> Option<(usize, usize)> {
    let long = short.saturating_sub(59);
    let mut len = [0; 4];
    len[..long].copy_from_slice(element.get(1..=long)?);
    Some((1 + long, 1 + if long == 0 { short } else { u32::from_le_bytes(len) as usize }))
}

/// The element type in the lowest two bits of a tag: a literal.
const LITERAL: u8 = 0;
/// The tag of a literal whose length takes 4 bytes.
const LITERAL_WITH_4_LENGTH_BYTES: u8 = 63 << 2 | LITERAL;

/// Keeps the hash table, 2 KB of which are in the encoder itself.
pub(crate) struct Compressor(Box<snap::raw::Encoder>);

impl Compressor {
    pub(crate) fn new() -> Self {
        Compressor(Box::new(snap::raw::Encoder::new()))
    }

    pub(crate) fn compress(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<(), CodecError> {
        let start = output.len();
        output.resize(start + snap::raw::max_compress_len(input.len()), 0);
        let stored = self.0.compress(input, &mut output[start..])?;
        output.truncate(start + stored);
        Ok(())
    }
}
