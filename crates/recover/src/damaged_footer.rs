//! A footer at the end of the file that is not whole, or that is wrong about where pages are. Its schema is whole nevertheless.

use crate::cut_footer::{CutFooter, cut_footer};
use crate::summary::refuse_summary;
use crate::window::{FIRST_PAGE, Window};
use marquetry_base::Result;
use marquetry_core::io::{FooterRead, read_metadata};
use marquetry_core::metadata::ParquetMetaData;
use std::ops::Range;

/// Whether row groups are where a footer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Places {
    Right,
    /// It is cut off: it tells the places of some row groups, or of none.
    CutOff,
    /// Bytes are missing before it.
    Wrong,
}

/// A footer that is not whole, or whose places are wrong.
pub(crate) struct DamagedFooter {
    pub(crate) metadata: ParquetMetaData,
    pub(crate) start: u64,
    pub(crate) places: Places,
    /// What is wrong with itself.
    pub(crate) damage: Option<&'static str>,
}

/// The footer at the end of the file that is not whole, by which pages would reach into it, or that names other files.
pub(crate) fn damaged_footer(window: &mut Window) -> Result<Option<DamagedFooter>> {
    let len = window.source.len();
    match read_metadata(&*window.source, &window.limits) {
        Ok(FooterRead { metadata, footer_len, .. }) => {
            refuse_summary(&metadata)?;
            let start = len.checked_sub(FOOTER_TAIL + footer_len as u64);
            let (places, damage) = match are_here(&metadata) {
                true => (Places::Wrong, None),
                false => (Places::Right, Some(IN_PART)),
            };
            let start = start.filter(|start| *start >= FIRST_PAGE);
            return Ok(start.map(|start| DamagedFooter { metadata, start, places, damage }));
        }
        Err(error) if error.stops_reading() => return Err(error),
        Err(_) => {}
    }
    let Some(CutFooter { metadata, start, is_whole }) = cut_footer(window)? else {
        return Ok(None);
    };
    let ends_before = |index| extent(&metadata, index).is_none_or(|bytes| bytes.end <= start);
    let places = match (0..metadata.num_row_groups()).all(ends_before) {
        false => Places::Wrong,
        true if is_whole => Places::Right,
        true => Places::CutOff,
    };
    let damage = Some(if is_whole { NO_TAIL } else { CUT_OFF });
    Ok(Some(DamagedFooter { metadata, start, places, damage }))
}

/// Whether no chunk is in another file.
fn are_here(metadata: &ParquetMetaData) -> bool {
    let mut chunks = metadata.row_groups().flat_map(|group| group.columns());
    chunks.all(|chunk| chunk.is_ok_and(|chunk| chunk.file_path().is_none_or(|path| path.is_empty())))
}

/// The range from the first byte of a row group's chunks to the last; `None` if no chunk has a valid range.
pub(crate) fn extent(metadata: &ParquetMetaData, index: usize) -> Option<Range<u64>> {
    let ranges = metadata
        .row_group(index)
        .columns()
        .filter_map(|chunk| chunk.and_then(|chunk| chunk.byte_range()).ok());
    ranges.reduce(|all, range| all.start.min(range.start)..all.end.max(range.end))
}

const NO_TAIL: &str = "all of it is there, but its length or PAR1 behind it, which are missing or damaged";
const IN_PART: &str = "it is at the end; it names other files, which pages may be in";
const CUT_OFF: &str = "it is at the end, and cut off; its schema is whole";
/// Bytes of a footer's length and PAR1.
const FOOTER_TAIL: u64 = 8;
