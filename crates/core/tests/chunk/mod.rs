//! Writes files of one column for tests, page by page, such as no writer should write among them.
#![allow(dead_code, reason = "each test file uses its part of this")]

pub(crate) mod data;
pub(crate) mod file;
pub(crate) mod model;

use marquetry_codec::{Codec, Compressor};
use marquetry_encoding::{PhysicalType, Values, bit_packed, levels, plain, registry, rle};
use marquetry_format as format;
use marquetry_format::{
    DataPageHeader, DataPageHeaderV2, DictionaryPageHeader, Encoding, IndexPageHeader, PageHeader, PageType,
};

/// A column chunk before it is cut into pages: the levels of each entry, and the values that are there.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) physical: PhysicalType,
    pub(crate) max_def: u8,
    pub(crate) max_rep: u8,
    pub(crate) def: Vec<u8>,
    pub(crate) rep: Vec<u8>,
    pub(crate) values: Values,
}

/// How a chunk is cut into pages and written.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// Entries of each page; one more page has what is left. V2 pages go on to the end of their last row.
    pub(crate) cuts: Vec<usize>,
    pub(crate) v2: bool,
    /// V1 levels in the deprecated encoding.
    pub(crate) bit_packed: bool,
    pub(crate) encoding: i32,
    /// Data pages from this one on are PLAIN.
    pub(crate) plain_from: usize,
    pub(crate) codec: Codec,
    pub(crate) checksums: bool,
    /// An index page and a page of an unknown kind stand before each page.
    pub(crate) strangers: bool,
}

impl Default for Layout {
    /// One PLAIN page.
    fn default() -> Self {
        Layout {
            cuts: vec![],
            v2: false,
            bit_packed: false,
            encoding: PLAIN,
            plain_from: usize::MAX,
            codec: Codec::Uncompressed,
            checksums: true,
            strangers: false,
        }
    }
}

/// A page, to be changed before it is written.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) header: PageHeader,
    pub(crate) body: Vec<u8>,
}

impl Column {
    /// A column that is in no list; values for `None` are absent if it is optional.
    pub(crate) fn flat(physical: PhysicalType, words: &[Option<u64>], is_optional: bool) -> Column {
        let max_def = u8::from(is_optional);
        let present: Vec<u64> = words.iter().filter_map(|word| *word).collect();
        Column {
            physical,
            max_def,
            max_rep: 0,
            def: words.iter().map(|word| if word.is_some() { max_def } else { 0 }).collect(),
            rep: vec![0; words.len()],
            values: data::values(physical, &present),
        }
    }

    /// INT32 values, required.
    pub(crate) fn ints(values: impl IntoIterator<Item = u32>) -> Column {
        let words: Vec<_> = values.into_iter().map(|value| Some(u64::from(value))).collect();
        Column::flat(PhysicalType::Int32, &words, false)
    }

    pub(crate) fn len(&self) -> usize {
        self.def.len()
    }
}

impl Page {
    /// A page of `body`; its sizes are right, its checksum is absent.
    fn new(type_: PageType, uncompressed: usize, body: Vec<u8>) -> Page {
        let header = PageHeader {
            type_,
            uncompressed_page_size: uncompressed as i32,
            compressed_page_size: body.len() as i32,
            ..PageHeader::default()
        };
        Page { header, body }
    }

    /// Stores the checksum of the body as it is now.
    pub(crate) fn seal(&mut self) {
        self.header.crc = Some(crc32fast::hash(&self.body) as i32);
    }

    /// The header of a V1 data page.
    pub(crate) fn v1(&mut self) -> &mut DataPageHeader {
        self.header.data_page_header.as_mut().unwrap()
    }

    /// The header of a V2 data page.
    pub(crate) fn v2(&mut self) -> &mut DataPageHeaderV2 {
        self.header.data_page_header_v2.as_mut().unwrap()
    }

    pub(crate) fn is_data(&self) -> bool {
        matches!(self.header.type_, PageType::DATA_PAGE | PageType::DATA_PAGE_V2)
    }

    /// How many bytes the header takes.
    pub(crate) fn header_len(&self) -> usize {
        self.header_bytes().len()
    }

    fn header_bytes(&self) -> Vec<u8> {
        let mut writer = format::Writer::new();
        self.header.write(&mut writer);
        writer.finish()
    }

    /// Appends header and body.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.header_bytes());
        out.extend_from_slice(&self.body);
    }
}

/// Cuts a column chunk into pages.
pub(crate) fn pages(column: &Column, layout: &Layout) -> Vec<Page> {
    let encoder_of = |code| (registry::find(code).unwrap().encoder)(column.physical).unwrap();
    let (mut encoder, mut plain) = (encoder_of(layout.encoding), encoder_of(PLAIN));
    let mut pages = Vec::new();
    let (mut entry, mut value) = (0, 0);
    for (number, end) in ends(column, layout).into_iter().enumerate() {
        let present = column.def[entry..end].iter().filter(|&&def| def == column.max_def).count();
        let is_plain = number >= layout.plain_from;
        let encoder = if is_plain { &mut plain } else { &mut encoder };
        let mut bytes = Vec::new();
        encoder.encode(&column.values, value..value + present).unwrap();
        encoder.finish(&mut bytes).unwrap();
        let (def, rep) = (&column.def[entry..end], &column.rep[entry..end]);
        let cut = Cut {
            rep,
            def,
            present,
            values: bytes,
            encoding: Encoding(if is_plain { PLAIN } else { layout.encoding }),
        };
        pages.push(if layout.v2 { cut.v2(column, layout) } else { cut.v1(column, layout) });
        (entry, value) = (end, value + present);
    }
    if let Some(dictionary) = encoder.dictionary() {
        pages.insert(0, dictionary_page(dictionary.values(), layout));
    }
    if layout.strangers {
        pages = pages.into_iter().flat_map(|page| [index_page(), unknown_page(), page]).collect();
    }
    if layout.checksums {
        pages.iter_mut().for_each(Page::seal);
    }
    pages
}

/// Where each page ends.
fn ends(column: &Column, layout: &Layout) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut end = 0;
    for cut in &layout.cuts {
        end = (end + cut).min(column.len());
        while layout.v2 && end < column.len() && column.rep[end] > 0 {
            end += 1;
        }
        ends.push(end);
    }
    if end < column.len() {
        ends.push(column.len());
    }
    ends
}

/// What is in a data page.
struct Cut<'a> {
    rep: &'a [u8],
    def: &'a [u8],
    present: usize,
    values: Vec<u8>,
    encoding: Encoding,
}

impl Cut<'_> {
    fn v1(self, column: &Column, layout: &Layout) -> Page {
        let mut bytes = v1_levels(self.rep, column.max_rep, layout.bit_packed);
        bytes.extend(v1_levels(self.def, column.max_def, layout.bit_packed));
        bytes.extend(self.values);
        let mut page = Page::new(PageType::DATA_PAGE, bytes.len(), compressed(&bytes, layout.codec));
        let of_levels = if layout.bit_packed { Encoding::BIT_PACKED } else { Encoding::RLE };
        page.header.data_page_header = Some(DataPageHeader {
            num_values: self.def.len() as i32,
            encoding: self.encoding,
            definition_level_encoding: of_levels,
            repetition_level_encoding: of_levels,
            statistics: None,
        });
        page
    }

    fn v2(self, column: &Column, layout: &Layout) -> Page {
        let rep = rle_levels(self.rep, column.max_rep);
        let def = rle_levels(self.def, column.max_def);
        let levels = rep.len() + def.len();
        let uncompressed = levels + self.values.len();
        let mut body = [rep.as_slice(), def.as_slice()].concat();
        // No values, no bytes: not even what a codec makes of nothing.
        if self.present > 0 || layout.codec == Codec::Uncompressed {
            body.extend(compressed(&self.values, layout.codec));
        }
        let uncompressed = if self.present > 0 { uncompressed } else { uncompressed.min(body.len()) };
        let mut page = Page::new(PageType::DATA_PAGE_V2, uncompressed, body);
        page.header.data_page_header_v2 = Some(DataPageHeaderV2 {
            num_values: self.def.len() as i32,
            num_nulls: (self.def.len() - self.present) as i32,
            num_rows: self.rep.iter().filter(|&&rep| rep == 0).count() as i32,
            encoding: self.encoding,
            definition_levels_byte_length: def.len() as i32,
            repetition_levels_byte_length: rep.len() as i32,
            is_compressed: true,
            statistics: None,
        });
        page
    }
}

/// A dictionary page; named as old writers do if the data pages are.
pub(crate) fn dictionary_page(values: &Values, layout: &Layout) -> Page {
    let bytes = plain::encode(values).unwrap();
    let mut page = Page::new(PageType::DICTIONARY_PAGE, bytes.len(), compressed(&bytes, layout.codec));
    let is_old = layout.encoding == Encoding::PLAIN_DICTIONARY.0;
    page.header.dictionary_page_header = Some(DictionaryPageHeader {
        num_values: values.len() as i32,
        encoding: if is_old { Encoding::PLAIN_DICTIONARY } else { Encoding::PLAIN },
        is_sorted: None,
    });
    page
}

pub(crate) fn index_page() -> Page {
    let mut page = Page::new(PageType::INDEX_PAGE, 5, b"index".to_vec());
    page.header.index_page_header = Some(IndexPageHeader {});
    page
}

/// A page of a kind that no version of the format has yet.
pub(crate) fn unknown_page() -> Page {
    Page::new(PageType(77), 1_000, b"from later".to_vec())
}

/// Levels with their length before them, or BIT_PACKED ones without.
fn v1_levels(levels: &[u8], max: u8, is_bit_packed: bool) -> Vec<u8> {
    if max == 0 {
        return vec![];
    }
    if is_bit_packed {
        return bit_packed::encode(&words(levels), levels::width(max)).unwrap();
    }
    let bytes = rle_levels(levels, max);
    [(bytes.len() as u32).to_le_bytes().as_slice(), &bytes].concat()
}

pub(crate) fn rle_levels(levels: &[u8], max: u8) -> Vec<u8> {
    match max {
        0 => vec![],
        _ => rle::encode(&words(levels), levels::width(max)),
    }
}

fn words(levels: &[u8]) -> Vec<u32> {
    levels.iter().map(|&level| u32::from(level)).collect()
}

pub(crate) fn compressed(bytes: &[u8], codec: Codec) -> Vec<u8> {
    let mut out = Vec::new();
    Compressor::new(codec, None).unwrap().compress(bytes, &mut out).unwrap();
    out
}

pub(crate) const PLAIN: i32 = 0;
pub(crate) const RLE_DICTIONARY: i32 = 8;
