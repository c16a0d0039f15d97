//! Limits on what a read may cost: untrusted numbers are checked against them before memory is allocated.

use crate::{CancelToken, Error, MemoryBudget, Result};
use std::fmt::Display;

/// Limits on what a file may ask of its reader. All are far above what writers produce; a file that needs more can be
/// read by raising the one that its error names.
///
/// ```
/// use marquetry_base::Limits;
/// let limits = Limits::default().with_page_bytes(8 << 20);
/// assert!(limits.check_page(9 << 20, 1 << 20).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Largest footer in bytes. Default 1 GiB: 10,000 columns x 1,000 row groups.
    pub footer_bytes: usize,
    /// Most rows of a file whose values are read. A file of nulls has any number of them in a few bytes, and who reads it to its
    /// end waits for all. Default 2^40, a million millions.
    pub rows: u64,
    /// Largest page in bytes, compressed or not. Default 2 GiB - 1, the format's own bound (an `i32`).
    pub page_bytes: usize,
    /// Largest page header in bytes. Default 16 MiB: headers carry statistics with whole values in them.
    pub page_header_bytes: usize,
    /// Pages larger than [`free_page_bytes`](Self::free_page_bytes) may decompress to at most this many times their
    /// stored size. Default 1,000,000: Brotli makes 1 GiB of one letter of 1,627 bytes, and such files exist. What the
    /// codecs of less reach can make of a page is held against their own bounds.
    pub decompression_ratio: usize,
    /// Pages up to this size may have any decompression ratio: a page of equal values legally shrinks to nothing.
    /// Default 64 MiB.
    pub free_page_bytes: usize,
    /// Most bytes of one column in one batch: values, nulls and levels. A run of a few bytes stands for any number of
    /// entries, and a list of them all is one row, so neither pages nor rows bound a batch. Default 4 GiB - 1.
    pub batch_bytes: usize,
    /// What all reads with these limits, and with clones of them, may hold together until a batch is handed over: what
    /// streams fetched, windows on the file, pages, dictionaries, values, levels, and the strings of arrays. Footers and
    /// indexes are not in it (but a footer of more than 64 MiB is read only if twice as much is left), nor batches that were handed over, nor what a source keeps of its own, as a blocking reader of
    /// an object store does. Memory is taken from it before it is allocated; only values of DELTA_BYTE_ARRAY are counted
    /// after they were put together, 2,048 at a time. Pages for which there is no memory are lost to a reader that leaves
    /// out what it cannot read, and reported. Default: [the budget of the process](MemoryBudget::of_process).
    pub memory: MemoryBudget,
    /// Most nodes of a schema. Default 1,000,000; above 65,536 no more than [`memory`](Self::memory) has KiB.
    pub schema_nodes: usize,
    /// Deepest nesting of a schema. Default 200; levels are bytes, so no more than 250 can be asked for.
    pub schema_depth: usize,
    /// Most bytes of all columns' paths together. Each column has all the names above it, so that one long name costs
    /// its length for each column below. Default 256 MiB; above 16 MiB no more than a quarter of [`memory`](Self::memory).
    pub schema_path_bytes: usize,
    /// Deepest nesting of Thrift structs and lists. Default 64; `parquet.thrift` itself needs 8.
    pub thrift_depth: usize,
    /// Stops all reads with these limits, and with clones of them, with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled)
    /// once it is cancelled: no limit, but it has to be known wherever limits are. Default: a token that never is.
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

    /// The same limits with another [token](Self::cancel).
    #[must_use]
    pub fn with_cancel(&self, cancel: CancelToken) -> Self {
        Limits { cancel, ..self.clone() }
    }

    /// Holds a page's two sizes against the size and the ratio limits.
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
