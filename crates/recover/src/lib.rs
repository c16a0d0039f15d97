//! Makes a whole Parquet file out of the readable parts of a broken one.
//!
//! ```text
//! window, slice            bytes, and files that stand behind each other
//! search                   the last footer or checkpoint, then pages where no footer leads to
//!   damaged_footer           a footer at the end that is not whole, or wrong about places
//!     cut_footer               of which only the beginning is there
//!   sound_schema             what of a footer's schema is legal, and what contradicts it; chunk_overlap: places
//!   check_row_group          all chunks of a row group; kept_groups: what is kept, and said of it
//!   validate_chunk           decodes a chunk to its last value
//!   hold_against             holds what a file says of a chunk against its values, by page_walk, said_statistics
//!   beside_pages             what that is, and how it is left behind
//!   summary                  footers whose pages are in other files
//!   find_pages               pages by their headers; filler: what else stands between pages
//!   infer_schema             a schema from pages alone
//!     layout_finder            all ways to cut pages into columns and row groups
//!     boundaries, chunk_kinds  what stands between pages; what may be in a chunk that begins with one
//!     layout_cost              which of them is the likeliest, by minimum description length
//!     infer_type               types and levels that fit a page
//!   row_groups               pages become chunks, chunks row groups, by a known schema
//!     ambiguity, truncated     whether there is another way; a row group that is cut off
//! key_values               key-value metadata that are sound; arrow_schema: whether the stored Arrow schema is, time_zone: its zones
//! recovery                 copies the pages into a new file, with new indexes, and notes what is not certain
//! encrypted                an encrypted file up to its last footer that the keys open
//! ```
//!
//! A row group is kept if all its chunks are whole: all pages are there, checksums are right, every value can be
//! decoded, all columns have the same number of rows, and those of one group, list or map are nested in the same way.
//! Nothing is invented: row groups that were found without a footer have no statistics, and if the schema is not
//! certain, the caller is asked for it. Pages without checksums may have damage that nothing shows; the report names
//! row groups with such pages. In the new file they have checksums, computed from the bytes that were found. So its
//! footer states, under the key `marquetry.recovered`, which row groups are not certain and why, and the report on a
//! file with such a text repeats it.
//!
//! Statistics, also those in page headers, indexes and bloom filters that contradict the values are left out, because
//! readers would skip rows that are there. The report mentions them, and lowers its confidence if no checksum confirms
//! the values. It does the same for values that the schema does not allow.
//!
//! A footer has no checksum, and one of its bits may be wrong although it can be read. What it states twice is
//! compared. If it contradicts itself, the report mentions it, and lowers the confidence of all that is read by it.
//! Parts for which readers would refuse the new file are left out. What the footer states only once is believed if it
//! is possible: one bit of an older annotation that stands alone, as DuckDB writes them, may have turned INT_32 into
//! INT_16, and one bit of an offset from UTC may have made another offset. Nothing in such a file shows it.
#![forbid(unsafe_code)]

mod ambiguity;
mod arrow_schema;
mod beside_pages;
mod boundaries;
mod byte_histogram;
mod check_row_group;
mod chunk_kinds;
mod chunk_overlap;
mod cut_footer;
mod damaged_footer;
mod encrypted;
mod encryption;
mod filler;
mod find_pages;
mod found_page;
mod group_layout;
mod hold_against;
mod infer_schema;
mod infer_type;
mod kept_groups;
mod key_values;
mod layout_cost;
mod layout_finder;
mod null_chunk;
mod open_page;
mod options;
mod page_set;
mod page_walk;
mod parallel;
mod recovery;
mod report;
mod row_groups;
mod said_statistics;
mod search;
mod search_budget;
mod slice;
mod sound_schema;
mod summary;
mod table_layout;
mod time_zone;
mod truncated;
mod validate_chunk;
mod window;

pub use encrypted::{EncryptedRecovery, recover_encrypted};
pub use options::{GivenSchema, RecoverOptions};
pub use recovery::Recovery;
pub use report::{Confidence, Decision, KeptRowGroup, Loss, Report, SchemaOrigin};

use encryption::refuse_encrypted;
use marquetry_base::Result;
use marquetry_core::io::read_metadata;
use marquetry_core::source::Source;
use search::Search;
use slice::SliceSource;
use std::sync::Arc;
use window::{Window, file_boundaries};

/// Finds the row groups of a broken file that can be kept.
///
/// Fails if the file is encrypted, for which there is [`recover_encrypted`]; if it cannot be read; if nothing in it is
/// Parquet; if it is a summary of other files, which have the pages; or if
/// [`Limits::cancel`](marquetry_base::Limits::cancel) was cancelled. It is not an error if nothing can be kept:
/// [`Report::row_groups`] is then empty. If the schema is unknown, [`Report::schema`] is `None`, and a loss gives the
/// reason; try again with [`RecoverOptions::schema`].
pub fn recover(source: Arc<dyn Source>, options: &RecoverOptions) -> Result<Recovery> {
    refuse_encrypted(&*source)?;
    let mut window = Window::new(source.clone(), options.limits.clone());
    let boundaries = file_boundaries(&mut window)?;
    let len = source.len();
    let mut whole = Search::new(source.clone(), 0, options);
    if boundaries.is_empty() {
        whole.run(None)?;
        return whole.finish(options, len);
    }
    // A value may contain a file: a whole file is not divided if all boundaries are inside its chunks.
    if whole.run_footer()? && whole.report.losses.is_empty() && boundaries.iter().all(|at| whole.keeps(*at)) {
        return whole.finish(options, len);
    }
    let mut start = 0;
    let mut parts: Vec<Search> = Vec::new();
    for end in boundaries.into_iter().chain([len]) {
        let part: Arc<dyn Source> = Arc::new(SliceSource::new(source.clone(), start..end));
        if end < len && read_metadata(&*part, &options.limits).is_err() {
            continue;
        }
        let mut search = Search::new(part, start, options);
        search.run(parts.first().and_then(|first| first.schema.clone()))?;
        parts.push(search);
        start = end;
    }
    let count = parts.len();
    let mut parts = parts.into_iter();
    let Some(mut all) = parts.next() else { return whole.finish(options, len) };
    if count > 1 {
        let what = format!("{count} files, one behind the other");
        all.report.decide(what, "each ends in a footer, and the next one begins behind it", Confidence::High);
    }
    parts.for_each(|part| all.join(part));
    all.finish(options, len)
}
