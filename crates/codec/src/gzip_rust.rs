//! GZIP (2) without C: reading only, at about half of libdeflate's speed. Used where the feature `gzip` is off.

use crate::codec::{Codec, first_bytes};
use flate2::bufread::GzDecoder;
use marquetry_base::Result;
use std::io::{self, Read};

/// Maximum expansion: a match of 258 bytes takes at least two bits.
const MAX_EXPANSION: usize = 1032;

/// The first two bytes of a member.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Keeps no state: each member gets a new one.
#[derive(Default)]
pub(crate) struct Decompressor;

impl Decompressor {
    pub(crate) fn decompress(&mut self, input: &[u8], size: usize, output: &mut Vec<u8>) -> Result<()> {
        Codec::Gzip.reserve(input.len(), MAX_EXPANSION, size, output)?;
        let page = first_bytes(output, size);
        let (mut rest, mut produced) = (input, 0);
        // QUIRK: some writers append to a page member by member. Zeros after a member are padding; other bytes that do
        // not start a member are ignored, as gzip itself does.
        loop {
            let mut member = GzDecoder::new(&mut rest);
            produced +=
                fill(&mut member, &mut page[produced..]).map_err(|cause| Codec::Gzip.refused(cause))?;
            // Reading to the end of the member checks its checksum.
            if fill(&mut member, &mut [0]).map_err(|cause| Codec::Gzip.refused(cause))? > 0 {
                return Err(Codec::Gzip.overrun(size));
            }
            drop(member);
            let padding = rest.iter().take_while(|&&byte| byte == 0).count();
            rest = &rest[padding..];
            if !rest.starts_with(&MAGIC) {
                break;
            }
        }
        Codec::Gzip.check_produced(produced, size)
    }
}

/// Reads until `output` is full or `input` ends.
fn fill(input: &mut impl Read, output: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < output.len() {
        match input.read(&mut output[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn member(content: &[u8], level: i32) -> Vec<u8> {
        let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::new(level).unwrap());
        let mut page = vec![0; compressor.gzip_compress_bound(content.len())];
        let len = compressor.gzip_compress(content, &mut page).unwrap();
        page.truncate(len);
        page
    }

    fn members(contents: &[&[u8]]) -> Vec<u8> {
        contents.iter().flat_map(|content| member(content, 6)).collect()
    }

    fn read(page: &[u8], size: usize) -> Result<Vec<u8>> {
        let mut output = Vec::new();
        Decompressor.decompress(page, size, &mut output).map(|()| output)
    }

    #[test]
    fn members_follow_each_other() {
        assert_eq!(read(&members(&[b"one, ", b"two, ", b"three"]), 15).unwrap(), b"one, two, three");
        assert_eq!(read(&members(&[b"", b"", b"one", b"", b"two"]), 6).unwrap(), b"onetwo");
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
    }

    #[test]
    fn a_page_that_is_too_long_and_a_wrong_checksum_are_errors() {
        let error = read(&member(&[7; 500], 6), 8).unwrap_err().to_string();
        assert!(error.contains("more than the 8 bytes"), "{error}");
        let mut page = member(b"some content", 6);
        let checksum = page.len() - 8;
        page[checksum] ^= 1;
        assert!(read(&page, 12).is_err());
    }

    proptest! {
        #[test]
        fn reads_what_libdeflate_writes(
            words in prop::collection::vec("[a-d]{1,9}|[ -~]{0,40}", 0..2000),
            level in 0..=12,
        ) {
            let content = words.concat().into_bytes();
            let page = member(&content, level);
            prop_assert!(read(&page, content.len()).unwrap() == content);
            prop_assert!(read(&page, content.len() + 1).is_err());
        }

        #[test]
        fn damage_is_an_error_or_the_same_bytes(
            words in prop::collection::vec("[a-d]{1,9}", 0..300),
            at in any::<prop::sample::Index>(),
            bit in 0..8_u8,
            cut in any::<bool>(),
        ) {
            let content = words.concat().into_bytes();
            let mut page = member(&content, 6);
            let at = at.index(page.len());
            match cut {
                true => page.truncate(at.max(1)),
                false => page[at] ^= 1_u8 << bit,
            }
            if let Ok(output) = read(&page, content.len()) {
                prop_assert!(output == content);
            }
        }
    }
}
