//! Limits that a house sets for its own files: no rules of the format.

/// Limits of a house for its files. Nothing is checked by default.
///
/// ```
/// use marquetry_verify::HouseLimits;
/// let limits = HouseLimits::default().with_row_group_rows(Some(10_000), Some(1_000_000)).with_statistics(true);
/// assert!(limits.statistics && limits.codecs.is_none());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HouseLimits {
    /// The minimum and maximum number of rows of a row group. The last one may have fewer.
    pub row_group_rows: (Option<u64>, Option<u64>),
    /// The maximum number of bytes of a row group's pages, as stored.
    pub row_group_bytes: Option<u64>,
    /// The minimum and maximum number of bytes of a file.
    pub file_bytes: (Option<u64>, Option<u64>),
    /// The maximum number of bytes of a footer.
    pub footer_bytes: Option<u64>,
    /// The maximum number of columns.
    pub columns: Option<u64>,
    /// The allowed codecs, by their names in the format, in any case.
    pub codecs: Option<Vec<String>>,
    /// Whether each chunk must have a null count and, unless it has only nulls, bounds.
    pub statistics: bool,
    /// Whether each chunk must have a column index and an offset index.
    pub page_index: bool,
    /// Dotted paths of columns that must have bloom filters.
    pub bloom_filters: Vec<String>,
    /// Dotted paths of columns by which each row group must declare that it is sorted, before any others.
    pub sorted_by: Vec<String>,
}

impl HouseLimits {
    /// Sets [`row_group_rows`](Self::row_group_rows).
    #[must_use]
    pub fn with_row_group_rows(mut self, least: Option<u64>, most: Option<u64>) -> Self {
        self.row_group_rows = (least, most);
        self
    }

    /// Sets [`row_group_bytes`](Self::row_group_bytes).
    #[must_use]
    pub fn with_row_group_bytes(mut self, most: Option<u64>) -> Self {
        self.row_group_bytes = most;
        self
    }

    /// Sets [`file_bytes`](Self::file_bytes).
    #[must_use]
    pub fn with_file_bytes(mut self, least: Option<u64>, most: Option<u64>) -> Self {
        self.file_bytes = (least, most);
        self
    }

    /// Sets [`footer_bytes`](Self::footer_bytes).
    #[must_use]
    pub fn with_footer_bytes(mut self, most: Option<u64>) -> Self {
        self.footer_bytes = most;
        self
    }

    /// Sets [`columns`](Self::columns).
    #[must_use]
    pub fn with_columns(mut self, most: Option<u64>) -> Self {
        self.columns = most;
        self
    }

    /// Sets [`codecs`](Self::codecs).
    #[must_use]
    pub fn with_codecs(mut self, codecs: Option<Vec<String>>) -> Self {
        self.codecs = codecs;
        self
    }

    /// Sets [`statistics`](Self::statistics).
    #[must_use]
    pub fn with_statistics(mut self, statistics: bool) -> Self {
        self.statistics = statistics;
        self
    }

    /// Sets [`page_index`](Self::page_index).
    #[must_use]
    pub fn with_page_index(mut self, page_index: bool) -> Self {
        self.page_index = page_index;
        self
    }

    /// Sets [`bloom_filters`](Self::bloom_filters).
    #[must_use]
    pub fn with_bloom_filters(mut self, columns: Vec<String>) -> Self {
        self.bloom_filters = columns;
        self
    }

    /// Sets [`sorted_by`](Self::sorted_by).
    #[must_use]
    pub fn with_sorted_by(mut self, columns: Vec<String>) -> Self {
        self.sorted_by = columns;
        self
    }
}
