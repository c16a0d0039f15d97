//! A file as it goes into a report: metadata, layout, findings and advice.

use crate::skipped_rows::SkippedRows;
use marquetry_arrow::arrow_reader::ArrowReaderMetadata;
use marquetry_inspect::FileLayout;
use marquetry_verify::Finding;

/// A file of a report, and what is shown about it.
#[derive(Debug)]
pub struct ReportedFile {
    pub(crate) name: String,
    pub(crate) metadata: ArrowReaderMetadata,
    pub(crate) layout: FileLayout,
    pub(crate) findings: Option<Vec<Finding>>,
    pub(crate) skipped: Option<SkippedRows>,
    pub(crate) advice: Vec<String>,
}

impl ReportedFile {
    /// Creates the entry of a file. The page shows `name`, since paths and URLs may reveal more than others should
    /// read.
    pub fn new(name: impl Into<String>, metadata: ArrowReaderMetadata, layout: FileLayout) -> Self {
        ReportedFile {
            name: name.into(),
            metadata,
            layout,
            findings: None,
            skipped: None,
            advice: Vec::new(),
        }
    }

    /// Shows the findings of [`verify`](marquetry_verify::verify), also that there are none.
    pub fn with_findings(mut self, findings: Vec<Finding>) -> Self {
        self.findings = Some(findings);
        self
    }

    /// Shows what a predicate lets readers skip.
    pub fn with_skipped_rows(mut self, skipped: SkippedRows) -> Self {
        self.skipped = Some(skipped);
        self
    }

    /// Shows advice, a sentence each.
    pub fn with_advice(mut self, advice: Vec<String>) -> Self {
        self.advice = advice;
        self
    }
}
