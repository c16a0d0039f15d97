//! What verifying a file came to.

use super::findings::Finding;
use super::rule::{Rule, Severity};

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
