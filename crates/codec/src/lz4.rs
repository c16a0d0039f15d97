//! LZ4_RAW (7): one LZ4 block. LZ4 (5, deprecated): blocks in Hadoop's framing, an LZ4 frame, or one block without framing.

use crate::codec::{Codec, CodecError, first_bytes};
use crate::hadoop;
use lz4_flex::block;
use lz4_flex::frame::FrameDecoder;
use marquetry_base::{Error, PADDING, Result};
use std::io::Read;

/// Maximum expansion: each byte of a length field adds at most 255 bytes.
const MAX_EXPANSION: usize = 255;

/// The magic bytes of an LZ4 frame: 0x184D2204, little-endian.
const FRAME_MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

pub(crate) fn decompress_raw(input: &[u8], size: usize, output: &mut Vec<u8>) -> Result<()> {
    Codec::Lz4Raw.reserve(input.len(), MAX_EXPANSION, size, output)?;
    let page = first_bytes(output, size);
    let produced = block::decompress_into(input, page).map_err(|cause| Codec::Lz4Raw.refused(cause))?;
    Codec::Lz4Raw.check_produced(produced, size)
}

/// QUIRK: Java writers used Hadoop's framing, C++ writers a bare block and later Hadoop's framing, some others a frame.
/// Nothing in the file says which, so each is tried, in an order that is not ambiguous:
///
/// - the frame's magic is invalid as the start of a bare block: it would copy from before the block's start;
/// - Hadoop's framing starts with a zero byte (a block below 16 MiB), which is as invalid at the start of a bare
///   block; larger Hadoop blocks are recognized by sizes that add up to the last byte.
pub(crate) fn decompress_deprecated(input: &[u8], size: usize, output: &mut Vec<u8>) -> Result<()> {
    if input.starts_with(&FRAME_MAGIC) && decompress_frame(input, size, output).is_ok() {
        return Ok(());
    }
    output.clear();
    Codec::Lz4.reserve(input.len(), MAX_EXPANSION, size, output)?;
    output.resize(size, 0);
    if hadoop::decompress(input, output, decompress_chunk).is_ok() {
        return Ok(());
    }
    if block::decompress_into(input, output).ok() == Some(size) {
        return Ok(());
    }
    Err(Error::corrupt(format!(
        "LZ4 page is neither Hadoop blocks, nor a frame, nor one block, of the {size} bytes that its header says"
    )))
}

fn decompress_chunk(input: &[u8], output: &mut [u8]) -> Result<usize> {
    block::decompress_into(input, output).map_err(|cause| Codec::Lz4.refused(cause))
}

/// Decompresses a frame. Grows `output` as the frame fills it.
fn decompress_frame(input: &[u8], size: usize, output: &mut Vec<u8>) -> Result<()> {
    let limit = (size as u64).saturating_add(1);
    let produced = FrameDecoder::new(input)
        .take(limit)
        .read_to_end(output)
        .map_err(|cause| Codec::Lz4.refused(cause))?;
    output.reserve(PADDING);
    Codec::Lz4.check_produced(produced, size)
}

/// Compresses LZ4_RAW; keeps the hash table.
pub(crate) struct Compressor(block::CompressTable);

impl Default for Compressor {
    /// Uses the large table for input of any size. A small table grows with the first large input and stays large, so
    /// the output would depend on earlier pages.
    fn default() -> Self {
        Compressor(block::CompressTable::large())
    }
}

impl Compressor {
    pub(crate) fn compress(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<(), CodecError> {
        let start = output.len();
        output.resize(start + block::get_maximum_output_size(input.len()), 0);
        let stored = block::compress_into_with_table(input, &mut output[start..], &mut self.0)?;
        output.truncate(start + stored);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(page: &[u8], size: usize) -> Result<Vec<u8>> {
        let mut output = Vec::new();
        decompress_deprecated(page, size, &mut output).map(|()| output)
    }

    const HADOOP: &[u8] = &[
        0, 0, 0, 9, // block 0: 9 bytes
        0, 0, 0, 6, //   chunk 0: 6 stored
        0x50, b'h', b'e', b'l', b'l', b'o', //     5 literals
        0, 0, 0, 5, //   chunk 1: 5 stored
        0x40, b' ', b'h', b'i', b' ', //     4 literals
        0, 0, 0, 0, // block 1: empty
        0, 0, 0, 12, // block 2: 12 bytes
        0, 0, 0, 9, //   chunk 0: 9 stored
        0x22, b'a', b'b', //     2 literals, then 4 + 2 bytes
        0x02, 0x00, //     from 2 bytes back
        0x30, b'x', b'y', b'z', //     3 literals
        0, 0, 0, 2, //   chunk 1: 2 stored
        0x10, b'!', //     1 literal
    ];

    #[test]
    fn hadoop_blocks_of_several_chunks() {
        assert_eq!(
            read(HADOOP, 21).unwrap(),
            b"hello hi abababab".iter().chain(b"xyz!").copied().collect::<Vec<_>>()
        );
        assert!(read(HADOOP, 20).is_err());
        assert!(read(HADOOP, 22).is_err());
        for end in 0..HADOOP.len() {
            assert!(read(&HADOOP[..end], 21).is_err());
        }
    }

    #[test]
    fn a_bare_block() {
        assert_eq!(read(&[0x50, b'h', b'e', b'l', b'l', b'o'], 5).unwrap(), b"hello");
        assert_eq!(read(&[0], 0).unwrap(), b"");
        assert_eq!(read(&[0, 0, 0, 0], 0).unwrap(), b"");
    }

    #[test]
    fn a_frame() {
        let mut frame = lz4_flex::frame::FrameEncoder::new(Vec::new());
        std::io::Write::write_all(&mut frame, b"hello").unwrap();
        let page = frame.finish().unwrap();
        assert_eq!(read(&page, 5).unwrap(), b"hello");
        assert!(read(&page, 4).is_err());
        assert!(read(&page, 6).is_err());
    }
}
