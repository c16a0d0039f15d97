//! Verifying: does a file keep the rules of the format, and is what it says of itself true?
//!
//! ```text
//! rules      the table: id, severity, level, where the format says so
//! findings   what was found, bounded
//! file       the parts of a file, checked side by side
//!   footer     magic, length, totals, orders
//!   schema     the tree and its annotations
//!   nesting    lists and maps; levels that agree with each other
//!   chunk      places, sizes and counts in the footer
//!   unreferenced  what lies between these places
//!   index      column and offset indexes
//!   statistics bounds and counts of chunks and pages
//!   bloom      bloom filters
//!   walk       the pages of a chunk, one after the other
//!     page       headers, checksums, levels
//!     values     what pages and dictionaries hold
//!   sorting    whether rows are sorted as the footer says
//! ```
//!
//! What is read at each [`Level`]:
//!
//! | level | reads | decompresses | finds |
//! |---|---|---|---|
//! | [`Quick`](Level::Quick) | footer, indexes, headers of bloom filters | nothing | what metadata says of itself |
//! | [`Default`](Level::Default) | every byte of every page, and bytes between them | V1 pages of columns in lists, for their levels | damage of pages with a checksum, wrong headers, sizes, counts and places; wrong levels and null counts, as far as levels are not compressed |
//! | [`Deep`](Level::Deep) | the same | everything | all that the values tell |
//!
//! A page without a checksum can be damaged in its values and only `Deep` may find it. What a level finds, deeper ones find.

mod bloom;
mod chunk;
mod chunk_walk;
mod context;
mod display;
mod file_parts;
mod findings;
mod footer;
mod index;
mod leaf_shape;
mod levels;
mod nesting;
mod observed_page;
mod options;
mod page;
mod report;
mod rule;
mod rules;
mod run;
mod schema;
mod sibling_levels;
mod sorting;
mod statistics;
mod unreferenced;
mod values;

pub use findings::Finding;
pub use options::VerifyOptions;
pub use report::Report;
pub use rule::{Level, Rule, Severity};
pub use rules::RULES;

use crate::source::Source;
use findings::{Findings, RuleFilter};
use marquetry_base::Result;
use std::sync::Arc;

/// Verifies a file.
///
/// What is wrong with the file is in the report, even if it is no Parquet file at all. Fails only if the source cannot be
/// read, or if an option names a rule that there is not.
///
/// ```
/// use bytes::Bytes;
/// use marquetry_core::verify::{Severity, VerifyOptions, verify};
/// use std::sync::Arc;
/// let report = verify(Arc::new(Bytes::from_static(b"PAR1 and so on")), &VerifyOptions::default())?;
/// assert_eq!(report.findings[0].rule.id, "footer-magic");
/// assert_eq!(report.worst(), Some(Severity::Corrupt));
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub fn verify(source: Arc<dyn Source>, options: &VerifyOptions) -> Result<Report> {
    let filter = RuleFilter::new(RULES, options)?;
    let mut findings = Findings::new(&filter);
    let mut report = Report::default();
    if let Some(file) = footer::open(source, options, &mut findings, &mut report)? {
        run::check(file, &filter, options, &mut findings, &mut report);
    }
    (report.findings, report.omitted) = findings.finish()?;
    Ok(report)
}
