//! Judges a report: how bad findings are, and which make a file fail.

use crate::report::Report;
use crate::rule::{Rule, Severity};
use std::collections::BTreeMap;

/// Severities that override those of the rules, and the severity from which on a file fails.
///
/// ```
/// use marquetry_verify::{Judgement, VerifyOptions, verify};
/// let report = verify(std::sync::Arc::new(bytes::Bytes::from_static(b"no file")), &VerifyOptions::default())?;
/// assert!(Judgement::default().fails(&report));
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judgement {
    /// Severities by rule id. Default: none.
    pub severities: BTreeMap<&'static str, Severity>,
    /// The lowest severity with which a file fails. Default: invalid.
    pub fails_from: Severity,
}

impl Default for Judgement {
    fn default() -> Self {
        Judgement { severities: BTreeMap::new(), fails_from: Severity::Invalid }
    }
}

impl Judgement {
    /// Returns how bad a violation of the rule is.
    pub fn severity(&self, rule: &Rule) -> Severity {
        self.severities.get(rule.id).copied().unwrap_or(rule.severity)
    }

    /// Returns the severity of the worst finding, kept or only counted.
    pub fn worst(&self, report: &Report) -> Option<Severity> {
        let kept = report.findings.iter().map(|finding| self.severity(finding.rule));
        kept.chain(report.omitted.iter().map(|(rule, _)| self.severity(rule))).max()
    }

    /// Whether a finding is so bad that the file fails.
    pub fn fails(&self, report: &Report) -> bool {
        self.worst(report) >= Some(self.fails_from)
    }
}
