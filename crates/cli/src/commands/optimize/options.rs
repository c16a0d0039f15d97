//! The options and the result of `optimize`.

use marquetry::errors::CancelToken;
use marquetry::file::encryption::{FileDecryptionProperties, FileEncryptionProperties};
use marquetry_inspect::{Advice, AdviceKind, AdviseOptions};
use std::sync::Arc;

/// How [`optimize`](super::optimize) rewrites a file.
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
    /// Whether to sort the rows as advised, if an order makes the file smaller, or lets queries skip more. Default: no.
    pub sort: bool,
    /// Whether to give columns narrower types as advised; every value can be converted back. Default: no.
    pub types: bool,
    /// Whether to compare the rows of both files before the new one gets its name. Default: yes.
    pub proof: bool,
    /// Whether to replace an existing file of that name. Default: no, which is an error.
    pub overwrite: bool,
    /// Memory for sorting and writing, in bytes. Default: an eighth of the machine's memory, at most 1 GiB.
    pub memory_limit: Option<usize>,
    /// Cancels the work, which fails then, and leaves nothing of the new file.
    pub cancel: CancelToken,
    /// The keys of an encrypted input. Default: none.
    pub decryption: Option<Arc<FileDecryptionProperties>>,
    /// Encryption of the new file. Default: as the input, the same columns with the same keys.
    pub encryption: Option<Arc<FileEncryptionProperties>>,
    /// Whether to write encrypted data in plaintext, unless [`encryption`](Self::encryption) is set. Default: no.
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

/// The result for a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Optimized {
    /// Size of the input, in bytes.
    pub before: u64,
    /// Predicted size of the new file, in bytes.
    pub predicted: u64,
    /// Actual size of the new file, in bytes.
    pub size: u64,
    /// Whether the new file is a byte-for-byte copy, as nothing would have been smaller.
    pub is_copy: bool,
    /// All columns, the one with the largest predicted saving first.
    pub columns: Vec<OptimizedColumn>,
    /// Changes other than encodings and codecs.
    pub also: Vec<AdviceKind>,
    /// Notes on the new file.
    pub notes: Vec<String>,
    /// The advice.
    pub advice: Advice,
}

/// The result for a column: bytes of its pages and indexes in all row groups.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OptimizedColumn {
    /// Its dotted path.
    pub column: String,
    /// Bytes before.
    pub before: u64,
    /// Bytes that were predicted for its encoding and codec.
    pub predicted: u64,
    /// Bytes in the new file.
    pub got: u64,
}
