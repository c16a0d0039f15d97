//! How bad findings are, and which make a command fail.

use marquetry_verify::{Report, Rule, Severity};
use std::collections::HashMap;

/// The severities of rules, where they are others than the rules' own, and from which on a file fails.
#[derive(Debug, Clone)]
pub(crate) struct Judgement {
    /// By the id of the rule.
    pub(crate) severities: HashMap<&'static str, Severity>,
    pub(crate) fails_from: Severity,
}

impl Default for Judgement {
    fn default() -> Self {
        Judgement { severities: HashMap::new(), fails_from: Severity::Invalid }
    }
}

impl Judgement {
    pub(crate) fn severity(&self, rule: &Rule) -> Severity {
        self.severities.get(rule.id).copied().unwrap_or(rule.severity)
    }

    /// The severity of the worst finding, kept or only counted.
    pub(crate) fn worst(&self, report: &Report) -> Option<Severity> {
        let kept = report.findings.iter().map(|finding| self.severity(finding.rule));
        kept.chain(report.omitted.iter().map(|(rule, _)| self.severity(rule))).max()
    }

    /// Whether something is so bad that the file fails.
    pub(crate) fn fails(&self, report: &Report) -> bool {
        self.worst(report) >= Some(self.fails_from)
    }
}
