//! A footer whose column chunks were passed over: what opening a file takes, however wide it is.

use crate::template::Template;
use crate::thrift::{Alike, Bookmark, Elements, Reader, Seen, Wire};
use crate::{ChunkView, FileMetaData, KeyValueView, RowGroup};
use marquetry_base::{Limits, Result};

/// A [`FileMetaData`] without its row groups and its key-value metadata, and what is to be known of these beforehand.
///
/// That all bytes can be read as Thrift was checked; what the fields of a column chunk hold was not.
#[derive(Debug, Clone)]
pub struct Outline {
    /// Everything but row groups and key-value metadata, of which it has none.
    pub head: FileMetaData,
    /// The row groups.
    pub row_groups: Vec<RowGroupOutline>,
    /// Where the first pair of the key-value metadata is, how many structs and lists may be entered there, and how many
    /// pairs there are.
    key_values: Option<(u32, usize, usize)>,
    /// How many structs and lists may be entered in a column chunk.
    chunk_depth: usize,
    /// How chunks of each shape are read, if not field by field.
    templates: Vec<Option<Template>>,
}

/// A [`RowGroup`] without its column chunks, and where these are.
#[derive(Debug, Clone)]
pub struct RowGroupOutline {
    /// Everything but column chunks, of which it has none.
    pub head: RowGroup,
    /// Where each chunk begins: bytes from the start of the footer.
    starts: Vec<u32>,
    /// The shape of each, a number of [`Outline::templates`] or beyond.
    shapes: Vec<u8>,
}

impl RowGroupOutline {
    /// How many column chunks there are.
    pub fn num_columns(&self) -> usize {
        self.starts.len()
    }
}

impl Outline {
    /// Reads a footer as [`parse_metadata`](crate::parse_metadata) does, but for what the fields of column chunks hold.
    pub fn parse(footer: &[u8], limits: &Limits) -> Result<Self> {
        // Places are kept as 32 bits, which is what the length of a footer has in its file.
        Limits::check("footer_bytes", footer.len(), limits.footer_bytes.min(u32::MAX as usize))?;
        let r = &mut Reader::with_limits(footer, limits);
        let mut alike = Alike::default();
        let (mut chunk_depth, mut templates) = (0, Vec::new());
        let read_group = |r: &mut Reader<'_>| {
            let (head, (starts, shapes)) = RowGroup::read_around(r, |r| {
                let mut shapes = Vec::new();
                let starts = r.list(Wire::Struct, |r| {
                    chunk_depth = r.depth();
                    let start = r.bookmark();
                    let seen = alike.skip(r, shapes.len())?;
                    if let Seen::New(_) = seen {
                        templates.push(Template::of(start, alike.pieces()));
                    }
                    shapes.push(match seen {
                        Seen::Known(shape) | Seen::New(shape) => shape,
                        Seen::Shapeless => u8::MAX,
                    });
                    Ok(start.position() as u32)
                })?;
                Ok(starts.map(|starts| (starts, shapes)))
            })?;
            Ok(RowGroupOutline { head, starts, shapes })
        };
        let pass_pairs = |r: &mut Reader<'_>| {
            let pairs = r.elements::<KeyValueView>()?.map(Elements::parts);
            Ok(pairs.map(|(first, len)| (first.position() as u32, first.depth(), len)))
        };
        let (head, row_groups, key_values) = FileMetaData::read_around(r, read_group, pass_pairs)?;
        Ok(Outline { head, row_groups, key_values, chunk_depth, templates })
    }

    /// The key-value metadata, if there is any; `footer` must be what was parsed.
    pub fn key_values<'a>(&self, footer: &'a [u8]) -> Option<Elements<'a, KeyValueView<'a>>> {
        let (at, depth, len) = self.key_values?;
        Some(Elements::at(Bookmark::inside(footer, at as usize, depth), len))
    }

    /// Reads column chunk `number` of a row group into `view`, which is unread; `footer` must be what was parsed.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn chunk<'a>(
        &self,
        footer: &'a [u8],
        row_group: usize,
        number: usize,
        view: &mut ChunkView<'a>,
    ) -> Result<()> {
        let RowGroupOutline { starts, shapes, .. } = &self.row_groups[row_group];
        let start = Bookmark::inside(footer, starts[number] as usize, self.chunk_depth);
        if let Some(Some(template)) = self.templates.get(usize::from(shapes[number]))
            && template.read(start, view).is_some()
        {
            return Ok(());
        }
        view.read(&mut start.reader())
    }
}
