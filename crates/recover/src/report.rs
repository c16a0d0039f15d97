//! The report on a recovered file: what was found, kept and lost, and how certain each decision is.

use std::fmt;
use std::ops::Range;

/// How certain a decision is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// The file states it, or nothing else fits.
    Exact,
    /// Everything fits, and a coincidence is very unlikely.
    High,
    /// The likeliest of several possibilities.
    Medium,
    /// A guess.
    Low,
}

impl Confidence {
    /// Returns the name in output.
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Exact => "exact",
            Confidence::High => "high",
            Confidence::Medium => "medium",
            Confidence::Low => "low",
        }
    }

    /// Returns the confidence of a [`name`](Self::name).
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let all = [Confidence::Exact, Confidence::High, Confidence::Medium, Confidence::Low];
        all.into_iter().find(|confidence| confidence.name() == name)
    }
}

/// The origin of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaOrigin {
    /// A footer inside the file: the last one, that of a checkpoint, or that of the file before it grew.
    Footer,
    /// The footer of another file, given by the caller.
    Sibling,
    /// Text, given by the caller.
    Text,
    /// Inferred from the pages.
    Inferred,
}

impl SchemaOrigin {
    /// Returns the name in output.
    pub fn name(self) -> &'static str {
        match self {
            SchemaOrigin::Footer => "footer",
            SchemaOrigin::Sibling => "sibling",
            SchemaOrigin::Text => "text",
            SchemaOrigin::Inferred => "inferred",
        }
    }
}

/// A decision about the file as a whole.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Decision {
    /// What was decided.
    pub what: String,
    /// The reason.
    pub why: String,
    /// How certain it is.
    pub confidence: Confidence,
}

/// A row group that is kept.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct KeptRowGroup {
    /// The range of its pages in the broken file.
    pub bytes: Range<u64>,
    /// Number of its rows.
    pub rows: u64,
    /// Dotted paths of lost columns, which are null in the new file.
    pub nulls: Vec<String>,
    /// How it was found.
    pub why: String,
    /// How certain it is that these are the written rows.
    pub confidence: Confidence,
}

/// Part of the file that is not kept.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Loss {
    /// The range in the broken file.
    pub bytes: Range<u64>,
    /// Number of rows, if it is known.
    pub rows: Option<u64>,
    /// The reason.
    pub why: String,
}

/// What was found in a broken file, what is kept, and what is lost.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The origin of the schema. `None` if no schema is known, so that nothing could be kept.
    pub schema: Option<SchemaOrigin>,
    /// Decisions about the file as a whole. If no schema is certain, one of them has the likeliest schema as text.
    pub decisions: Vec<Decision>,
    /// The row groups of the new file.
    pub row_groups: Vec<KeptRowGroup>,
    /// Parts that are not in the new file, by position.
    pub losses: Vec<Loss>,
    /// Length of the broken file in bytes.
    pub bytes: u64,
    /// Number of pages that were found by searching.
    pub pages_found: usize,
}

impl Report {
    /// Returns the number of rows of all kept row groups.
    pub fn rows(&self) -> u64 {
        self.row_groups.iter().map(|group| group.rows).sum()
    }

    /// Returns the number of bytes of all kept row groups.
    pub fn bytes_kept(&self) -> u64 {
        self.row_groups.iter().map(|group| group.bytes.end - group.bytes.start).sum()
    }

    pub(crate) fn decide(&mut self, what: impl Into<String>, why: impl Into<String>, confidence: Confidence) {
        self.decisions.push(Decision { what: what.into(), why: why.into(), confidence });
    }

    pub(crate) fn lose(&mut self, bytes: Range<u64>, rows: Option<u64>, why: impl Into<String>) {
        self.losses.push(Loss { bytes, rows, why: why.into() });
    }
}

impl fmt::Display for Report {
    /// Writes a line for each decision, row group and loss.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Decision { what, why, confidence } in &self.decisions {
            writeln!(f, "decided   {what}: {why} ({})", confidence.name())?;
        }
        for group in &self.row_groups {
            let Range { start, end } = group.bytes;
            write!(
                f,
                "kept      {} rows, bytes {start}..{end}: {} ({})",
                group.rows,
                group.why,
                group.confidence.name()
            )?;
            if !group.nulls.is_empty() {
                write!(f, "; lost, and null now: {}", group.nulls.join(", "))?;
            }
            writeln!(f)?;
        }
        for Loss { bytes, rows, why } in &self.losses {
            let rows = rows.map(|rows| format!("{rows} rows, ")).unwrap_or_default();
            writeln!(f, "lost      {rows}bytes {}..{}: {why}", bytes.start, bytes.end)?;
        }
        let (kept, rows) = (self.row_groups.len(), self.rows());
        write!(f, "total     {rows} rows in {kept} row groups, {} of {} bytes", self.bytes_kept(), self.bytes)
    }
}
