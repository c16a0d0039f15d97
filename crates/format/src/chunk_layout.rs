//! The field positions of column chunks of one layout: such chunks are read from a list of positions, not field by field.
//!
//! Chunks of one layout (see `thrift::LayoutCache`) have the same fields, each of the same length, between the same strings:
//!
//! ```text
//! segments      36 00 1c 15 0c 19 35 00 06 10 19 18 06 |          | 15 00 16 80 01 16 96 03 ...
//!                            ^ type                    "column"        ^ codec  ^ num_values, 2 bytes
//! layout    type: segment 0, byte 4, 1 byte              codec: segment 1, byte 1, 1 byte            ...
//! ```
//!
//! PERF: none of these reads waits for another one or for a branch. Field by field, each read has to find the next field first.

use crate::chunk_view::{ChunkView, FieldObserver, FieldSet, List, Number, Span};
use crate::thrift::{Bookmark, Elements};
use crate::{Encoding, PageEncodingStats};
use std::ops::Range;

/// The positions of all fields in chunks of one layout.
#[derive(Debug, Clone)]
pub(crate) struct ChunkLayout {
    has: FieldSet,
    /// Length of each segment before a string. Its last byte is the length of the string.
    segments: Vec<u16>,
    /// Length of the last segment.
    last: u16,
    /// The numbers, and a mask of the value bits of their varints: separate lists for varints of up to one, two, four and eight bytes.
    numbers: [Vec<(FieldPosition, u64)>; 4],
    /// The byte strings, and the segments that they follow.
    strings: Vec<FieldPosition>,
    /// The lists. Chunks of one layout differ only in the positions of their first elements.
    lists: Vec<(FieldPosition, Span)>,
}

/// The position of a field in chunks of one layout.
#[derive(Debug, Clone, Copy)]
struct FieldPosition {
    /// The number, string or list at this position.
    of: u8,
    /// The segment, and the offset from its start in bytes.
    segment: u8,
    at: u16,
}

impl FieldPosition {
    /// The offset from the start of the chunk in bytes.
    #[inline]
    fn within(self, starts: &SegmentStarts) -> usize {
        starts[usize::from(self.segment) % MAX_SEGMENTS] as usize + usize::from(self.at)
    }
}

/// Where each segment of a chunk begins.
type SegmentStarts = [u32; MAX_SEGMENTS];

impl ChunkLayout {
    /// Creates the layout of a chunk whose segments have these lengths. Returns `None` if not all chunks of this layout
    /// can be read by positions.
    pub(crate) fn new(start: Bookmark<'_>, segments: &[usize]) -> Option<ChunkLayout> {
        let (last, segments) = segments.split_last()?;
        let mut layout = ChunkLayout {
            has: FieldSet::default(),
            segments: segments.iter().map(|len| u16::try_from(*len).ok()).collect::<Option<_>>()?,
            last: u16::try_from(*last).ok()?,
            numbers: Default::default(),
            strings: Vec::new(),
            lists: Vec::new(),
        };
        let mut starts = [0; MAX_SEGMENTS];
        layout.find(start.rest(), &mut starts)?;
        let place = |of: usize, at: usize| {
            let segment =
                starts[..=segments.len()].partition_point(|base| *base as usize <= at).checked_sub(1)?;
            let at = u16::try_from(at - starts[segment] as usize).ok()?;
            Some(FieldPosition { of: of as u8, segment: segment as u8, at })
        };

        let (mut view, mut found) =
            (ChunkView::empty(), LayoutBuilder { start: start.position(), ..LayoutBuilder::default() });
        view.read_observed(&mut start.reader(), &mut found).ok()?;
        let lists_are_usual =
            are_small(view.elements(List::Encodings)) && are_plain(view.elements(List::EncodingStats));
        if found.is_other || !lists_are_usual {
            return None;
        }
        layout.has = view.has;
        for (number, at) in found.numbers {
            let most = if number.is_short() { MAX_INT32_VARINT_BYTES } else { MAX_WORD_VARINT_BYTES };
            let place = place(number as usize, at.start)?;
            if at.len() > most || layout.numbers.iter().flatten().any(|(other, _)| other.of == place.of) {
                return None;
            }
            let list = match at.len() {
                0..=1 => 0,
                2 => 1,
                3..=4 => 2,
                _ => 3,
            };
            layout.numbers[list].push((place, u64::MAX >> (64 - 8 * at.len()) & 0x7f7f_7f7f_7f7f_7f7f));
        }
        for (of, string) in view.strings.iter().enumerate().filter(|(of, _)| view.has.has_string(*of)) {
            let mut ends = starts.iter().zip(&layout.segments).map(|(base, len)| base + u32::from(*len));
            let segment = ends.position(|end| end == string.at)?;
            layout.strings.push(FieldPosition {
                of: of as u8,
                segment: segment as u8,
                at: layout.segments[segment],
            });
        }
        for (of, list) in view.lists.iter().enumerate().filter(|(of, _)| view.has.has_list(*of)) {
            layout.lists.push((place(of, list.at as usize)?, *list));
        }
        Some(layout)
    }

    /// Reads a chunk of this layout into an empty view. Returns `None` if the chunk is so close to the end of the input
    /// that whole words cannot be loaded.
    #[inline]
    pub(crate) fn read<'a>(&self, start: Bookmark<'a>, view: &mut ChunkView<'a>) -> Option<()> {
        let (bytes, mut starts) = (start.rest(), [0; MAX_SEGMENTS]);
        self.find(bytes, &mut starts)?;
        let [one, two, four, eight] = &self.numbers;
        read_numbers::<1>(one, bytes, &starts, view)?;
        read_numbers::<2>(two, bytes, &starts, view)?;
        read_numbers::<4>(four, bytes, &starts, view)?;
        read_numbers::<8>(eight, bytes, &starts, view)?;
        let at = |place: &FieldPosition| place.within(&starts);
        for place in &self.strings {
            let at = at(place);
            let len = u32::from(*bytes.get(at - 1)?);
            *view.strings.get_mut(usize::from(place.of))? = Span { at: at as u32, len, depth: 0 };
        }
        for (place, list) in &self.lists {
            *view.lists.get_mut(usize::from(place.of))? = Span { at: at(place) as u32, ..*list };
        }
        view.start = start;
        view.has = self.has;
        Some(())
    }

    /// Finds where the segments of a chunk begin. Returns `None` if they end outside of the input or are too many.
    #[inline]
    fn find(&self, bytes: &[u8], starts: &mut SegmentStarts) -> Option<()> {
        let mut end = 0;
        for (i, len) in self.segments.iter().enumerate() {
            end += usize::from(*len);
            end += usize::from(*bytes.get(end.checked_sub(1)?)?);
            *starts.get_mut(i + 1)? = end as u32;
        }
        (end + usize::from(self.last) <= bytes.len()).then_some(())
    }
}

/// Reads numbers of at most `BYTES` bytes each.
#[inline]
fn read_numbers<const BYTES: usize>(
    numbers: &[(FieldPosition, u64)],
    bytes: &[u8],
    starts: &SegmentStarts,
    view: &mut ChunkView<'_>,
) -> Option<()> {
    for (place, mask) in numbers {
        let at = place.within(starts);
        let word = u64::from_le_bytes(*bytes.get(at..at + MAX_WORD_VARINT_BYTES)?.first_chunk()?);
        *view.numbers.get_mut(usize::from(place.of))? = zigzag(join::<BYTES>(word & mask));
    }
    Some(())
}

/// Joins the bits of a varint of at most `BYTES` bytes, of which each has seven.
///
/// Each step joins the halves of two bytes, then of two pairs, then of two groups of four: the upper half `h` moves
/// down by n = 1, 2 and 4 bits. Replacing `h` by `h >> n` is the same as subtracting `(h >> n) * (2^n - 1)`.
#[inline]
fn join<const BYTES: usize>(bits: u64) -> u64 {
    let mut bits = bits;
    if BYTES > 1 {
        bits -= (bits & 0x7f00_7f00_7f00_7f00) >> 1;
    }
    if BYTES > 2 {
        bits -= ((bits & 0x3fff_0000_3fff_0000) >> 2) * 3;
    }
    if BYTES > 4 {
        bits -= ((bits & 0x0fff_ffff_0000_0000) >> 4) * 15;
    }
    bits
}

#[inline]
fn zigzag(bits: u64) -> i64 {
    (bits >> 1) as i64 ^ -((bits & 1) as i64)
}

/// Whether the varints of all elements are so short that their values surely fit in 32 bits.
fn are_small(list: Option<Elements<'_, Encoding>>) -> bool {
    let Some(list) = list else { return true };
    let (first, len) = list.parts();
    let mut reader = first.reader();
    (0..len).all(|_| {
        let start = reader.position();
        reader.skip(crate::Wire::INT).is_ok() && reader.position() - start <= MAX_INT32_VARINT_BYTES
    })
}

/// Whether all elements consist of three numbers of one byte each.
fn are_plain(list: Option<Elements<'_, PageEncodingStats>>) -> bool {
    let Some(list) = list else { return true };
    let (first, len) = list.parts();
    let all = first.rest().as_chunks::<7>().0.get(..len);
    all.is_some_and(|all| {
        all.iter().all(|stats| matches!(stats, [0x15, 0..0x80, 0x15, 0..0x80, 0x15, 0..0x80, 0]))
    })
}

/// Collects the numbers of a chunk and their positions in it.
#[derive(Debug, Default)]
struct LayoutBuilder {
    start: usize,
    numbers: Vec<(Number, Range<usize>)>,
    is_other: bool,
}

impl FieldObserver for LayoutBuilder {
    fn number(&mut self, number: Number, at: Range<usize>) {
        self.numbers.push((number, at.start - self.start..at.end - self.start));
    }

    fn other(&mut self) {
        self.is_other = true;
    }
}

/// Maximum length of a varint that surely fits in 32 bits, and of one that can be loaded as a word.
const MAX_INT32_VARINT_BYTES: usize = 4;
const MAX_WORD_VARINT_BYTES: usize = 8;
/// Maximum number of segments: more than nearly all chunks have. A power of 2.
const MAX_SEGMENTS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thrift::{LayoutCache, LayoutMatch, Reader};
    use crate::{ColumnChunk, ColumnMetaData, PageType, SizeStatistics, Statistics, Writer};

    fn chunk(i: i64) -> ColumnChunk {
        let statistics = Statistics {
            null_count: Some(i % 64),
            max_value: Some(vec![9; i as usize % 11]),
            min_value: Some(vec![]),
            is_max_value_exact: Some(true),
            is_min_value_exact: Some(false),
            ..Statistics::default()
        };
        let stats = PageEncodingStats { page_type: PageType(0), encoding: Encoding(8), count: i as i32 % 60 };
        let meta = ColumnMetaData {
            encodings: vec![Encoding(0), Encoding(8)],
            path_in_schema: vec!["x".repeat(i as usize % 100).into(), "list".into()],
            num_values: 1000 + i,
            total_compressed_size: -1000 - i,
            data_page_offset: 1 << 40 | i,
            statistics: Some(statistics),
            encoding_stats: Some(vec![stats, stats]),
            size_statistics: Some(SizeStatistics {
                unencoded_byte_array_data_bytes: None,
                repetition_level_histogram: Some(vec![i % 64, 5]),
                definition_level_histogram: None,
            }),
            ..ColumnMetaData::default()
        };
        let (offset, length) = (Some(1 << 33 | i), Some(i as i32 % 64));
        ColumnChunk {
            meta_data: Some(meta),
            column_index_offset: offset,
            column_index_length: length,
            ..ColumnChunk::default()
        }
    }

    /// Formats the contents of a view, without positions.
    fn said(view: &ChunkView<'_>) -> String {
        let lists = (
            view.encodings().iter().collect::<Vec<_>>(),
            view.path_in_schema().iter().collect::<Vec<_>>(),
            view.encoding_stats().map(|stats| stats.iter().collect::<Vec<_>>()),
            view.size_statistics().map(|sizes| sizes.map(|counts| counts.iter().collect::<Vec<_>>())),
        );
        let index = (view.column_index_offset(), view.column_index_length(), view.offset_index_offset());
        let numbers = (view.type_(), view.codec(), view.num_values(), view.total_compressed_size());
        let offsets = (view.data_page_offset(), view.dictionary_page_offset(), index);
        format!("{lists:?} {numbers:?} {offsets:?} {:?} {:?}", view.statistics(), view.file_path())
    }

    #[test]
    fn chunks_of_a_shape_are_read_by_one_template() {
        let mut w = Writer::new();
        (0..200).for_each(|i| chunk(i).write(&mut w));
        let bytes = w.finish();
        let (mut r, mut alike) = (Reader::new(&bytes), LayoutCache::default());
        let (mut layouts, mut by_layout) = (Vec::new(), 0);
        for i in 0..200 {
            let start = r.bookmark();
            let shape = match alike.skip(&mut r, i).unwrap() {
                LayoutMatch::Uncached => continue,
                LayoutMatch::Inserted(shape) => {
                    layouts.push(ChunkLayout::new(start, alike.segments()).unwrap());
                    shape
                }
                LayoutMatch::Hit(shape) => shape,
            };
            let (mut view, mut found) = (ChunkView::empty(), ChunkView::empty());
            view.read(&mut start.reader()).unwrap();
            if layouts[usize::from(shape)].read(start, &mut found).is_some() {
                assert_eq!(said(&found), said(&view));
                assert_eq!(found.to_chunk().unwrap(), chunk(i as i64));
                by_layout += 1;
            } else {
                assert_eq!(i, 199, "only the last one is near the end");
            }
        }
        assert!(layouts.len() < 4 && by_layout > 140, "{by_layout} chunks, {} shapes", layouts.len());
    }

    #[test]
    fn what_may_fail_has_no_template() {
        let layout_of = |change: &dyn Fn(&mut ColumnMetaData)| {
            let mut other = chunk(1);
            change(other.meta_data.as_mut().unwrap());
            let mut w = Writer::new();
            (0..60).for_each(|_| other.write(&mut w));
            let bytes = w.finish();
            let (mut r, mut alike) = (Reader::new(&bytes), LayoutCache::default());
            loop {
                let start = r.bookmark();
                if let LayoutMatch::Inserted(_) = alike.skip(&mut r, 0).unwrap() {
                    return ChunkLayout::new(start, alike.segments());
                }
            }
        };
        assert!(layout_of(&|_| ()).is_some());
        // A varint of five bytes may not fit in 32 bits.
        assert!(layout_of(&|meta| meta.codec.0 = i32::MIN).is_none());
        assert!(layout_of(&|meta| meta.encodings[1].0 = i32::MAX).is_none());
        assert!(layout_of(&|meta| meta.encoding_stats.as_mut().unwrap()[1].count = 64).is_none());
        assert!(layout_of(&|meta| meta.num_values = i64::MIN).is_none());
        assert!(layout_of(&|meta| meta.geospatial_statistics = Some(Default::default())).is_none());
        assert!(layout_of(&|meta| meta.path_in_schema = vec!["name".into(); 20]).is_none());
    }
}
