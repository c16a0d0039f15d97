//! Checks whether a Parquet file keeps the rules of the format, and whether its metadata is true.
//!
//! ```text
//! rules          the table of rules: id, severity, level, section of the format
//! findings       collects violations, a limited number for each rule
//! run            checks the parts of a file in several threads, perhaps a host's
//!   footer         magic, length, totals, column orders
//!   encryption     whether keys fit, and whether something is left in the open
//!   schema         the tree and its annotations
//!   nesting        lists and maps; columns of a group that agree on its nesting
//!   variant        groups of VARIANT; variant_values: their bytes, and what of them is shredded
//!   file_refs      groups of FILE, and whether their values lead to bytes
//!   geoparquet     the metadata of GeoParquet; covering_boxes: the boxes of covering columns
//!   chunk          places, sizes and counts in the footer
//!   unreferenced   bytes between these places
//!   index          column indexes and offset indexes
//!   statistics     bounds and counts of chunks and pages
//!   bloom          bloom filters
//!   chunk_walk     the pages of a chunk, one by one
//!     page           headers and checksums
//!     levels         definition and repetition levels
//!     values         values of pages and dictionaries
//!   sorting        the order of rows
//!   house          limits that a house sets for its own files
//! judgement      how bad findings are, and which make a file fail
//! profile        what a house wants, as TOML
//! ```
//!
//! What is read at each [`Level`]:
//!
//! | level | reads | decompresses | finds |
//! |---|---|---|---|
//! | [`Quick`](Level::Quick) | footer, indexes, headers of bloom filters | nothing | contradictions inside metadata |
//! | [`Default`](Level::Default) | every byte of every page, and bytes between them | V1 pages of columns in lists, for their levels | damage of pages with a checksum, wrong headers, sizes, counts and places; wrong levels and null counts of levels that are not compressed |
//! | [`Deep`](Level::Deep) | the same | everything | all rules |
//!
//! Damage in the values of a page without checksum is found by `Deep` only, if at all. Deeper levels find everything that
//! the others find.
#![forbid(unsafe_code)]

mod bloom;
mod chunk;
mod chunk_walk;
mod context;
mod covering_boxes;
mod display;
mod encryption;
mod file_parts;
mod file_refs;
mod findings;
mod footer;
mod geoparquet;
mod house;
mod house_limits;
mod index;
mod judgement;
mod levels;
mod nesting;
mod options;
mod page;
#[cfg(feature = "profile")]
mod profile;
mod report;
mod rule;
mod rules;
mod run;
mod schema;
mod slots;
mod sorting;
mod statistics;
mod unreferenced;
mod values;
mod variant;
mod variant_values;

pub use findings::Finding;
pub use house::HOUSE_RULES;
pub use house_limits::HouseLimits;
pub use judgement::Judgement;
pub use options::VerifyOptions;
#[cfg(feature = "profile")]
pub use profile::LintProfile;
pub use report::Report;
pub use rule::{Level, Rule, Severity};
pub use rules::{RULES, rules_named};

use findings::{Findings, RuleFilter};
use marquetry_base::Result;
use marquetry_core::source::Source;
use std::sync::Arc;

/// Verifies a file.
///
/// The report lists violations, even if the file is not a Parquet file at all. Fails only if the source cannot be read, if
/// an option names an unknown rule, or if [`Limits::cancel`](marquetry_base::Limits::cancel) was cancelled.
///
/// ```
/// use bytes::Bytes;
/// use marquetry_verify::{Severity, VerifyOptions, verify};
/// use std::sync::Arc;
/// let report = verify(Arc::new(Bytes::from_static(b"PAR1 and so on")), &VerifyOptions::default())?;
/// assert_eq!(report.findings[0].rule.id, "footer-magic");
/// assert_eq!(report.worst(), Some(Severity::Corrupt));
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub fn verify(source: Arc<dyn Source>, options: &VerifyOptions) -> Result<Report> {
    let filter = Arc::new(RuleFilter::new(rules::ALL_RULES, options)?);
    let mut findings = Findings::new(&filter);
    let mut report = Report::default();
    if let Some(file) = footer::open(source, options, &mut findings, &mut report)? {
        (findings, report) = run::check(file, options, findings, report);
    }
    // Parts that were skipped would count as sound.
    options.limits.cancel.check()?;
    (report.findings, report.omitted) = findings.finish()?;
    Ok(report)
}
