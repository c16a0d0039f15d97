//! The page index of several column chunks, parsed and kept in memory.

use super::{read_column_index, read_offset_index};
use crate::metadata::{ColumnChunk, ParquetMetaData};
use crate::source::Source;
use marquetry_base::{Error, Limits, Result};
use marquetry_format::{ColumnIndex, OffsetIndex, PageLocation};
use std::collections::BTreeMap;

/// The column indexes and offset indexes of some column chunks of a file.
///
/// The indexes are as the file has them: whether one matches its chunk is checked when it is used.
///
/// ```
/// use marquetry_core::io::read_metadata;
/// use marquetry_core::page_index::PageIndex;
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// # let file = bytes::Bytes::from(std::fs::read(path)?);
/// let metadata = read_metadata(&file, &Default::default())?.metadata;
/// let name = metadata.schema().find("name").unwrap();
/// let index = PageIndex::read(&file, &metadata, 0..metadata.num_row_groups(), &[name], &Default::default())?;
/// let pages = &index.offset_index(0, name).unwrap().page_locations;
/// assert_eq!(pages[0].first_row_index, 0);
/// assert!(index.column_index(0, name + 1).is_none()); // was not asked for
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PageIndex {
    /// The indexes by row group and column.
    chunks: BTreeMap<(usize, usize), Indexes>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Indexes {
    column: Option<ColumnIndex>,
    offset: Option<OffsetIndex>,
}

impl PageIndex {
    /// Reads the indexes of `columns`, which are leaf numbers, in `row_groups`. A chunk may lack either index, or both;
    /// one whose pages are in another file has none here.
    ///
    /// Fails if a row group or a column does not exist, if an index is damaged, encrypted without a key, or exceeds the
    /// limits, and if `source` fails. The error names column and row group. Pruning can continue without the index.
    pub fn read(
        source: &dyn Source,
        metadata: &ParquetMetaData,
        row_groups: impl IntoIterator<Item = usize>,
        columns: &[usize],
        limits: &Limits,
    ) -> Result<PageIndex> {
        let (groups, leaves) = (metadata.num_row_groups(), metadata.schema().num_columns());
        if let Some(missing) = columns.iter().find(|&&column| column >= leaves) {
            return Err(Error::argument(format!("no column {missing}, there are {leaves}")));
        }
        let mut chunks = Vec::new();
        for row_group in row_groups {
            if row_group >= groups {
                return Err(Error::argument(format!("no row group {row_group}, there are {groups}")));
            }
            for &column in columns {
                let chunk = metadata.row_group(row_group).column(column)?;
                chunks.extend(chunk.elsewhere().is_none().then_some((row_group, column, chunk)));
            }
        }
        if source.request_cost().is_some() {
            let ranges = chunks
                .iter()
                .flat_map(|(.., chunk)| [chunk.column_index_range(), chunk.offset_index_range()]);
            source.prefetch(&ranges.flatten().collect::<Vec<_>>())?;
        }
        let mut index = PageIndex::default();
        for (row_group, column, chunk) in chunks {
            let found = Indexes::read(source, chunk, limits)
                .map_err(|error| error.in_column(chunk.leaf().dotted().clone()).in_row_group(row_group))?;
            index.chunks.insert((row_group, column), found);
        }
        Ok(index)
    }

    /// Returns the bounds of the data pages of a column chunk; `None` if the file has none, or if they were not read.
    pub fn column_index(&self, row_group: usize, column: usize) -> Option<&ColumnIndex> {
        self.chunks.get(&(row_group, column))?.column.as_ref()
    }

    /// Returns the places of the data pages of a column chunk; `None` if the file has none, or if they were not read.
    pub fn offset_index(&self, row_group: usize, column: usize) -> Option<&OffsetIndex> {
        self.chunks.get(&(row_group, column))?.offset.as_ref()
    }

    /// Adds all indexes of `other`, which must be of the same file.
    pub fn extend(&mut self, other: PageIndex) {
        self.chunks.extend(other.chunks);
    }

    /// Returns about how many bytes of memory this takes.
    pub fn memory_size(&self) -> usize {
        let entry = size_of::<((usize, usize), Indexes)>();
        self.chunks.values().map(|chunk| entry + chunk.heap_size()).sum()
    }
}

impl Indexes {
    fn read(source: &dyn Source, chunk: ColumnChunk<'_>, limits: &Limits) -> Result<Self> {
        Ok(Indexes {
            column: read_column_index(source, chunk, limits)?,
            offset: read_offset_index(source, chunk, limits)?,
        })
    }

    fn heap_size(&self) -> usize {
        let words = |list: &Option<Vec<i64>>| list.as_ref().map_or(0, |list| 8 * list.capacity());
        let strings = |list: &[Vec<u8>]| {
            list.iter().map(|value| size_of::<Vec<u8>>() + value.capacity()).sum::<usize>()
        };
        let column = self.column.as_ref().map_or(0, |index| {
            index.null_pages.capacity()
                + strings(&index.min_values)
                + strings(&index.max_values)
                + words(&index.null_counts)
                + words(&index.nan_counts)
                + words(&index.repetition_level_histograms)
                + words(&index.definition_level_histograms)
        });
        let offset = self.offset.as_ref().map_or(0, |index| {
            size_of::<PageLocation>() * index.page_locations.capacity()
                + words(&index.unencoded_byte_array_data_bytes)
        });
        column + offset
    }
}
