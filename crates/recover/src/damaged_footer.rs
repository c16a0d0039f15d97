//! A footer at the end of the file that is incomplete, or wrong about the places of pages. Its schema is nevertheless
//! whole.

use crate::cut_footer::{CutFooter, State, cut_footer};
use crate::report::Confidence;
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
    /// The footer is cut off: it gives the places of some row groups, or of none.
    CutOff,
    /// Bytes before the footer are missing.
    Wrong,
    /// The metadata of some chunks is damaged.
    SomeWrong,
}

/// A footer that is incomplete, or that gives wrong places.
pub(crate) struct DamagedFooter {
    pub(crate) metadata: ParquetMetaData,
    pub(crate) start: u64,
    pub(crate) places: Places,
    /// What is wrong with the footer itself.
    pub(crate) damage: Option<&'static str>,
    /// The highest confidence of row groups that are read by its schema.
    pub(crate) most: Confidence,
}

/// Finds a footer at the end of the file that is incomplete, whose pages would reach into it, or that names other
/// files. If the caller `knows_schema`, that schema is trusted more than one that stands before damage.
pub(crate) fn damaged_footer(window: &mut Window, knows_schema: bool) -> Result<Option<DamagedFooter>> {
    let len = window.source.len();
    match read_metadata(&*window.source, &window.limits) {
        Ok(FooterRead { metadata, footer_len, .. }) => {
            refuse_summary(&metadata)?;
            let start = len.checked_sub(FOOTER_TAIL + footer_len as u64);
            let (places, damage) = match () {
                _ if names_files(&metadata) => (Places::Right, Some(IN_PART)),
                _ if has_damaged_chunks(&metadata) => (Places::SomeWrong, Some(IN_CHUNKS)),
                _ => (Places::Wrong, None),
            };
            let start = start.filter(|start| *start >= FIRST_PAGE);
            let most = Confidence::Exact;
            return Ok(start.map(|start| DamagedFooter { metadata, start, places, damage, most }));
        }
        Err(error) if error.stops_reading() => return Err(error),
        Err(_) => {}
    }
    let Some(CutFooter { metadata, start, state }) = cut_footer(window, !knows_schema)? else {
        return Ok(None);
    };
    let ends_before = |index| extent(&metadata, index).is_none_or(|bytes| bytes.end <= start);
    let places = match (0..metadata.num_row_groups()).all(ends_before) {
        false => Places::Wrong,
        true if state == State::Whole => Places::Right,
        true => Places::CutOff,
    };
    let (damage, most) = match state {
        State::Whole => (NO_TAIL, Confidence::Exact),
        State::CutOff => (CUT_OFF, Confidence::Exact),
        State::Damaged => (DAMAGED, Confidence::Medium),
    };
    Ok(Some(DamagedFooter { metadata, start, places, damage: Some(damage), most }))
}

/// Whether a chunk is in another file.
fn names_files(metadata: &ParquetMetaData) -> bool {
    let mut chunks = metadata.row_groups().flat_map(|group| group.columns()).flatten();
    chunks.any(|chunk| chunk.file_path().is_some_and(|path| !path.is_empty()))
}

/// Whether a chunk cannot be read, has another type than its column, or has no valid place.
fn has_damaged_chunks(metadata: &ParquetMetaData) -> bool {
    let mut chunks = metadata.row_groups().flat_map(|group| group.columns());
    chunks.any(|chunk| chunk.and_then(|chunk| chunk.byte_range()).is_err())
}

/// Returns the range from the first byte of a row group's chunks to the last, or `None` if no chunk has a valid range.
pub(crate) fn extent(metadata: &ParquetMetaData, index: usize) -> Option<Range<u64>> {
    let ranges = metadata
        .row_group(index)
        .columns()
        .filter_map(|chunk| chunk.and_then(|chunk| chunk.byte_range()).ok());
    ranges.reduce(|all, range| all.start.min(range.start)..all.end.max(range.end))
}

const NO_TAIL: &str = "all of it is there, but its length or PAR1 behind it, which are missing or damaged";
const IN_PART: &str = "it is at the end; it names other files, which pages may be in";
const IN_CHUNKS: &str = "it is at the end; what it says of some chunks is damaged, so that row groups are searched for, by its schema";
const DAMAGED: &str = "it is at the end, and damaged behind its schema, which can be read";
const CUT_OFF: &str = "it is at the end, and cut off; its schema is whole";
/// Bytes of the footer length and PAR1.
const FOOTER_TAIL: u64 = 8;
