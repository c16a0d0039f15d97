//! The table of rules: what is checked, how bad it is, and where the format says so.

use super::{
    Level, bloom, chunk, footer, index, nesting, page, schema, sorting, statistics, unreferenced, values,
};

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

/// The families, from the file down to its values.
const FAMILIES: [&[Rule]; 12] = [
    &[UNCHECKED],
    footer::RULES,
    schema::RULES,
    nesting::RULES,
    chunk::RULES,
    unreferenced::RULES,
    page::RULES,
    index::RULES,
    statistics::RULES,
    bloom::RULES,
    values::RULES,
    sorting::RULES,
];

const COUNT: usize = {
    let (mut family, mut count) = (0, 0);
    while family < FAMILIES.len() {
        count += FAMILIES[family].len();
        family += 1;
    }
    count
};

/// Every rule, family by family.
pub static RULES: &[Rule] = &{
    let mut rules = [UNCHECKED; COUNT];
    let (mut family, mut at) = (0, 0);
    while family < FAMILIES.len() {
        let mut i = 0;
        while i < FAMILIES[family].len() {
            rules[at] = FAMILIES[family][i];
            at += 1;
            i += 1;
        }
        family += 1;
    }
    rules
};

/// The number of a rule in [`RULES`].
pub(super) fn number(id: &str) -> Option<usize> {
    RULES.iter().position(|rule| rule.id == id)
}

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
