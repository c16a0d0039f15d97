//! Finds all parts of a file, and the gaps between them.

use super::pages::pages_of_chunk;
use super::part::{FileLayout, FilePart, PartKind};
use marquetry_base::{Limits, Result, ThreadPool, available_threads, parallel_map};
use marquetry_core::io::{FileRegion, RegionKind, file_regions};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::source::Source;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// Returns the purpose of each byte of a file. Reads the headers of all pages, and the indexes; decodes nothing.
///
/// Up to a million pages are listed one by one; the other pages of a chunk are one part. Chunks whose pages cannot be
/// found are in [`FileLayout::problems`]. Fails only if `limits` demand it.
///
/// ```
/// use marquetry_core::io::read_metadata;
/// use marquetry_core::source::Source;
/// use marquetry_inspect::{PartKind, file_layout};
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// let source: std::sync::Arc<dyn Source> = std::sync::Arc::new(bytes::Bytes::from(std::fs::read(path)?));
/// let limits = std::sync::Arc::new(marquetry_base::Limits::default());
/// let metadata = read_metadata(&*source, &limits)?;
/// let layout = file_layout(&source, &std::sync::Arc::new(metadata.metadata), &limits)?;
/// let bytes = layout.bytes_by_kind();
/// assert_eq!(bytes.iter().map(|(_, bytes)| bytes).sum::<u64>(), source.len());
/// assert_eq!(bytes[0].0, PartKind::DataPage);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn file_layout(
    source: &Arc<dyn Source>,
    metadata: &Arc<ParquetMetaData>,
    limits: &Arc<Limits>,
) -> Result<FileLayout> {
    let size = source.len();
    let (chunks, others): (Vec<FileRegion>, Vec<FileRegion>) =
        file_regions(&**source, metadata).into_iter().partition(|region| region.kind == RegionKind::Pages);
    let walk = {
        let (source, metadata, limits) = (source.clone(), metadata.clone(), limits.clone());
        let room = AtomicUsize::new(MOST_PAGES);
        move |region: FileRegion, (): &mut ()| {
            let chunk = region.chunk.unwrap_or_default();
            let pages = pages_of_chunk(&source, &metadata, chunk, &limits, &room);
            (region, pages)
        }
    };
    let mut threads = vec![(); available_threads().min(chunks.len()).max(1)];
    let walked = parallel_map(&ThreadPool::new("marquetry-layout"), chunks, &mut threads, walk);
    limits.cancel.check()?;
    let (mut parts, mut problems) = (Vec::new(), Vec::new());
    for (region, pages) in walked {
        let rest = gaps(region.range.clone(), pages.parts.iter().map(|page| page.range.clone()));
        let kind = if pages.is_cut { PartKind::Pages } else { PartKind::Unread };
        parts.extend(rest.map(|range| FilePart { range, kind, chunk: region.chunk, page: None }));
        parts.extend(pages.parts);
        problems.extend(pages.problems);
    }
    parts.extend(others.into_iter().map(|region| FilePart {
        range: region.range,
        kind: match region.kind {
            RegionKind::ColumnIndex => PartKind::ColumnIndex,
            RegionKind::OffsetIndex => PartKind::OffsetIndex,
            RegionKind::BloomFilter => PartKind::BloomFilter,
            RegionKind::Footer => PartKind::Footer,
            _ => PartKind::Magic,
        },
        chunk: region.chunk,
        page: None,
    }));
    // A damaged footer may give places outside of the file.
    for part in &mut parts {
        part.range = part.range.start.min(size)..part.range.end.min(size);
    }
    parts.retain(|part| !part.range.is_empty());
    let by_place = |part: &FilePart| (part.range.start, part.range.end);
    parts.sort_by_key(by_place);
    let free = gaps(0..size, parts.iter().map(|part| part.range.clone()));
    let free = free.map(|range| FilePart { range, kind: PartKind::Unreferenced, chunk: None, page: None });
    let free: Vec<FilePart> = free.collect();
    let claimed: u64 = parts.iter().map(|part| part.range.end - part.range.start).sum();
    let unclaimed: u64 = free.iter().map(|part| part.range.end - part.range.start).sum();
    parts.extend(free);
    parts.sort_by_key(by_place);
    Ok(FileLayout { size, parts, overlapping: (claimed + unclaimed).saturating_sub(size), problems })
}

/// Returns the parts of `whole` that none of `parts` covers, which are sorted.
fn gaps(whole: Range<u64>, parts: impl Iterator<Item = Range<u64>>) -> impl Iterator<Item = Range<u64>> {
    let end = whole.end;
    let mut at = whole.start;
    parts.chain(std::iter::once(end..end)).filter_map(move |part| {
        let gap = at..part.start.min(end);
        at = at.max(part.end);
        (gap.start < gap.end).then_some(gap)
    })
}

/// Maximum number of pages that are listed one by one.
const MOST_PAGES: usize = 1_000_000;
