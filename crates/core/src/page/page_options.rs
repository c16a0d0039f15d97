//! Options for reading pages.

use super::checksum::ChecksumTrust;
use marquetry_base::Limits;
use std::sync::Arc;

/// Options for reading pages: limits and checksums.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PageOptions {
    /// Limits on sizes and memory.
    pub limits: Arc<Limits>,
    /// Whether pages are verified with their checksums.
    pub verify_checksums: bool,
    /// Whether the writer's checksums are reliable.
    pub trust: ChecksumTrust,
}

impl PageOptions {
    /// Creates options for a file written by `created_by`: checksums are verified where they are stored, and limits are
    /// the defaults.
    pub fn for_writer(created_by: Option<&str>) -> Self {
        PageOptions {
            limits: Arc::default(),
            verify_checksums: true,
            trust: ChecksumTrust::of_writer(created_by),
        }
    }

    /// Sets the limits on sizes and memory.
    #[must_use]
    pub fn with_limits(self, limits: Arc<Limits>) -> Self {
        PageOptions { limits, ..self }
    }

    /// Sets whether the writer's checksums are reliable.
    #[must_use]
    pub fn with_trust(self, trust: ChecksumTrust) -> Self {
        PageOptions { trust, ..self }
    }

    /// Sets whether pages are verified with their checksums.
    #[must_use]
    pub fn with_checksum_verification(self, verify_checksums: bool) -> Self {
        PageOptions { verify_checksums, ..self }
    }
}
