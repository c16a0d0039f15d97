//! Recovering: a whole file out of what is left of one.
//!
//! ```text
//! parts      one file, or several behind each other
//!   footer     the last one that is found, wherever it is: its row groups are read to the last value
//!   scan       pages in what no footer tells of, or tells wrongly
//!   schema     of a footer, of the caller, or guessed from pages
//!   group      pages become chunks, chunks row groups
//! write      pages are copied as they are; their indexes are made again
//! ```
//!
//! A row group is kept if all its chunks are whole: all pages there, checksums right, every value decodable, as many rows
//! as in the other chunks. Nothing is invented: what was found without a footer has no statistics. Pages without
//! checksums can be damaged in ways that nobody sees; the report tells which row groups have such.

mod ambiguity;
mod byte_histogram;
mod encryption;
mod filler;
mod find_pages;
mod found_page;
mod group_layout;
mod infer_schema;
mod infer_type;
mod layout_cost;
mod null_chunk;
mod open_page;
mod options;
mod page_set;
mod parallel;
mod recovery;
mod report;
mod row_groups;
mod search;
mod search_budget;
mod slice;
mod table_layouts;
mod truncated;
mod validate_chunk;
mod window;

pub use options::{GivenSchema, RecoverOptions};
pub use recovery::Recovery;
pub use report::{Confidence, Decision, KeptRowGroup, Loss, Report, SchemaOrigin};

use crate::io::read_metadata;
use crate::source::Source;
use encryption::refuse_encrypted;
use marquetry_base::Result;
use search::Search;
use slice::SliceSource;
use std::sync::Arc;
use window::{Window, file_boundaries};

/// Finds what is left of a file.
///
/// Fails if the file is encrypted, cannot be read, or if nothing in it is Parquet. That nothing can be kept is no error:
/// see [`Report::row_groups`].
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
    // A value may have a file in it: a file that is whole is not taken apart if it has all boundaries in its chunks.
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
