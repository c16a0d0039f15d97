//! Laws of every codec: decompression restores what was compressed; damaged pages give errors or bytes, never a panic;
//! and a page cannot claim more memory than its stored bytes can fill.

use marquetry_base::{ErrorKind, PADDING};
use marquetry_codec::{Codec, Compressor, Decompressor};
use proptest::prelude::*;

const WRITTEN: [Codec; 6] =
    [Codec::Uncompressed, Codec::Snappy, Codec::Gzip, Codec::Brotli, Codec::Zstd, Codec::Lz4Raw];

fn compressed(codec: Codec, level: Option<i32>, content: &[u8]) -> Vec<u8> {
    let mut page = Vec::new();
    Compressor::new(codec, level).unwrap().compress(content, &mut page).unwrap();
    page
}

fn lzo(content: &[u8]) -> Vec<u8> {
    match content {
        [] => vec![0x11, 0, 0], // the end
        _ => lzokay_native::compress(content).unwrap(),
    }
}

/// Compresses `content` in Hadoop's framing: blocks of chunks, each of which `compress` compresses.
fn hadoop(content: &[u8], block: usize, chunk: usize, compress: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut page = Vec::new();
    for block in content.chunks(block) {
        page.extend((block.len() as u32).to_be_bytes());
        for chunk in block.chunks(chunk) {
            let stored = compress(chunk);
            page.extend((stored.len() as u32).to_be_bytes());
            page.extend(stored);
        }
    }
    page
}

/// Compresses a page with every codec, including those that are only read.
fn pages(content: &[u8]) -> Vec<(Codec, Vec<u8>)> {
    let raw = |chunk: &[u8]| compressed(Codec::Lz4Raw, None, chunk);
    let mut pages: Vec<_> = WRITTEN.map(|codec| (codec, compressed(codec, None, content))).into();
    let (front, back) = content.split_at(content.len() / 2);
    pages.extend([
        (Codec::Gzip, [compressed(Codec::Gzip, None, front), compressed(Codec::Gzip, None, back)].concat()),
        (Codec::Lz4, raw(content)),
        (Codec::Lz4, hadoop(content, 100, 30, raw)),
        (Codec::Lzo, lzo(content)),
        (Codec::Lzo, hadoop(content, 100, 30, lzo)),
    ]);
    pages
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(Vec::new()),
        proptest::collection::vec(any::<u8>(), 0..3000), // incompressible
        (any::<u8>(), 0..100_000usize).prop_map(|(byte, n)| vec![byte; n]),
        proptest::collection::vec(0..3u8, 0..20_000),
        (proptest::collection::vec(any::<u8>(), 1..40), 0..2000usize).prop_map(|(part, n)| part.repeat(n)),
        (proptest::collection::vec(any::<u8>(), 16_000..50_000)).prop_map(|part| part.repeat(2)), // far matches
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_is_compressed_comes_back(content in content()) {
        let mut decompressor = Decompressor::new();
        let mut output = vec![1, 2, 3];
        for (codec, page) in pages(&content) {
            decompressor.decompress(codec, &page, content.len(), &mut output).unwrap();
            prop_assert_eq!(&output, &content, "{}", codec);
            prop_assert!(output.capacity() >= output.len() + PADDING, "{}", codec);
        }
    }

    #[test]
    fn a_prefix_equals_the_start_of_the_whole(content in content(), share in 0.0..1.0) {
        let mut decompressor = Decompressor::new();
        let prefix = (content.len() as f64 * share) as usize;
        let mut output = vec![1, 2, 3];
        for (codec, page) in pages(&content) {
            decompressor.decompress_prefix(codec, &page, content.len(), prefix, &mut output).unwrap();
            let wanted = if codec.supports_prefix() { prefix } else { content.len() };
            prop_assert_eq!(&output, &content[..wanted], "{}", codec);
            prop_assert!(output.capacity() >= output.len() + PADDING, "{}", codec);
            // The rest of a page may be cut off. If the prefix can still be decompressed, it must be right.
            for cut in [page.len() / 3, page.len() / 2] {
                if decompressor.decompress_prefix(codec, &page[..cut], content.len(), prefix, &mut output).is_ok() {
                    prop_assert_eq!(&output, &content[..wanted], "{} cut", codec);
                }
            }
        }
    }

    #[test]
    fn drawn_bytes_are_errors_or_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200), size in 0..5000usize) {
        let mut decompressor = Decompressor::new();
        let mut output = Vec::new();
        for codec in Codec::ALL {
            match decompressor.decompress(codec, &bytes, size, &mut output) {
                Ok(()) => prop_assert_eq!(output.len(), size),
                Err(_) => prop_assert!(output.is_empty()),
            }
            match decompressor.decompress_prefix(codec, &bytes, size, size / 3, &mut output) {
                Ok(()) => prop_assert!(output.len() == size / 3 || output.len() == size),
                Err(_) => prop_assert!(output.is_empty()),
            }
        }
    }

    #[test]
    fn a_bare_block_is_not_taken_for_hadoop_blocks(content in proptest::collection::vec(0..2u8, 0..600)) {
        let mut output = Vec::new();
        let page = compressed(Codec::Lz4Raw, None, &content);
        Decompressor::new().decompress(Codec::Lz4, &page, content.len(), &mut output).unwrap();
        prop_assert_eq!(output, content);
    }
}

#[test]
fn every_level_round_trips_and_appends() {
    let content = b"to be or not to be, ".repeat(50);
    for codec in WRITTEN {
        for level in codec.levels().into_iter().flatten().filter(|&level| level >= -7) {
            let mut compressor = Compressor::new(codec, Some(level)).unwrap();
            let mut page = b"before".to_vec();
            compressor.compress(&content, &mut page).unwrap();
            let first = page.len();
            compressor.compress(&content, &mut page).unwrap();
            assert_eq!(page[6..first], page[first..], "{codec} is the same each time");
            let mut output = Vec::new();
            Decompressor::new().decompress(codec, &page[6..first], content.len(), &mut output).unwrap();
            assert_eq!(output, content, "{codec} level {level}");
        }
    }
}

#[test]
fn levels_and_codecs_that_are_not_there() {
    for (codec, level) in [
        (Codec::Gzip, 13),
        (Codec::Gzip, -1),
        (Codec::Brotli, 12),
        (Codec::Zstd, 23),
        (Codec::Zstd, -(1 << 17) - 1),
        (Codec::Snappy, 1),
        (Codec::Lz4Raw, 1),
        (Codec::Uncompressed, 0),
    ] {
        assert_eq!(Compressor::new(codec, Some(level)).unwrap_err().kind(), ErrorKind::Argument);
    }
    for codec in [Codec::Lz4, Codec::Lzo] {
        assert_eq!(Compressor::new(codec, None).unwrap_err().kind(), ErrorKind::Unsupported);
    }
}

#[test]
fn the_size_of_the_header_must_be_right() {
    let content = b"to be or not to be, ".repeat(50);
    let mut output = Vec::new();
    for (codec, page) in pages(&content) {
        for wrong in [0, 1, content.len() - 1, content.len() + 1, content.len() * 2] {
            let error = Decompressor::new().decompress(codec, &page, wrong, &mut output).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{codec}: {error}");
        }
    }
}

#[test]
fn no_bytes_are_an_empty_page() {
    let mut output = vec![1];
    for codec in Codec::ALL {
        Decompressor::new().decompress(codec, &[], 0, &mut output).unwrap();
        assert!(output.is_empty());
        assert!(Decompressor::new().decompress(codec, &[], 1, &mut output).is_err());
    }
}

#[test]
fn truncated_pages_are_errors() {
    let content = b"to be or not to be, that is the question. ".repeat(5);
    let mut output = Vec::new();
    let mut decompressor = Decompressor::new();
    for (codec, page) in pages(&content) {
        for end in 0..page.len() {
            let done = decompressor.decompress(codec, &page[..end], content.len(), &mut output);
            assert!(done.is_err(), "{codec} cut to {end} of {}", page.len());
        }
    }
}

#[test]
fn flipped_bits_are_errors_or_bytes() {
    let content = b"to be or not to be, that is the question. ".repeat(5);
    let mut output = Vec::new();
    let mut decompressor = Decompressor::new();
    for (codec, mut page) in pages(&content) {
        for bit in 0..page.len() * 8 {
            page[bit / 8] ^= 1 << (bit % 8);
            match decompressor.decompress(codec, &page, content.len(), &mut output) {
                Ok(()) => assert_eq!(output.len(), content.len()),
                Err(error) => assert!(matches!(error.kind(), ErrorKind::Corrupt), "{error}"),
            }
            page[bit / 8] ^= 1 << (bit % 8);
        }
        decompressor.decompress(codec, &page, content.len(), &mut output).unwrap();
        assert_eq!(output, content, "{codec} after all these errors");
    }
}

#[test]
fn no_memory_that_the_input_does_not_earn() {
    for (codec, page) in pages(b"0123456789") {
        let mut output = Vec::new();
        assert!(Decompressor::new().decompress(codec, &page, 1 << 30, &mut output).is_err());
        assert!(output.capacity() < 4 << 20, "{codec} took {}", output.capacity());
    }
    let mut lying = vec![0x80, 0x80, 0x80, 0x80, 0x04]; // a Snappy stream that says 1 GiB, too
    lying.extend([0; 5]);
    let mut output = Vec::new();
    assert!(Decompressor::new().decompress(Codec::Snappy, &lying, 1 << 30, &mut output).is_err());
    assert!(output.capacity() < 4 << 20);
}
