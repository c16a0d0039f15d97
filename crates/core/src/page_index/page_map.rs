//! Maps rows to pages: an offset index that may be used to skip pages without reading them.

use super::read_offset_index;
use crate::metadata::ColumnChunk;
use crate::source::Source;
use marquetry_base::{ErrorKind, Limits, Result};
use marquetry_format::OffsetIndex;
use std::ops::Range;

/// The places of a chunk's data pages, and the rows that begin in each.
///
/// It is what the file states. Everything that can be checked without the pages is checked here; the reader of a page
/// compares it with [`rows`](Self::rows).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLocations {
    pages: Vec<MappedPage>,
    rows: u64,
}

/// A page of [`PageLocations`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MappedPage {
    offset: u64,
    len: u64,
    first_row: u64,
}

impl PageLocations {
    /// Reads the pages of `chunk`, in a row group of `rows` rows; `None` if there is no offset index, or one that is
    /// damaged or impossible. Fails only if the source does.
    pub fn read(
        source: &dyn Source,
        chunk: ColumnChunk<'_>,
        rows: u64,
        limits: &Limits,
    ) -> Result<Option<PageLocations>> {
        let pages = chunk.byte_range().unwrap_or(0..0);
        match read_offset_index(source, chunk, limits) {
            Ok(index) => Ok(index.and_then(|index| PageLocations::new(&index, &pages, rows))),
            Err(error) if error.stops_reading() || error.kind() == ErrorKind::Argument => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Creates the pages of a chunk in `bytes`, in a row group of `rows` rows; `None` if the index is impossible.
    pub fn new(index: &OffsetIndex, bytes: &Range<u64>, rows: u64) -> Option<PageLocations> {
        let mut pages = Vec::with_capacity(index.page_locations.len());
        let (mut offset, mut row) = (bytes.start, 0);
        for location in &index.page_locations {
            let page = MappedPage {
                offset: u64::try_from(location.offset).ok()?,
                len: u64::try_from(location.compressed_page_size).ok()?,
                first_row: u64::try_from(location.first_row_index).ok()?,
            };
            let is_first_row = !pages.is_empty() || page.first_row == 0;
            if page.offset < offset || page.len == 0 || page.first_row < row || page.first_row > rows {
                return None;
            }
            (offset, row) = (page.offset.checked_add(page.len)?, page.first_row);
            is_first_row.then(|| pages.push(page))?;
        }
        (!pages.is_empty()).then_some(PageLocations { pages, rows })
    }

    /// Returns the number of data pages, at least one.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Always false, because there is at least one page.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Returns the byte range of data page `page`, header included.
    ///
    /// # Panics
    /// If there is no such page.
    pub fn bytes(&self, page: usize) -> Range<u64> {
        let page = self.pages[page];
        page.offset..page.offset + page.len
    }

    /// Returns the rows of the row group that begin in data page `page`.
    ///
    /// # Panics
    /// If there is no such page.
    pub fn rows(&self, page: usize) -> Range<u64> {
        let end = self.pages.get(page + 1).map_or(self.rows, |next| next.first_row);
        self.pages[page].first_row..end
    }

    /// Returns the page in which row `row` begins; the last page for rows that do not exist.
    pub fn page_of(&self, row: u64) -> usize {
        self.pages.partition_point(|page| page.first_row <= row).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_format::PageLocation;

    fn index(pages: &[(i64, i32, i64)]) -> OffsetIndex {
        let location = |&(offset, compressed_page_size, first_row_index)| PageLocation {
            offset,
            compressed_page_size,
            first_row_index,
        };
        OffsetIndex { page_locations: pages.iter().map(location).collect(), ..OffsetIndex::default() }
    }

    #[test]
    fn rows_are_found() {
        let map =
            PageLocations::new(&index(&[(10, 5, 0), (15, 20, 7), (40, 1, 7), (41, 9, 9)]), &(4..50), 20)
                .unwrap();
        let found: Vec<usize> = [0, 6, 7, 8, 9, 19, 20, 99].map(|row| map.page_of(row)).into();
        assert_eq!(found, [0, 0, 2, 2, 3, 3, 3, 3]);
        assert_eq!((map.rows(1), map.rows(2), map.rows(3)), (7..7, 7..9, 9..20));
        assert_eq!(map.bytes(3), 41..50);
    }

    #[test]
    fn what_cannot_be_true_is_no_map() {
        let bytes = 10..50;
        for wrong in [
            &[][..],
            &[(10, 5, 1)],
            &[(9, 5, 0)],
            &[(10, 0, 0)],
            &[(10, 5, 0), (14, 5, 3)],
            &[(10, 5, 0), (15, 5, -3)],
            &[(10, 5, 0), (15, 5, 21)],
            &[(10, 5, 0), (15, 5, 9), (20, 5, 8)],
        ] {
            assert_eq!(PageLocations::new(&index(wrong), &bytes, 20), None, "{wrong:?}");
        }
    }
}
