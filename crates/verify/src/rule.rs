//! Rules of the format, their severity, and the level from which on they are checked.

/// How much of a file is read and checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// Metadata only: footer, indexes, headers of bloom filters.
    Quick,
    /// Also checksums, all page headers, and levels that are not compressed.
    #[default]
    Default,
    /// Everything: all values are decoded and compared with metadata.
    Deep,
}

impl Level {
    /// Returns the name in output.
    pub fn name(self) -> &'static str {
        match self {
            Level::Quick => "quick",
            Level::Default => "default",
            Level::Deep => "deep",
        }
    }
}

/// A rule that files must, or should, keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// Its stable name, the family first, such as `page-checksum`.
    pub id: &'static str,
    /// How bad a violation is.
    pub severity: Severity,
    /// The lowest level at which it is checked.
    pub level: Level,
    /// The statement that is true of a file that keeps the rule.
    pub title: &'static str,
    /// The section of the format that demands it.
    pub spec: &'static str,
}

/// How bad a finding is, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Legal and read by all, but deprecated or unwise.
    Style,
    /// Readers cope, but no careful writer does this; or something could not be checked.
    Suspicious,
    /// The format forbids it: readers may refuse the file, or give wrong results.
    Invalid,
    /// Bytes are damaged or missing: data cannot be read.
    Corrupt,
}

impl Severity {
    /// Returns the name in output.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Style => "style",
            Severity::Suspicious => "suspicious",
            Severity::Invalid => "invalid",
            Severity::Corrupt => "corrupt",
        }
    }
}

/// The rule for parts of the file that could not be checked. Any check may report it.
pub(crate) const UNCHECKED: Rule = Rule {
    id: "unchecked",
    severity: Severity::Suspicious,
    level: Level::Quick,
    title: "All parts can be checked: none is encrypted, in another file, of an unknown kind, or too large for memory",
    spec: "Encryption.md; parquet.thrift, CompressionCodec, Encoding",
};

/// Creates a rule.
pub(crate) const fn rule(
    id: &'static str,
    severity: Severity,
    level: Level,
    title: &'static str,
    spec: &'static str,
) -> Rule {
    Rule { id, severity, level, title, spec }
}
