//! Options of verifying.

use crate::house_limits::HouseLimits;
use crate::rule::Level;
use marquetry_base::{Limits, SharedExecutor};
use marquetry_crypto::FileDecryptionProperties;
use std::sync::Arc;

/// Options of a verification.
///
/// ```
/// use marquetry_verify::{Level, VerifyOptions};
/// let options = VerifyOptions::default().with_level(Level::Deep).with_findings_per_rule(3);
/// assert_eq!((options.level, options.threads), (Level::Deep, 0));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct VerifyOptions {
    /// How much is read and checked. Default: [`Level::Default`].
    pub level: Level,
    /// Ids of the rules to check; `None` for all. Rules of a deeper [`Level`] are not checked even if they are named.
    pub rules: Option<Vec<String>>,
    /// Ids of rules that are not reported.
    pub ignore: Vec<String>,
    /// Limits of a house for its files, which are not rules of the format. Default: none.
    pub house_limits: HouseLimits,
    /// The maximum number of findings of each rule that are kept for a file; the others are counted. Default: 20.
    pub findings_per_rule: usize,
    /// Number of threads that check column chunks. The default 0 means one per processor.
    pub threads: usize,
    /// The keys of an encrypted file. Default: none; encrypted parts are then not checked.
    pub decryption: Option<Arc<FileDecryptionProperties>>,
    /// The executor that provides the threads besides the caller's. Default: threads of our own, for as long as the
    /// file is checked.
    pub executor: SharedExecutor,
    /// Limits on memory and sizes while reading. A part that exceeds them is reported as unreadable.
    pub limits: Limits,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        VerifyOptions {
            level: Level::Default,
            rules: None,
            ignore: Vec::new(),
            house_limits: HouseLimits::default(),
            findings_per_rule: 20,
            threads: 0,
            decryption: None,
            executor: SharedExecutor::default(),
            limits: Limits::default(),
        }
    }
}

impl VerifyOptions {
    /// Sets [`level`](Self::level).
    #[must_use]
    pub fn with_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Sets [`rules`](Self::rules).
    #[must_use]
    pub fn with_rules(mut self, rules: Option<Vec<String>>) -> Self {
        self.rules = rules;
        self
    }

    /// Sets [`ignore`](Self::ignore).
    #[must_use]
    pub fn with_ignore(mut self, ignore: Vec<String>) -> Self {
        self.ignore = ignore;
        self
    }

    /// Sets [`house_limits`](Self::house_limits).
    #[must_use]
    pub fn with_house_limits(mut self, house_limits: HouseLimits) -> Self {
        self.house_limits = house_limits;
        self
    }

    /// Sets [`findings_per_rule`](Self::findings_per_rule).
    #[must_use]
    pub fn with_findings_per_rule(mut self, findings_per_rule: usize) -> Self {
        self.findings_per_rule = findings_per_rule;
        self
    }

    /// Sets [`threads`](Self::threads).
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets [`decryption`](Self::decryption).
    #[must_use]
    pub fn with_decryption(mut self, decryption: Option<Arc<FileDecryptionProperties>>) -> Self {
        self.decryption = decryption;
        self
    }

    /// Sets [`executor`](Self::executor).
    #[must_use]
    pub fn with_executor(mut self, executor: SharedExecutor) -> Self {
        self.executor = executor;
        self
    }

    /// Sets [`limits`](Self::limits).
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}
