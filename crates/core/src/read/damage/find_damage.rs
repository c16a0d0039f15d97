//! Finds the damage of a column chunk: walks over its page headers and decodes every page.

use super::chunk_damage::ChunkDamage;
use super::header_walk::{HeaderWalk, PageRole, WalkedPage, is_plausible};
use super::reconcile::{apply_offset_index, locate_rows, reconcile_rows, reject_contradicted};
use crate::metadata::ParquetMetaData;
use crate::page::{PageBuffers, PageOptions};
use crate::page_index::read_offset_index;
use crate::read::column_chunk::ColumnChunkReader;
use crate::read::page_decoder::TrailingBytes;
use crate::read::target::{ReadTarget, ValueLayout};
use crate::source::Source;
use marquetry_base::{Error, Result};
use std::sync::Arc;

/// Finds the damage of column `leaf` in `row_group` by decoding every page. Fails only if the source does, or a memory
/// limit is reached.
pub fn find_damage(
    source: &Arc<dyn Source>,
    metadata: &ParquetMetaData,
    row_group: usize,
    leaf: usize,
    target: &ReadTarget,
    options: &PageOptions,
) -> Result<ChunkDamage> {
    let group = metadata.row_group(row_group);
    let rows = group.num_rows();
    // Decodes values whatever the layout: a page with indices outside of the dictionary is damaged in any layout.
    let target = Arc::new(ReadTarget { layout: ValueLayout::Native, ..target.clone() });
    let chunk = match group.column(leaf) {
        Ok(chunk) => chunk,
        Err(error) => return ChunkDamage::total(rows, 0..0, error),
    };
    let bytes = chunk.byte_range().unwrap_or(0..0);
    let reader = ColumnChunkReader::new(
        source.clone(),
        chunk,
        target.clone(),
        options.clone(),
        PageBuffers::default(),
    );
    let mut reader = match reader {
        Ok(reader) => reader,
        Err(error) => return ChunkDamage::total(rows, bytes, error),
    };
    let mut walk = HeaderWalk::new(reader.pages(), chunk, rows)?;
    let mut is_counted = walk.adds_up(rows);
    let mut index = None;
    if !is_counted || walk.rows.is_none() {
        index = match read_offset_index(&**source, chunk, &options.limits) {
            Err(error) if error.is_damage() => None,
            index => index?.filter(|index| is_plausible(index, &bytes, rows)),
        };
    }
    if let Some(index) = index.take_if(|_| !is_counted) {
        walk = HeaderWalk::by_index(reader.pages(), &index, &bytes, rows, target.max_rep > 0)?;
        is_counted = true;
    }
    let has_all_entries = walk.has_all_values;
    let is_counted = is_counted && walk.rows.is_some();
    // SPEC: rows begin with V2 pages, and with all pages if there is an offset index.
    let cuts_rows = target.max_rep > 0 && walk.rows.is_none() && walk.has_v1;
    let has_all_values = walk.has_all_values || is_counted;
    // After an error, the walk has added the rest as a page already.
    let rest = if is_counted || walk.error.is_some() { 0..0 } else { walk.end..bytes.end };
    let mut pages = walk.into_pages(&bytes);
    if !has_all_values {
        // One of these pages may have the missing values.
        pages.iter_mut().filter(|page| page.role == PageRole::Other).for_each(WalkedPage::suspect);
    }
    decode_all(&mut reader, &mut pages, rows)?;
    reconcile_rows(&mut pages, rows, is_counted);
    reject_contradicted(&mut pages, chunk, is_counted);
    if !rest.is_empty() && pages.iter().any(|page| page.reason.is_some()) {
        // Counts that added up by chance ended the walk too early.
        pages.push(WalkedPage::lost(pages.len(), rest, "behind pages that are lost".to_owned()));
    }
    if target.max_rep > 0
        && !has_all_entries
        && pages.iter().all(|page| page.reason.is_none())
        && pages.iter().map(|page| page.entries).sum::<u64>() != chunk.num_values().unsigned_abs()
    {
        // The last row of some page has too few or too many entries.
        let error = Error::corrupt(format!("the pages have other than {} entries", chunk.num_values()));
        return ChunkDamage::total(rows, bytes, error);
    }
    let is_indexed = index.is_some_and(|index| apply_offset_index(&mut pages, &index, rows));
    // QUIRK: some files have pages with more rows than the row group. That is not damage if the footer counts their
    // values as well.
    let may_exceed = has_all_values || is_indexed;
    Ok(locate_rows(pages, rows, bytes, may_exceed, cuts_rows && !is_indexed))
}

/// Decodes all pages, up to `rows` rows.
fn decode_all(reader: &mut ColumnChunkReader, pages: &mut [WalkedPage], rows: u64) -> Result<()> {
    let mut before = 0u64;
    for page in pages {
        decode(reader, page, rows.saturating_sub(before))?;
        before = before.saturating_add(page.rows.unwrap_or(0));
    }
    Ok(())
}

/// Decodes a page, up to `left` rows.
fn decode(reader: &mut ColumnChunkReader, page: &mut WalkedPage, left: u64) -> Result<()> {
    page.claimed = page.rows;
    if page.reason.is_some() {
        return Ok(());
    }
    let header = reader.pages().seek(page.bytes.start, page.index);
    let decoded = header.and_then(|header| match page.role {
        PageRole::Dictionary => reader.try_dictionary(&header).map(|()| (0, TrailingBytes::default())),
        PageRole::Data => reader.try_decode(header, left),
        PageRole::Other => Ok((0, TrailingBytes::default())),
    });
    match decoded {
        Ok((rows, trailing)) => (page.rows, page.trailing) = (Some(rows), trailing),
        Err(error) if error.is_damage() => page.reason = Some(error.message().to_owned()),
        Err(error) => return Err(error),
    }
    Ok(())
}
