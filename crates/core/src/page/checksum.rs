//! Page checksums, and whom not to believe them.

use marquetry_format::PageHeader;

/// What a page's checksum says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// The writer stored none.
    Absent,
    /// It is right.
    Good,
    /// It is wrong, by a writer that is known to write wrong ones: it says nothing of the page.
    Untrusted,
    /// It is wrong.
    Bad {
        /// The stored one.
        stored: u32,
        /// The one of the bytes that are there.
        computed: u32,
    },
}

/// Whether a writer's checksums can be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChecksumTrust {
    /// A mismatch means that the page is damaged.
    Believed,
    /// A mismatch means nothing.
    Disbelieved,
}

impl ChecksumTrust {
    /// By the footer's `created_by`.
    pub fn of_writer(created_by: Option<&str>) -> ChecksumTrust {
        let created_by = created_by.unwrap_or_default().to_ascii_lowercase();
        match WRONG_CHECKSUMS.iter().any(|writer| created_by.starts_with(writer)) {
            true => ChecksumTrust::Disbelieved,
            false => ChecksumTrust::Believed,
        }
    }
}

/// Holds `stored`, a page's bytes as they are in the file, against the checksum in its header.
pub(super) fn check(header: &PageHeader, stored: &[u8], trust: ChecksumTrust) -> Checksum {
    let Some(crc) = header.crc else {
        return Checksum::Absent;
    };
    let (expected, computed) = (crc as u32, crc32fast::hash(stored));
    match trust {
        _ if expected == computed => Checksum::Good,
        // QUIRK: HAWQ stores 0 in every page, meaning that it computed none.
        _ if expected == 0 => Checksum::Absent,
        ChecksumTrust::Disbelieved => Checksum::Untrusted,
        ChecksumTrust::Believed => Checksum::Bad { stored: expected, computed },
    }
}

/// QUIRK: writers, by the beginning of `created_by`, whose checksums are wrong although the pages are right.
const WRONG_CHECKSUMS: [&str; 1] = ["parquet.jl"];
