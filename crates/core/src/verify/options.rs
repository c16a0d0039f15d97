//! What of a file is verified, and how.

use super::rule::Level;
use marquetry_base::Limits;

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
