//! The report on a verified file.

use crate::findings::Finding;
use crate::rule::{Rule, Severity};

/// The findings in a file, and how much of it was read.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Findings in the order of the file's parts: the footer first, then chunk after chunk. The order does not depend
    /// on the number of threads.
    pub findings: Vec<Finding>,
    /// The number of findings that were not kept, by rule.
    pub omitted: Vec<(&'static Rule, u64)>,
    /// Number of pages that were read.
    pub pages: u64,
    /// Number of bytes of the footer, indexes and pages that were read.
    pub bytes: u64,
}

impl Report {
    /// Returns the severity of the worst finding, kept or only counted, or `None` if there is none.
    pub fn worst(&self) -> Option<Severity> {
        let kept = self.findings.iter().map(|finding| finding.rule.severity);
        kept.chain(self.omitted.iter().map(|(rule, _)| rule.severity)).max()
    }
}
