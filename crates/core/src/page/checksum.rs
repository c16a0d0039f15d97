//! Page checksums, and the writers whose checksums are unreliable.

use marquetry_format::PageHeader;

/// The result of comparing a page with its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// The page has no checksum.
    Absent,
    /// The checksum is right.
    Good,
    /// The checksum is wrong, but the writer is known to write wrong ones, so the page may be right.
    Untrusted,
    /// The checksum is wrong.
    Bad {
        /// The checksum in the header.
        stored: u32,
        /// The checksum of the page's bytes.
        computed: u32,
    },
}

/// Whether a writer's checksums are reliable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChecksumTrust {
    /// A mismatch means that the page is damaged.
    Believed,
    /// A mismatch means nothing.
    Disbelieved,
}

impl ChecksumTrust {
    /// Decides by the footer's `created_by`.
    pub fn of_writer(created_by: Option<&str>) -> ChecksumTrust {
        let created_by = created_by.unwrap_or_default().to_ascii_lowercase();
        match WRONG_CHECKSUMS.iter().any(|writer| created_by.starts_with(writer)) {
            true => ChecksumTrust::Disbelieved,
            false => ChecksumTrust::Believed,
        }
    }
}

/// Compares `stored`, a page's bytes in the file, with the checksum in its header.
pub(super) fn check(header: &PageHeader, stored: &[u8], trust: ChecksumTrust) -> Checksum {
    let Some(crc) = header.crc else {
        return Checksum::Absent;
    };
    let (expected, computed) = (crc as u32, crc32fast::hash(stored));
    match trust {
        _ if expected == computed => Checksum::Good,
        // QUIRK: HAWQ stores 0 in every page, meaning that it computed no checksum.
        _ if expected == 0 => Checksum::Absent,
        ChecksumTrust::Disbelieved => Checksum::Untrusted,
        ChecksumTrust::Believed => Checksum::Bad { stored: expected, computed },
    }
}

/// QUIRK: writers, by the beginning of `created_by`, whose checksums are wrong although the pages are right.
const WRONG_CHECKSUMS: [&str; 1] = ["parquet.jl"];
