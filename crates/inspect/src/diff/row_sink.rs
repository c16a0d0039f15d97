//! The trait of logs that take the row hashes of a file.

use marquetry_base::Result;

/// A log of rows that is being written.
pub(crate) trait RowSink {
    /// Adds rows in their order: a hash of each row's key, if there is one, and of all its values.
    fn add(&mut self, keys: &[u64], rows: &[u64]) -> Result<()>;
}
