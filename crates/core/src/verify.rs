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
mod file;
mod findings;
mod footer;
mod index;
mod levels;
mod nesting;
mod page;
mod rules;
mod schema;
mod shown;
mod sorting;
mod statistics;
mod unreferenced;
mod values;
mod walk;

pub use findings::Finding;
pub use rules::{RULES, Rule, Severity};

use crate::source::Source;
use findings::{Findings, Selection};
use marquetry_base::{Limits, Result};
use std::sync::Arc;

/// How much is looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Metadata only: footer, indexes, headers of bloom filters.
    Quick,
    /// Checksums too, and all page headers, and levels where they are at hand.
    #[default]
    Default,
    /// Everything is decoded, and held against what is said of it.
    Deep,
}

impl Level {
    /// Its name in output.
    pub fn name(self) -> &'static str {
        match self {
            Level::Quick => "quick",
            Level::Default => "default",
            Level::Deep => "deep",
        }
    }
}

/// How a file is verified.
#[derive(Debug, Clone)]
pub struct VerifyOptions {
    /// How much is looked at.
    pub level: Level,
    /// Ids of the rules to check; `None` for all. Rules of a deeper [`Level`] are not checked, though they are named.
    pub rules: Option<Vec<String>>,
    /// Ids of rules that are not reported.
    pub ignore: Vec<String>,
    /// So many findings of each rule are kept for a file; the others are counted.
    pub findings_per_rule: usize,
    /// How many threads check column chunks; 0 for one for each processor.
    pub threads: usize,
    /// What reading may cost. What claims more is as good as unreadable, and reported so.
    pub limits: Limits,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        VerifyOptions {
            level: Level::Default,
            rules: None,
            ignore: Vec::new(),
            findings_per_rule: 20,
            threads: 0,
            limits: Limits::default(),
        }
    }
}

/// What was found in a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// By part of the file: the footer first, then chunk after chunk. The same for any number of threads.
    pub findings: Vec<Finding>,
    /// How many more findings there are of rules that were broken too often to keep all.
    pub omitted: Vec<(&'static Rule, u64)>,
    /// How many pages were walked over.
    pub pages: u64,
    /// How many bytes of the file were looked at: footer, indexes, pages.
    pub bytes: u64,
}

impl Report {
    /// The severity of the worst finding, whether it was kept or only counted; `None` if there is none.
    pub fn worst(&self) -> Option<Severity> {
        let kept = self.findings.iter().map(|finding| finding.rule.severity);
        kept.chain(self.omitted.iter().map(|(rule, _)| rule.severity)).max()
    }
}

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
    let selection = Selection::new(options)?;
    let mut findings = Findings::new(&selection);
    let mut report = Report::default();
    if let Some(file) = footer::open(source, options, &mut findings, &mut report)? {
        file::check(file, &selection, options, &mut findings, &mut report);
    }
    (report.findings, report.omitted) = findings.finish()?;
    Ok(report)
}
