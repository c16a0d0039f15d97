//! What a file merely claims costs no memory.

mod chunk;

use chunk::file::{File, Reading, root};
use chunk::model::{Node, Style};
use chunk::{Column, Layout, Page, RLE_DICTIONARY, pages};
use marquetry_base::{Error, ErrorKind, Limits};
use marquetry_codec::Codec;
use marquetry_encoding::{PhysicalType, rle};
use marquetry_format::Repetition;
use peak_alloc::PeakAlloc;

#[global_allocator]
static PEAK: PeakAlloc = PeakAlloc;

/// Reads the file, which must fail, in no more than so many bytes.
fn fails_within(bytes: usize, file: &File, reading: &Reading) -> Error {
    PEAK.reset_peak_usage();
    let before = PEAK.current_usage();
    let error = file.read_all(reading).unwrap_err();
    let peak = PEAK.peak_usage().saturating_sub(before);
    assert!(peak <= bytes, "{peak} bytes to find: {error}");
    error
}

fn damaged(column: &Column, layout: &Layout, damage: impl Fn(&mut Page)) -> File {
    let mut pages = pages(column, &Layout { checksums: false, ..layout.clone() });
    damage(&mut pages[0]);
    File::of_pages(column, layout.codec, &pages)
}

// One test, because the peak is that of all threads.
#[test]
fn claims_cost_nothing() {
    const LITTLE: usize = 4 << 20;
    let reading = Reading::default();
    let column = Column::ints(0..1_000);
    for v2 in [false, true] {
        for codec in [Codec::Snappy, Codec::Gzip, Codec::Brotli, Codec::Zstd, Codec::Lz4Raw] {
            let layout = Layout { v2, codec, ..Layout::default() };
            let file = damaged(&column, &layout, |page| page.header.uncompressed_page_size = 60 << 20);
            // Brotli and Zstandard can make much of little: what they really make is found out within the page.
            let most = if matches!(codec, Codec::Brotli | Codec::Zstd) { 70 << 20 } else { LITTLE };
            assert_eq!(fails_within(most, &file, &reading).kind(), ErrorKind::Corrupt);
        }
        let layout = Layout { v2, ..Layout::default() };
        let mut file = damaged(&column, &layout, |page| match v2 {
            true => page.v2().num_values = i32::MAX,
            false => page.v1().num_values = i32::MAX,
        });
        file.metadata.row_groups[0].num_rows = i64::from(i32::MAX);
        file.metadata.num_rows = i64::from(i32::MAX);
        assert_eq!(fails_within(LITTLE, &file, &reading).kind(), ErrorKind::Truncated);
        let long = damaged(&column, &layout, |page| page.header.compressed_page_size = i32::MAX);
        assert_eq!(fails_within(LITTLE, &long, &reading).kind(), ErrorKind::Truncated);
    }
    let layout = Layout { encoding: RLE_DICTIONARY, ..Layout::default() };
    let file = damaged(&column, &layout, |page| {
        page.header.dictionary_page_header.as_mut().unwrap().num_values = i32::MAX;
    });
    assert_eq!(fails_within(LITTLE, &file, &reading).kind(), ErrorKind::Truncated);
    a_list_of_two_billion_nulls(LITTLE);
}

/// A page of some twenty bytes whose one row has 2^31 - 1 elements, all null.
fn a_list_of_two_billion_nulls(most: usize) {
    let node = Node::List(Box::new(Node::Optional(Box::new(Node::Leaf))), Style::Three);
    let mut schema = vec![root(1)];
    node.schema("c", Repetition::REQUIRED, PhysicalType::Int64, &mut schema);
    let column = Column { max_def: 2, max_rep: 1, ..Column::flat(PhysicalType::Int64, &[None], true) };
    let mut pages = pages(&column, &Layout::default());
    let rep = [&rle_run(0, 1)[..], &rle_run(1, i32::MAX as u64 - 1)].concat();
    let def = rle_run(1, i32::MAX as u64);
    let mut body = Vec::new();
    for levels in [rep, def] {
        body.extend((levels.len() as u32).to_le_bytes());
        body.extend(levels);
    }
    let page = &mut pages[0];
    page.v1().num_values = i32::MAX;
    page.header.compressed_page_size = body.len() as i32;
    page.header.uncompressed_page_size = body.len() as i32;
    page.body = body;
    page.seal();
    let mut file = File::new(schema);
    file.push_pages(&column, 1, Codec::Uncompressed, &pages);
    file.chunk(0).num_values = i64::from(i32::MAX);
    let limits = Limits::default().with_batch_bytes(1 << 20);
    let error = fails_within(most, &file, &Reading { limits, ..Reading::default() });
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    assert!(error.message().contains("raise Limits::batch_bytes"), "{error}");
    assert_eq!((error.place().page, error.place().column.as_deref()), (Some(0), Some("c.list.element")));
}

/// A run of `n` levels, as small as runs are.
fn rle_run(level: u8, n: u64) -> Vec<u8> {
    let mut header = n << 1;
    let mut out = Vec::new();
    while header >= 0x80 {
        out.push(header as u8 | 0x80);
        header >>= 7;
    }
    out.extend([header as u8, level]);
    assert_eq!(rle::decode(&out, 2, 1).unwrap(), [u32::from(level)]);
    out
}
