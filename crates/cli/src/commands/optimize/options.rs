//! The options and the result of `optimize`.

use marquetry::errors::CancelToken;
use marquetry::file::encryption::{FileDecryptionProperties, FileEncryptionProperties};
use marquetry_inspect::{Advice, AdviceKind, AdviseOptions};
use std::sync::Arc;

/// How [`optimize`](super::optimize) writes a file again.
///
/// ```
/// use marquetry_cli::OptimizeOptions;
/// use marquetry_inspect::{AdviseOptions, Goal};
/// let options = OptimizeOptions::default().with_advise(AdviseOptions::default().with_goal(Goal::Scan)).with_sort(true);
/// assert!(options.sort && !options.types && options.proof);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OptimizeOptions {
    /// What the file should be good for, for which readers and queries, and how long to measure.
    pub advise: AdviseOptions,
    /// Sort the rows as is advised, if an order makes the file smaller, or lets the queries skip more. Default: no.
    pub sort: bool,
    /// Give columns types that are narrower, as is advised; each value would come back as it was. Default: no.
    pub types: bool,
    /// Compare the rows of both files before the new one gets its name. Default: yes.
    pub proof: bool,
    /// Replace a file of the new one's name. Default: no, which fails.
    pub overwrite: bool,
    /// What sorting and writing may hold, in bytes. Default: an eighth of the machine's memory, at most 1 GiB.
    pub memory_limit: Option<usize>,
    /// Ends the work early, which fails then; nothing is left of the new file.
    pub cancel: CancelToken,
    /// The keys of an encrypted file that is read. Default: none.
    pub decryption: Option<Arc<FileDecryptionProperties>>,
    /// How the new file is encrypted. Default: as the one that is read, the same columns with the same keys.
    pub encryption: Option<Arc<FileEncryptionProperties>>,
    /// Write what was encrypted in the open, unless [`encryption`](Self::encryption) says how it is encrypted. Default: no.
    pub decrypt: bool,
}

impl Default for OptimizeOptions {
    fn default() -> Self {
        OptimizeOptions {
            advise: AdviseOptions::default(),
            sort: false,
            types: false,
            proof: true,
            overwrite: false,
            memory_limit: None,
            cancel: CancelToken::default(),
            decryption: None,
            encryption: None,
            decrypt: false,
        }
    }
}

impl OptimizeOptions {
    /// Sets [`advise`](Self::advise).
    #[must_use]
    pub fn with_advise(mut self, advise: AdviseOptions) -> Self {
        self.advise = advise;
        self
    }

    /// Sets [`sort`](Self::sort).
    #[must_use]
    pub fn with_sort(mut self, sort: bool) -> Self {
        self.sort = sort;
        self
    }

    /// Sets [`types`](Self::types).
    #[must_use]
    pub fn with_types(mut self, types: bool) -> Self {
        self.types = types;
        self
    }

    /// Sets [`proof`](Self::proof).
    #[must_use]
    pub fn with_proof(mut self, proof: bool) -> Self {
        self.proof = proof;
        self
    }

    /// Sets [`overwrite`](Self::overwrite).
    #[must_use]
    pub fn with_overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Sets [`memory_limit`](Self::memory_limit).
    #[must_use]
    pub fn with_memory_limit(mut self, bytes: Option<usize>) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Sets [`cancel`](Self::cancel).
    #[must_use]
    pub fn with_cancel(mut self, cancel: CancelToken) -> Self {
        self.cancel = cancel;
        self
    }

    /// Sets [`decryption`](Self::decryption).
    #[must_use]
    pub fn with_decryption(mut self, keys: Option<Arc<FileDecryptionProperties>>) -> Self {
        self.decryption = keys;
        self
    }

    /// Sets [`encryption`](Self::encryption).
    #[must_use]
    pub fn with_encryption(mut self, encryption: Option<Arc<FileEncryptionProperties>>) -> Self {
        self.encryption = encryption;
        self
    }

    /// Sets [`decrypt`](Self::decrypt).
    #[must_use]
    pub fn with_decrypt(mut self, decrypt: bool) -> Self {
        self.decrypt = decrypt;
        self
    }
}

/// What came of a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Optimized {
    /// Bytes of the file that was read.
    pub before: u64,
    /// Bytes that were predicted of the new one.
    pub predicted: u64,
    /// Bytes that it has.
    pub size: u64,
    /// Whether it is the file that was read, byte for byte: nothing would have been smaller.
    pub is_copy: bool,
    /// Each column, the one that was predicted to save most first.
    pub columns: Vec<OptimizedColumn>,
    /// What was done beside encodings and codecs.
    pub also: Vec<AdviceKind>,
    /// What should be known of the new file.
    pub notes: Vec<String>,
    /// What was advised.
    pub advice: Advice,
}

/// What came of a column: bytes of its pages and indexes in all row groups.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OptimizedColumn {
    /// Its dotted path.
    pub column: String,
    /// Those that it had.
    pub before: u64,
    /// Those that were predicted of its encoding and codec.
    pub predicted: u64,
    /// Those that it has.
    pub got: u64,
}
