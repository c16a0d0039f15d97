//! A column that one bit of the footer makes required: its levels are not read as values.

use crate::chunk::file::{File, Reading};
use crate::chunk::{Column, Layout, PLAIN, Page, RLE_DICTIONARY, pages};
use marquetry_base::ErrorKind;
use marquetry_codec::Codec;
use marquetry_encoding::PhysicalType;
use marquetry_format::Encoding;

/// Two pages of an optional column, in a file that says it is required.
fn required(physical: PhysicalType, words: &[Option<u64>], layout: &Layout) -> File {
    let written = Column::flat(physical, words, true);
    let layout = Layout { cuts: vec![words.len() / 2], checksums: false, ..layout.clone() };
    let read = Column { max_def: 0, ..written.clone() };
    File::of_pages(&read, layout.codec, &pages(&written, &layout))
}

#[test]
fn levels_are_not_read_as_values() {
    let words: Vec<_> = (0..300).map(|i| Some(i % 7)).collect();
    for physical in [
        PhysicalType::Boolean,
        PhysicalType::Int32,
        PhysicalType::Double,
        PhysicalType::Int96,
        PhysicalType::FixedLenByteArray(3),
        PhysicalType::ByteArray,
    ] {
        for (encoding, codec) in
            [(PLAIN, Codec::Uncompressed), (PLAIN, Codec::Zstd), (RLE_DICTIONARY, Codec::Zstd)]
        {
            if encoding == RLE_DICTIONARY && physical == PhysicalType::Boolean {
                continue;
            }
            let file = required(physical, &words, &Layout { encoding, codec, ..Layout::default() });
            let error = file.error();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{physical}, {encoding}: {error}");
            assert!(error.message().contains("has definition levels"), "{physical}, {encoding}: {error}");
            let first = usize::from(encoding == RLE_DICTIONARY);
            assert_eq!((error.place().row_group, error.place().page), (Some(0), Some(first)), "{error}");
            assert_eq!(error.place().column.as_deref(), Some("x"), "{error}");
            assert_eq!(error.place().offset, Some(file.offsets[0][first]), "{error}");
        }
    }
}

#[test]
fn a_page_with_some_nulls_is_refused() {
    // Each takes fewer bytes of nulls than its levels do: all values are there, and are others.
    for (n, nulls) in [(300, 1), (300, 8), (64, 1)] {
        let words: Vec<_> = (0..2 * n).map(|i| (i % n >= nulls).then_some(i)).collect();
        let file = required(PhysicalType::Int32, &words, &Layout::default());
        assert!(file.error().message().contains("has definition levels"), "{n}, {nulls}");
    }
}

/// What a writer leaves behind values is not a level; neither are bytes of pages without a length of levels.
#[test]
fn other_odd_pages_are_read() {
    let column = Column::ints((0..40).map(|i| i % 9));
    let padded = |encoding| {
        let mut pages = pages(&column, &Layout { checksums: false, encoding, ..Layout::default() });
        for page in pages.iter_mut().filter(|page| page.is_data()) {
            page.body.extend([0; 8]);
            page.header.compressed_page_size += 8;
            page.header.uncompressed_page_size += 8;
        }
        File::of_pages(&column, Codec::Uncompressed, &pages)
    };
    for encoding in [PLAIN, RLE_DICTIONARY] {
        assert_eq!(padded(encoding).read_all(&Reading::default()).unwrap().entries, 40);
    }
    // So small a page of these numbers, and such padding, are levels of four values, and four values behind them.
    let column = Column::ints([4, u32::from_le_bytes([2, 1, 6, 1]), 3, 4]);
    let mut pages = pages(&column, &Layout { checksums: false, ..Layout::default() });
    let pad = |page: &mut Page| {
        page.body.extend([0; 8]);
        page.header.compressed_page_size += 8;
        page.header.uncompressed_page_size += 8;
    };
    pad(&mut pages[0]);
    let mut file = File::of_pages(&column, Codec::Uncompressed, &pages);
    assert!(file.error().message().contains("has definition levels"));
    // Not of a writer that pads, and not where the header says that there are no levels with a length.
    file.metadata.created_by = Some("fastparquet-python version 2024.2.0 (build 0)".into());
    assert_eq!(file.read_all(&Reading::default()).unwrap().entries, 4);
    pages[0].v1().definition_level_encoding = Encoding::BIT_PACKED;
    let file = File::of_pages(&column, Codec::Uncompressed, &pages);
    assert_eq!(file.read_all(&Reading::default()).unwrap().entries, 4);
}

/// V2 pages have them apart: values are where they are looked for, and there are enough of them unless there are nulls.
#[test]
fn nulls_of_v2_pages_are_refused() {
    let words: Vec<_> = (0..20).map(|i| (i % 10 > 1).then_some(i % 4)).collect();
    for encoding in [PLAIN, RLE_DICTIONARY] {
        let layout = Layout { v2: true, encoding, ..Layout::default() };
        let error = required(PhysicalType::Int32, &words, &layout).error();
        assert!(error.message().contains("has definition levels"), "{encoding}: {error}");
        let all: Vec<_> = words.iter().map(|word| word.or(Some(3))).collect();
        let file = required(PhysicalType::Int32, &all, &layout);
        assert_eq!(file.read_all(&Reading::default()).unwrap().entries, 20);
    }
}
