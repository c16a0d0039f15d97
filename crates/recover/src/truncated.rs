//! Finds a row group of which only the first columns are there, because the file or the undamaged part of it ends in it.

use crate::ambiguity::is_unambiguous;
use crate::group_layout::{GroupLayout, MAX_TRIED_LAYOUTS, RebuiltGroup, is_like};
use crate::page_set::PageSet;
use marquetry_base::{Error, Result};
use marquetry_core::schema::Leaf;
use marquetry_format::ColumnMetaData;
use std::cmp::Reverse;

/// Returns the complete columns of the row group that begins with a page, and the page behind them.
pub(crate) fn truncated_group(pages: &mut PageSet<'_>, at: usize) -> Result<Option<(RebuiltGroup, usize)>> {
    let Some((layout, metas, is_chosen)) = first_columns(pages, at) else { return Ok(None) };
    let end = layout.chunks.last().map_or(at, |chunk| chunk.end);
    let lost =
        |leaf: &Leaf| Err(Error::truncated("its pages are not there").in_column(leaf.dotted().clone()));
    let lost = pages.schema.columns()[metas.len()..].iter().map(lost);
    let chunks = metas.into_iter().map(Ok).chain(lost).collect();
    Ok(Some((RebuiltGroup { is_chosen, ..pages.rebuilt(&layout, chunks, true) }, end)))
}

/// Whether the first columns of a row group begin with a page, and are of different kinds.
pub(crate) fn begins_group(pages: &mut PageSet<'_>, at: usize) -> bool {
    let Some((layout, ..)) = first_columns(pages, at) else { return false };
    let first = pages.schema.column(0);
    (1..layout.chunks.len()).any(|i| !is_like(first, pages.schema.column(i), false))
}

/// Returns as many columns of a row group as follow each other from a page on, and whether they were chosen among
/// several layouts.
///
/// `None` if the pages can be read in another way, or if there are fewer than two columns: one chunk alone does not
/// show whether it is complete.
fn first_columns(pages: &mut PageSet<'_>, at: usize) -> Option<(GroupLayout, Vec<ColumnMetaData>, bool)> {
    let mut layouts = beginnings(pages, at);
    let is_chosen = layouts.len() > 1;
    let all_alike = pages.all_alike();
    layouts.sort_by_cached_key(|layout| {
        Reverse((all_alike.then(|| pages.split(layout)), layout.chunks.len(), layout.natural))
    });
    let mut tried = 0;
    for mut layout in layouts {
        if tried == MAX_TRIED_LAYOUTS || !is_unambiguous(pages, &layout) {
            continue;
        }
        tried += 1;
        let cost: u64 = pages.pages_of(&layout).iter().map(|page| page.uncompressed() / 8).sum();
        if !pages.budget.spend(cost) {
            return None;
        }
        let described = pages.described(&layout, 0..layout.chunks.len(), false);
        let metas: Vec<_> = described.into_iter().map_while(Result::ok).map_while(Result::ok).collect();
        if metas.len() == layout.chunks.len() {
            return Some((layout, metas, is_chosen));
        }
        layout.chunks.truncate(metas.len());
        if metas.len() > 1 && is_unambiguous(pages, &layout) {
            return Some((layout, metas, is_chosen));
        }
    }
    None
}

/// Returns all layouts of two columns or more that begin with a page.
fn beginnings(pages: &mut PageSet<'_>, at: usize) -> Vec<GroupLayout> {
    let mut layouts = Vec::new();
    let (mut rows, mut end) = (0u64, at);
    while let Some(next) = pages.add(0, at, end, &mut rows) {
        end = next;
        if pages.pages[end - 1].is_dictionary() || rows == 0 || pages.is_of_other(end, 0) {
            continue;
        }
        let first = at..end;
        let natural = usize::from(pages.ends_naturally(&first));
        let mut layout = GroupLayout { natural, chunks: vec![first], rows };
        while layout.chunks.len() < pages.schema.num_columns() {
            let start = layout.chunks[layout.chunks.len() - 1].end;
            let Some(chunk) = pages.chunk(layout.chunks.len(), start, rows) else { break };
            layout.natural += usize::from(pages.ends_naturally(&chunk));
            layout.chunks.push(chunk);
        }
        if layout.chunks.len() > 1 {
            layouts.push(layout);
        }
    }
    layouts
}
