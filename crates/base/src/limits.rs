//! Limits on what a read may cost: untrusted numbers are checked against them before memory is allocated.

use crate::{CancelToken, Error, MemoryBudget, Result};
use std::fmt::Display;

/// Limits on what a file may demand from its reader. All defaults are far above what writers produce. A file that needs
/// more can be read by raising the limit that its error names.
///
/// ```
/// use marquetry_base::Limits;
/// let limits = Limits::default().with_page_bytes(8 << 20);
/// assert!(limits.check_page(9 << 20, 1 << 20).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum size of the footer in bytes. Default 1 GiB: 10,000 columns x 1,000 row groups.
    pub footer_bytes: usize,
    /// Maximum number of rows of a file whose values are read. A few bytes can stand for any number of null rows, which
    /// would keep a reader busy for any time. Default 2^40, about 10^12.
    pub rows: u64,
    /// Maximum size of a page in bytes, compressed or not. Default 2 GiB - 1, the format's own bound (an `i32`).
    pub page_bytes: usize,
    /// Maximum size of a page header in bytes. Default 16 MiB: headers carry statistics that contain whole values.
    pub page_header_bytes: usize,
    /// Maximum decompression ratio of pages larger than [`free_page_bytes`](Self::free_page_bytes). Default 1,000,000:
    /// Brotli stores 1 GiB of one letter in 1,627 bytes, and such files exist. Pages of codecs that cannot compress as
    /// much are also checked against the bounds of their codec.
    pub decompression_ratio: usize,
    /// Size in bytes up to which a page may have any decompression ratio: a page of equal values legally shrinks to
    /// nothing. Default 64 MiB.
    pub free_page_bytes: usize,
    /// Maximum size of one column in one batch, in bytes: values, nulls and levels. A run of a few bytes can stand for any number
    /// of entries, and a list of all of them is one row, so neither pages nor rows bound a batch. Default 4 GiB - 1.
    pub batch_bytes: usize,
    /// The memory budget that all reads with these limits, and with clones of them, share until a batch is handed over. It covers the bytes
    /// that streams fetched, windows on the file, pages, dictionaries, values, levels, and the strings of arrays. It does not cover footers
    /// and indexes (but a footer of more than 64 MiB is read only if twice as much is left), batches that were handed over, and buffers of
    /// a source's own, as a blocking reader of an object store has. Memory is reserved before it is allocated; only values of
    /// DELTA_BYTE_ARRAY are counted after they were assembled, 2,048 at a time. A reader that leaves out what it cannot read skips and
    /// reports pages for which there is no memory. Default: [the budget of the process](MemoryBudget::of_process).
    pub memory: MemoryBudget,
    /// Maximum number of nodes in a schema. Default 1,000,000; above 65,536, at most as many as [`memory`](Self::memory) has KiB.
    pub schema_nodes: usize,
    /// Maximum nesting depth of a schema. Default 200; levels are stored in bytes, so at most 250 is possible.
    pub schema_depth: usize,
    /// Maximum total size of the paths of all columns, in bytes. The path of a column has the names of all its ancestors, so one
    /// long name counts for each column below it. Default 256 MiB; above 16 MiB, at most a quarter of [`memory`](Self::memory).
    pub schema_path_bytes: usize,
    /// Maximum nesting depth of Thrift structs and lists. Default 64; `parquet.thrift` itself needs 8.
    pub thrift_depth: usize,
    /// Cancels all reads with these limits, and with clones of them, with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    /// It is not a limit, but is needed wherever the limits are. Default: a token that is never cancelled.
    pub cancel: CancelToken,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            footer_bytes: 1 << 30,
            rows: 1 << 40,
            page_bytes: i32::MAX as usize,
            page_header_bytes: 16 << 20,
            decompression_ratio: 1_000_000,
            free_page_bytes: 64 << 20,
            batch_bytes: u32::MAX as usize,
            memory: MemoryBudget::of_process(),
            schema_nodes: 1_000_000,
            schema_depth: 200,
            schema_path_bytes: 256 << 20,
            thrift_depth: 64,
            cancel: CancelToken::default(),
        }
    }
}

impl Limits {
    /// Sets [`footer_bytes`](Self::footer_bytes).
    #[must_use]
    pub fn with_footer_bytes(mut self, footer_bytes: usize) -> Self {
        self.footer_bytes = footer_bytes;
        self
    }

    /// Sets [`rows`](Self::rows).
    #[must_use]
    pub fn with_rows(mut self, rows: u64) -> Self {
        self.rows = rows;
        self
    }

    /// Sets [`page_bytes`](Self::page_bytes).
    #[must_use]
    pub fn with_page_bytes(mut self, page_bytes: usize) -> Self {
        self.page_bytes = page_bytes;
        self
    }

    /// Sets [`page_header_bytes`](Self::page_header_bytes).
    #[must_use]
    pub fn with_page_header_bytes(mut self, page_header_bytes: usize) -> Self {
        self.page_header_bytes = page_header_bytes;
        self
    }

    /// Sets [`decompression_ratio`](Self::decompression_ratio).
    #[must_use]
    pub fn with_decompression_ratio(mut self, decompression_ratio: usize) -> Self {
        self.decompression_ratio = decompression_ratio;
        self
    }

    /// Sets [`free_page_bytes`](Self::free_page_bytes).
    #[must_use]
    pub fn with_free_page_bytes(mut self, free_page_bytes: usize) -> Self {
        self.free_page_bytes = free_page_bytes;
        self
    }

    /// Sets [`batch_bytes`](Self::batch_bytes).
    #[must_use]
    pub fn with_batch_bytes(mut self, batch_bytes: usize) -> Self {
        self.batch_bytes = batch_bytes;
        self
    }

    /// Sets [`memory`](Self::memory).
    #[must_use]
    pub fn with_memory(mut self, memory: MemoryBudget) -> Self {
        self.memory = memory;
        self
    }

    /// Sets [`schema_nodes`](Self::schema_nodes).
    #[must_use]
    pub fn with_schema_nodes(mut self, schema_nodes: usize) -> Self {
        self.schema_nodes = schema_nodes;
        self
    }

    /// Sets [`schema_depth`](Self::schema_depth).
    #[must_use]
    pub fn with_schema_depth(mut self, schema_depth: usize) -> Self {
        self.schema_depth = schema_depth;
        self
    }

    /// Sets [`schema_path_bytes`](Self::schema_path_bytes).
    #[must_use]
    pub fn with_schema_path_bytes(mut self, schema_path_bytes: usize) -> Self {
        self.schema_path_bytes = schema_path_bytes;
        self
    }

    /// Sets [`thrift_depth`](Self::thrift_depth).
    #[must_use]
    pub fn with_thrift_depth(mut self, thrift_depth: usize) -> Self {
        self.thrift_depth = thrift_depth;
        self
    }

    /// Fails if `actual` exceeds `limit`; `name` is the field of [`Limits`] to raise.
    pub fn check<N: Ord + Display>(name: &str, actual: N, limit: N) -> Result<()> {
        if actual <= limit {
            return Ok(());
        }
        Err(Error::limit(format!("{actual} exceeds the limit of {limit}; raise Limits::{name} to read it")))
    }

    /// Returns the same limits with another [token](Self::cancel).
    #[must_use]
    pub fn with_cancel(&self, cancel: CancelToken) -> Self {
        Limits { cancel, ..self.clone() }
    }

    /// Checks the two sizes of a page against the limits of size and decompression ratio.
    pub fn check_page(&self, uncompressed: usize, compressed: usize) -> Result<()> {
        Self::check("page_bytes", uncompressed.max(compressed), self.page_bytes)?;
        if uncompressed <= self.free_page_bytes || uncompressed / self.decompression_ratio <= compressed {
            return Ok(());
        }
        Err(Error::limit(format!(
            "a page of {compressed} bytes claims to decompress to {uncompressed}, over {} times its size; \
             raise Limits::decompression_ratio to read it",
            self.decompression_ratio
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pages_must_earn_their_size() {
        let limits = Limits::default();
        assert!(limits.check_page(64 << 20, 1).is_ok());
        assert!(limits.check_page(1 << 30, 1 << 20).is_ok());
        let error = limits.check_page(1 << 30, 100).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Limit);
        assert!(error.message().contains("decompression_ratio"));
    }
}
