//! Compares the metadata of a chunk with its values, page by page as they are decoded.
//!
//! Statistics, indexes and bloom filters have no checksums. A wrong one makes readers skip rows that are there, in a
//! new file as in the broken one.

use crate::beside_pages::{BesidePages, CheckedChunk, Contradiction};
use crate::page_walk::{PageWalk, WalkedPage};
use crate::said_statistics::{geospatial_contradiction, malformed, statistics_contradiction};
use crate::validate_chunk::validate_chunk;
use marquetry_base::{Error, ErrorKind, Limits, MemoryReservation, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::{LeafShape, NestedField, SiblingHasher};
use marquetry_core::page::{ChecksumTrust, PageKinds, value_encoding};
use marquetry_core::page_index::{
    read_bloom_filter, read_bloom_filter_header, read_column_index, read_offset_index,
};
use marquetry_core::prune::bounds_are_believed;
use marquetry_core::read::{ColumnBatch, ReadTarget, ValueLayout};
use marquetry_core::row_mask::runs;
use marquetry_core::schema::Leaf;
use marquetry_core::sort_order::{SortOrder, plain_value};
use marquetry_core::source::Source;
use marquetry_core::statistics::{
    BloomFilter, GeoBounds, LegalValues, LevelHistogram, MinMaxStats, ObservedPage, counts_suffixes,
    display_value, wrong_boundary_order, wrong_bounds, wrong_byte_count, wrong_page_counts, wrong_sizes,
};
use marquetry_encoding::PhysicalType;
use marquetry_format::{ColumnIndex, DataPageHeaderV2, OffsetIndex, Statistics};
use std::ops::Range;
use std::sync::Arc;

/// Decodes all values of a chunk, and compares the metadata about it with them. Fails if a value cannot be decoded, if
/// there are fewer or more rows than the row group has, or if the levels contradict each other.
pub(crate) fn check_chunk(
    source: &Arc<dyn Source>,
    metadata: &ParquetMetaData,
    shape: &LeafShape,
    (row_group, column): (usize, usize),
    limits: &Arc<Limits>,
) -> Result<CheckedChunk> {
    let group = metadata.row_group(row_group);
    let chunk = group.column(column)?;
    let trust = ChecksumTrust::of_writer(metadata.created_by());
    let mut check = ChunkCheck::new(source, metadata, shape, (row_group, column), limits)?;
    let keeps_levels = check.leaf.max_def() > 1 || !shape.groups.is_empty();
    validate_chunk(source, chunk, group.num_rows(), trust, limits, keeps_levels, |batch| check.add(batch))?;
    check.finish(metadata, row_group, column)
}

/// Compares page headers of a chunk that was found without a footer with its values, all of which were decoded before.
/// Decodes them once more only if headers have statistics, if the column is nested, or if the schema does not allow all
/// values that can be decoded.
pub(crate) fn check_found_chunk(
    source: &Arc<dyn Source>,
    metadata: &ParquetMetaData,
    shape: &LeafShape,
    (row_group, column): (usize, usize),
    limits: &Arc<Limits>,
) -> Result<CheckedChunk> {
    let is_nested = !shape.groups.is_empty() || !shape.element_def.is_empty();
    if is_nested || !legal_values(metadata.schema().column(column)).are_all() {
        return check_chunk(source, metadata, shape, (row_group, column), limits);
    }
    let chunk = metadata.row_group(row_group).column(column)?;
    let trust = ChecksumTrust::of_writer(metadata.created_by());
    let mut walk = PageWalk::new(source, chunk, trust, limits)?;
    while let Some(page) = walk.next_empty(0)? {
        if !matches!(page.statistics, Ok(None)) {
            return check_chunk(source, metadata, shape, (row_group, column), limits);
        }
    }
    Ok(CheckedChunk { is_proven: walk.have_checksums, ..CheckedChunk::default() })
}

/// Returns the values that a column may have. Decoding checks already whether text is UTF-8.
fn legal_values(leaf: &Leaf) -> LegalValues {
    LegalValues::of(leaf.logical().filter(|logical| !logical.is_text()))
}

struct ChunkCheck<'a> {
    created_by: Option<&'a str>,
    leaf: &'a Leaf,
    shape: &'a LeafShape,
    siblings: SiblingHasher,
    legal: LegalValues,
    forbidden: Option<String>,
    /// A buffer for definition levels that a batch does not store because they are all the same.
    same_def: Vec<u8>,
    /// The order of bounds, if readers believe the bounds of this writer.
    order: Option<SortOrder>,
    /// The definition level of an element of the innermost list.
    slot: u8,
    walk: PageWalk,
    column_index: Option<ColumnIndex>,
    offset_index: Option<OffsetIndex>,
    /// The bloom filter, and the reservation of its memory from the budget.
    filter: Option<(BloomFilter, MemoryReservation)>,
    geo: Option<GeoBounds>,
    page: Option<OpenPage>,
    /// Number of rows before the page.
    rows: u64,
    all: ObservedPage,
    contradictions: Vec<Contradiction>,
}

/// The page that values come from.
struct OpenPage {
    walked: WalkedPage,
    /// Number of entries that have not come yet.
    left: usize,
    begins_row: bool,
    seen: ObservedPage,
}

impl<'a> ChunkCheck<'a> {
    fn new(
        source: &Arc<dyn Source>,
        metadata: &'a ParquetMetaData,
        shape: &'a LeafShape,
        (row_group, column): (usize, usize),
        limits: &Arc<Limits>,
    ) -> Result<Self> {
        let chunk = metadata.row_group(row_group).column(column)?;
        let leaf = metadata.schema().column(column);
        let order = match metadata.column_orders() {
            // Readers that ignore missing column orders use this order.
            None => Some(SortOrder::of(leaf)).filter(|order| *order != SortOrder::Undefined),
            Some(orders) => SortOrder::for_reading(leaf, orders.get(column)),
        };
        let slot = NestedField::from_root(metadata.schema(), leaf.root());
        let slot = slot.map(|field| ReadTarget::new(leaf, &field, column, ValueLayout::Native));
        let trust = ChecksumTrust::of_writer(metadata.created_by());
        let mut check = ChunkCheck {
            created_by: metadata.created_by(),
            leaf,
            shape,
            siblings: SiblingHasher::new(shape),
            legal: legal_values(leaf),
            forbidden: None,
            same_def: Vec::new(),
            order: order.filter(|_| bounds_are_believed(metadata.created_by(), leaf)),
            slot: slot.map_or(0, |target| target.repeated_ancestor_def_level),
            walk: PageWalk::new(source, chunk, trust, limits)?,
            column_index: None,
            offset_index: None,
            filter: None,
            geo: GeoBounds::of(leaf.logical())
                .filter(|_| chunk.meta_data().is_ok_and(|meta| meta.geospatial_statistics.is_some())),
            page: None,
            rows: 0,
            all: ObservedPage::default(),
            contradictions: Vec::new(),
        };
        check.all = check.nothing_seen();
        check.all.rows = Some(0);
        let index = read_column_index(&**source, chunk, limits);
        check.column_index = check.readable(index, BesidePages::ColumnIndex)?;
        let index = read_offset_index(&**source, chunk, limits);
        check.offset_index = check.readable(index, BesidePages::OffsetIndex)?;
        let header = read_bloom_filter_header(&**source, chunk, limits);
        if let Some(header) = check.readable(header, BesidePages::BloomFilter)? {
            // Memory for the filter's bytes, and for the filter made from them.
            let bytes = u64::try_from(header.num_bytes).unwrap_or(0).min(source.len());
            let held = limits.memory.reserve(usize::try_from(bytes).unwrap_or(usize::MAX).saturating_mul(2));
            let read = held
                .and_then(|held| Ok(read_bloom_filter(&**source, chunk, limits)?.map(|read| (read, held))));
            check.filter = check.readable(read, BesidePages::BloomFilter)?;
        }
        check.check_index_form();
        Ok(check)
    }

    /// Returns what was read. A read error is a contradiction.
    fn readable<T>(&mut self, read: Result<Option<T>>, what: BesidePages) -> Result<Option<T>> {
        match read {
            Ok(read) => Ok(read),
            Err(error) if error.stops_reading() || error.kind() == ErrorKind::Key => Err(error),
            Err(error) => {
                self.contradict(what, || format!("it cannot be read: {error}"), false);
                Ok(None)
            }
        }
    }

    /// Records the first contradiction of each kind, or the first one that may be the values' fault.
    fn contradict(&mut self, what: BesidePages, why: impl FnOnce() -> String, accuses_values: bool) {
        let known = self.contradictions.iter_mut().find(|known| known.what == what);
        match known {
            Some(known) if known.accuses_values || !accuses_values => {}
            Some(known) => *known = Contradiction { what, why: why(), accuses_values },
            None => self.contradictions.push(Contradiction { what, why: why(), accuses_values }),
        }
    }

    fn nothing_seen(&self) -> ObservedPage {
        let order = self.order.or(SortOrder::for_deprecated(self.leaf)).unwrap_or(SortOrder::Undefined);
        ObservedPage {
            levels: Some(LevelHistogram::new(self.leaf.max_def(), self.leaf.max_rep())),
            bounds: Some(MinMaxStats::new(order)),
            byte_array_bytes: (self.leaf.physical() == PhysicalType::ByteArray).then_some(0),
            ..ObservedPage::default()
        }
    }

    fn check_index_form(&mut self) {
        let Some(index) = &self.column_index else { return };
        let pages = index.null_pages.len();
        let is_whole = [index.min_values.len(), index.max_values.len()] == [pages, pages]
            && [&index.null_counts, &index.nan_counts]
                .into_iter()
                .flatten()
                .all(|counts| counts.len() == pages);
        let why = match self.order.and_then(|order| wrong_boundary_order(index, order)) {
            _ if !is_whole => "its lists have not one element for each page".to_owned(),
            Some(sorted) => format!("{} is stated, {sorted} is true", index.boundary_order),
            None => return,
        };
        self.contradict(BesidePages::ColumnIndex, || why, false);
        self.column_index = self.column_index.take().filter(|_| is_whole);
    }

    /// Compares the next rows.
    fn add(&mut self, batch: &ColumnBatch) -> Result<()> {
        let rep = batch.rep.as_slice().to_bytes();
        let mut at = 0;
        while at < batch.entries {
            let mut page = match self.page.take() {
                Some(page) if page.left > 0 => page,
                full => {
                    self.close(full);
                    let walked = self.walk.next()?;
                    let begins_row = rep.get(at).is_none_or(|level| *level == 0);
                    OpenPage { left: walked.entries, walked, begins_row, seen: self.nothing_seen() }
                }
            };
            let n = page.left.min(batch.entries - at);
            self.look_at_levels(batch, &rep, at..at + n)?;
            self.look(batch, &rep, at..at + n, &mut page.seen);
            page.left -= n;
            at += n;
            self.page = Some(page);
        }
        Ok(())
    }

    /// Compares levels with the schema. Fails if a list without elements goes on.
    fn look_at_levels(&mut self, batch: &ColumnBatch, rep: &[u8], entries: Range<usize>) -> Result<()> {
        let shape = self.shape;
        if shape.groups.is_empty() && shape.element_def.is_empty() {
            return Ok(());
        }
        let rep = rep.get(entries.clone()).unwrap_or_default();
        let def = match batch.def.get(entries.clone()) {
            Some(def) => def,
            None => {
                self.same_def.clear();
                self.same_def.resize(entries.len(), self.leaf.max_def());
                if let Some(validity) = batch.validity.as_ref().filter(|_| self.leaf.max_def() == 1) {
                    let levels = self.same_def.iter_mut().zip(entries);
                    levels.for_each(|(def, entry)| *def = u8::from(validity.get(entry)));
                }
                &self.same_def
            }
        };
        if let Some((at, rep, def)) = shape.contradiction(rep, def) {
            let message =
                format!("entry {at} of a page has repetition level {rep} and definition level {def}");
            return Err(Error::corrupt(message));
        }
        if self.forbidden.is_none() && shape.null_key(def, self.leaf.max_def()).is_some() {
            self.forbidden = Some("the key of a map is null".to_owned());
        }
        self.siblings.add(rep, def);
        Ok(())
    }

    /// Counts entries of one page.
    fn look(&mut self, batch: &ColumnBatch, rep: &[u8], entries: Range<usize>, seen: &mut ObservedPage) {
        let levels = seen.levels.get_or_insert_with(|| LevelHistogram::new(0, 0));
        match &batch.validity {
            _ if !batch.def.is_empty() => levels.add_def_levels(&batch.def[entries.clone()]),
            Some(validity) if self.leaf.max_def() == 1 => levels.add_def_bits(validity, entries.clone()),
            _ => levels.add_def_max(entries.len()),
        }
        match rep.is_empty() {
            true => levels.add_rep_zero(entries.len()),
            false => levels.add_rep_levels(&rep[entries.clone()]),
        }
        match &batch.validity {
            None => self.look_at_values(batch, entries, seen),
            Some(validity) => {
                runs(validity, entries).for_each(|run| self.look_at_values(batch, run, seen));
            }
        }
    }

    fn look_at_values(&mut self, batch: &ColumnBatch, range: Range<usize>, seen: &mut ObservedPage) {
        let values = &batch.values;
        if self.forbidden.is_none()
            && let Some(at) = self.legal.first_illegal(values, range.clone())
        {
            let mut scratch = [0; 8];
            let value = display_value(self.leaf, plain_value(values, at, &mut scratch));
            let logical = self.leaf.logical().map(ToString::to_string).unwrap_or_default();
            self.forbidden = Some(format!("{value} is not a valid {logical}"));
        }
        if let Some(bounds) = &mut seen.bounds {
            bounds.update(values, range.clone());
        }
        if let Some(bytes) = &mut seen.byte_array_bytes {
            *bytes += values.data_bytes(range.clone()) as u64;
        }
        if let Some(geo) = &mut self.geo {
            geo.update(values, range.clone());
        }
        let Some((filter, _)) = &self.filter else { return };
        let mut is_missing = false;
        BloomFilter::each_hash(values, range, |hash| is_missing |= !filter.might_contain_hash(hash));
        if is_missing {
            self.filter = None;
            self.contradict(BesidePages::BloomFilter, || "a value is not in it".to_owned(), true);
        }
    }

    /// Compares a page, all entries of which were counted, with the metadata about it.
    fn close(&mut self, page: Option<OpenPage>) {
        let Some(OpenPage { walked, begins_row, mut seen, .. }) = page else { return };
        let i = self.walk.count - 1;
        if let Some(levels) = &seen.levels {
            seen.rows = Some(levels.rows());
            let (def, slot) = (levels.def(), usize::from(self.slot));
            let nulls = def.get(slot..def.len() - 1).unwrap_or_default();
            seen.nulls_in_slots = nulls.iter().sum::<i64>().unsigned_abs();
        }
        if let Some(index) = &self.offset_index
            && !is_place_of(index, i, &walked, self.rows, begins_row)
        {
            let why = || format!("data page {i} is not where it says, or begins with another row");
            self.contradict(BesidePages::OffsetIndex, why, false);
            self.offset_index = None;
        }
        let said =
            self.offset_index.as_ref().and_then(|index| index.unencoded_byte_array_data_bytes.as_ref());
        let said = said.and_then(|bytes| bytes.get(i)).copied();
        if let Some(why) = wrong_byte_count(said, &seen) {
            let encoding = value_encoding(&walked.start.header);
            if counts_suffixes(self.created_by, encoding, said, &seen) {
                self.contradict(BesidePages::ByteCounts, || format!("data page {i}: {why}"), false);
            } else {
                self.contradict(BesidePages::OffsetIndex, || format!("data page {i}: {why}"), true);
                self.offset_index = None;
            }
        }
        if let Some(index) = &self.column_index
            && let Some(why) = index_contradiction(index, i, self.leaf, self.order, &seen)
        {
            self.contradict(BesidePages::ColumnIndex, || format!("data page {i}: {why}"), true);
            self.column_index = None;
        }
        let contradiction = |said: &Statistics| statistics_contradiction(self.leaf, self.order, said, &seen);
        let wrong = match &walked.statistics {
            Ok(said) => said.as_ref().and_then(contradiction).map(|why| (why, true)),
            Err(error) => Some((format!("they cannot be read: {error}"), false)),
        };
        if let Some((why, accuses_values)) = wrong {
            self.contradict(BesidePages::PageStatistics, || format!("data page {i}: {why}"), accuses_values);
        }
        if let Some(why) =
            walked.start.header.data_page_header_v2.as_ref().and_then(|v2| wrong_counts(v2, &seen))
        {
            self.contradict(BesidePages::PageCounts, || format!("data page {i}: {why}"), true);
        }
        self.rows += seen.rows.unwrap_or(0);
        self.all.add(seen);
    }

    /// Compares the chunk with the metadata about it, after its last row.
    fn finish(mut self, metadata: &ParquetMetaData, row_group: usize, column: usize) -> Result<CheckedChunk> {
        let chunk = metadata.row_group(row_group).column(column)?;
        let page = self.page.take();
        self.close(page);
        let in_index = |index: &ColumnIndex| index.null_pages.len();
        let in_places = |index: &OffsetIndex| index.page_locations.len();
        let said = self.column_index.as_ref().map_or(0, in_index);
        let said = said.max(self.offset_index.as_ref().map_or(0, in_places));
        while let Some(walked) = self.walk.next_empty(said)? {
            let left = walked.entries;
            let page = OpenPage { walked, left, begins_row: true, seen: self.nothing_seen() };
            self.close(Some(page));
        }
        let pages = self.walk.count;
        let counts = [
            (BesidePages::ColumnIndex, self.column_index.as_ref().map(in_index)),
            (BesidePages::OffsetIndex, self.offset_index.as_ref().map(in_places)),
        ];
        for (what, said) in counts {
            if let Some(said) = said.filter(|said| *said != pages) {
                self.contradict(what, || format!("{said} pages are said, there are {pages}"), false);
            }
        }
        let seen = std::mem::take(&mut self.all);
        if let Some(statistics) = chunk.statistics().map(|statistics| statistics.map(<[u8]>::to_vec))
            && let Some(why) = statistics_contradiction(self.leaf, self.order, &statistics, &seen)
        {
            self.contradict(BesidePages::Statistics, || why, true);
        }
        let sizes =
            chunk.size_statistics().map(|sizes| sizes.map(|counts| counts.iter().collect::<Vec<_>>()));
        if let Some(sizes) = sizes {
            if let Some(why) = wrong_sizes(&sizes, chunk.num_values(), &seen).into_iter().next() {
                self.contradict(BesidePages::SizeStatistics, || why, true);
            }
            let said = sizes.unencoded_byte_array_data_bytes;
            if let Some(why) = wrong_byte_count(said, &seen) {
                let encodings = chunk.encodings();
                match counts_suffixes(metadata.created_by(), encodings.iter(), said, &seen) {
                    true => self.contradict(BesidePages::ByteCounts, || why, false),
                    false => self.contradict(BesidePages::SizeStatistics, || why, true),
                }
            }
        }
        // Pages of a chunk without entries are not looked at.
        if let Some(said) = chunk.encoding_stats().filter(|_| chunk.num_values() > 0).map(PageKinds::said)
            && said != self.walk.kinds
        {
            let why = format!("{said} are said, there are {}", self.walk.kinds);
            self.contradict(BesidePages::EncodingStats, || why, true);
        }
        let geo = self.geo.take().zip(chunk.meta_data()?.geospatial_statistics);
        if let Some(why) = geo.and_then(|(seen, said)| geospatial_contradiction(&said, &seen)) {
            self.contradict(BesidePages::GeospatialStatistics, || why, true);
        }
        Ok(CheckedChunk {
            is_proven: self.walk.have_checksums,
            contradictions: self.contradictions,
            forbidden: self.forbidden,
            signatures: self.siblings.finish(),
        })
    }
}

/// Returns which count in the header of a V2 page is wrong.
fn wrong_counts(header: &DataPageHeaderV2, seen: &ObservedPage) -> Option<String> {
    let nulls = seen.levels.as_ref().map(LevelHistogram::nulls);
    let counts = [("num_nulls", header.num_nulls, nulls), ("num_rows", header.num_rows, seen.rows)];
    counts.into_iter().find_map(|(name, said, counted)| {
        let counted = counted.filter(|counted| u64::try_from(said) != Ok(*counted))?;
        Some(format!("{name} is {said}, there are {counted}"))
    })
}

/// Whether an offset index has the right place, size and first row of a page.
fn is_place_of(index: &OffsetIndex, i: usize, walked: &WalkedPage, rows: u64, begins_row: bool) -> bool {
    let Some(said) = index.page_locations.get(i) else { return false };
    let range = walked.start.range();
    let said = [Some(said.offset), Some(i64::from(said.compressed_page_size)), Some(said.first_row_index)];
    let actual = [range.start, range.end - range.start, rows].map(|number| i64::try_from(number).ok());
    begins_row && said == actual
}

/// Returns what a column index gets wrong about a page.
fn index_contradiction(
    index: &ColumnIndex,
    i: usize,
    leaf: &Leaf,
    order: Option<SortOrder>,
    seen: &ObservedPage,
) -> Option<String> {
    let (Some(is_null), Some(min), Some(max)) =
        (index.null_pages.get(i), index.min_values.get(i), index.max_values.get(i))
    else {
        return Some("it is not in it".to_owned());
    };
    if let Some(why) = wrong_page_counts(index, i, leaf, seen).into_iter().next() {
        return Some(why);
    }
    let bounds = seen.bounds.as_ref().filter(|_| !is_null)?;
    let pair = [("min", Some(&min[..])), ("max", Some(&max[..]))];
    if let Some(why) = order.and_then(|order| malformed(order, pair)) {
        return Some(why);
    }
    wrong_bounds(bounds, Some(min), Some(max)).first().map(|wrong| wrong.describe(leaf))
}
