//! Walks over the pages of a column chunk: compares each with its header, indexes and statistics, and all together with the
//! footer.

use crate::bloom;
use crate::context::VerifyContext;
use crate::findings::Findings;
use crate::index::{self, Indexes};
use crate::levels::{LevelReader, Start};
use crate::page::{self, PageTotals};
use crate::rule::Level;
use crate::values::ValueReader;
use crate::{chunk, encryption, statistics};
use marquetry_base::{ErrorKind, ErrorLocation, Result};
use marquetry_core::metadata::ColumnChunk;
use marquetry_core::nesting::Signatures;
use marquetry_core::page::{DataPage, LocatedHeader, PageBuffers, PageReader};
use marquetry_core::sort_order::SortOrder;
use marquetry_core::statistics::{LevelHistogram, ObservedPage};
use marquetry_encoding::levels::Levels;
use marquetry_format::{CompressionCodec, PageHeader, PageType, Reader, Statistics};

/// The results of checking a chunk, besides findings.
#[derive(Debug, Default)]
pub(crate) struct ChunkResult {
    pub(crate) pages: u64,
    pub(crate) bytes: u64,
    /// Signatures of its nesting. Empty unless all levels of the chunk were read.
    pub(crate) signatures: Signatures,
}

/// Checks a chunk at the level of the verification.
pub(crate) fn check_chunk(
    file: &VerifyContext,
    row_group: usize,
    column: usize,
    findings: &mut Findings,
    memory: &mut PageBuffers,
) -> ChunkResult {
    let place = file.place(row_group, column);
    // Wrong metadata of the chunk was reported with the footer.
    let Ok(chunk) = file.metadata.row_group(row_group).column(column) else {
        return ChunkResult::default();
    };
    statistics::check_chunk(file, column, chunk, &place, findings);
    encryption::check_chunk(chunk, &place, findings);
    let filter = bloom::read(file, chunk, &place, findings);
    let indexes = index::read(file, column, chunk, &place, findings);
    if file.level == Level::Quick {
        return ChunkResult::default();
    }
    let pages = PageReader::new(file.source.clone(), chunk, file.page_options(), std::mem::take(memory));
    let pages = match pages {
        Ok(pages) => pages,
        Err(error) => {
            if error.stops_reading() || matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::Key) {
                findings.add_error(&page::HEADER, place, error);
            }
            return ChunkResult::default();
        }
    };
    let Some(range) = chunk::byte_range(file, chunk).filter(|_| chunk.num_values() > 0) else {
        return ChunkResult::default();
    };
    let order = file.order(column);
    let wants_distinct = chunk.statistics().is_some_and(|statistics| statistics.distinct_count.is_some());
    let levels = LevelReader::new(file, column);
    let values = (file.level == Level::Deep)
        .then(|| ValueReader::new(chunk.leaf(), order, filter, wants_distinct, &file.limits));
    let all = ObservedPage {
        rows: Some(0),
        levels: Some(LevelHistogram::new(chunk.leaf().max_def(), chunk.leaf().max_rep())),
        bounds: values.as_ref().map(ValueReader::bounds),
        byte_array_bytes: Some(0),
        ..ObservedPage::default()
    };
    let totals = PageTotals { is_complete: true, is_whole: true, ..PageTotals::default() };
    let mut walk = ChunkWalk {
        file,
        chunk,
        row_group,
        column,
        order,
        at: range.start,
        end: range.end,
        room_end: file.room_end(range.start).max(range.end),
        place,
        findings,
        pages,
        totals,
        all,
        indexes,
        levels,
        values,
    };
    walk.run();
    walk.finish();
    *memory = walk.pages.into_buffers();
    let has_all_levels = walk.totals.is_complete && walk.all.levels.is_some();
    let siblings = walk.levels.siblings.filter(|_| has_all_levels);
    ChunkResult {
        pages: walk.totals.count,
        bytes: walk.totals.stored,
        signatures: siblings.map(|siblings| siblings.finish()).unwrap_or_default(),
    }
}

struct ChunkWalk<'a, 'f> {
    file: &'a VerifyContext,
    chunk: ColumnChunk<'a>,
    row_group: usize,
    column: usize,
    order: Option<SortOrder>,
    /// Offset of the next header.
    at: u64,
    /// The end of the chunk by the footer, and the start of the next part of the file.
    end: u64,
    room_end: u64,
    place: ErrorLocation,
    findings: &'f mut Findings,
    pages: PageReader,
    totals: PageTotals,
    all: ObservedPage,
    indexes: Indexes,
    levels: LevelReader<'a>,
    values: Option<ValueReader<'a>>,
}

impl ChunkWalk<'_, '_> {
    fn run(&mut self) {
        while let Some(start) = self.next() {
            // Read now, while the bytes of the header are buffered.
            let statistics = self.header_statistics(&start);
            let place = self.place.clone().with_page(start.index).with_offset(start.offset);
            self.at = start.body + u64::from(start.header.compressed_page_size.unsigned_abs());
            let mut is_readable =
                page::check_header(&start, self.chunk, &mut self.totals, &place, self.findings);
            match self.pages.checksum(&start) {
                Ok(checksum) => {
                    is_readable &= page::check_checksum(&start, checksum, &place, self.findings);
                }
                Err(error) => {
                    self.findings.add_error(&page::HEADER, place, error);
                    self.totals.is_complete = false;
                    return;
                }
            }
            if is_readable
                && !encryption::check_page(&mut self.pages, self.chunk, &start, &place, self.findings)
            {
                is_readable = false;
                self.totals.is_whole = false;
            }
            if start.is_data() {
                self.data_page(&start, statistics, is_readable, &place);
            } else if start.is_dictionary() {
                self.dictionary_page(&start, is_readable, &place);
            }
        }
    }

    /// Returns the next header, or `None` behind the last one or if it cannot be read.
    fn next(&mut self) -> Option<LocatedHeader> {
        let expected = u64::try_from(self.chunk.num_values()).unwrap_or(0);
        let is_behind = self.at >= self.end;
        let is_missing = self.pages.values_seen() < expected;
        // Entries are missing at the end of the chunk: more pages may follow before the next part of the file.
        if is_behind && (!is_missing || self.at >= self.room_end) {
            return None;
        }
        let start = match is_missing {
            true => self.pages.next_header(),
            false => self.pages.next_uncounted_header().map(|start| start.filter(LocatedHeader::is_data)),
        };
        match start {
            Ok(start) => {
                let start = start.filter(|start| !is_behind || start.is_data());
                self.totals.values = self.pages.values_seen();
                start
            }
            // The bytes behind the last page need not be a page. Wrong sizes are reported elsewhere.
            Err(error) if is_behind || !is_missing => {
                if error.stops_reading() {
                    self.findings.add_error(&page::HEADER, self.place.clone(), error);
                }
                None
            }
            Err(error) => {
                self.findings.add_error(&page::HEADER, self.place.clone(), error);
                self.totals.is_complete = false;
                None
            }
        }
    }

    fn dictionary_page(&mut self, start: &LocatedHeader, is_readable: bool, place: &ErrorLocation) {
        let Some(values) = &mut self.values else { return };
        if !is_readable {
            self.totals.is_whole = false;
            return;
        }
        let page = self.pages.dictionary_page(start);
        let dictionary = page.and_then(|page| self.pages.dictionary(&page, usize::MAX));
        values.set_dictionary(start, dictionary, place, self.findings);
    }

    fn data_page(
        &mut self,
        start: &LocatedHeader,
        statistics: Option<Statistics>,
        is_readable: bool,
        place: &ErrorLocation,
    ) {
        let leaf = self.chunk.leaf();
        let n = start.num_values().unwrap_or(0);
        let mut seen =
            ObservedPage { rows: (leaf.max_rep() == 0).then_some(n as u64), ..ObservedPage::default() };
        if is_readable && n > 0 {
            self.open(start, n, &mut seen, place);
        } else if n == 0 {
            seen.levels = Some(LevelHistogram::new(leaf.max_def(), leaf.max_rep()));
            seen.bounds = self.values.as_ref().map(ValueReader::bounds);
            seen.byte_array_bytes = Some(0);
        } else {
            self.totals.is_whole = false;
        }
        let nulls = seen.levels.as_ref().map(LevelHistogram::nulls);
        page::check_v2(start, nulls, seen.rows, place, self.findings);
        if seen.rows.is_none() && start.header.type_ == PageType::DATA_PAGE_V2 {
            seen.rows = start.num_rows().map(|rows| rows as u64);
        }
        self.indexes.check_page(self.file, start, leaf, &seen, place, self.findings);
        if let Some(statistics) = statistics {
            self.check_statistics(&statistics, n, &seen, place);
        }
        self.all.add(seen);
    }

    /// Reads levels and, at level `Deep`, values.
    fn open(&mut self, start: &LocatedHeader, n: usize, seen: &mut ObservedPage, place: &ErrorLocation) {
        let leaf = self.chunk.leaf();
        let (mut rep, mut def, page) = match self.levels_of(start, n, place) {
            Ok(Some(opened)) => opened,
            Ok(None) => return,
            Err(error) => {
                self.findings.add_error(&page::UNREADABLE, place.clone(), error);
                self.totals.is_whole = false;
                return;
            }
        };
        let is_first = self.totals.values == n as u64;
        let is_v2 = start.header.type_ == PageType::DATA_PAGE_V2;
        let begins = match is_first {
            true => Start::First,
            false if is_v2 || self.indexes.has_offset_index() => Start::Row,
            false => Start::Any,
        };
        let levels = match self.levels.read(&mut rep, &mut def, n, begins, place, self.findings) {
            Ok(levels) => levels,
            Err(error) => {
                self.findings.add_error(&page::UNREADABLE, place.clone(), error.without_offset());
                self.totals.is_whole = false;
                return;
            }
        };
        let num_values = usize::try_from(levels.values()).unwrap_or(usize::MAX);
        seen.rows = Some(levels.rows());
        seen.nulls_in_slots = self.levels.nulls_in_slots(&levels);
        seen.levels = Some(levels);
        let (Some(page), Some(values)) = (page, &mut self.values) else { return };
        let bytes = page.values.clone();
        match values.read(page, num_values, place, self.findings) {
            Some(decoded) => {
                seen.bounds = Some(decoded.bounds);
                let is_bytes = leaf.physical() == marquetry_encoding::PhysicalType::ByteArray;
                seen.byte_array_bytes = is_bytes.then_some(decoded.bytes);
            }
            None => self.totals.is_whole = false,
        }
        self.pages.recycle(bytes);
    }

    /// Returns the levels of a page, and the page itself if values are read. `None` if the levels are not worth
    /// decompressing.
    fn levels_of(
        &mut self,
        start: &LocatedHeader,
        n: usize,
        place: &ErrorLocation,
    ) -> Result<Option<(Levels, Levels, Option<DataPage>)>> {
        let leaf = self.chunk.leaf();
        let (max_rep, max_def) = (leaf.max_rep(), leaf.max_def());
        if self.values.is_some() {
            match self.pages.data(start, max_rep, max_def) {
                Ok(mut page) => {
                    let rep = std::mem::replace(&mut page.rep, Levels::zero());
                    let def = std::mem::replace(&mut page.def, Levels::zero());
                    return Ok(Some((rep, def, Some(page))));
                }
                // Levels of V2 pages are not compressed, so they can be checked even if the values are damaged.
                Err(error) => match self.stored_levels(start) {
                    Some(Ok((rep, def))) => {
                        self.findings.add_error(&page::UNREADABLE, place.clone(), error);
                        self.totals.is_whole = false;
                        return Ok(Some((rep, def, None)));
                    }
                    _ => return Err(error),
                },
            }
        }
        if max_def == 0 {
            if self.pages.may_hide_levels(start) {
                let page = self.pages.data(start, max_rep, max_def)?;
                self.pages.recycle(page.values);
            }
            return Ok(Some((Levels::zero(), Levels::zero(), None)));
        }
        if let Some(levels) = self.stored_levels(start) {
            let (rep, def) = levels?;
            return Ok(Some((rep, def, None)));
        }
        // PERF: V1 levels are compressed with the values. They are read only in lists, where nothing else shows the
        // number of rows.
        if max_rep == 0 && self.chunk.compression() != CompressionCodec::UNCOMPRESSED || n == 0 {
            return Ok(None);
        }
        let page = self.pages.data(start, max_rep, max_def)?;
        self.pages.recycle(page.values);
        Ok(Some((page.rep, page.def, None)))
    }

    /// Returns the levels of a V2 page as they are stored, or `None` for other pages.
    fn stored_levels(&mut self, start: &LocatedHeader) -> Option<Result<(Levels, Levels)>> {
        let header = start.header.data_page_header_v2.as_ref()?;
        if start.header.type_ != PageType::DATA_PAGE_V2 {
            return None;
        }
        // Lengths were checked with the header.
        let rep_len = usize::try_from(header.repetition_levels_byte_length).unwrap_or(0);
        let def_len = usize::try_from(header.definition_levels_byte_length).unwrap_or(0);
        let (max_rep, max_def) = (self.chunk.leaf().max_rep(), self.chunk.leaf().max_def());
        Some(self.pages.raw_bytes(start).and_then(|stored| {
            let rep = Levels::rle(stored.slice(0..rep_len), max_rep)?;
            let def = Levels::rle(stored.slice(rep_len..rep_len + def_len), max_def)?;
            Ok((rep, def))
        }))
    }

    /// Compares the statistics in a page's header with the page.
    fn check_statistics(
        &mut self,
        statistics: &Statistics,
        n: usize,
        seen: &ObservedPage,
        place: &ErrorLocation,
    ) {
        let leaf = self.chunk.leaf();
        let entries = i64::try_from(n).unwrap_or(i64::MAX);
        statistics::check_form(self.file, self.column, statistics, entries, place, self.findings);
        statistics::check_truth(leaf, self.order, statistics, seen, None, place, self.findings);
    }

    /// Returns the statistics in the header of the current page. The page reader skips them.
    fn header_statistics(&mut self, start: &LocatedHeader) -> Option<Statistics> {
        let bytes = self.pages.header_bytes(start).ok()?;
        let header = PageHeader::read(&mut Reader::with_limits(&bytes, &self.file.limits)).ok()?;
        match header.type_ {
            PageType::DATA_PAGE => header.data_page_header?.statistics,
            PageType::DATA_PAGE_V2 => header.data_page_header_v2?.statistics,
            _ => None,
        }
    }

    /// Checks the footer's statements about all pages together.
    fn finish(&mut self) {
        self.totals.rows = self.all.rows;
        page::check_totals(
            self.file,
            self.chunk,
            self.row_group,
            &mut self.totals,
            &self.place,
            self.findings,
        );
        if !self.totals.is_complete {
            return;
        }
        self.indexes.finish(&self.place, self.findings);
        // Distinct values and geometries are known only if no page was damaged.
        let is_whole = self.totals.is_whole;
        let distinct = self.values.as_mut().and_then(|values| values.finish(&self.place, self.findings));
        let distinct = distinct.filter(|_| is_whole);
        if let Some(statistics) = self.chunk.statistics() {
            let statistics = statistics.map(<[u8]>::to_vec);
            statistics::check_truth(
                self.chunk.leaf(),
                self.order,
                &statistics,
                &self.all,
                distinct,
                &self.place,
                self.findings,
            );
        }
        let geo = self.values.as_ref().and_then(|values| values.geo.as_ref()).filter(|_| is_whole);
        statistics::check_sizes(self.file, self.chunk, &self.all, geo, &self.place, self.findings);
    }
}
