//! What a page tells.

/// What a page tells.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReportOptions {
    /// Whether bounds are shown as text: they are values of the files. Default: true.
    pub values: bool,
}

impl Default for ReportOptions {
    fn default() -> Self {
        ReportOptions { values: true }
    }
}

impl ReportOptions {
    /// Whether bounds are shown as text. Without, the page has no value of the files, but those in messages of findings.
    pub fn with_values(mut self, values: bool) -> Self {
        self.values = values;
        self
    }
}
