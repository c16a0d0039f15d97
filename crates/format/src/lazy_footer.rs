//! A lazily parsed footer: column chunks and key-value pairs stay in the bytes of the footer until they are read, so
//! that opening a wide file is cheap.

use crate::chunk_layout::ChunkLayout;
use crate::thrift::{Bookmark, Elements, LayoutCache, LayoutMatch, Reader, Wire};
use crate::{ChunkView, ColumnOrder, FileMetaData, KeyValueView, RowGroup, SchemaElement, SortingColumn};
use marquetry_base::{Limits, Result};

/// A parsed [`FileMetaData`] whose column chunks and key-value pairs are kept as byte offsets and decoded on demand.
///
/// Parsing checks that all bytes are valid Thrift, but not the fields of column chunks.
#[derive(Debug, Clone)]
pub struct LazyFooter {
    /// All fields except row groups and key-value metadata, which are empty.
    pub fields: FileMetaData,
    /// The row groups.
    pub row_groups: Vec<LazyRowGroup>,
    /// The key-value metadata: position of the first pair, remaining nesting depth, and number of pairs.
    key_values: Option<(u32, usize, usize)>,
    /// The remaining nesting depth inside a column chunk.
    chunk_depth: usize,
    /// The field positions of the chunks of each layout; `None` if such chunks must be read field by field.
    layouts: Vec<Option<ChunkLayout>>,
}

/// A [`RowGroup`] whose column chunks are kept as byte offsets.
#[derive(Debug, Clone)]
pub struct LazyRowGroup {
    /// All fields except column chunks, which are empty.
    pub fields: RowGroup,
    /// The byte offset of each chunk in the footer.
    starts: Vec<u32>,
    /// The layout of each chunk: an index into [`LazyFooter::layouts`], or an index beyond its end if the chunk has none.
    layout_ids: Vec<u8>,
}

impl LazyRowGroup {
    /// The number of column chunks.
    pub fn num_columns(&self) -> usize {
        self.starts.len()
    }
}

impl LazyFooter {
    /// Parses a footer like [`parse_metadata`](crate::parse_metadata), except for the fields of column chunks.
    pub fn parse(footer: &[u8], limits: &Limits) -> Result<Self> {
        // Offsets are stored as 32 bits, like the length of a footer in the file.
        Limits::check("footer_bytes", footer.len(), limits.footer_bytes.min(u32::MAX as usize))?;
        let r = &mut Reader::with_limits(footer, limits);
        let mut cache = LayoutCache::default();
        let (mut chunk_depth, mut layouts) = (0, Vec::new());
        let read_group = |r: &mut Reader<'_>| {
            let (fields, (starts, layout_ids)) = RowGroup::read_with(r, |r| {
                let mut layout_ids = Vec::new();
                let starts = r.list(Wire::Struct, |r| {
                    chunk_depth = r.depth();
                    let start = r.bookmark();
                    let found = cache.skip(r, layout_ids.len())?;
                    if let LayoutMatch::Inserted(_) = found {
                        layouts.push(ChunkLayout::new(start, cache.segments()));
                    }
                    layout_ids.push(match found {
                        LayoutMatch::Hit(id) | LayoutMatch::Inserted(id) => id,
                        LayoutMatch::Uncached => u8::MAX,
                    });
                    Ok(start.position() as u32)
                })?;
                Ok(starts.map(|starts| (starts, layout_ids)))
            })?;
            Ok(LazyRowGroup { fields, starts, layout_ids })
        };
        let skip_pairs = |r: &mut Reader<'_>| {
            let pairs = r.elements::<KeyValueView>()?.map(Elements::parts);
            Ok(pairs.map(|(first, len)| (first.position() as u32, first.depth(), len)))
        };
        let (fields, row_groups, key_values) = FileMetaData::read_with(r, read_group, skip_pairs)?;
        Ok(LazyFooter { fields, row_groups, key_values, chunk_depth, layouts })
    }

    /// The approximate memory in bytes, without the footer that was parsed.
    pub fn memory_size(&self) -> usize {
        let of_group = |group: &LazyRowGroup| {
            let sorting = group.fields.sorting_columns.as_ref().map_or(0, Vec::len);
            size_of::<LazyRowGroup>()
                + group.starts.capacity() * size_of::<u32>()
                + group.layout_ids.capacity()
                + sorting * size_of::<SortingColumn>()
        };
        let orders = self.fields.column_orders.as_ref().map_or(0, Vec::len);
        self.row_groups.iter().map(of_group).sum::<usize>()
            + self.fields.schema.len() * size_of::<SchemaElement>()
            + orders * size_of::<ColumnOrder>()
            + self.layouts.len() * size_of::<Option<ChunkLayout>>()
    }

    /// The key-value metadata, if there is any. `footer` must be the bytes that were parsed.
    pub fn key_values<'a>(&self, footer: &'a [u8]) -> Option<Elements<'a, KeyValueView<'a>>> {
        let (at, depth, len) = self.key_values?;
        Some(Elements::at(Bookmark::inside(footer, at as usize, depth), len))
    }

    /// Reads column chunk `number` of a row group into `view`, which must be empty. `footer` must be the bytes that were parsed.
    ///
    /// # Panics
    /// If the row group or the chunk does not exist.
    #[inline]
    pub fn chunk<'a>(
        &self,
        footer: &'a [u8],
        row_group: usize,
        number: usize,
        view: &mut ChunkView<'a>,
    ) -> Result<()> {
        let LazyRowGroup { starts, layout_ids, .. } = &self.row_groups[row_group];
        let start = Bookmark::inside(footer, starts[number] as usize, self.chunk_depth);
        if let Some(Some(layout)) = self.layouts.get(usize::from(layout_ids[number]))
            && layout.read(start, view).is_some()
        {
            return Ok(());
        }
        view.read(&mut start.reader())
    }
}
