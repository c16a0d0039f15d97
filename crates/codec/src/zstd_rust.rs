//! ZSTD (6) without C: reading only, at about a third of the reference library's speed. Used where the feature `zstd` is off.

use crate::codec::Codec;
use marquetry_base::Result;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::Read;

/// Maximum expansion: an RLE block of 4 bytes becomes 128 KiB.
const MAX_EXPANSION: usize = (128 << 10) / 4;

/// Maximum size of a block in bytes. A window of at least this size does not limit blocks.
const MAX_BLOCK: usize = 128 << 10;

/// Number of bytes that are decoded before they are taken out of the window.
const STRIDE: usize = 1 << 20;

/// Keeps the tables from the first ZSTD page on.
#[derive(Default)]
pub(crate) struct Decompressor(Option<Box<FrameDecoder>>);

/// The reason why a frame is rejected.
enum Refusal {
    /// The frame has more bytes than there is room for.
    Overrun,
    /// The checksum does not match the content.
    Checksum,
    Broken(FrameDecoderError),
}

impl From<FrameDecoderError> for Refusal {
    fn from(error: FrameDecoderError) -> Self {
        match error {
            FrameDecoderError::WindowSizeTooBig { .. } => Refusal::Overrun,
            error => Refusal::Broken(error),
        }
    }
}

impl Decompressor {
    pub(crate) fn decompress(&mut self, input: &[u8], size: usize, output: &mut Vec<u8>) -> Result<()> {
        Codec::Zstd.reserve(input.len(), MAX_EXPANSION, size, output)?;
        output.resize(size, 0);
        let decoder = self.0.get_or_insert_default();
        let (mut rest, mut produced) = (input, 0);
        while !rest.is_empty() {
            produced +=
                frame(decoder, &mut rest, &mut output[produced..]).map_err(|refusal| match refusal {
                    Refusal::Overrun => Codec::Zstd.overrun(size),
                    Refusal::Checksum => {
                        Codec::Zstd.refused("the checksum of a frame is not that of its content")
                    }
                    Refusal::Broken(cause) => Codec::Zstd.refused(cause),
                })?;
        }
        Codec::Zstd.check_produced(produced, size)
    }
}

/// Decodes the frame at the start of `input` to the front of `output`. Returns the number of bytes that it decompresses to.
fn frame(decoder: &mut FrameDecoder, input: &mut &[u8], output: &mut [u8]) -> Result<usize, Refusal> {
    if let Err(error) = begin(decoder, input, output.len()) {
        return match error {
            FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. }) => {
                *input = input.get(length as usize..).ok_or(FrameDecoderError::FailedToSkipFrame)?;
                Ok(0)
            }
            error => Err(error.into()),
        };
    }
    if decoder.content_size() > output.len() as u64 {
        return Err(Refusal::Overrun);
    }
    let mut produced = 0;
    loop {
        decoder.decode_blocks(&mut *input, BlockDecodingStrategy::UptoBytes(STRIDE))?;
        let drained = decoder.read(&mut output[produced..]);
        produced += drained.map_err(FrameDecoderError::FailedToDrainDecodebuffer)?;
        if decoder.can_collect() > 0 {
            return Err(Refusal::Overrun);
        }
        if decoder.is_finished() {
            break;
        }
    }
    match decoder.get_checksum_from_data() {
        Some(stored) if decoder.get_calculated_checksum() != Some(stored) => Err(Refusal::Checksum),
        _ => Ok(produced),
    }
}

/// Reads the header of a frame.
///
/// The decoder allocates the window that the header requests, which may be gigabytes. No match reaches further back
/// than there are bytes, so a window as large as the `room` for them is enough, and a larger one is lowered to it.
fn begin(decoder: &mut FrameDecoder, input: &mut &[u8], room: usize) -> Result<(), FrameDecoderError> {
    let log = room.max(MAX_BLOCK).next_power_of_two().ilog2();
    decoder.set_max_window_size(1 << log);
    let Some((&head, behind)) = input.split_first_chunk::<HEAD>() else {
        return decoder.init(input);
    };
    let [.., descriptor, window] = head;
    if descriptor & SINGLE_SEGMENT != 0 || !head.starts_with(&MAGIC) {
        return decoder.init(input);
    }
    let mut lowered = head;
    lowered[HEAD - 1] = window.min(((log - MIN_WINDOW_LOG) << 3) as u8);
    *input = behind;
    decoder.init((&lowered[..]).chain(input))
}

/// Length of the magic number, the frame header descriptor and the window descriptor, in bytes.
const HEAD: usize = 6;
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Flag of a frame whose window is its whole content. Such a frame has no window descriptor.
const SINGLE_SEGMENT: u8 = 1 << 5;
/// Logarithm of the window size for descriptor 0. The upper five bits of a descriptor are added to it.
const MIN_WINDOW_LOG: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    fn read(page: &[u8], size: usize) -> Result<Vec<u8>> {
        let mut output = Vec::new();
        Decompressor::default().decompress(page, size, &mut output).map(|()| output)
    }

    /// Compresses a stream: its frame has no content size, and a window of 2^`window_log` bytes.
    fn streamed(content: &[u8], window_log: u32) -> Vec<u8> {
        let mut stream = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        stream.window_log(window_log).unwrap();
        stream.include_checksum(true).unwrap();
        stream.write_all(content).unwrap();
        stream.finish().unwrap()
    }

    #[test]
    fn frames_follow_each_other_and_need_no_content_size() {
        let known = zstd::bulk::compress(b"known, ", 1).unwrap();
        let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"xyz"].concat();
        let pages = [known, skipped, streamed(b"unknown", 20)].concat();
        assert_eq!(read(&pages, 14).unwrap(), b"known, unknown");
        for wrong in [0, 7, 13, 15] {
            assert!(read(&pages, wrong).is_err(), "{wrong}");
        }
        assert_eq!(read(&streamed(b"", 27), 0).unwrap(), b"");
    }

    #[test]
    fn a_page_that_is_too_long_has_one_error_whatever_says_so() {
        for page in [zstd::bulk::compress(&[7; 500], 1).unwrap(), streamed(&[7; 500], 27)] {
            let error = read(&page, 8).unwrap_err().to_string();
            assert!(error.contains("more than the 8 bytes"), "{error}");
        }
    }

    #[test]
    fn a_checksum_that_is_wrong_is_found() {
        let mut page = streamed(b"some content", 20);
        *page.last_mut().unwrap() ^= 1;
        let error = read(&page, 12).unwrap_err().to_string();
        assert!(error.contains("ZSTD"), "{error}");
    }

    /// A header of 14 bytes can demand a window of 2 GiB.
    #[test]
    fn a_window_is_no_larger_than_what_may_be_in_it() {
        let content: Vec<u8> = (0..300_000_u32).map(|i| (i / 7 % 251) as u8).collect();
        for (len, window_log) in [(300_000, 10), (300_000, 19), (300_000, 31), (100, 31)] {
            let content = &content[..len];
            let page = streamed(content, window_log);
            let mut decoder = Decompressor::default();
            let mut output = Vec::new();
            // In the second round, the decoder reserves the window before it decodes.
            for _ in 0..2 {
                output.clear();
                decoder.decompress(&page, len, &mut output).unwrap();
                assert!(output == content);
            }
        }
    }

    proptest! {
        #[test]
        fn reads_what_the_reference_library_writes(
            words in prop::collection::vec("[a-d]{1,9}|[ -~]{0,40}", 0..2000),
            level in -5..19,
        ) {
            let content = words.concat().into_bytes();
            let page = zstd::bulk::compress(&content, level).unwrap();
            prop_assert!(read(&page, content.len()).unwrap() == content);
            prop_assert!(read(&page, content.len() + 1).is_err());
        }

        #[test]
        fn damage_is_an_error_or_other_bytes(
            words in prop::collection::vec("[a-d]{1,9}", 0..300),
            at in any::<prop::sample::Index>(),
            bit in 0..8_u8,
            cut in any::<bool>(),
        ) {
            let content = words.concat().into_bytes();
            let mut page = streamed(&content, 17);
            let at = at.index(page.len());
            match cut {
                true => page.truncate(at.max(1)),
                false => page[at] ^= 1_u8 << bit,
            }
            // The checksum guarantees that whatever can be read is right.
            if let Ok(output) = read(&page, content.len()) {
                prop_assert!(output == content);
            }
        }
    }
}
