//! Options of a report.

/// Options of a report page.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReportOptions {
    /// Whether statistics bounds are shown as text. They are values of the files. Default: true.
    pub values: bool,
    /// Links to other pages at the top of the page: text and target. Default: none.
    pub links: Vec<(String, String)>,
}

impl Default for ReportOptions {
    fn default() -> Self {
        ReportOptions { values: true, links: Vec::new() }
    }
}

impl ReportOptions {
    /// Sets [`values`](Self::values). Without them, the page has no value of the files except those in messages of
    /// findings.
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
