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

/// The first `part` of `size` bytes: those that the first elements of the stream make, as a stream of their own.
pub(crate) fn decompress_part(input: &[u8], size: usize, part: usize, output: &mut Vec<u8>) -> Result<()> {
    let stated = snap::raw::decompress_len(input).map_err(|cause| Codec::Snappy.refused(cause))?;
    Codec::Snappy.check_produced(stated, size)?;
    let Some((stream, made)) = first_elements(input, part) else {
        // The whole stream is shorter than it says, or no stream.
        return decompress(input, size, output);
    };
    decompress(&stream, made, output)?;
    output.truncate(part);
    Ok(())
}

/// A stream of the first elements of `input`, as many as make `part` bytes, and how many they make: a few more, if the last
/// one is a copy.
fn first_elements(input: &[u8], part: usize) -> Option<(Vec<u8>, usize)> {
    let body = input.iter().position(|byte| byte & 0x80 == 0)? + 1;
    let (mut at, mut made) = (body, 0);
    let mut last_literal: &[u8] = &[];
    while made < part {
        let tag = *input.get(at)?;
        let short = usize::from(tag >> 2);
        match tag & 3 {
            LITERAL => {
                let (head, len) = literal(input.get(at..)?, short)?;
                let bytes = input.get(at + head..)?.get(..len)?;
                if made + len > part {
                    last_literal = &bytes[..part - made];
                    made = part;
                    break;
                }
                at += head + len;
                made += len;
            }
            1 => (at, made) = (at + 2, made + 4 + short % 8),
            2 => (at, made) = (at + 3, made + 1 + short),
            _ => (at, made) = (at + 5, made + 1 + short),
        }
    }
    let elements = input.get(body..at)?;
    let mut stream = Vec::with_capacity(elements.len() + last_literal.len() + 16);
    let mut left = made;
    while left >= 0x80 {
        stream.push(left as u8 | 0x80);
        left >>= 7;
    }
    stream.push(left as u8);
    stream.extend_from_slice(elements);
    if let Some(rest) = last_literal.len().checked_sub(1) {
        stream.push(LONGEST_LITERAL);
        stream.extend_from_slice(&u32::try_from(rest).ok()?.to_le_bytes());
        stream.extend_from_slice(last_literal);
    }
    Some((stream, made))
}

/// How many bytes a literal's tag and length take, and how many follow: `short` and one more, or with 60 to 63 a number of 1 to
/// 4 bytes and one more.
fn literal(element: &[u8], short: usize) -> Option<(usize, usize)> {
    let long = short.saturating_sub(59);
    let mut len = [0; 4];
    len[..long].copy_from_slice(element.get(1..=long)?);
    Some((1 + long, 1 + if long == 0 { short } else { u32::from_le_bytes(len) as usize }))
}

/// The kind of element in the lowest two bits of a tag.
const LITERAL: u8 = 0;
/// The tag of a literal whose length takes 4 bytes.
const LONGEST_LITERAL: u8 = 63 << 2 | LITERAL;

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
