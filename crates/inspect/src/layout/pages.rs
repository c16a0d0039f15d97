//! The pages of a column chunk, by their headers and indexes.

use super::part::{FilePart, PageFacts, PartKind};
use marquetry_base::{Error, Limits, Result};
use marquetry_core::metadata::{ColumnChunk, ParquetMetaData};
use marquetry_core::page::{LocatedHeader, PageBuffers, PageOptions, PageReader};
use marquetry_core::page_index::{read_column_index, read_offset_index};
use marquetry_core::source::Source;
use marquetry_format::{ColumnIndex, OffsetIndex};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// The pages of a chunk.
#[derive(Default)]
pub(crate) struct ChunkPages {
    pub(crate) parts: Vec<FilePart>,
    /// The reasons why no more pages are there, or why less is known about them.
    pub(crate) problems: Vec<Error>,
    /// Whether the chunk has more pages, which are not listed one by one.
    pub(crate) is_cut: bool,
}

/// Finds the pages of a chunk. `room` is how many more pages of the file may be listed one by one.
pub(crate) fn pages_of_chunk(
    source: &Arc<dyn Source>,
    metadata: &ParquetMetaData,
    (row_group, column): (usize, usize),
    limits: &Arc<Limits>,
    room: &AtomicUsize,
) -> ChunkPages {
    let leaf = metadata.schema().column(column);
    let place = |error: Error| error.in_column(leaf.dotted().clone()).in_row_group(row_group);
    let mut walk = Walk { found: ChunkPages::default(), rows: 0 };
    let walked = metadata.row_group(row_group).column(column).and_then(|chunk| {
        let indexes = Indexes {
            bounds: walk.noted(read_column_index(&**source, chunk, limits)),
            places: walk.noted(read_offset_index(&**source, chunk, limits)),
            is_flat: leaf.max_rep() == 0,
            rows: metadata.row_group(row_group).num_rows(),
        };
        walk.pages(source, chunk, metadata.created_by(), limits, &indexes, room)
    });
    let mut found = walk.found;
    found.problems.extend(walked.err());
    found.problems = found.problems.into_iter().map(place).collect();
    for part in &mut found.parts {
        part.chunk = Some((row_group, column));
    }
    found
}

/// The indexes of a chunk.
struct Indexes {
    bounds: Option<ColumnIndex>,
    places: Option<OffsetIndex>,
    is_flat: bool,
    rows: u64,
}

struct Walk {
    found: ChunkPages,
    /// Number of rows before the next page, as far as headers show.
    rows: u64,
}

impl Walk {
    /// Notes an index that cannot be read as a problem, and goes on without it.
    fn noted<T>(&mut self, index: Result<Option<T>>) -> Option<T> {
        index.unwrap_or_else(|error| {
            self.found.problems.push(error);
            None
        })
    }

    fn pages(
        &mut self,
        source: &Arc<dyn Source>,
        chunk: ColumnChunk<'_>,
        created_by: Option<&str>,
        limits: &Arc<Limits>,
        indexes: &Indexes,
        room: &AtomicUsize,
    ) -> Result<()> {
        let options = PageOptions::for_writer(created_by).with_limits(limits.clone());
        let mut pages = PageReader::new(source.clone(), chunk, options, PageBuffers::default())?;
        let mut data_pages = 0;
        while let Some(header) = pages.next_header()? {
            limits.cancel.check()?;
            if room.try_update(Relaxed, Relaxed, |room| room.checked_sub(1)).is_err() {
                self.found.is_cut = true;
                return Ok(());
            }
            let number = header.is_data().then_some(data_pages);
            data_pages += usize::from(header.is_data());
            self.add(&header, number, indexes);
        }
        Ok(())
    }

    /// Adds a page; `number` is the index of a data page among those of the chunk.
    fn add(&mut self, header: &LocatedHeader, number: Option<usize>, indexes: &Indexes) {
        let values = match &header.header.dictionary_page_header {
            Some(dictionary) => u64::try_from(dictionary.num_values).unwrap_or(0),
            None => header.num_values().map_or(0, |values| values as u64),
        };
        let range = header.range();
        let v2 = header.header.data_page_header_v2.as_ref();
        let (first_row, rows) = match number {
            Some(number) => self.rows_of(header, values, number, indexes),
            None => (None, None),
        };
        let nulls = v2.and_then(|header| u64::try_from(header.num_nulls).ok());
        let page = PageFacts {
            index: header.index,
            header_len: header.body - header.offset,
            uncompressed_len: u64::try_from(header.header.uncompressed_page_size).unwrap_or(0),
            values,
            first_row,
            rows,
            nulls: nulls.or_else(|| {
                let counts = indexes.bounds.as_ref()?.null_counts.as_ref()?;
                u64::try_from(*counts.get(number?)?).ok()
            }),
            encoding: header.encoding().or(header
                .header
                .dictionary_page_header
                .as_ref()
                .map(|header| header.encoding)),
            is_v2: v2.is_some(),
            has_checksum: header.header.crc.is_some(),
        };
        let kind = if header.is_dictionary() { PartKind::DictionaryPage } else { PartKind::DataPage };
        self.found.parts.push(FilePart { range, kind, chunk: None, page: Some(page) });
    }

    /// Returns the first row of a data page, and the number of its rows.
    fn rows_of(
        &mut self,
        header: &LocatedHeader,
        values: u64,
        number: usize,
        indexes: &Indexes,
    ) -> (Option<u64>, Option<u64>) {
        if let Some(rows) = header.num_rows().map(|rows| rows as u64).or(indexes.is_flat.then_some(values)) {
            let first = self.rows;
            self.rows = self.rows.saturating_add(rows);
            return (Some(first), Some(rows));
        }
        let Some(places) = &indexes.places else { return (None, None) };
        let row = |number: usize| u64::try_from(places.page_locations.get(number)?.first_row_index).ok();
        let first = row(number);
        let end = if number + 1 < places.page_locations.len() { row(number + 1) } else { Some(indexes.rows) };
        (first, end.zip(first).map(|(end, first)| end.saturating_sub(first)))
    }
}
