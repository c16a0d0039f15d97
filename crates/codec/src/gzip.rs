//! GZIP (2): one or more members (RFC 1952), each DEFLATE with a header, a CRC-32 and its size.
//!
//! ```text
//! ([1f 8b 08][flags, time, system: 7][optional fields][deflate blocks][crc-32: u32 LE][size mod 2^32: u32 LE])+
//! ```

use crate::codec::{Codec, CodecError, first_bytes};
use libdeflater::{CompressionLvl, DecompressionError};
use marquetry_base::{Error, Result};

/// Maximum expansion: a match of 258 bytes takes at least two bits.
const MAX_EXPANSION: usize = 1032;

/// The default of every gzip tool.
const DEFAULT_LEVEL: i32 = 6;

/// The first two bytes of a member.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Number of bytes in a header without optional fields and in the shortest deflate stream.
const MIN_BYTES_BEFORE_TRAILER: usize = 10 + 2;

/// Number of candidate ends of a member to try before giving up. The first is right, or the second after an empty
/// member, unless the bytes are crafted.
const MAX_ENDS_TRIED: usize = 16;

/// Keeps the decoding tables from the first GZIP page on.
#[derive(Default)]
pub(crate) struct Decompressor(Option<libdeflater::Decompressor>);

impl Decompressor {
    pub(crate) fn decompress(&mut self, input: &[u8], size: usize, output: &mut Vec<u8>) -> Result<()> {
        Codec::Gzip.reserve(input.len(), MAX_EXPANSION, size, output)?;
        let page = first_bytes(output, size);
        let (mut rest, mut produced) = (input, 0);
        // QUIRK: some writers append to a page member by member. Zeros after a member are padding; other bytes that do
        // not start a member are ignored, as gzip itself does.
        loop {
            let room = &mut page[produced..];
            let member = self.inflate(rest, room).map_err(|cause| match cause {
                DecompressionError::InsufficientSpace => Codec::Gzip.overrun(size),
                DecompressionError::BadData => Codec::Gzip.refused(cause),
            })?;
            // PERF: nearly every page is one member. Then the last four bytes are its size, and no search is needed.
            if member == size && rest.ends_with(&(member as u32).to_le_bytes()) {
                return Ok(());
            }
            let end = self.member_end(rest, &mut room[..member])?;
            rest = &rest[end..];
            let padding = rest.iter().take_while(|&&byte| byte == 0).count();
            rest = &rest[padding..];
            produced += member;
            if !rest.starts_with(&MAGIC) {
                break;
            }
        }
        Codec::Gzip.check_produced(produced, size)
    }

    fn inflate(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, DecompressionError> {
        self.0.get_or_insert_default().gzip_decompress(input, output)
    }

    /// Finds the length of the first member of `input`, which decompresses to `content`.
    ///
    /// The library does not report it. But a member ends with the checksum and the size of its content, so the end is
    /// the first occurrence of these up to which the input decompresses.
    fn member_end(&mut self, input: &[u8], content: &mut [u8]) -> Result<usize> {
        let mut trailer = [0; 8];
        trailer[..4].copy_from_slice(&libdeflater::crc32(content).to_le_bytes());
        trailer[4..].copy_from_slice(&(content.len() as u32).to_le_bytes());
        let body = input.get(MIN_BYTES_BEFORE_TRAILER..).unwrap_or_default();
        let ends = body
            .windows(trailer.len())
            .enumerate()
            .filter(|(_, window)| *window == trailer)
            .map(|(at, _)| MIN_BYTES_BEFORE_TRAILER + at + trailer.len());
        for end in ends.take(MAX_ENDS_TRIED) {
            if self.inflate(&input[..end], content) == Ok(content.len()) {
                return Ok(end);
            }
        }
        Err(Error::corrupt("GZIP page: no end found of one of its members"))
    }
}

/// Keeps the match finder's tables.
pub(crate) struct Compressor(libdeflater::Compressor);

impl Compressor {
    pub(crate) fn new(level: Option<i32>) -> Result<Self> {
        let level = Codec::Gzip.level_or(level, DEFAULT_LEVEL)?;
        let level =
            CompressionLvl::new(level).map_err(|_| Error::argument(format!("GZIP has no level {level}")))?;
        Ok(Compressor(libdeflater::Compressor::new(level)))
    }

    pub(crate) fn compress(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<(), CodecError> {
        let start = output.len();
        output.resize(start + self.0.gzip_compress_bound(input.len()), 0);
        let stored = self.0.gzip_compress(input, &mut output[start..])?;
        output.truncate(start + stored);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(contents: &[&[u8]]) -> Vec<u8> {
        let mut page = Vec::new();
        for content in contents {
            Compressor::new(None).unwrap().compress(content, &mut page).unwrap();
        }
        page
    }

    fn read(page: &[u8], size: usize) -> Result<Vec<u8>> {
        let mut output = Vec::new();
        Decompressor::default().decompress(page, size, &mut output).map(|()| output)
    }

    #[test]
    fn members_follow_each_other() {
        assert_eq!(read(&members(&[b"one, ", b"two, ", b"three"]), 15).unwrap(), b"one, two, three");
        assert_eq!(read(&members(&[b"", b"", b"one", b"", b"two"]), 6).unwrap(), b"onetwo");
        assert_eq!(read(&members(&[b"one", b""]), 3).unwrap(), b"one");
        assert_eq!(read(&members(&[b"", b""]), 0).unwrap(), b"");
        for wrong in [2, 4] {
            assert!(read(&members(&[b"one", b""]), wrong).is_err());
            assert!(read(&members(&[b"", b"one"]), wrong).is_err());
        }
    }

    #[test]
    fn padding_and_garbage_after_the_last_member_are_left_alone() {
        for tail in [&[0][..], &[0; 9], b"garbage", &[0, 0, 7], &[0x1f]] {
            let mut page = members(&[b"one, ", b"two"]);
            page.extend_from_slice(tail);
            assert_eq!(read(&page, 8).unwrap(), b"one, two");
        }
        let mut page = members(&[b"one"]);
        page.extend_from_slice(&[0, 0]);
        page.extend(members(&[b"two"]));
        assert_eq!(read(&page, 6).unwrap(), b"onetwo");
    }

    #[test]
    fn an_end_inside_a_member_is_none() {
        // Only by chance can content contain the trailer of its own prefix. Zeros after the header of an empty member
        // come closest to it: the trailer of no bytes is eight zeros.
        let page = [
            &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff][..], // header
            &[0x01, 0x00, 0x00, 0xff, 0xff],              // one stored block of no bytes, the last
            &[0, 0, 0, 0],                                // crc-32
            &[0, 0, 0, 0],                                // size
        ]
        .concat();
        let page = [page, members(&[b"one"])].concat();
        assert_eq!(read(&page, 3).unwrap(), b"one");
    }
}
