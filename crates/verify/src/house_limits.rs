//! Limits that a house sets for its own files: no rules of the format.

/// What files of a house have to be like. Nothing is checked by default.
///
/// ```
/// use marquetry_verify::HouseLimits;
/// let limits = HouseLimits::default().with_row_group_rows(Some(10_000), Some(1_000_000)).with_statistics(true);
/// assert!(limits.statistics && limits.codecs.is_none());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HouseLimits {
    /// The least and the largest number of rows of a row group. The last one may have fewer.
    pub row_group_rows: (Option<u64>, Option<u64>),
    /// The largest number of bytes of a row group's pages, as stored.
    pub row_group_bytes: Option<u64>,
    /// The least and the largest number of bytes of a file.
    pub file_bytes: (Option<u64>, Option<u64>),
    /// The largest number of bytes of a footer.
    pub footer_bytes: Option<u64>,
    /// The largest number of columns.
    pub columns: Option<u64>,
    /// Codecs that may be used, by the names that the format gives them, in any case.
    pub codecs: Option<Vec<String>>,
    /// Whether each chunk has to have bounds, unless it has nothing but nulls, and a count of nulls.
    pub statistics: bool,
    /// Whether each chunk has to have a column index and an offset index.
    pub page_index: bool,
    /// Columns that have to have bloom filters: dotted paths.
    pub bloom_filters: Vec<String>,
    /// Columns by which each row group has to say that its rows are sorted, first of all: dotted paths.
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
