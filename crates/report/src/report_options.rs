//! Options of a report.

/// What a page tells.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReportOptions {
    /// Whether bounds are shown as text: they are values of the files. Default: true.
    pub values: bool,
    /// Links to other pages that stand above all else: what is shown, and where it leads. Default: none.
    pub links: Vec<(String, String)>,
}

impl Default for ReportOptions {
    fn default() -> Self {
        ReportOptions { values: true, links: Vec::new() }
    }
}

impl ReportOptions {
    /// Whether bounds are shown as text. Without, the page has no value of the files, but those in messages of findings.
    pub fn with_values(mut self, values: bool) -> Self {
        self.values = values;
        self
    }

    /// Sets [`links`](Self::links).
    pub fn with_links(mut self, links: Vec<(String, String)>) -> Self {
        self.links = links;
        self
    }
}
