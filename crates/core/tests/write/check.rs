//! Reads a chunk page by page and holds all that is said of it against what it should hold.

use crate::chunk::data::cell;
use bytes::Bytes;
use marquetry_base::{Limits, MemoryBudget, PaddedBytes};
use marquetry_codec::{Codec, Decompressor};
use marquetry_core::metadata::ColumnChunk;
use marquetry_core::page_index::{read_column_index, read_offset_index};
use marquetry_core::sort_order::SortOrder;
use marquetry_core::statistics::BloomFilter;
use marquetry_core::write::{ColumnSettings, PageVersion, StatisticsLevel};
use marquetry_encoding::dictionary::Dictionary;
use marquetry_encoding::levels::Levels;
use marquetry_encoding::{EncodedPage, PhysicalType, Values, registry};
use marquetry_format::{
    BoundaryOrder, ColumnIndex, ColumnMetaData, Encoding, PageHeader, PageType, Reader, Statistics,
};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// What a chunk must hold.
pub(crate) struct Truth<'a> {
    pub(crate) physical: PhysicalType,
    pub(crate) max_def: u8,
    pub(crate) max_rep: u8,
    pub(crate) def: &'a [u8],
    pub(crate) rep: &'a [u8],
    pub(crate) values: &'a Values,
    pub(crate) settings: &'a ColumnSettings,
    pub(crate) order: SortOrder,
}

/// Part of it: entries and values of a page, or of all.
#[derive(Clone, Copy)]
struct Part<'a> {
    truth: &'a Truth<'a>,
    entries: (usize, usize),
    values: (usize, usize),
}

struct Page<'a> {
    offset: usize,
    /// With its header.
    size: usize,
    header: PageHeader,
    stored: &'a [u8],
}

/// Panics if anything is wrong.
pub(crate) fn check(file: &Bytes, chunk: ColumnChunk<'_>, truth: &Truth<'_>) {
    let meta = &chunk.meta_data().unwrap();
    let range = chunk.byte_range().unwrap();
    let pages = pages(&file[range.start as usize..range.end as usize], range.start as usize);
    check_places(&pages, meta);
    let mut dictionary = None;
    let mut at = Part { truth, entries: (0, 0), values: (0, 0) };
    let mut parts = Vec::new();
    for page in &pages {
        assert_eq!(page.header.crc.is_some(), truth.settings.checksums);
        assert!(page.header.crc.is_none_or(|crc| crc == crc32fast::hash(page.stored) as i32));
        match &page.header.dictionary_page_header {
            Some(header) => {
                let n = header.num_values as usize;
                let bytes = decompressed(page, meta.codec.0, page.stored, 0);
                dictionary = Some(Arc::new(Dictionary::read(bytes, truth.physical, n).unwrap()));
            }
            None => {
                at = data_page(page, meta.codec.0, dictionary.as_ref(), truth, at);
                parts.push(at);
            }
        }
    }
    assert_eq!(at.entries.1, truth.def.len(), "entries");
    assert_eq!(at.values.1, truth.values.len(), "values");
    let all = Part { truth, entries: (0, truth.def.len()), values: (0, truth.values.len()) };
    check_statistics(meta.statistics.as_ref(), all, truth.settings.statistics > StatisticsLevel::None, true);
    check_sizes(meta, all);
    check_indexes(file, chunk, &pages, &parts, truth);
    check_bloom(file, chunk, truth);
}

fn pages(bytes: &[u8], start: usize) -> Vec<Page<'_>> {
    let (mut at, mut pages) = (0, Vec::new());
    while at < bytes.len() {
        let mut reader = Reader::new(&bytes[at..]);
        let header = PageHeader::read(&mut reader).unwrap();
        let body = at + reader.position();
        let end = body + header.compressed_page_size as usize;
        pages.push(Page { offset: start + at, size: end - at, header, stored: &bytes[body..end] });
        at = end;
    }
    pages
}

/// Sizes, offsets and encodings in the footer.
fn check_places(pages: &[Page<'_>], meta: &ColumnMetaData) {
    let compressed: usize = pages.iter().map(|page| page.size).sum();
    assert_eq!(meta.total_compressed_size, compressed as i64);
    let header = |page: &Page<'_>| page.size - page.stored.len();
    let uncompressed: usize =
        pages.iter().map(|page| header(page) + page.header.uncompressed_page_size as usize).sum();
    assert_eq!(meta.total_uncompressed_size, uncompressed as i64);
    let is_dictionary = |page: &Page<'_>| page.header.type_ == PageType::DICTIONARY_PAGE;
    assert!(
        pages.iter().skip(1).all(|page| !is_dictionary(page)),
        "the dictionary is first, if there is one"
    );
    let dictionary = pages.first().filter(|page| is_dictionary(page));
    assert_eq!(meta.dictionary_page_offset, dictionary.map(|page| page.offset as i64));
    if let Some(first) = pages.iter().find(|page| !is_dictionary(page)) {
        assert_eq!(meta.data_page_offset, first.offset as i64);
    }
    let mut stats = BTreeMap::new();
    let mut encodings = BTreeSet::new();
    for page in pages {
        let encoding = encoding(&page.header);
        *stats.entry((page.header.type_.0, encoding.0)).or_insert(0) += 1;
        encodings.insert(encoding.0);
        assert_eq!(
            dictionary.is_some() && is_dictionary(page),
            encoding == Encoding::PLAIN && is_dictionary(page)
        );
    }
    let has_indices = pages.iter().any(|page| encoding(&page.header) == Encoding::RLE_DICTIONARY);
    assert_eq!(has_indices, dictionary.is_some(), "a dictionary that is needed, and no other");
    let written = meta.encoding_stats.as_ref().unwrap();
    let written: BTreeMap<_, _> =
        written.iter().map(|stats| ((stats.page_type.0, stats.encoding.0), stats.count)).collect();
    assert_eq!(written, stats);
    let mut found: BTreeSet<i32> = meta.encodings.iter().map(|encoding| encoding.0).collect();
    assert_eq!(found.len(), meta.encodings.len(), "each once");
    if !encodings.contains(&Encoding::RLE.0) {
        // That of levels.
        found.remove(&Encoding::RLE.0);
    }
    assert_eq!(found, encodings);
}

fn encoding(header: &PageHeader) -> Encoding {
    let v1 = header.data_page_header.as_ref().map(|header| header.encoding);
    let v2 = header.data_page_header_v2.as_ref().map(|header| header.encoding);
    v1.or(v2).or(header.dictionary_page_header.as_ref().map(|header| header.encoding)).unwrap()
}

fn decompressed(page: &Page<'_>, codec: i32, stored: &[u8], before: usize) -> PaddedBytes {
    let codec = Codec::from_code(codec).unwrap();
    let len = page.header.uncompressed_page_size as usize - before;
    let mut out = vec![0; len];
    match codec {
        Codec::Uncompressed => out.copy_from_slice(stored),
        codec => {
            out.clear();
            Decompressor::new().decompress(codec, stored, len, &mut out).unwrap();
        }
    }
    PaddedBytes::copy_of(&out)
}

/// Decodes a page, which must hold what comes after `before`.
fn data_page<'a>(
    page: &Page<'_>,
    codec: i32,
    dictionary: Option<&Arc<Dictionary>>,
    truth: &'a Truth<'a>,
    before: Part<'_>,
) -> Part<'a> {
    let (max_rep, max_def) = (truth.max_rep, truth.max_def);
    let (mut rep, mut def, bytes, n);
    match (&page.header.data_page_header, &page.header.data_page_header_v2) {
        (Some(header), None) => {
            assert_eq!(truth.settings.page_version, PageVersion::V1);
            n = header.num_values as usize;
            let body = decompressed(page, codec, page.stored, 0);
            let rle = Encoding::RLE.0;
            let rep_len;
            (rep, rep_len) = Levels::v1(rle, &body, max_rep, n).unwrap();
            let rest = body.slice(rep_len..body.len());
            let def_len;
            (def, def_len) = Levels::v1(rle, &rest, max_def, n).unwrap();
            bytes = rest.slice(def_len..rest.len());
        }
        (None, Some(header)) => {
            assert_eq!(truth.settings.page_version, PageVersion::V2);
            n = header.num_values as usize;
            let rep_len = header.repetition_levels_byte_length as usize;
            let levels_len = rep_len + header.definition_levels_byte_length as usize;
            let stored = PaddedBytes::copy_of(page.stored);
            rep = Levels::rle(stored.slice(0..rep_len), max_rep).unwrap();
            def = Levels::rle(stored.slice(rep_len..levels_len), max_def).unwrap();
            let uncompressed = page.header.uncompressed_page_size as usize - levels_len;
            bytes = match header.is_compressed {
                true => {
                    assert!(page.stored.len() - levels_len < uncompressed, "it has shrunk");
                    decompressed(page, codec, &page.stored[levels_len..], levels_len)
                }
                false => stored.slice(levels_len..stored.len()),
            };
            assert_eq!(bytes.len(), uncompressed);
        }
        _ => panic!("no data page: {:?}", page.header),
    }
    let (mut reps, mut defs) = (Vec::new(), Vec::new());
    rep.decode(n, &mut reps).unwrap();
    def.decode(n, &mut defs).unwrap();
    let entries = (before.entries.1, before.entries.1 + n);
    assert!(n > 0, "an empty page");
    assert_eq!(defs, truth.def[entries.0..entries.1]);
    assert_eq!(reps, truth.rep[entries.0..entries.1]);
    assert_eq!(reps[0], 0, "a page begins with a row");
    assert!(truth.rep.get(entries.1).is_none_or(|rep| *rep == 0), "a page ends with a row");
    let present = defs.iter().filter(|def| **def == max_def).count();
    let values = (before.values.1, before.values.1 + present);
    let part = Part { truth, entries, values };
    assert!(part.rows() <= truth.settings.page_rows);
    let encoded = EncodedPage {
        bytes,
        max_values: present,
        physical: truth.physical,
        dictionary: dictionary.cloned(),
        memory: MemoryBudget::default(),
    };
    let mut decoded = truth.values.shape().empty();
    registry::decoder(encoding(&page.header).0, &encoded).unwrap().decode(present, &mut decoded).unwrap();
    for (i, at) in (values.0..values.1).enumerate() {
        assert_eq!(cell(&decoded, i), cell(truth.values, at), "value {at}");
    }
    if let Some(header) = &page.header.data_page_header_v2 {
        assert_eq!(header.num_nulls as usize, n - present);
        assert_eq!(header.num_rows as usize, part.rows());
    }
    let v1 = page.header.data_page_header.as_ref().and_then(|header| header.statistics.as_ref());
    let v2 = page.header.data_page_header_v2.as_ref().and_then(|header| header.statistics.as_ref());
    check_statistics(v1.or(v2), part, truth.settings.page_header_statistics, false);
    part
}

impl Part<'_> {
    fn rows(&self) -> usize {
        self.truth.rep[self.entries.0..self.entries.1].iter().filter(|rep| **rep == 0).count()
    }

    fn nulls(&self) -> i64 {
        ((self.entries.1 - self.entries.0) - (self.values.1 - self.values.0)) as i64
    }

    fn cells(&self) -> impl Iterator<Item = Vec<u8>> {
        (self.values.0..self.values.1).map(|i| cell(self.truth.values, i))
    }

    fn nans(&self) -> Option<i64> {
        let order = self.truth.order;
        order.is_float().then(|| self.cells().filter(|cell| order.is_nan(cell)).count() as i64)
    }

    /// Least and greatest, NaNs left out unless there is nothing else and the order is total.
    fn bounds(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let order = self.truth.order;
        if order == SortOrder::Undefined {
            return None;
        }
        // Nanoseconds of other days have no bounds.
        let nanos = |cell: &Vec<u8>| i64::from_le_bytes(cell[..8].try_into().unwrap());
        if order == SortOrder::Int96
            && !self.cells().all(|cell| (0..86_400_000_000_000).contains(&nanos(&cell)))
        {
            return None;
        }
        let numbers: Vec<_> = self.cells().filter(|cell| !order.is_nan(cell)).collect();
        let of = match numbers.is_empty() && order.is_total() {
            true => self.cells().collect(),
            false => numbers,
        };
        let compare = |a: &Vec<u8>, b: &Vec<u8>| order.compare(a, b).unwrap();
        let min = of.iter().min_by(|a, b| compare(a, b))?.clone();
        Some((min, of.iter().max_by(|a, b| compare(a, b))?.clone()))
    }

    fn histogram(&self, levels: &[u8], max: u8) -> Vec<i64> {
        let mut counts = vec![0; usize::from(max) + 1];
        levels[self.entries.0..self.entries.1].iter().for_each(|level| counts[usize::from(*level)] += 1);
        counts
    }

    fn string_bytes(&self) -> i64 {
        self.cells().map(|cell| cell.len() as i64).sum()
    }
}

fn check_statistics(written: Option<&Statistics>, part: Part<'_>, is_wanted: bool, is_chunk: bool) {
    assert_eq!(written.is_some(), is_wanted);
    let Some(written) = written else { return };
    assert_eq!(written.null_count, Some(part.nulls()));
    if part.truth.settings.statistics == StatisticsLevel::None {
        // Only counts are known.
        return;
    }
    assert_eq!(written.nan_count, part.nans());
    if let Some(distinct) = written.distinct_count {
        assert!(is_chunk);
        assert_eq!(distinct, part.cells().collect::<HashSet<_>>().len() as i64);
    }
    let bounds = part.bounds();
    assert_eq!(written.min_value.is_some(), bounds.is_some());
    assert_eq!(written.max_value.is_some(), bounds.is_some());
    if let (Some((least, greatest)), Some(min), Some(max)) = (bounds, &written.min_value, &written.max_value)
    {
        check_bounds(part, (&least, &greatest), (min, max));
        let order = part.truth.order;
        let is = |a: &Vec<u8>, b: &Vec<u8>| order.compare(a, b) == Some(Ordering::Equal);
        assert!(written.is_min_value_exact != Some(true) || is(min, &least));
        assert!(written.is_max_value_exact != Some(true) || is(max, &greatest));
        if part.truth.settings.statistics_truncate.is_none() {
            assert!(is(min, &least) && is(max, &greatest));
        }
    }
}

fn check_bounds(part: Part<'_>, true_bounds: (&[u8], &[u8]), written: (&[u8], &[u8])) {
    let order = part.truth.order;
    assert!(
        order.compare(written.0, true_bounds.0).is_some_and(Ordering::is_le),
        "{written:?} {true_bounds:?}"
    );
    assert!(
        order.compare(written.1, true_bounds.1).is_some_and(Ordering::is_ge),
        "{written:?} {true_bounds:?}"
    );
}

fn check_sizes(meta: &ColumnMetaData, all: Part<'_>) {
    let truth = all.truth;
    assert_eq!(meta.num_values, truth.def.len() as i64);
    if truth.settings.statistics == StatisticsLevel::None {
        return;
    }
    let sizes = meta.size_statistics.clone().unwrap_or_default();
    let is_bytes = truth.physical == PhysicalType::ByteArray;
    assert_eq!(sizes.unencoded_byte_array_data_bytes, is_bytes.then(|| all.string_bytes()));
    let def = (truth.max_def > 1).then(|| all.histogram(truth.def, truth.max_def));
    assert_eq!(sizes.definition_level_histogram, def);
    let rep = (truth.max_rep > 0).then(|| all.histogram(truth.rep, truth.max_rep));
    assert_eq!(sizes.repetition_level_histogram, rep);
}

fn check_indexes(
    file: &Bytes,
    chunk: ColumnChunk<'_>,
    pages: &[Page<'_>],
    parts: &[Part<'_>],
    truth: &Truth<'_>,
) {
    let data: Vec<_> = pages.iter().filter(|page| page.header.dictionary_page_header.is_none()).collect();
    let offsets = read_offset_index(file, chunk, &Limits::default()).unwrap().unwrap_or_default();
    assert_eq!(offsets.page_locations.len(), data.len());
    let mut row = 0;
    for ((location, page), part) in offsets.page_locations.iter().zip(&data).zip(parts) {
        assert_eq!(location.offset, page.offset as i64);
        assert_eq!(location.compressed_page_size, page.size as i32);
        assert_eq!(location.first_row_index, row);
        row += part.rows() as i64;
    }
    if let Some(bytes) = offsets.unencoded_byte_array_data_bytes {
        assert_eq!(bytes, parts.iter().map(Part::string_bytes).collect::<Vec<_>>());
    }
    let index = read_column_index(file, chunk, &Limits::default()).unwrap();
    let is_bounded = |part: &Part<'_>| part.values.0 == part.values.1 || part.bounds().is_some();
    let is_wanted = truth.settings.statistics == StatisticsLevel::Page
        && truth.order != SortOrder::Undefined
        && !parts.is_empty()
        && parts.iter().all(is_bounded);
    assert_eq!(index.is_some(), is_wanted);
    if let Some(index) = index {
        check_column_index(&index, parts, truth);
    }
}

fn check_column_index(index: &ColumnIndex, parts: &[Part<'_>], truth: &Truth<'_>) {
    let nulls: Vec<_> = parts.iter().map(|part| part.values.0 == part.values.1).collect();
    assert_eq!(index.null_pages, nulls);
    assert_eq!(index.null_counts, Some(parts.iter().map(Part::nulls).collect()));
    assert_eq!(index.nan_counts, parts.iter().map(Part::nans).collect());
    let histograms = |levels: &[u8], max: u8, least: u8| -> Option<Vec<i64>> {
        (max >= least).then(|| parts.iter().flat_map(|part| part.histogram(levels, max)).collect())
    };
    assert_eq!(index.definition_level_histograms, histograms(truth.def, truth.max_def, 2));
    assert_eq!(index.repetition_level_histograms, histograms(truth.rep, truth.max_rep, 1));
    let (mins, maxes) = (&index.min_values, &index.max_values);
    for (i, part) in parts.iter().enumerate() {
        match part.bounds() {
            Some((least, greatest)) => check_bounds(*part, (&least, &greatest), (&mins[i], &maxes[i])),
            None => assert!(mins[i].is_empty() && maxes[i].is_empty()),
        }
    }
    let there: Vec<usize> = (0..parts.len()).filter(|i| !nulls[*i]).collect();
    let sorted = |wrong: Ordering| {
        there.windows(2).all(|pair| {
            [mins, maxes].iter().all(|b| truth.order.compare(&b[pair[0]], &b[pair[1]]) != Some(wrong))
        })
    };
    let expected = match (sorted(Ordering::Greater), sorted(Ordering::Less)) {
        (true, _) => BoundaryOrder::ASCENDING,
        (_, true) => BoundaryOrder::DESCENDING,
        _ => BoundaryOrder::UNORDERED,
    };
    assert_eq!(index.boundary_order, expected);
}

fn check_bloom(file: &Bytes, chunk: ColumnChunk<'_>, truth: &Truth<'_>) {
    let at = chunk.bloom_filter_offset();
    assert_eq!(at.is_some(), truth.settings.bloom.is_some());
    let Some(at) = at else { return };
    let end = at as usize + chunk.bloom_filter_length().unwrap() as usize;
    let filter = BloomFilter::read(&file[at as usize..end]).unwrap();
    for i in 0..truth.values.len() {
        assert!(filter.might_contain(&cell(truth.values, i)));
    }
}
