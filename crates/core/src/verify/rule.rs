//! Rules, their severity and the level from which on they are checked.

/// How much is looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Metadata only: footer, indexes, headers of bloom filters.
    Quick,
    /// Checksums too, and all page headers, and levels where they are at hand.
    #[default]
    Default,
    /// Everything is decoded, and held against what is said of it.
    Deep,
}

impl Level {
    /// Its name in output.
    pub fn name(self) -> &'static str {
        match self {
            Level::Quick => "quick",
            Level::Default => "default",
            Level::Deep => "deep",
        }
    }
}

/// What a file must, or should, be like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Its name: the family first, such as `page-checksum`. Names are stable.
    pub id: &'static str,
    /// How bad it is to break it.
    pub severity: Severity,
    /// The level from which on it is checked.
    pub level: Level,
    /// What holds where it is kept.
    pub title: &'static str,
    /// Where the format says so.
    pub spec: &'static str,
}

/// How bad a finding is, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Legal and read by all, but deprecated or unwise.
    Style,
    /// Readers cope, but something is not as a careful writer leaves it; or it could not be checked.
    Suspicious,
    /// The format forbids it: readers may refuse the file, or give wrong answers where they believe it.
    Invalid,
    /// Bytes are damaged or missing: data cannot be read.
    Corrupt,
}

impl Severity {
    /// Its name in output.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Style => "style",
            Severity::Suspicious => "suspicious",
            Severity::Invalid => "invalid",
            Severity::Corrupt => "corrupt",
        }
    }
}

/// A part of the file could not be checked. Of no family: any check may come to this.
pub(super) const UNCHECKED: Rule = Rule {
    id: "unchecked",
    severity: Severity::Suspicious,
    level: Level::Quick,
    title: "All parts can be checked: none is encrypted, in another file, or of an unknown kind",
    spec: "Encryption.md; parquet.thrift, CompressionCodec, Encoding",
};

/// A rule of which everything is said.
pub(super) const fn rule(
    id: &'static str,
    severity: Severity,
    level: Level,
    title: &'static str,
    spec: &'static str,
) -> Rule {
    Rule { id, severity, level, title, spec }
}
