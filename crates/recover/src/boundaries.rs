//! The bytes between pages that follow each other, and behind the last of them. They show where chunks and row groups
//! end, and name columns.

use crate::filler::{self, Filler, FooterHead};
use crate::found_page::FoundPage;
use crate::table_layout::TableLayout;
use crate::window::Window;
use marquetry_format::ThriftString;
use std::collections::HashMap;

/// The boundary that must be before a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Boundary {
    Unknown,
    Chunk,
    RowGroup,
}

/// The boundaries between pages, from the first page to the first damage.
pub(crate) struct Boundaries {
    /// The boundary before each page.
    before: Vec<Boundary>,
    /// Whether something behind the last page shows that the row group ends with it.
    pub(crate) is_closed: bool,
    /// Column paths in the metadata of chunks, by the page behind the chunk.
    paths: HashMap<usize, Vec<ThriftString>>,
    /// The facts about the schema in the first bytes of the footer, if they are there.
    pub(crate) footer: Option<FooterHead>,
}

impl Boundaries {
    /// Finds the boundaries of the pages up to the first damage, and returns these pages, too. The first page begins a
    /// row group.
    pub(crate) fn find<'a>(window: &mut Window, pages: &'a [FoundPage]) -> (Self, &'a [FoundPage]) {
        let (mut before, mut paths) = (vec![Boundary::RowGroup], HashMap::new());
        for (last, page) in pages.iter().zip(pages.iter().skip(1)) {
            let gap = last.end..page.offset;
            let (filler, end) = filler::fillers(window, gap.clone());
            if end != gap.end {
                break;
            }
            // Most pages follow each other without a gap.
            if let Some(path) = filler.and_then(|_| filler::chunk_path(window, gap)) {
                paths.insert(before.len(), path);
            }
            before.push(match filler {
                Some(filler) if filler.ends_row_group() => Boundary::RowGroup,
                Some(_) => Boundary::Chunk,
                None => Boundary::Unknown,
            });
        }
        let pages = &pages[..before.len().min(pages.len())];
        let behind = pages.last().map_or(0, |page| page.end);
        let (filler, end) = filler::fillers(window, behind..window.source.len());
        if let Some(path) = filler::chunk_path(window, behind..end) {
            paths.insert(pages.len(), path);
        }
        let is_closed = filler.is_some_and(Filler::ends_row_group) || filler::begins_footer(window, end);
        let footer = filler::footer_head(window, end);
        (Boundaries { before, is_closed, paths, footer }, pages)
    }

    /// Returns the boundary that must be before a page.
    pub(crate) fn before(&self, page: usize) -> Boundary {
        self.before[page]
    }

    /// Whether a layout of all `pages` has the columns that the file names: those in the beginning of its schema, and
    /// those in the metadata behind chunks.
    pub(crate) fn allow(&self, layout: &TableLayout, pages: usize) -> bool {
        if let Some(FooterHead { elements, fields }) = self.footer
            && !layout.is_open
        {
            // Each column is an element, and is in a field of the root. If all elements are fields, there are no
            // groups.
            let fewest = fields.unwrap_or(1);
            let most = if fields == Some(elements - 1) { fewest } else { elements - 1 };
            if !(fewest..=most).contains(&layout.columns) {
                return false;
            }
        }
        if self.paths.is_empty() {
            return true;
        }
        let (mut columns, mut names) = (HashMap::new(), HashMap::new());
        let groups = layout.groups.iter().chain(&layout.cut_off);
        groups.flat_map(|group| group.chunks.iter().enumerate()).all(|(column, chunk)| {
            // A writer that puts metadata behind chunks does so behind each of them.
            let Some(path) = self.paths.get(&chunk.end) else { return chunk.end == pages };
            *columns.entry(path).or_insert(column) == column && *names.entry(column).or_insert(path) == path
        })
    }
}
