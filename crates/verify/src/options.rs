//! Options of verifying.

use crate::rule::Level;
use marquetry_base::{Limits, SharedExecutor};
use marquetry_crypto::FileDecryptionProperties;
use std::sync::Arc;

/// How a file is verified.
#[derive(Debug, Clone)]
pub struct VerifyOptions {
    /// How much is read and checked. Default: [`Level::Default`].
    pub level: Level,
    /// Ids of the rules to check; `None` for all. Rules of a deeper [`Level`] are not checked, though they are named.
    pub rules: Option<Vec<String>>,
    /// Ids of rules that are not reported.
    pub ignore: Vec<String>,
    /// The number of findings of each rule that are kept for a file; the others are counted. Default: 20.
    pub findings_per_rule: usize,
    /// Threads that check column chunks; 0, the default, for one per processor.
    pub threads: usize,
    /// The keys of an encrypted file. Default: none; what is encrypted is not checked then.
    pub decryption: Option<Arc<FileDecryptionProperties>>,
    /// What has the threads besides the caller's. Default: threads of our own, for as long as the file is checked.
    pub executor: SharedExecutor,
    /// Limits of memory and sizes while reading. A part that exceeds them is reported as unreadable.
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
            decryption: None,
            executor: SharedExecutor::default(),
            limits: Limits::default(),
        }
    }
}
